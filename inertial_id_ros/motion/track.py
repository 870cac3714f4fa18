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

from ..samples.ring import FEW, GAP_NS, HOLE, LINE_NS, SECOND, Ring, Spacing, on_line, spacing_of
from .motion import BIN_NS, Array, IntArray

GROUP = 10  # bins that are made at once
MEASURED = 10 * GROUP  # bins: the spacing is measured at multiples, so many are fitted at once
WINDOW, LONGEST = 0.15, 1.0  # s, of a quartic where samples come densely, and of any
NEEDED = 10  # samples that a window is made for; for `HELD` there is an answer
LADDER = 1.25  # windows differ by this factor, so that jitter of the spacing does not change them
SMOOTH = 0.2  # s: a window is no longer, if only to hold `FEW` samples
HELD = 8  # samples without a change, and `GAP_NS` long, after which they are judged
SUSPECT = 3  # samples without a change, after which nothing is made of them before that
LEAST_NOISE = 5e-6  # rad or m; less, and steps of coarse encoders, tell nothing
SLOW, BRAKES = 0.05, 15.0  # rad/s, rad/s^2: an arm may stop from there, or by that within a sample
STEP, START = 0.01, 10.0  # rad, rad/s^2: an arm at rest makes no larger step, so sudden
PAIR_NS = 10 * SECOND  # positions between two jumps or gaps may be those of other times
OFF = 2e-3  # rad or m: what a quartic misses of no arm; more than `STEP`, of other positions
CONTEXT_NS, KEPT_NS = SECOND, PAIR_NS  # before a time: samples that are looked at
TURN = 2.0 * np.pi
_APART, _HALF = 0.1, 0.5  # of half a window: see `_is_covered`


def window_length(spacing: Spacing) -> float:
    """Length of the window [s]: `WINDOW`, or longer for samples that are far apart."""
    def steps(length: float) -> float:
        return math.log(length / WINDOW, LADDER)
    apart = max(spacing.period, spacing.gap)
    wanted = max(steps(NEEDED * apart), steps(min(FEW * spacing.period, SMOOTH)) - 1.0, 0.0)
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
    parts = [_fit(stamps, rows, centres[k:k + MEASURED], window, begins[k:k + MEASURED],
                  ends[k:k + MEASURED]) for k in range(0, max(len(centres), 1), MEASURED)]
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
    return np.asarray((count > HELD - 0.01) & sides & (steps.max(axis=1, initial=0.0) < _HALF))


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


class Track:
    """The bins of a ring, each once.

    Args:
        ring: of the samples (n, k); turning: (k,) whether a whole turn makes no difference.
        are_positions: False: signals that may jump or stand still; they have no faults.

    Attributes:
        spacing: of the samples; None while it is not known; faults: in them.
        ahead: bins that other tracks have not reached, see `advance_together`.
    """

    def __init__(self, ring: Ring, turning: np.ndarray | None = None, are_positions: bool = True
                 ) -> None:
        self.ring, self._are_positions, none = ring, are_positions, ring.rows[:0]
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
        if self._are_positions:
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
            if self.spacing is None or begin // BIN_NS % MEASURED == 0:
                part = self.ring.between(begin - CONTEXT_NS, least)
                first = min(part.start, part.stop - HELD)
                if first >= 0:
                    self.spacing = spacing_of(stamps[first:part.stop])
            if self.spacing is not None:
                window = window_length(self.spacing)
                end += int(0.5 * SECOND * window)
                if not finished and (closed < end or (suspect is not None and suspect < end)):
                    return
                yield _Group(self._next, window, self.spacing.even, end)
            self._next += GROUP

    def _bins(self, groups: Sequence[_Group], end: int | None) -> Signal:
        """The bins of groups with the same window; end: stamp of the last sample of all [ns]."""
        window, even = groups[0].window, groups[0].even
        part = self.ring.between(groups[0].number * BIN_NS - LINE_NS, groups[-1].end)
        stamps, rows = self.ring.stamps[part], self.ring.rows[part]
        if not len(stamps):
            return self._nothing
        if self._turning.any():  # some drivers count from -pi to pi
            rows = np.where(self._turning, np.unwrap(rows, axis=0), rows)
        number = np.add.outer([group.number for group in groups], np.arange(GROUP)).ravel()
        centres = number * BIN_NS + BIN_NS // 2
        fit = fit_quartics(stamps, rows, centres, window, self._origin, end)
        if not even and len(stamps) >= 2 * GROUP:
            other = fit_quartics(on_line(stamps), rows, centres, window, self._origin, end)
            better = other.known & (other.missed.sum(1) < fit.missed.sum(1))
            fit = Fit(*(np.where(better.reshape(-1, *[1] * (b.ndim - 1)), b, a)
                        for a, b in zip(fit, other, strict=True)))
        reach = int(0.5 * SECOND * window) + 1
        off = self._are_positions * np.sqrt(fit.missed.max(axis=1)) / (window / WINDOW) ** 3
        for k in np.flatnonzero(fit.known & (off > OFF)).tolist():
            self.faults.note_missed(int(centres[k]), off[k], reach)
        ends = np.repeat([group.end for group in groups], GROUP)
        known = fit.known & (off < OFF) & ~self.faults.hide(centres, ends, reach)
        return Signal(number, *fit[:3]).part(known)


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


