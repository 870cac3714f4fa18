# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A sampled vector signal as bins: value, rate, acceleration, and where they are known.

A polynomial of degree four with Hann weights is fitted about each wanted time (Savitzky and Golay
1964, for samples at any times): its phase is zero, and it looks half a window ahead. Bins are made
ten at a time, each ten from the samples about them alone, so that the size of the blocks in which
samples come does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ..samples.ring import SECOND, Ring, Spacing, on_line, spacing_of
from .faults import CONTEXT_NS, KEPT_NS, OFF, TURN, Faults
from .motion import BIN_NS, Array, IntArray

GROUP, MEASURED = 10, 100  # bins; the spacing is measured again at multiples of so many
LINE_NS = 3_000_000_000  # before a group: samples by which stamps are evened out
WINDOW, LONGEST = 0.15, 1.0  # s, of a quartic where samples come densely, and of any
FEWEST, NEEDED = 8, 10  # samples in a window for which there is an answer, and that it is made for
LADDER = 1.25  # windows differ by this factor, so that jitter of the spacing does not change them
TIMES = 20  # samples that a window should hold, where it is no longer than SMOOTH [s] for that
SMOOTH = 0.2
_APART, _HALF = 0.1, 0.5  # of half a window: see `_is_covered`
_TOGETHER = 250  # windows that are fitted at once: they stay in the processor's cache


def window_length(spacing: Spacing) -> float:
    """Length of the window [s]: `WINDOW`, or longer for samples that are far apart."""
    def steps(length: float) -> float:
        return math.log(length / WINDOW, LADDER)
    apart = max(spacing.period, spacing.gap)
    wanted = max(steps(NEEDED * apart), steps(min(TIMES * spacing.period, SMOOTH)) - 1.0, 0.0)
    return float(min(WINDOW * LADDER ** math.ceil(wanted - 1e-9), LONGEST))


class Fit(NamedTuple):
    """Of n quartics through k signals: value, rate, acceleration (n, k), mean square of what they
    miss (n, k), and where samples cover the window (n,)."""

    value: Array
    rate: Array
    acceleration: Array
    missed: Array
    known: np.ndarray


def fit_quartics(stamps: IntArray, rows: Array, centres: IntArray, window: float,
                 begin: int | None = None, end: int | None = None) -> Fit:
    """Quartics through samples (m, k), m > 0, about n times, in windows of a length [s].

    Args:
        stamps: (m,) increasing; centres: (n,), both [ns].
        begin, end: stamps [ns] before and after which there is nothing: fewer samples will do in
            windows that reach beyond.
    """
    reach = int(0.5 * SECOND * window) + 1
    begins = np.zeros(len(centres), bool) if begin is None else centres - reach < begin
    ends = np.zeros(len(centres), bool) if end is None else centres + reach > end
    parts = [_fit(stamps, rows, centres[k:k + _TOGETHER], window, begins[k:k + _TOGETHER],
                  ends[k:k + _TOGETHER]) for k in range(0, max(len(centres), 1), _TOGETHER)]
    return Fit(*map(np.concatenate, zip(*parts, strict=True)))


def _fit(stamps: IntArray, rows: Array, centres: IntArray, window: float, begins: np.ndarray,
         ends: np.ndarray) -> Fit:
    reach = int(0.5 * SECOND * window)
    first = np.searchsorted(stamps, centres - reach)
    count = np.searchsorted(stamps, centres + reach, side="right") - first
    index = first[:, None] + np.arange(max(int(count.max(initial=0)), 1))
    inside = index < (first + count)[:, None]
    index = np.minimum(index, len(stamps) - 1)
    x = np.where(inside, (stamps[index] - centres[:, None]) * (2.0 / SECOND / window), 0.0)
    weight = np.where(inside, np.cos(0.5 * np.pi * x) ** 2, 0.0)
    power = np.empty((len(x), 5, x.shape[1]))
    power[:, 0] = 1.0
    for k in range(4):
        np.multiply(power[:, k], x, out=power[:, k + 1])
    scaled, values = power * weight[:, None], np.take(rows, index, axis=0)
    right = scaled @ values
    fit = np.linalg.solve(scaled @ power.transpose(0, 2, 1) + 1e-12 * np.eye(5), right)
    square = np.einsum("nw,nwk->nk", weight, values * values) - (fit * right).sum(1)
    missed = np.maximum(square, 0.0) / np.maximum(weight.sum(1), 1e-9)[:, None]
    half = 0.5 * window
    return Fit(fit[:, 0], fit[:, 1] / half, 2.0 * fit[:, 2] / half**2, missed,
               _is_covered(x, inside, begins, ends))


def _is_covered(x: Array, inside: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """True (n,) where samples at x (n, w), -1 to 1 in the window, lie on both sides of the centre,
    enough of them and without a hole; begins, ends: where the data begin and end."""
    last = np.where(inside, x, -1.0).max(axis=1, initial=-1.0)
    first = np.where(inside, x, 1.0).min(axis=1, initial=1.0)
    steps = np.diff(np.where(inside, x, last[:, None]), axis=1)
    count = 1.0 + np.minimum(steps / _APART, 1.0).sum(axis=1)  # those of a burst count as one
    sides = (first < -_HALF * np.where(begins, 0.3, 1.0)) & (
        last > _HALF * np.where(ends, 0.3, 1.0))
    return np.asarray((count > FEWEST - 0.01) & sides & (steps.max(axis=1, initial=0.0) < _HALF))


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
