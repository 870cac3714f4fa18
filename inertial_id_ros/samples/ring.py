# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Samples of one stream, in order and bounded; what is wrong with their stamps is counted. How they
lie in time, and stamps without the jitter of their arrival.

What becomes of a sample depends on the samples before it alone, never on the size of the blocks in
which they come.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..inertia import Array

IntArray = npt.NDArray[np.int64]
REORDER_NS = 20_000_000  # a sample may be overtaken by others by this much
JUMP_NS = 1_000_000_000  # stamps so far apart are strays, or the clock has jumped
CONFIRMED = 10  # samples that follow one another by another clock: it has jumped
PIECE = 4096  # samples that are compared at once
SECOND = 1e9  # ns
_EVEN = 0.1  # of a period: stamps that lie so near to a multiple of it are those of a clock
_HOLE, _HOLE_NS = 10.0, 5e7  # mean distances of samples, and ns: a longer one is a hole
_FEWEST = 20  # samples on a line


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


class Spacing(NamedTuple):
    """Mean time between samples [s], and the longest that is usual (longer if they come in bursts);
    even: True where the stamps are those of a clock, perhaps with some samples missing."""

    period: float
    gap: float
    even: bool


def spacing_of(stamps: IntArray) -> Spacing:
    """Spacing of samples with increasing stamps (m,) [ns], m > 1; pauses do not count."""
    steps = np.sort(np.diff(stamps))
    elapsed = np.cumsum(steps[:-2] if len(steps) > 6 else steps)
    gap = int(steps[np.searchsorted(elapsed, 0.5 * elapsed[-1])])  # half of the time, or longer
    usual = steps[:int(np.searchsorted(steps, 4 * gap, side="right"))]
    usually = int(steps[len(usual) // 2])
    ratio = usual / usually
    even = (np.abs(ratio - np.round(ratio)) < _EVEN) & (ratio > _EVEN)
    return Spacing(float(usual.mean()) / SECOND, gap / SECOND,
                   bool(even.mean() > 0.9) and gap < 3 * usually)


def line_through(values: Array) -> tuple[float, float]:
    """Slope and start of the line through values (m,) over their number."""
    index = np.arange(len(values)) - 0.5 * (len(values) - 1)
    slope = float(index @ values / (index @ index))
    return slope, float(values.mean() + slope * index[0])


def evened(stamps: IntArray, begin: int) -> IntArray:
    """Stamps from number `begin` on as a clock would have given them.

    They are put on a line over the number of the sample. Stamps of a clock stay as they are, and so
    do those with too few before them.

    Args:
        stamps: (m,) [ns], increasing, those before `begin` for the line.
    """
    if len(stamps) < _FEWEST:
        return stamps[begin:]
    step = np.diff(stamps)
    if step.max() - step.min() < _EVEN * step[0] or spacing_of(stamps).even:
        return stamps[begin:]
    holes = np.flatnonzero(step > max(_HOLE * float(np.median(step)), _HOLE_NS)) + 1
    first = int(holes[-1]) if len(holes) else 0
    if first > begin or len(stamps) - first < _FEWEST:
        return stamps[begin:]
    slope, start = line_through((stamps[first:] - stamps[first]).astype(float))
    line = start + slope * np.arange(begin - first, len(stamps) - first)
    return stamps[first] + np.asarray(np.round(line), np.int64)
