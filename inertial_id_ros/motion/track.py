# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A sampled vector signal as bins: value, rate, acceleration, and where they are known.

Bins are made ten at a time, each ten from the samples about them alone, so that the size of the
blocks in which samples come does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ..samples.ring import SECOND, Ring, Spacing, line_through, spacing_of
from .faults import GAP_NS, TURN, USUAL, Event, Fault, Pairs, Standstill, contradicts
from .motion import BIN_NS, Array, IntArray
from .quartic import (
    FEWEST,
    LONGEST,
    WINDOW,
    Near,
    fit_quartics,
    is_covered,
    near,
    window_length,
)

GROUP, MEASURED = 10, 100  # bins; the spacing is measured again at multiples of so many
CONTEXT_NS, LINE_NS = 1_000_000_000, 3_000_000_000  # before a group: of spacing, of even stamps
KEPT_NS = 5_000_000_000
OFF, JUMP = 2e-3, 8e-3  # rad or m: what a quartic misses of no arm, and of other positions


class Signal(NamedTuple):
    """n bins: number (n,), value, rate, acceleration (n, k)."""

    number: IntArray
    value: Array
    rate: Array
    acceleration: Array

    def part(self, which: np.ndarray) -> Signal:
        """The signal in some bins."""
        return Signal(*(column[which] for column in self))


