# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A sampled vector signal as bins: value, rate, acceleration, and where they are known.

A polynomial of degree four with Hann weights is fitted about each wanted time (Savitzky and Golay
1964, for samples at any times): its phase is zero, and it looks half a window ahead. Bins are made
ten at a time, each ten from the samples about them alone, so that the size of the blocks in which
samples come does not matter.
"""

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from ..samples.ring import FEW, GAP_NS, LINE_NS, REORDER_NS, SECOND, Ring, evened, spacing_of
from .motion import BIN_NS, Array, IntArray

GROUP = 10  # bins that are made at once
MEASURED = 10 * GROUP  # bins: the spacing is measured at multiples; so many are fitted or compared
WINDOW, LONGEST = 0.15, 1.0  # s, of a quartic where samples come densely, and of any
NEEDED = 10  # samples that a window is made for; for `HELD` there is an answer
HELD = 8  # samples without a change, and `GAP_NS` long, after which they are judged
SLOW, BRAKES = 0.05, 15.0  # rad/s, rad/s^2: an arm may stop from there, or by that within a sample
OFF = 2e-3  # rad or m: what a quartic misses of no arm
STEP = 0.01  # rad or m: an arm makes none; a quartic that misses so much does so at a jump
PAIR_NS = 10 * SECOND  # positions between two jumps may be those of other times
CONTEXT_NS, KEPT_NS = SECOND, PAIR_NS  # before a time: samples that are looked at
TURN = 2.0 * np.pi


def window_length(spacing: float) -> float:
    """Length of the window [s]: `WINDOW`, or longer for samples that are far apart [s]."""
    return min(max(WINDOW, NEEDED * spacing), LONGEST)


def fit_quartics(stamps: IntArray, rows: Array, centres: IntArray, window: float
                 ) -> tuple[Array, Array, Array, Array, np.ndarray]:
    """Quartics through samples (m, k), m > 0, about n times, in windows of a length [s].

    Args:
        stamps: (m,) increasing; centres: (n,), both [ns].

    Returns:
        Value, rate, acceleration (n, k), mean square of what they miss (n, k), and True where
        samples cover the window (n,): on both sides, enough of them and without a hole.
    """
    if len(centres) > MEASURED:
        parts = [fit_quartics(stamps, rows, centres[k:k + MEASURED], window)
                 for k in range(0, len(centres), MEASURED)]
        value, rate, acceleration, missed, known = map(np.concatenate, zip(*parts, strict=True))
        return value, rate, acceleration, missed, known
    reach, half = int(0.5 * SECOND * window), 0.5 * window
    first = np.searchsorted(stamps, centres - reach)
    count = np.searchsorted(stamps, centres + reach, side="right") - first
    index = first[:, None] + np.arange(max(int(count.max(initial=0)), 1))
    inside = index < (first + count)[:, None]
    index = np.minimum(index, len(stamps) - 1)
    x = np.where(inside, (stamps[index] - centres[:, None]) * (1.0 / SECOND / half), 0.0)
    weight = np.where(inside, np.cos(0.5 * np.pi * x) ** 2, 0.0)
    power = np.cumprod(np.stack([np.ones_like(x), x, x, x, x], axis=1), axis=1)
    scaled, values = power * weight[:, None], np.take(rows, index, axis=0)
    right = scaled @ values
    fit = np.linalg.solve(scaled @ power.transpose(0, 2, 1) + 1e-12 * np.eye(5), right)
    square = np.einsum("nw,nwk->nk", weight, values * values) - (fit * right).sum(1)
    missed = np.maximum(square, 0.0) / np.maximum(weight.sum(1), 1e-9)[:, None]
    steps = np.diff(np.where(inside, x, 1.0), axis=1, prepend=-1.0, append=1.0)
    usual = 2.0 / HELD  # at most from sample to sample, but for a hole as long
    known = np.minimum(steps, usual).sum(axis=1) > 2.0 - usual
    return fit[:, 0], fit[:, 1] / half, 2.0 * fit[:, 2] / half**2, missed, known


class Signal(NamedTuple):
    """n bins: number (n,), value, rate, acceleration (n, k)."""

    number: IntArray
    value: Array
    rate: Array
    acceleration: Array

    def part(self, which: np.ndarray) -> "Signal":
        """The signal in some bins."""
        return Signal(*(column[which] for column in self))


def joined_signals(parts: Sequence[Signal]) -> Signal:
    """Signals one after the other."""
    return Signal(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class Track:
    """The bins of a ring, each once.

    Args:
        ring: of the samples (n, k); turning: (k,) whether a whole turn makes no difference.
        are_positions: False: signals that may jump or stand still; they have no faults.

    Attributes:
        spacing: of the samples [s]; 0 while it is not known; faults: in them.
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
        self._cleared, self.spacing = self.ring.cleared, 0.0
        self._next = 0  # bin
        self.faults, self.ahead = Faults(self.ring, self._turning), self._nothing

    def advance(self, finished: bool = False) -> Signal:
        """The bins that have settled since the last call; finished: no sample will follow."""
        ring, parts = self.ring, [self._nothing]
        if self._cleared != ring.cleared:
            self._restart()
        while self._is_settled(finished):
            parts.append(self._bins())
            self._next += GROUP
        ring.drop(self._next * BIN_NS - KEPT_NS)
        return joined_signals(parts)

    def _is_settled(self, finished: bool) -> bool:
        """True if the next bins can be made of the samples that none will overtake."""
        stamps, closed = self.ring.stamps, self.ring.newest + (1 if finished else -REORDER_NS)
        later = int(np.searchsorted(stamps, self._next * BIN_NS))
        if later == len(stamps) or stamps[later] >= closed:
            return False
        if self._next * BIN_NS + CONTEXT_NS < stamps[later]:  # the beginning, or a hole
            self._next = int(stamps[later]) // BIN_NS // GROUP * GROUP
        begin, end = self._next * BIN_NS, (self._next + GROUP) * BIN_NS
        least = end + int(0.5 * SECOND * WINDOW)
        if closed < least and not finished:
            return False
        if not self.spacing or self._next % MEASURED == 0:
            part = self.ring.between(begin - CONTEXT_NS, least)
            first = min(part.start, part.stop - HELD)
            if first >= 0:
                self.spacing = spacing_of(stamps[first:part.stop])
        return finished or closed >= end + int(0.5 * SECOND * window_length(self.spacing))

    def _bins(self) -> Signal:
        """The next bins."""
        window = window_length(self.spacing)
        reach = int(0.5 * SECOND * window) + 1
        number = self._next + np.arange(GROUP)
        centres, end = number * BIN_NS + BIN_NS // 2, int(number[-1] + 1) * BIN_NS + reach
        part = self.ring.between(int(number[0]) * BIN_NS - LINE_NS, end)
        stamps, rows = self.ring.stamps[part], self.ring.rows[part]
        first = int(np.searchsorted(stamps, number[0] * BIN_NS - reach))
        if first == len(stamps):
            return self._nothing
        rows = rows[first:]
        if self._turning.any():  # some drivers count from -pi to pi
            rows = np.where(self._turning, np.unwrap(rows, axis=0), rows)
        times, even = stamps[first:], evened(stamps, first)
        fits = [fit_quartics(some, rows, centres, window)
                for some in ([times] if np.array_equal(times, even) else [times, even])]
        *signal, missed, known = min(fits, key=lambda fit: float(fit[3].sum()))
        if self._are_positions:
            off = np.sqrt(missed.max(axis=1)) / (window / WINDOW) ** 3
            known &= ~self.faults.update(centres, reach, np.where(known, off, 0.0))
        return Signal(number, *signal).part(known)


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


