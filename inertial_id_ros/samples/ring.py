# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Samples of one stream, in order and bounded; what is wrong with their stamps is counted.

What becomes of a sample depends on the samples before it alone, never on the size of the blocks in
which they come.
"""

from __future__ import annotations

from collections import Counter, deque

import numpy as np
import numpy.typing as npt

from ..inertia import Array

IntArray = npt.NDArray[np.int64]
REORDER_NS = 20_000_000  # a sample may be overtaken by others by this much
JUMP_NS = 1_000_000_000  # stamps so far apart are strays, or the clock has jumped
CONFIRMED = 10  # samples that follow one another by another clock: it has jumped
PIECE = 4096  # samples that are compared at once


class Ring:
    """Rows (n, k) at stamps (n,) [ns], increasing.

    Args:
        width: k; capacity: samples that are kept at least, unless they are dropped.

    Attributes:
        counts: what happened, by kind: `repeated`, `late`, `reordered`, `stray`, `restarted`.
        cleared: how often samples were forgotten.
        late: samples that came too late, or as another one with the same stamp: stamp [ns], row
            (k,), newest stamp then [ns].
    """

    def __init__(self, width: int, capacity: int = 1 << 20) -> None:
        self._width, self._capacity = width, capacity
        self.counts: Counter[str] = Counter()
        self.late: deque[tuple[int, Array, int]] = deque(maxlen=1 << 16)
        self.cleared = 0
        self.clear()

    def clear(self) -> None:
        """Forget all samples."""
        self._stamps = np.empty(1024, np.int64)
        self._rows = np.empty((1024, self._width))
        self._first = self._end = 0
        self._held: list[tuple[int, Array]] = []
        self.late.clear()
        self.cleared += 1

    def __len__(self) -> int:
        return self._end - self._first

    @property
    def stamps(self) -> IntArray:
        """(n,) [ns]."""
        return self._stamps[self._first:self._end]

    @property
    def rows(self) -> Array:
        """(n, k)."""
        return self._rows[self._first:self._end]

    @property
    def closed(self) -> int:
        """Stamp [ns] before which no sample will be taken any more; 0 where there is none."""
        return int(self._stamps[self._end - 1]) - REORDER_NS if len(self) else 0

    def between(self, first: int, end: int) -> slice:
        """Samples with stamps in [first, end), as a slice of `stamps` and `rows`."""
        a, b = np.searchsorted(self.stamps, (first, end))
        return slice(int(a), int(b))

    def drop(self, before: int) -> None:
        """Forget samples with stamps before a time [ns], all but the newest."""
        older = int(np.searchsorted(self.stamps, before))
        self._first += min(older, max(len(self) - 1, 0))

    def push(self, stamps: IntArray, rows: Array) -> None:
        """Take samples as they come: (m,) and (m, k)."""
        k = 0
        while k < len(stamps):
            some = self._in_order(stamps[k:k + PIECE])
            if some:
                self._append(stamps[k:k + some], rows[k:k + some])
            else:
                self._push_one(int(stamps[k]), rows[k])
            k += max(some, 1)

    def _in_order(self, stamps: IntArray) -> int:
        """How many of these samples, from the first one on, just follow the newest one."""
        if self._held:
            return 0
        step = np.diff(stamps, prepend=self._newest if len(self) else stamps[:1] - 1)
        wrong = (step <= 0) | (step > JUMP_NS)
        return int(np.argmax(wrong)) if wrong.any() else len(stamps)

    @property
    def _newest(self) -> int:
        return int(self._stamps[self._end - 1])

    def _push_one(self, stamp: int, row: Array) -> None:
        ahead = stamp - self._newest if len(self) else 1
        if abs(ahead) > JUMP_NS:
            self._hold(stamp, row)
            return
        if self._held:
            self.counts["stray"] += len(self._held)
            self._held = []
        if ahead > 0:
            self._append(np.array([stamp]), row[None])
            return
        at = self._first + int(np.searchsorted(self.stamps, stamp))
        if self._stamps[at] == stamp:
            self.counts["repeated"] += 1
            if (self._rows[at] != row).any():
                self.late.append((stamp, row.copy(), self._newest))
        elif -ahead > REORDER_NS or at == self._first:
            self.counts["late"] += 1
            self.late.append((stamp, row.copy(), self._newest))
        else:
            self.counts["reordered"] += 1
            self._append(self._stamps[self._end - 1:self._end], self._rows[self._end - 1][None])
            self._stamps[at + 1:self._end] = self._stamps[at:self._end - 1].copy()
            self._rows[at + 1:self._end] = self._rows[at:self._end - 1].copy()
            self._stamps[at], self._rows[at] = stamp, row

    def _hold(self, stamp: int, row: Array) -> None:
        """Keep a sample of another clock until enough of them follow one another."""
        if self._held and not 0 < stamp - self._held[-1][0] <= JUMP_NS:
            self.counts["stray"] += len(self._held)
            self._held = []
        self._held.append((stamp, row.copy()))
        if len(self._held) >= CONFIRMED:
            held = self._held
            back = held[0][0] < self._newest
            self._held = []
            if back:
                self.counts["restarted"] += 1
                self.clear()
            self._append(np.array([s for s, _ in held]), np.array([r for _, r in held]))

    def _append(self, stamps: IntArray, rows: Array) -> None:
        more = len(stamps)
        if self._end + more > len(self._stamps):
            keep = min(len(self), self._capacity)
            room = 2 * (keep + more)
            old = slice(self._end - keep, self._end)
            new_stamps, new_rows = np.empty(room, np.int64), np.empty((room, self._width))
            new_stamps[:keep], new_rows[:keep] = self._stamps[old], self._rows[old]
            self._stamps, self._rows = new_stamps, new_rows
            self._first, self._end = 0, keep
        self._stamps[self._end:self._end + more] = stamps
        self._rows[self._end:self._end + more] = rows
        self._end += more
