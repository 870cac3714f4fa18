# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A sampled vector signal as bins: value, rate, acceleration, and where they are known.

Bins are made ten at a time, each ten from the samples about them alone, so that the size of the
blocks in which samples come does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ..samples.ring import SECOND, Ring, Spacing, on_line, spacing_of
from .faults import CONTEXT_NS, KEPT_NS, OFF, TURN, Faults
from .motion import BIN_NS, Array, IntArray
from .quartic import FEWEST, LONGEST, WINDOW, Fit, fit_quartics, window_length

GROUP, MEASURED = 10, 100  # bins; the spacing is measured again at multiples of so many
LINE_NS = 3_000_000_000  # before a group: samples by which stamps are evened out


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
    """Ten bins: the first of them; window [s]; even: stamps are those of a clock; stamp before
    which samples count [ns]."""

    number: int
    window: float
    even: bool
    end: int

    @property
    def centres(self) -> IntArray:
        return (self.number + np.arange(GROUP)) * BIN_NS + BIN_NS // 2


class Track:
    """The bins of a ring, each once.

    Args:
        ring: of the samples (n, k); turning: (k,) whether a whole turn makes no difference.

    Attributes:
        spacing: of the samples; None while it is not known; faults: in them.
        ahead: bins that other tracks have not reached, see `advance_together`.
    """

    def __init__(self, ring: Ring, turning: np.ndarray | None = None) -> None:
        self.ring, none = ring, ring.rows[:0]
        self._nothing = Signal(ring.stamps[:0], none, none, none)
        self._turning = np.zeros(none.shape[1], bool) if turning is None else turning
        self._restart()

    def _restart(self) -> None:
        """Begin with the oldest sample in the ring."""
        self._cleared, self._origin = self.ring.cleared, 0
        self._next: int | None = None
        self.spacing: Spacing | None = None
        self.faults, self.ahead = Faults(self.ring, self._turning), self._nothing

    def advance(self, finished: bool = False) -> Signal:
        """The bins that have settled since the last call; finished: no sample will follow."""
        ring = self.ring
        if self._cleared != ring.cleared:
            self._restart()
        closed = int(ring.stamps[-1]) + 1 if finished and len(ring) else ring.closed
        self.faults.update(closed)
        end = closed if finished else None
        groups = list(self._groups(closed, finished))  # uneven ones are made one by one
        parts = [self._bins(list(some), end) for _, some in groupby(
            groups, key=lambda group: (group.window, group.even or group.number))]
        if self._next is not None:
            done = self._next * BIN_NS
            self.faults.judge_events(done)
            ring.drop(done - KEPT_NS)
        return joined_signals([self._nothing, *parts])

    def _groups(self, closed: int, finished: bool) -> Iterator[_Group]:
        """The groups that have settled by a time [ns]."""
        stamps, suspect = self.ring.stamps, None if finished else self.faults.suspect
        if self._next is None and len(stamps) > 1:
            self._origin, self._next = int(stamps[0]), _group_of(stamps[0])
        while self._next is not None:
            later = int(np.searchsorted(stamps, self._next * BIN_NS))
            if later == len(stamps) or stamps[later] >= closed:
                return
            if self._next * BIN_NS + CONTEXT_NS < stamps[later]:  # a hole
                self._next = _group_of(stamps[later])
            begin, end = self._next * BIN_NS, (self._next + GROUP) * BIN_NS
            least = end + int(0.5 * SECOND * WINDOW)
            if closed < (begin if finished else least):
                return
            self._measure_spacing(begin, least)
            if self.spacing is not None:
                window = window_length(self.spacing)
                end += int(0.5 * SECOND * window)
                if not finished and (closed < end or (suspect is not None and suspect < end)):
                    return
                yield _Group(self._next, window, self.spacing.even, end)
            self._next += GROUP

    def _measure_spacing(self, begin: int, end: int) -> None:
        """Measure the spacing of the samples before a group, where that is due."""
        if self.spacing is None or begin // BIN_NS % MEASURED == 0:
            part = self.ring.between(begin - CONTEXT_NS, end)
            first = min(part.start, part.stop - FEWEST)
            if first >= 0:
                self.spacing = spacing_of(self.ring.stamps[first:part.stop])

    def _bins(self, groups: Sequence[_Group], end: int | None) -> Signal:
        """The bins of groups with the same window; end: stamp of the last sample of all [ns]."""
        window, even = groups[0].window, groups[0].even
        part = self.ring.between(groups[0].number * BIN_NS - LINE_NS, groups[-1].end)
        stamps, rows = self.ring.stamps[part], self._unwrapped(self.ring.rows[part])
        if not len(stamps):
            return self._nothing
        centres = np.concatenate([group.centres for group in groups])
        fit = fit_quartics(stamps, rows, centres, window, self._origin, end)
        if not even and len(stamps) >= 2 * GROUP:
            fit = _better(fit, fit_quartics(on_line(stamps), rows, centres, window, self._origin,
                                            end))
        reach = int(0.5 * SECOND * window) + 1
        off = np.sqrt(fit.missed.max(axis=1)) / (window / WINDOW) ** 3
        for k in np.flatnonzero(fit.known & (off > OFF)).tolist():
            self.faults.note_missed(int(centres[k]), off[k], reach)
        ends = np.repeat([group.end for group in groups], GROUP)
        known = fit.known & (off < OFF) & ~self.faults.hide(centres, ends, reach)
        return Signal(centres // BIN_NS, *fit[:3]).part(known)

    def _unwrapped(self, rows: Array) -> Array:
        """Rows in which joints do not jump by a turn: some drivers count from -pi to pi."""
        turning = self._turning
        if turning.any() and np.abs(np.diff(rows[:, turning], axis=0)).max(initial=0.0) > TURN / 2:
            rows = rows.copy()
            rows[:, turning] = np.unwrap(rows[:, turning], axis=0)
        return rows

    @property
    def is_slow(self) -> bool:
        """True where samples are too far apart for a quartic."""
        return self.spacing is not None and FEWEST * max(
            self.spacing.period, self.spacing.gap) > LONGEST


def advance_together(tracks: Sequence[Track], finished: bool) -> Signal:
    """The bins that are known of all tracks, once each; columns of the tracks one after the
    other."""
    for track in tracks:
        new = track.advance(finished)
        track.ahead = joined_signals([track.ahead, new])
    common = reduce(np.intersect1d, (track.ahead.number for track in tracks))
    reached = min(int(n[-1]) if len(n := track.ahead.number) else -1 for track in tracks)
    parts = [track.ahead.part(np.isin(track.ahead.number, common)) for track in tracks]
    for track in tracks:
        track.ahead = track.ahead.part(track.ahead.number > reached)
    return Signal(common, *map(np.hstack, zip(*(part[1:] for part in parts), strict=True)))


def _group_of(stamp: int) -> int:
    """First bin of the group of a stamp [ns]."""
    return int(stamp) // BIN_NS // GROUP * GROUP


def _better(one: Fit, other: Fit) -> Fit:
    """Of each bin the fit that misses less."""
    better = other.known & (other.missed.sum(1) < one.missed.sum(1))
    return Fit(*(np.where(better if b.ndim == 1 else better[:, None], b, a)
                 for a, b in zip(one, other, strict=True)))
