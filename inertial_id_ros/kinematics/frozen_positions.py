# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Positions that freeze: they change no more to the last bit, as those of no arm do.

A driver that has lost its robot repeats the last position with fresh stamps. Where the encoders
have no noise, that cannot be told from an arm that stands still, unless it stops dead: one sample
moves on at full speed, and the next ones not at all. Where they have noise, it ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inertia import Array
from ..signals.ring_buffer import SampleRing

_HOLD_NS, _FEW = 100_000_000, 5  # time and samples without a change after which they are judged
# Times before over which the speed is measured [ns]. The lowest speed counts: an arm that brakes
# hard is slow at the end of the shorter one.
_BEFORE_NS = 40_000_000, 100_000_000
# rad/s or m/s; and rad/s^2 or m/s^2, with which an arm brakes within a sample, and within the
# resolution of its encoders: it may stop from a lower speed.
_SLOW, _BRAKES = 0.03, 15.0
_ROUNDING = 1e-9  # rad or m; what differs by less is equal
_CERTAINLY = 2.0  # standard deviations of the speed
# Samples before and after whose noise is compared, the least noise [rad or m], and the largest
# motion from one to the next, times the noise: coarse encoders then show none in some of them.
_NOISY, _LEAST_NOISE, _WITHIN_NOISE = 20, 5e-6, 3.0
_TURNS = 1.0 / 3.0  # share of successive errors of noise that differ in sign, at least
_KEPT_NS = 60_000_000_000  # what ended before that is forgotten


class Freeze(NamedTuple):
    """Positions that do not change any more.

    Attributes:
        first, last: stamps [ns] of the first and the last of them; while it lasts, of the newest.
        column: that froze; why: no arm does that, in words.
    """

    first: int
    last: int
    column: int
    why: str


class Frozen(NamedTuple):
    """What is frozen now, and why that is none of an arm, in words."""

    what: str
    why: str


class FrozenPositions:
    """Finds what freezes in a stream of positions, in the order of time.

    Args:
        columns: of the positions.
    """

    def __init__(self, columns: int) -> None:
        self._ended: list[Freeze] = []
        self._lasting: dict[int, Freeze] = {}  # by column
        self._since = np.zeros(columns, dtype=np.int64)  # no change since then
        self._judged = np.zeros(columns, dtype=bool)  # whether that was
        self._newest = 0

    def judge(self, ring: SampleRing) -> bool:
        """Judge the samples that came to a ring since the last call; says whether positions that
        were frozen change again."""
        if not len(ring) or ring.newest <= self._newest:
            return False
        known = set(self._ended)
        near = ring.between(self._newest, ring.newest + 1)
        stamps, changed = ring.stamps[near], np.diff(ring.rows[near], axis=0) != 0.0
        if stamps[0] != self._newest:  # the first ones, or those before are no longer kept
            self._ended, self._lasting = [], {}
            self._since, self._judged = np.full_like(self._since, stamps[0]), np.zeros_like(
                self._judged)
        always = changed.all(axis=0)
        for column in np.flatnonzero(always):
            self._end(int(column), int(stamps[0]))
        self._since[always], self._judged[always] = stamps[-1], False
        for column in np.flatnonzero(~always):
            self._judge_column(ring, stamps, np.flatnonzero(changed[:, column]), int(column))
        self._newest = ring.newest
        self._lasting = {k: f._replace(last=ring.newest) for k, f in self._lasting.items()}
        self._ended = [f for f in self._ended if f.last > ring.newest - _KEPT_NS]
        return not known.issuperset(self._ended)

    def _judge_column(self, ring: SampleRing, stamps: np.ndarray, moves: np.ndarray,
                      column: int) -> None:
        """Judge a column that stands still in some steps; `moves` are the others (m,)."""
        begins = np.append(self._since[column], stamps[moves + 1])
        ends = np.append(stamps[moves], stamps[-1])
        if len(moves):
            self._end(column, int(ends[0]))
        for k in np.flatnonzero(ends - begins >= _HOLD_NS).tolist():
            if k == 0 and self._judged[column]:
                continue
            why = _why_frozen(ring, int(begins[k]), int(ends[k]), column)
            if why is not None:
                self._lasting[column] = Freeze(int(begins[k]), int(ends[k]), column, why)
            if k < len(moves):
                self._end(column, int(ends[k]))
        self._judged[column] = self._is_over(ends[-1] - begins[-1], ring, begins[-1])
        self._since[column] = begins[-1]

    def _is_over(self, lasts: int, ring: SampleRing, begin: int) -> bool:
        """Whether a still time of that length [ns] can be judged once and for all."""
        held = ring.between(begin, ring.newest + 1)
        return bool(lasts >= _HOLD_NS and held.stop - held.start >= _NOISY)

    def _end(self, column: int, stamp: int) -> None:
        """Note that a column has changed after a stamp [ns], if it was frozen."""
        freeze = self._lasting.pop(column, None)
        if freeze is not None:
            self._ended.append(freeze._replace(last=stamp))

    @property
    def lasting(self) -> Freeze | None:
        """The earliest freeze that still lasts; None: there is none."""
        return min(self._lasting.values(), default=None)

    @property
    def still(self) -> float:
        """Time [s] for which no column has changed to the last bit."""
        return 1e-9 * (self._newest - int(self._since.max(initial=0)))

    def mask(self, times: np.ndarray, half_ns: int) -> np.ndarray:
        """Which of these times (k,) [ns] have frozen positions within half a window around them."""
        hit = np.zeros(len(times), dtype=bool)
        for freeze in (*self._ended, *self._lasting.values()):
            hit |= (times > freeze.first - half_ns) & (times < freeze.last + half_ns)
        return hit


