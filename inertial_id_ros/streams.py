"""Time-stamped sample streams in preallocated arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .inertia import Array

# What happened to a sample on its way into a ring.
STORED, REORDERED, REPEATED, LATE = "stored", "reordered", "repeated", "late"
CLOCK_JUMP_NS = 1_000_000_000  # stamps that go back farther than this mean that the clock jumped
_REORDER_DEPTH = 256  # samples; a message that overtakes more than these counts as late


class SampleRing:
    """The newest `capacity` rows of a stream, in the order of their stamps.

    Rows lie contiguously, so that views need no copy. A sample that arrives out of order is put
    where it belongs, unless it is older than `closed_until`, up to which rows were already used.
    When the clock jumps back the ring starts anew, so that one stamp from the future cannot shut
    out the samples after it.
    """

    def __init__(self, width: int, capacity: int) -> None:
        self._capacity = capacity
        self._stamps = np.empty(2 * capacity, dtype=np.int64)
        self._rows = np.empty((2 * capacity, width))
        self._begin = self._end = 0
        self.closed_until = np.iinfo(np.int64).min

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

    @property
    def newest(self) -> int:
        """Newest stamp [ns]; the ring must not be empty."""
        return int(self._stamps[self._end - 1])

    def clear(self) -> None:
        """Forget all rows."""
        self._begin = self._end = 0
        self.closed_until = np.iinfo(np.int64).min

    def append(self, stamp_ns: int, row: Sequence[float] | Array) -> str:
        """Add one sample; returns STORED, REORDERED, REPEATED or LATE (the last two: not added)."""
        if self._end == 2 * self._capacity:
            self._compact()
        if len(self) and stamp_ns < self.newest - CLOCK_JUMP_NS:
            self.clear()
        if self._end == self._begin or stamp_ns > self._stamps[self._end - 1]:
            self._stamps[self._end] = stamp_ns
            self._rows[self._end] = row
            self._end += 1
            if self._end - self._begin > self._capacity:
                self._begin += 1
            return STORED
        return self._insert(stamp_ns, row)

    def _insert(self, stamp_ns: int, row: Sequence[float] | Array) -> str:
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
        if self._end - self._begin > self._capacity:
            self._begin += 1
        return REORDERED

    def _compact(self) -> None:
        n = self._end - self._begin
        self._stamps[:n] = self._stamps[self._begin:self._end].copy()
        self._rows[:n] = self._rows[self._begin:self._end].copy()
        self._begin, self._end = 0, n

    def between(self, first_ns: int, end_ns: int) -> slice:
        """Slice of the views with ``first_ns <= stamp < end_ns``."""
        low, high = np.searchsorted(self.stamps, [first_ns, end_ns])
        return slice(int(low), int(high))

    def median_period(self) -> float:
        """Median time between samples [s]; infinite with fewer than two."""
        if len(self) < 2:
            return float("inf")
        return float(np.median(np.diff(self.stamps))) * 1e-9
