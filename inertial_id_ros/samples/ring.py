# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Samples of one stream, in order and bounded; what is wrong with their stamps is counted. How they
lie in time, and stamps without the jitter of their arrival.

What becomes of a sample depends on the samples before it alone, never on the size of the blocks in
which they come.
"""

from collections import Counter

import numpy as np
import numpy.typing as npt

from ..inertia import Array

IntArray = npt.NDArray[np.int64]
SECOND = 1_000_000_000  # ns
REORDER_NS = 20_000_000  # a sample may be overtaken by others by this much
GAP_NS = 100_000_000  # so long, samples may be missing, or the same, without being noticed
SILENT_NS = 500_000_000  # after which a stream is missing
SHOWN_NS = 3 * SILENT_NS  # for which what is over is still named
JUMP_NS = SECOND  # stamps so far apart are strays, or the clock has jumped or is another one
LINE_NS = 3 * SECOND  # before samples, by which their stamps are evened out
CONFIRMED = 10  # samples that follow one another by another clock: it has jumped
FEW = 20  # samples that tell what is usual
MOST = 1 << 16  # samples that wait for being of use
IMPOSSIBLE = 1e6  # rad, m, N or N m: nothing a robot measures
_EVEN = 0.1  # of a period: stamps that lie so near to a multiple of it are those of a clock
HOLE = 10.0  # usual distances of samples, beside `GAP_NS`: a longer one is a hole


class Columns:
    """Arrays that grow together at their end and are dropped at their beginning; the first one is
    increasing.

    Args:
        empty: arrays without rows; capacity: rows that are kept at least, unless they are dropped;
            None: all.
    """

    def __init__(self, *empty: np.ndarray, capacity: int | None = None) -> None:
        self._arrays, self._capacity = list(empty), capacity
        self._first = self._end = 0

    def __len__(self) -> int:
        return self._end - self._first

    def __getitem__(self, column: int) -> np.ndarray:
        return self._arrays[column][self._first:self._end]

    def append(self, *rows: np.ndarray) -> None:
        """Add rows (m, ...) to each array."""
        more = len(rows[0])
        if self._end + more > len(self._arrays[0]):
            keep = min(len(self), self._capacity or len(self))
            for k, new in enumerate(rows):
                grown = np.empty((max(2 * (keep + more), 1024), *new.shape[1:]), new.dtype)
                if keep:
                    grown[:keep] = self[k][-keep:]
                self._arrays[k] = grown
            self._first, self._end = 0, keep
        for old, new in zip(self._arrays, rows, strict=True):
            old[self._end:self._end + more] = new
        self._end += more

    def drop(self, before: int) -> None:
        """Forget rows whose first column is less than a value, all but the newest of these."""
        self._first += max(int(np.searchsorted(self[0], before)) - 1, 0)

    def between(self, first: int, end: int) -> slice:
        """Rows whose first column lies in [first, end), as a slice of each array."""
        return slice(*map(int, np.searchsorted(self[0], (first, end))))


class Ring(Columns):
    """Rows (n, k) at stamps (n,) [ns], increasing.

    Args:
        width: k.

    Attributes:
        counts: what happened, by kind: `invalid` (no stamp, or a number that is none), `repeated`,
            `late`, `reordered`, `stray`, `restarted`.
        cleared: how often samples were forgotten.
    """

    def __init__(self, width: int) -> None:
        super().__init__(np.empty(0, np.int64), np.empty((0, width)), capacity=MOST)
        self.counts, self.cleared = Counter[str](), 0
        self._held: list[tuple[int, Array]] = []

    def clear(self) -> None:
        """Forget all samples."""
        self._first = self._end
        self._held = []
        self.cleared += 1

    @property
    def stamps(self) -> IntArray:
        """(n,) [ns]."""
        return self[0]

    @property
    def rows(self) -> Array:
        """(n, k)."""
        return self[1]

    @property
    def newest(self) -> int:
        """Stamp of the newest sample [ns]; 0 where there is none."""
        return int(self[0][-1]) if len(self) else 0

    def push(self, stamps: IntArray, rows: Array) -> None:
        """Take samples as they come: (m,) and (m, k)."""
        good = (np.abs(rows) < IMPOSSIBLE).all(1) & (stamps > 0)
        stamps, rows, k = stamps[good], rows[good], 0
        if len(good) > len(stamps):
            self.counts["invalid"] += len(good) - len(stamps)
        while k < len(stamps):
            step = stamps[k:].copy()
            step[1:] -= stamps[k:-1]
            step[0] -= self.newest if len(self) else step[0] - 1
            wrong = (step <= 0) | (step > JUMP_NS)
            some = int(np.argmax(wrong)) if wrong.any() else len(step)  # just follow the newest
            if not some and abs(int(step[0])) > JUMP_NS:
                self._hold(int(stamps[k]), rows[k])
            else:
                self._drop_held()
                self.append(stamps[k:k + some], rows[k:k + some])
                if not some:
                    self._insert(stamps[k:k + 1], rows[k:k + 1])
            k += max(some, 1)

    def _insert(self, stamp: IntArray, row: Array) -> None:
        """Take a sample (1,) and (1, k) that is no newer than the newest."""
        at = int(np.searchsorted(self.stamps, stamp[0]))
        if self.stamps[at] == stamp[0]:
            self.counts["repeated"] += 1
        elif self.newest - stamp[0] > REORDER_NS or at == 0:
            self.counts["late"] += 1
        else:
            self.counts["reordered"] += 1
            self.append(stamp, row)
            for column in (self.stamps, self.rows):
                column[at:] = np.roll(column[at:], 1, axis=0)

    def _drop_held(self) -> None:
        if self._held:
            self.counts["stray"] += len(self._held)
            self._held = []

    def _hold(self, stamp: int, row: Array) -> None:
        """Keep a sample of another clock until enough of them follow one another."""
        if not self._held or not 0 < stamp - self._held[-1][0] <= JUMP_NS:
            self._drop_held()
        self._held.append((stamp, row.copy()))
        if len(self._held) >= CONFIRMED:
            held, self._held = self._held, []
            if held[0][0] < self.newest:
                self.counts["restarted"] += 1
                self.clear()
            self.append(np.array([s for s, _ in held]), np.array([r for _, r in held]))


def spacing_of(stamps: IntArray) -> float:
    """Usual time between samples [s] with increasing stamps (m,) [ns], m > 1: for half of the time
    it is that or longer. Of bursts it is the time between them; pauses do not count."""
    steps = np.sort(np.diff(stamps))
    elapsed = np.cumsum(steps[:-2] if len(steps) > 6 else steps)
    return float(steps[np.searchsorted(elapsed, 0.5 * elapsed[-1])]) / SECOND


def evened(stamps: IntArray, begin: int) -> IntArray:
    """Stamps from number `begin` on as a clock would have given them. Those of a clock stay as they
    are, perhaps with some samples missing, and so do those with too few before them.

    Args:
        stamps: (m,) [ns], increasing, those before `begin` for the line.
    """
    steps = np.diff(stamps)
    if len(stamps) < FEW or np.ptp(steps) < _EVEN * steps[0]:
        return stamps[begin:]
    usual = float(np.median(steps))
    first = 1 + int(np.flatnonzero(steps > max(HOLE * usual, GAP_NS)).max(initial=-1))
    if first > begin or len(stamps) - first < FEW:
        return stamps[begin:]
    times = np.round(steps / usual)
    even = (np.abs(steps - times * usual) < _EVEN * usual) & (times > 0.0)
    if even.mean() > 0.9 and SECOND * spacing_of(stamps) < 3.0 * usual:
        return stamps[begin:]
    index = np.arange(first, len(stamps)) - 0.5 * (first + len(stamps) - 1)
    since = (stamps[first:] - stamps[first]).astype(float)
    line = since.mean() + index * (index @ since / (index @ index))
    return stamps[first] + np.round(line[begin - first:]).astype(np.int64)