def _why_frozen(ring: SampleRing, begin: int, end: int, column: int) -> str | None:
    """Why no arm stands still so from `begin` to `end` [ns]; None where one may."""
    held = ring.between(begin, end + 1)
    if held.stop - held.start < _FEW or held.start < _FEW - 1:
        return None
    speed = _stopping_speed(ring, held.start, column)
    if speed is not None:
        return (f"it moved at {speed:.2g}, and from one sample to the next it stands still to the "
                "last bit")
    noise = _noise(ring, held.start, column) if held.stop - held.start >= _NOISY else None
    return None if noise is None else (
        f"it had noise of {noise:.1g}, and from one sample to the next it has none to the last bit")


def _stopping_speed(ring: SampleRing, first_still: int, column: int) -> float | None:
    """Speed of a column just before it stands still at that sample; None where an arm may stop
    so."""
    speeds = []
    stamps, values = ring.stamps[:first_still + 1], ring.rows[:first_still + 1, column]
    for before in _BEFORE_NS:
        first = min(int(np.searchsorted(stamps, stamps[-1] - before)), len(stamps) - _FEW)
        time: Array = 1e-9 * (stamps[first:] - stamps[-1])
        speeds.append(_end_speed(time, values[first:]))
    period = -float(time[0]) / (len(time) - 1)
    changes = np.abs(np.diff(values[first:], 2))
    resolution = changes[changes > _ROUNDING].min(initial=np.inf)
    unseen = np.sqrt(2.0 * _BRAKES * resolution) if np.isfinite(resolution) else 0.0
    speed = min(speeds)
    return speed if speed > max(_SLOW, _BRAKES * period, unseen) else None


def _end_speed(time: Array, values: Array) -> float:
    """Least speed that is likely at time 0, the last, by a parabola through values (n,)."""
    columns = np.stack([time, np.ones(len(time)), time * time], axis=1)
    inverse = np.linalg.pinv(columns)
    solution = inverse @ values
    misfit = values - columns @ solution
    sd = np.sqrt(misfit @ misfit / max(len(time) - 3, 1) * (inverse[0] @ inverse[0]))
    return float(abs(solution[0]) - _CERTAINLY * sd)


def _noise(ring: SampleRing, first_still: int, column: int) -> float | None:
    """Root mean square noise of a column before it stands still at that sample; None where it is
    too little, or coarse encoders could look so."""
    values = ring.rows[max(first_still - _NOISY, 0):first_still + 1, column]
    steps = np.diff(values)
    if len(steps) < _NOISY or not steps.all():
        return None
    time = np.linspace(-1.0, 0.0, len(values))
    line = np.polyfit(time, values, 2)
    error = values - np.polyval(line, time)
    noise = float(np.sqrt(np.mean(error * error)))
    turns = float(np.mean(error[1:] * error[:-1] < 0.0))
    speed = float(np.abs(np.polyval(np.polyder(line), time)).max()) / _NOISY  # per sample
    return noise if noise > max(_LEAST_NOISE, speed / _WITHIN_NOISE) and turns > _TURNS else None
