# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Time-stamped sample streams in preallocated arrays."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import Any

import numpy as np

from ..inertia import Array

CLOCK_JUMP_NS = 1_000_000_000  # stamps farther off than this are strays, or the clock jumped
_PATIENCE_NS = 10 * CLOCK_JUMP_NS  # within that of a stamp far ahead the next one confirms it
_NEVER = np.iinfo(np.int64).min
_REORDER_DEPTH = 256  # samples; a message that overtakes more than these counts as late


class Arrival(Enum):
    """What became of a sample that arrived."""

    STORED = auto()  # as the newest one
    REORDERED = auto()  # stored between older ones
    REPEATED = auto()  # dropped: there is one with the same stamp
    LATE = auto()  # dropped: samples of its time were already used
    HELD = auto()  # kept until the next one, since its stamp is far off
    JUMPED = auto()  # the ring starts anew with the sample held and this one
    MISSING_JOINT = auto()  # dropped: a joint state without a joint that is needed
    NOT_FINITE = auto()  # dropped


STORED, REORDERED, REPEATED, LATE, HELD, JUMPED, MISSING_JOINT, NOT_FINITE = Arrival


class SampleRing:
    """The newest `capacity` rows of a stream, in the order of their stamps.

    Rows lie contiguously, so that views need no copy. A sample that arrives out of order is put
    where it belongs, unless it is older than `closed_until`, up to which rows were already used.
    A sample far ahead or far behind is held until the next one. If that one is near it, the stream
    continues there: after a pause if ahead, after a clock that jumped back if behind, in which case
    the ring starts anew. Otherwise the sample held was a stray.

    Attributes:
        capacity: rows that are kept.
        newest: newest stamp [ns]; without meaning while the ring is empty.
        strays: samples dropped as strays.
        standing: samples in a row that had the newest stamp again.
    """

    def __init__(self, width: int, capacity: int) -> None:
        self._allocate(capacity, width)
        self.strays = 0
        self._begin_empty()

    def __len__(self) -> int:
        return self._end - self._begin

    @property
    def stamps(self) -> np.ndarray:
        """Stamps (n,) [ns], increasing; a view."""
        return self._stamps[self._begin:self._end]

    @property
    def rows(self) -> Array:
        """Rows (n, width); a view."""
        return self._rows[self._begin:self._end]

    def resize(self, capacity: int) -> None:
        """Keep this many rows from now on, and the newest of those that are there."""
        if capacity == self.capacity:
            return
        stamps, rows = self.stamps[-capacity:], self.rows[-capacity:]
        self._allocate(capacity, rows.shape[1])
        self._begin, self._end = 0, len(stamps)
        self._stamps[:self._end], self._rows[:self._end] = stamps, rows

    def _allocate(self, capacity: int, width: int) -> None:
        """Make the arrays. Filled, so that all memory is taken now: a long run must not look like a
        leak."""
        self.capacity = capacity
        self._stamps = np.full(2 * capacity, 0, dtype=np.int64)
        self._rows = np.full((2 * capacity, width), 0.0)

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows that are not used."""
        return {**vars(self), "_stamps": self.stamps.copy(), "_rows": self.rows.copy()}

    def __setstate__(self, content: dict[str, Any]) -> None:
        stamps, rows = content["_stamps"], content["_rows"]
        vars(self).update(content)
        self._allocate(self.capacity, rows.shape[1])
        self._stamps[self._begin:self._end], self._rows[self._begin:self._end] = stamps, rows

    def _begin_empty(self) -> None:
        """Begin without rows."""
        self._begin = self._end = self.standing = 0
        self.newest = _NEVER
        self.closed_until = _NEVER
        self.held: tuple[int, Array] | None = None  # stamp and row of a sample far off

    def append(self, stamp_ns: int, row: Sequence[float] | Array) -> Arrival:
        """Add one sample; says what became of it."""
        if self._end != self._begin and abs(stamp_ns - self.newest) > CLOCK_JUMP_NS:
            return self._append_far_off(stamp_ns, row)
        if self.held is not None:
            self.held = None
            self.strays += 1
        return self._add(stamp_ns, row)

    def would_store_all(self, stamps: np.ndarray) -> bool:
        """Whether `append` would store samples with these stamps (n,) one after the other."""
        if self.held is not None or (
                len(self) and not 0 < int(stamps[0]) - self.newest <= CLOCK_JUMP_NS):
            return False
        steps = stamps[1:] - stamps[:-1]
        return not len(steps) or bool(0 < steps.min() and steps.max() <= CLOCK_JUMP_NS)

    def extend(self, stamps: np.ndarray, rows: Array) -> None:
        """Add samples (n, width) for which `would_store_all` holds."""
        stamps, rows = stamps[-self.capacity:], rows[-self.capacity:]
        end = self._end + len(stamps)
        if end > 2 * self.capacity:
            self._compact()
            end = self._end + len(stamps)
        self._stamps[self._end:end], self._rows[self._end:end] = stamps, rows
        self._end, self.newest, self.standing = end, int(stamps[-1]), 0
        self._begin = max(self._begin, end - self.capacity)

    def _append_far_off(self, stamp_ns: int, row: Sequence[float] | Array) -> Arrival:
        """Hold a sample with a stamp far from the newest one, or confirm the one that is held."""
        if self.held is not None and stamp_ns == self.held[0]:
            return REPEATED  # a copy confirms nothing
        held, back = self.held, stamp_ns < self.newest
        self.held = (stamp_ns, np.array(row, dtype=float))
        if held is None:
            return HELD
        ahead = stamp_ns - held[0]
        near = -CLOCK_JUMP_NS <= ahead <= (CLOCK_JUMP_NS if back else _PATIENCE_NS)
        if back != (held[0] < self.newest) or not near:
            self.strays += 1
            return HELD
        if back:
            self._begin_empty()
        self.held = None
        self._add(*held)
        result = self._add(stamp_ns, row)
        return JUMPED if back else result

    def _add(self, stamp_ns: int, row: Sequence[float] | Array) -> Arrival:
        """Store a sample with a stamp near the others', as the newest or where it belongs."""
        if self._end == 2 * self.capacity:
            self._compact()
        if self._end == self._begin or stamp_ns > self.newest:
            self._stamps[self._end] = self.newest = int(stamp_ns)
            self._rows[self._end] = row
            self._end += 1
            self.standing = 0
            self._begin = max(self._begin, self._end - self.capacity)
            return STORED
        return self._insert(stamp_ns, row)

    def _insert(self, stamp_ns: int, row: Sequence[float] | Array) -> Arrival:
        """Store an older sample between those before and after it, unless it comes too late."""
        self.standing = self.standing + 1 if stamp_ns == self.newest else 0
        if stamp_ns <= self.closed_until:
            return REPEATED if stamp_ns == self.newest else LATE
        low = max(self._begin, self._end - _REORDER_DEPTH)
        at = low + int(np.searchsorted(self._stamps[low:self._end], stamp_ns))
        if at < self._end and self._stamps[at] == stamp_ns:
            return REPEATED
        if at == low and low > self._begin:
            return LATE
        self._stamps[at + 1:self._end + 1] = self._stamps[at:self._end].copy()
        self._rows[at + 1:self._end + 1] = self._rows[at:self._end].copy()
        self._stamps[at], self._rows[at] = stamp_ns, row
        self._end += 1
        self._begin = max(self._begin, self._end - self.capacity)
        return REORDERED

    def _compact(self) -> None:
        """Move all rows to the beginning of the arrays."""
        n = self._end - self._begin
        self._stamps[:n] = self._stamps[self._begin:self._end].copy()
        self._rows[:n] = self._rows[self._begin:self._end].copy()
        self._begin, self._end = 0, n

    def between(self, first_ns: int, end_ns: int) -> slice:
        """Slice of the views with ``first_ns <= stamp < end_ns``."""
        low, high = np.searchsorted(self.stamps, [first_ns, end_ns])
        return slice(int(low), int(high))