def joined_signals(parts: Sequence[Signal]) -> Signal:
    """Signals one after the other."""
    return Signal(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class _Group(NamedTuple):
    """Ten bins: the first of them; window [s]; whether stamps are even; stamp before which samples
    count [ns]."""

    number: int
    window: float
    even: bool
    end: int


class Track:
    """The bins of a ring, each once.

    Args:
        ring: of the samples (n, k); turning: (k,) whether a whole turn makes no difference.

    Attributes:
        spacing: of the samples; None while it is not known.
        faults: that were found and not taken out yet.
    """

    def __init__(self, ring: Ring, turning: np.ndarray | None = None) -> None:
        self.ring = ring
        self._width, none = ring.rows.shape[1], ring.rows[:0]
        self._nothing = Signal(ring.stamps[:0], none, none, none)
        self._turning = np.zeros(self._width, bool) if turning is None else turning
        self.restart()

    def restart(self) -> None:
        """Begin with the oldest sample in the ring."""
        self._cleared = self.ring.cleared
        self._next: int | None = None
        self.spacing: Spacing | None = None
        self._still, self._pairs = Standstill(self._width, self._turning), Pairs()
        self.faults: list[Fault] = []
        self._known: list[Fault] = []
        self._gaps_until = self._origin = 0

    def advance(self, finished: bool = False) -> Signal:
        """The bins that have settled since the last call; finished: no sample will follow."""
        ring = self.ring
        if self._cleared != ring.cleared:
            self.restart()
        closed = int(ring.stamps[-1]) + 1 if finished and len(ring) else ring.closed
        self._find(closed)
        parts = [self._bins(list(same), closed, finished) for _, same in groupby(
            list(self._groups(closed, finished)), key=lambda group: group[1:3])]
        if self._next is not None:
            done = self._next * BIN_NS
            self.faults += self._pairs.until(done)
            self._known = [fault for fault in self._known if fault.last > done - KEPT_NS]
            ring.drop(done - KEPT_NS)
        return joined_signals([self._nothing, *parts])

    # ---- faults ---------------------------------------------------------------------------------

    def _find(self, closed: int) -> None:
        """Find faults in the samples before a time [ns]."""
        found = list(self._still.update(self.ring, closed))
        self.faults += found
        self._known += found
        since, self._gaps_until = self._gaps_until, max(closed, self._gaps_until)
        part = self.ring.between(since - CONTEXT_NS, closed)
        stamps = self.ring.stamps[part]
        steps = np.diff(stamps)
        for k in np.flatnonzero((steps > GAP_NS) & (stamps[1:] >= since)).tolist():
            usual = np.median(steps[max(k - 20, 0):k]) if k else np.inf
            if steps[k] > USUAL * usual:
                after = int(stamps[k + 1])
                self._pairs.events.append(Event(after, int(stamps[k]), after, True))
        while self.ring.late:
            stamp, row, newest = self.ring.late.popleft()
            if contradicts(self.ring, stamp, row, self._turning):
                self._pairs.events.append(Event(newest, stamp, newest))

    # ---- bins -----------------------------------------------------------------------------------

    def _groups(self, closed: int, finished: bool) -> Iterator[_Group]:
        """The groups that have settled by a time [ns]."""
        stamps = self.ring.stamps
        if len(stamps) < 2:
            return
        if self._next is None:
            self._origin = int(stamps[0])
            self._next = self._origin // BIN_NS // GROUP * GROUP
        suspect = None if finished else self._still.suspect(self.ring)
        while True:
            begin = self._next * BIN_NS
            later = int(np.searchsorted(stamps, begin))
            if later == len(stamps) or stamps[later] >= closed:
                return
            if begin + CONTEXT_NS < stamps[later]:  # a hole
                self._next = int(stamps[later]) // BIN_NS // GROUP * GROUP
                begin = self._next * BIN_NS
            end = begin + GROUP * BIN_NS
            least = end + int(0.5 * SECOND * WINDOW)
            if closed < (begin if finished else least):
                return
            if self.spacing is None or self._next % MEASURED == 0:
                part = self.ring.between(begin - CONTEXT_NS, least)
                first = min(part.start, part.stop - FEWEST)
                if first >= 0:
                    self.spacing = spacing_of(stamps[first:part.stop])
            if self.spacing is None:
                self._next += GROUP
                continue
            window = window_length(self.spacing)
            end += int(0.5 * SECOND * window)
            if not finished and (closed < end or (suspect is not None and suspect < end)):
                return
            yield _Group(self._next, window, self.spacing.even, end)
            self._next += GROUP

    def _bins(self, groups: Sequence[_Group], closed: int, finished: bool) -> Signal:
        """The bins of groups with the same window and kind of stamps."""
        window, even = groups[0].window, groups[0].even
        number = np.array([g.number for g in groups])[:, None] + np.arange(GROUP)
        centres = number * BIN_NS + BIN_NS // 2
        reach = int(0.5 * SECOND * window) + 1
        part = self.ring.between(groups[0].number * BIN_NS - LINE_NS, groups[-1].end)
        stamps, rows = self.ring.stamps[part], self._unwrapped(self.ring.rows[part])
        flat = number.reshape(-1)
        if not len(stamps):
            return self._nothing
        samples = near(stamps, centres.reshape(-1), window)
        fit = fit_quartics(samples, rows, window)
        begins = centres.reshape(-1) - reach < self._origin
        ends = finished & (centres.reshape(-1) + reach > closed)
        known = is_covered(samples, begins, ends)
        if not even:
            moved = samples.at(_on_lines(stamps, groups, samples, centres), window)
            other = fit_quartics(moved, rows, window)
            better = (other.missed.sum(1) < fit.missed.sum(1)) & is_covered(moved, begins, ends)
            fit = type(fit)(*(np.where(better[:, None], a, b)
                              for a, b in zip(other, fit, strict=True)))
            known |= better
        size = (window / WINDOW) ** 3
        off = np.sqrt(fit.missed.max(axis=1)) / size
        self._note_jumps(centres.reshape(-1), known & (off > OFF), off, reach)
        known &= (off < OFF) & ~self._masked(centres, groups, reach)
        return Signal(flat, *fit[:3]).part(known)

    def _masked(self, centres: IntArray, groups: Sequence[_Group], reach: int) -> np.ndarray:
        """True (n,) for bins of groups (g, 10) whose samples were known to be wrong."""
        hit = np.zeros(centres.shape, bool)
        ends = np.array([g.end for g in groups])[:, None]
        lasting = [fault._replace(last=groups[-1].end) for fault in self.lasting]
        for fault in self._known + lasting:
            hit |= ((centres + reach > fault.first) & (centres - reach < fault.last)
                    & (fault.known < ends))
        return hit.reshape(-1)

    def _note_jumps(self, centres: IntArray, wrong: np.ndarray, off: Array, reach: int) -> None:
        """Note bins in which positions are those of no arm."""
        for k in np.flatnonzero(wrong).tolist():
            at = int(centres[k])
            if off[k] > JUMP:
                self._pairs.events.append(Event(at + reach, at, at))
            else:
                self.faults.append(Fault("mixed", at, at, at + reach))

    def _unwrapped(self, rows: Array) -> Array:
        """Rows in which joints do not jump by a turn: some drivers count from -pi to pi."""
        turning = self._turning
        if turning.any() and np.abs(np.diff(rows[:, turning], axis=0)).max(initial=0.0) > TURN / 2:
            rows = rows.copy()
            rows[:, turning] = np.unwrap(rows[:, turning], axis=0)
        return rows

    @property
    def lasting(self) -> list[Fault]:
        """What is frozen now."""
        return list(self._still.lasting.values())

    @property
    def is_slow(self) -> bool:
        """True where samples are too far apart for a quartic."""
        return self.spacing is not None and FEWEST * max(
            self.spacing.period, self.spacing.gap) > LONGEST


def _on_lines(stamps: IntArray, groups: Sequence[_Group], samples: Near, centres: IntArray
              ) -> Array:
    """Times (n, w) [ns] of samples after their centres, of groups (g, 10), as a clock would have
    stamped them: for each group, on a line through the stamps over their number."""
    times = np.empty(samples.x.shape)
    for k, group in enumerate(groups):
        bins = slice(k * GROUP, (k + 1) * GROUP)
        number, middle = samples.number[bins], centres[k][:, None]
        low, high = np.searchsorted(stamps, (group.number * BIN_NS - LINE_NS, group.end))
        if high - low < 2 * GROUP:
            times[bins] = stamps[number] - middle
            continue
        slope, start = line_through((stamps[low:high] - stamps[low]).astype(float))
        times[bins] = stamps[low] - middle + start + slope * (number - low)
    return times