class Fault(NamedTuple):
    """Positions that count for nothing.

    Attributes:
        known: stamp of the sample by which it shows [ns].
        first, last: stamps [ns] of the first and last of them.
        kind: `frozen` or `mixed`; `jump` or `gap` is what may be the end of others of other times.
    """

    known: int
    first: int
    last: int
    kind: str


class Faults:
    """Finds what is wrong with the positions (n, k) of a ring.

    Args:
        turning: (k,) True where a whole turn makes no difference.

    Attributes:
        new: faults that are over and not taken out yet; lasting: those that are not, by column.
    """

    def __init__(self, ring: Ring, turning: np.ndarray) -> None:
        self._ring, self._turning = ring, turning
        self.new: list[Fault] = []
        self.lasting: dict[int, Fault] = {}
        self._recent: list[Fault] = []  # what was frozen
        self._since = np.zeros(len(turning), np.int64)  # stamp since when a column has not changed
        self._judged = np.zeros(len(turning), bool)
        self._seen = 0
        self._events: list[Fault] = []  # jumps and gaps that have not been judged
        self._before: Fault | None = None

    def update(self, closed: int) -> None:
        """Judge the samples before a stamp [ns] that are new."""
        ring = self._ring
        part = ring.between(self._seen, closed)
        stamps, rows = ring.stamps[part], ring.rows[part]
        if not self._seen and len(stamps):
            self._since[:] = stamps[0]
        if len(stamps) > 1:
            since, self._seen = self._seen, int(stamps[-1])
            self._find_frozen(stamps, rows)
            self._find_gaps(since)

    def _find_frozen(self, stamps: IntArray, rows: Array) -> None:
        change = np.diff(rows, axis=0)
        change -= TURN * np.round(change / TURN) * self._turning
        always = (change != 0.0).all(axis=0)
        for column in np.flatnonzero(~always | self._judged).tolist():
            self._judge_column(stamps, change[:, column], column)
        self._since[always & ~self._judged] = stamps[-1]

    def _judge_column(self, stamps: IntArray, change: Array, column: int) -> None:
        """Judge each time without a change; the last one may go on."""
        moves = np.flatnonzero(change)
        begins, ends = np.append(self._since[column], stamps[moves + 1]), stamps[[*moves, -1]]
        time = np.append(1e-9 * np.diff(stamps)[moves], np.inf)
        is_sudden = np.append(np.abs(change[moves]), 0.0) > STEP + START * time**2
        for k in np.flatnonzero((ends - begins >= GAP_NS) | is_sudden).tolist():
            begin, end = int(begins[k]), int(ends[k])
            first, count = self._held(begin, end)
            if not (k == 0 and self._judged[column]) and _is_long(begin, end, count) and is_frozen(
                    self._ring, first, column):
                known = int(self._ring.stamps[first + SUSPECT - 1])
                self.lasting[column] = Fault(known, begin, end, "frozen")
            if k < len(moves) and (column in self.lasting or (count >= SUSPECT and is_sudden[k])):
                jump = Fault(int(stamps[moves[k] + 1]), begin, end, "frozen")
                fault = self.lasting.pop(column, jump)._replace(last=end)
                self.new.append(fault)
                self._recent.append(fault)
        begin, end = int(begins[-1]), int(ends[-1])
        self._since[column], self._judged[column] = begin, _is_long(
            begin, end, self._held(begin, end)[1])

    def _held(self, begin: int, end: int) -> tuple[int, int]:
        """Number of the first sample, and how many there are, between two stamps [ns]."""
        part = self._ring.between(begin, end + 1)
        return part.start, part.stop - part.start

    @property
    def suspect(self) -> int | None:
        """Stamp [ns] of the sample from which on a column may be frozen; None: none may be."""
        third = []
        for begin in np.unique(self._since[~self._judged]).tolist():
            first, count = self._held(begin, self._seen)
            if count >= SUSPECT:
                third.append(int(self._ring.stamps[first + SUSPECT - 1]))
        return min(third, default=None)

    def _find_gaps(self, since: int) -> None:
        """Find times from a stamp [ns] on in which samples are missing."""
        stamps = self._ring.stamps[self._ring.between(since - CONTEXT_NS, self._seen + 1)]
        steps = np.diff(stamps)
        for k in np.flatnonzero((steps > GAP_NS) & (stamps[1:] > since)).tolist():
            usual = np.median(steps[max(k - FEW, 0):k]) if k else np.inf
            if steps[k] > HOLE * usual:
                before, after = stamps[k:k + 2].tolist()
                self._events.append(Fault(after, before, after, "gap"))

    def note_missed(self, centre: int, off: float, reach: int) -> None:
        """A quartic about a stamp, from so long before it to after it [ns], misses the samples by
        so much [rad or m]."""
        if off > STEP:
            self._events.append(Fault(centre + reach, centre, centre, "jump"))
        else:
            self.new.append(Fault(centre + reach, centre, centre, "mixed"))

    def judge_events(self, known: int) -> None:
        """Judge the events that showed before a stamp [ns], in their order: between two jumps, or a
        jump and a gap, are positions of other times."""
        self._events.sort()
        while self._events and self._events[0].known < known:
            event, before = self._events.pop(0), self._before
            self._before = event
            if before is None or event.first - before.last > PAIR_NS:
                before = event
            elif event.kind == before.kind == "jump" and event.first <= before.last + GAP_NS:
                self._before = event._replace(first=before.first)  # it goes on
            if "jump" in (event.kind, before.kind):
                self.new.append(event._replace(first=before.first, kind="mixed"))
        self._recent = [fault for fault in self._recent if fault.last > known - KEPT_NS]

    def hide(self, centres: IntArray, ends: IntArray, reach: int) -> np.ndarray:
        """True (n,) for bins about centres (n,) made of samples before ends (n,), within a reach
        [ns], of which some were known to be frozen then."""
        hit = np.zeros(len(centres), bool)
        lasting = [fault._replace(last=int(ends[-1])) for fault in self.lasting.values()]
        for fault in self._recent + lasting:
            hit |= ((centres + reach > fault.first) & (centres - reach < fault.last)
                    & (fault.known < ends))
        return hit


