# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Positions that stop dead: frozen, since no arm brakes within one sample.

A driver that has lost its robot repeats the last position with fresh stamps. At rest that cannot be
told from an arm that stands still. In motion it can: one sample moves on at full speed, and from
the next on nothing changes to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inertia import Array
from ..signals.ring_buffer import SampleRing

_HOLD_NS, _FEW = 100_000_000, 5  # time and samples without a change after which a stop is judged
# Times before a stop over which its speed is measured [ns]. The lowest speed counts: an arm that
# brakes hard is slow at the end of the shorter one.
_BEFORE_NS = 40_000_000, 100_000_000
# rad/s or m/s; and rad/s^2 or m/s^2, with which an arm brakes within a sample, and within the
# resolution of its encoders: it may stop from a lower speed.
_SLOW, _BRAKES = 0.03, 20.0
_ROUNDING = 1e-9  # rad or m; what differs by less is equal
_CERTAINLY = 2.0  # standard deviations of the speed
_KEPT_NS = 60_000_000_000  # stops that ended before that are forgotten


class DeadStop(NamedTuple):
    """Positions that stand still after a dead stop.

    Attributes:
        first, last: stamps [ns] of the first and the last that stood still; while that lasts, of
            the newest one.
        column: that stopped; speed: it had [rad/s or m/s].
    """

    first: int
    last: int
    column: int
    speed: float


class Frozen(NamedTuple):
    """What is frozen, in words, and the speed it had [rad/s or m/s]."""

    what: str
    speed: float


class DeadStops:
    """Finds dead stops in a stream of positions, in the order of time.

    Args:
        columns: of the positions.
    """

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self.restart()

    def restart(self) -> None:
        """Forget the stream."""
        self._ended: list[DeadStop] = []
        self._lasting: dict[int, DeadStop] = {}  # by column
        self._since = np.zeros(self._columns, dtype=np.int64)  # no change since then
        self._judged = np.zeros(self._columns, dtype=bool)  # whether that stop was
        self._newest = 0

    def judge(self, ring: SampleRing) -> bool:
        """Judge the samples that came to a ring since the last call; says whether a stop ended."""
        if not len(ring) or ring.newest <= self._newest:
            return False
        known = set(self._ended)
        near = ring.between(self._newest, ring.newest + 1)
        stamps, changed = ring.stamps[near], np.diff(ring.rows[near], axis=0) != 0.0
        if stamps[0] != self._newest:  # the first ones, or those before are no longer kept
            self.restart()
            self._since[:] = stamps[0]
        always = changed.all(axis=0)
        for column in np.flatnonzero(always):
            self._end(int(column), int(stamps[0]))
        self._since[always], self._judged[always] = stamps[-1], False
        for column in np.flatnonzero(~always):
            self._judge_column(ring, stamps, np.flatnonzero(changed[:, column]), int(column))
        self._newest = ring.newest
        self._lasting = {k: s._replace(last=ring.newest) for k, s in self._lasting.items()}
        self._ended = [s for s in self._ended if s.last > ring.newest - _KEPT_NS]
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
            speed = _speed_before(ring, int(begins[k]), int(ends[k]), column)
            if speed is not None:
                self._lasting[column] = DeadStop(int(begins[k]), int(ends[k]), column, speed)
            if k < len(moves):
                self._end(column, int(ends[k]))
        self._judged[column] = (ends[-1] - begins[-1] >= _HOLD_NS)
        self._since[column] = begins[-1]

    def _end(self, column: int, stamp: int) -> None:
        """Note that a column has moved on after a stamp [ns], if it had stopped dead."""
        stop = self._lasting.pop(column, None)
        if stop is not None:
            self._ended.append(stop._replace(last=stamp))

    @property
    def lasting(self) -> DeadStop | None:
        """The earliest of the stops that still last; None where all columns move, or rest."""
        return min(self._lasting.values(), default=None)

    @property
    def still(self) -> float:
        """Time [s] for which no column has changed to the last bit."""
        return 1e-9 * (self._newest - int(self._since.max(initial=0)))

    def mask(self, times: np.ndarray, half_ns: int) -> np.ndarray:
        """Which of these times (k,) [ns] have a stop within half a window around them."""
        hit = np.zeros(len(times), dtype=bool)
        for stop in (*self._ended, *self._lasting.values()):
            hit |= (times > stop.first - half_ns) & (times < stop.last + half_ns)
        return hit


def _speed_before(ring: SampleRing, begin: int, end: int, column: int) -> float | None:
    """Speed of a column just before it stops at `begin` [ns]; None where an arm may stop so, or too
    few samples tell."""
    held = ring.between(begin, end + 1)
    if held.stop - held.start < _FEW:
        return None
    speeds = []
    for before in _BEFORE_NS:
        last = held.start + 1
        first = min(ring.between(begin - before, begin).start, last - _FEW)
        if first < 0:
            return None
        time: Array = 1e-9 * (ring.stamps[first:last] - begin)
        speeds.append(_end_speed(time, ring.rows[first:last, column]))
    period = -float(time[0]) / (len(time) - 1)
    changes = np.abs(np.diff(ring.rows[first:last, column], 2))
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