class Fault(NamedTuple):
    """Samples that count for nothing.

    Attributes:
        known: stamp of the sample by which it shows [ns].
        first, last: stamps [ns] of the first and last of them.
        kind: of its finding.
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
        self._frozen = 0, 0  # stamps [ns] of the beginning and end of what was frozen last
        # Stamps since when a column has not changed, and of the last such time that was judged.
        self._since, self._judged = np.zeros((2, len(turning)), np.int64)
        self._seen = self._jump = 0  # stamps of the newest sample, and of the last jump

    def update(self, centres: IntArray, reach: int, off: Array) -> np.ndarray:
        """Note the faults of samples in the next n bins; True (n,) where a bin must not be used.

        Args:
            centres: (n,) [ns] of the bins; reach: [ns] before and after, in which samples count.
            off: (n,) by how much quartics miss the samples [rad or m].
        """
        part = self._ring.between(self._seen, int(centres[-1]) + reach)
        stamps, rows = self._ring.stamps[part], self._ring.rows[part]
        if len(stamps) > 1:
            if not self._seen:
                self._since[:] = stamps[0]
            self._seen = int(stamps[-1])
            change = np.diff(rows, axis=0)
            change -= TURN * np.round(change / TURN) * self._turning
            stands = (change == 0.0).any(axis=0) | (self._since < stamps[0])
            self._since[~stands] = stamps[-1]
            for column in np.flatnonzero(stands).tolist():
                self._find_frozen(column, stamps, change[:, column])
        for k in np.flatnonzero(off > OFF).tolist():
            first = centre = int(centres[k])
            if off[k] > STEP:
                if centre - self._jump < PAIR_NS:  # between two jumps are positions of other times
                    first = self._jump
                self._jump = centre
            self.new.append(Fault(centre + reach, first, centre, "streams_mixed"))
        hidden = off > OFF
        for first, last in (self._frozen, *((f.first, self._seen) for f in self.lasting.values())):
            hidden |= (centres + reach > first) & (centres - reach < last)
        return hidden

    def _find_frozen(self, column: int, stamps: IntArray, change: Array) -> None:
        """Note where one column has not changed for so long that it must be frozen: in `lasting`
        while that goes on, in `new` where it has ended by a jump."""
        moves = np.flatnonzero(change)
        begins, ends = np.append(self._since[column], stamps[moves + 1]), stamps[[*moves, -1]]
        self._since[column] = begins[-1]
        for k in np.flatnonzero(ends - begins >= GAP_NS).tolist():
            begin, end = int(begins[k]), int(ends[k])
            part = self._ring.between(begin, end + 1)
            if part.stop - part.start < HELD:
                continue
            fault = Fault(self._seen, begin, end, "motion_frozen")
            if self._judged[column] != begin and is_frozen(self._ring, part.start, column):
                self.lasting[column] = fault
            self._judged[column] = begin
            if k < len(moves):
                step = 1e-9 * (int(stamps[moves[k] + 1]) - end)
                is_jump = abs(change[moves[k]]) > STEP + BRAKES * step**2
                if is_jump or column in self.lasting:
                    self.new.append(self.lasting.pop(column, fault)._replace(last=end))
                    self._frozen = begin, end


def is_frozen(ring: Ring, first: int, column: int) -> bool:
    """True where no arm stands still so suddenly as a column of a ring from its sample `first`
    on: it moved at speed."""
    part = slice(max(first - FEW, 0), first + 1)
    values, time = ring.rows[part, column], 1e-9 * (ring.stamps[part] - ring.stamps[first])
    if len(time) <= HELD:
        return False
    speeds = []
    for count in (len(time), HELD):  # an arm that brakes hard is slow at the end
        fit, covariance = np.polyfit(time[-count:], values[-count:], 2, cov=True)
        speeds.append(abs(fit[1]) - 2.0 * np.sqrt(covariance[1, 1]))
    return bool(min(speeds) > max(SLOW, -BRAKES * time[0] / (len(time) - 1)))