def _is_long(begin: int, end: int, count: int) -> bool:
    return end - begin >= GAP_NS and count >= HELD


def is_frozen(ring: Ring, first: int, column: int) -> bool:
    """True where no arm stands still so suddenly as a column of a ring from its sample `first`
    on: it had noise, or moved on at speed."""
    begin = max(first - FEW, 0)
    if first - begin < HELD:
        return False
    values = ring.rows[begin:first + 1, column]
    time = 1e-9 * (ring.stamps[begin:first + 1] - ring.stamps[first])
    columns, speeds, fits = np.vander(time, 3, increasing=True), list[float](), list[Array]()
    for part in (slice(None), slice(-HELD, None)):  # an arm that brakes hard is slow at the end
        inverse = np.linalg.pinv(columns[part])
        fits.append(inverse @ values[part])
        off = values[part] - columns[part] @ fits[-1]
        sd = np.sqrt(off @ off / (len(off) - 3)) * np.linalg.norm(inverse[1])
        speeds.append(float(abs(fits[-1][1]) - 2.0 * sd))
    off = values - columns @ fits[0]
    noise, step = float(np.sqrt(np.mean(off * off))), -time[0] / FEW
    per_sample = step * float(np.abs(columns[:, :2] @ (fits[0][1:] * [1.0, 2.0])).max())
    if (np.diff(values).all() and noise > max(LEAST_NOISE, per_sample / 3.0)
            and np.mean(off[1:] * off[:-1] < 0.0) > 1.0 / 3.0):
        return True
    changes = np.abs(np.diff(values, 2))
    finest = changes[changes > 1e-9].min(initial=np.inf)  # steps of the encoder
    unseen = np.sqrt(2.0 * BRAKES * finest) if np.isfinite(finest) else 0.0
    return bool(min(speeds) > max(SLOW, -BRAKES * time[0] / (len(time) - 1), unseen))
