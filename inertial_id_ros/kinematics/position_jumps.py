# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint positions that no arm can have followed: jumps, and what froze before one.

A driver that loses its robot often repeats the last position with fresh stamps, or labels positions
with the time of other ones. Neither shows while it lasts, since an arm may rest. It shows at the
end, when positions jump to where the arm has been for long: by far more than at the speed before
and after. All positions since they were last known to be right then count for nothing: back to
where a joint stood still to the last bit until it jumped, or to the gap or jump before.

All decisions depend on stamps and positions alone, not on how a stream is cut into pieces.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inertia import Array
from ..signals.ring_buffer import SampleRing
from .polynomial import Spacing

FROZEN, JUMPED, MIXED = "motion_frozen.joints", "joint_states_jumped", "streams_mixed.joints"
# A step below this [rad or m], and that of an arm that starts within a period [rad/s^2], is none.
_FLOOR, _START = 0.01, 10.0
_MARGIN = 8.0  # times the speed of the steps before and after
_BEYOND_LIMIT = 2.0  # times the velocity limit of the robot description
_FASTEST = 100.0  # rad/s or m/s; limits beyond that say nothing
_GAP, _GAP_PERIODS = 0.1, 4.0  # s, and times the usual step: longer ones are gaps
_STILL = 3  # samples at least for which a joint stands still before it counts as frozen
_ZIGZAG = 4  # successive steps back and forth that no arm makes
# Time before [ns] of which the lower quartile of second differences tells the noise, steps that
# exceed it by this factor, and the largest step that may be noise [rad or m].
_ROUGH_NS, _ROUGH, _ROUGHEST = 2_000_000_000, 12.0, 0.05
_ENOUGH = 20  # second differences that tell the noise
_PAIR_NS = 10_000_000_000  # between two gaps or jumps all positions may be those of other times
_MIXED_NS = 500_000_000  # of positions that contradict each other, until none is used at all
_KEPT_NS = 4_000_000_000_000  # spans older than that are forgotten


class Span(NamedTuple):
    """Positions that count for nothing.

    Attributes:
        first, last: stamps [ns] of the first and the last of them; shown: stamp at which it showed.
        name: of the finding; joint: number of the joint; step: by which it jumped [rad or m].
    """

    first: int
    last: int
    shown: int
    name: str
    joint: int
    step: float


class _Steps(NamedTuple):
    """Successive samples: stamps (n,) [ns]; time (n - 1,) [s] and signed change (n - 1, joints)
    from each to the next."""

    stamps: np.ndarray
    time: Array
    change: Array


class PositionJumps:
    """Finds the spans of a stream of joint positions, in the order of time.

    Args:
        limits: (joints,) of the speed [rad/s or m/s]; zero or infinite where unknown.
        turning: (joints,) which of them may be told a turn apart.

    Attributes:
        spans: found so far.
    """

    def __init__(self, limits: Array, turning: np.ndarray) -> None:
        self._limits = np.where((limits > 0.0) & (limits < _FASTEST), limits, np.inf)
        self._turning = turning
        self.spans: list[Span] = []
        self._judged: int | None = None  # stamp of the newest sample that was judged
        self._still_since = np.zeros(len(self._turning), dtype=np.int64)
        self._before: tuple[int, int, bool] | None = None  # last gap or jump; whether it is a jump
        self._contradictions: list[Span] = []  # that came since the last call of `judge`

    def judge(self, ring: SampleRing, spacing: Spacing, context_ns: int) -> list[Span]:
        """Judge the steps of a ring after which it holds all that is needed; gives new spans.

        Args:
            context_ns: before and after a step, within which its speed is compared.
        """
        steps, new = self._steps(ring, self._judged, context_ns)
        ready = int(np.searchsorted(steps.stamps, ring.newest - context_ns, side="right")) - 1
        if ready <= new and self._judged is not None:
            return []
        if self._judged is None:
            self._judged = int(steps.stamps[0])
            self._still_since[:] = self._judged
        self.spans = [s for s in self.spans if s.last > ring.newest - _KEPT_NS]
        known = len(self.spans)
        for k in _candidates(steps, new, spacing):
            if k < ready:
                self._add_contradictions(int(steps.stamps[k]), context_ns)
                self._add(self._judge_step(ring, steps, k, spacing, context_ns), context_ns)
        if ready > 0:
            self._note_still(steps, int(steps.stamps[ready]))
        self._add_contradictions(ring.newest, context_ns)
        return self.spans[known:]

    def contradict(self, ring: SampleRing, stamp_ns: int, row: Array) -> None:
        """Note a sample (joints,) that came too late for the ring, if it says something else about
        its time than the ring does."""
        at = int(np.searchsorted(ring.stamps, stamp_ns))
        if not 0 < at < len(ring):
            return
        (before, after), near = ring.stamps[at - 1:at + 1].tolist(), ring.rows[at - 1:at + 1]
        share = (stamp_ns - before) / (after - before)
        off = self._without_turns(row - (near[0] + share * self._without_turns(near[1] - near[0])))
        joint = int(np.argmax(np.abs(off)))
        if abs(off[joint]) > _FLOOR + np.abs(near[1] - near[0])[joint]:
            self._contradictions.append(Span(stamp_ns, ring.newest, ring.newest, MIXED, joint,
                                             float(off[joint])))

    def mixed(self, newest_ns: int) -> Span | None:
        """The span of positions that have contradicted each other for a while, up to now; None
        where they do not."""
        span = self.spans[-1] if self.spans else None
        if (span is None or span.name != MIXED or newest_ns - span.last > _MIXED_NS
                or span.last - span.first < _MIXED_NS):
            return None
        return span

    def _add_contradictions(self, until: int, context_ns: int) -> None:
        """Add the spans of contradictions that showed by then [ns]."""
        while self._contradictions and self._contradictions[0].shown <= until:
            span = self._contradictions.pop(0)
            first = span.first
            if self._before is not None and span.shown - self._before[1] <= _PAIR_NS:
                first = min(first, self._before[0])
            self._before = first, span.last, True
            self._add([span._replace(first=first)], context_ns)

    def _add(self, spans: list[Span], context_ns: int) -> None:
        """Add new spans; one that goes on where the last one ended only lengthens it."""
        for span in spans:
            last = self.spans[-1] if self.spans else None
            if (last is not None and last.name == span.name and span.first >= last.first
                    and span.shown - last.last <= 2 * context_ns):
                self.spans[-1] = last._replace(last=max(last.last, span.last))
            else:
                self.spans.append(span)

    def doubtful(self, ring: SampleRing, spacing: Spacing, context_ns: int,
                 end_ns: int | None = None) -> list[Span]:
        """The steps that are not judged yet, of samples before `end_ns`, and may be jumps."""
        steps, new = self._steps(ring, self._judged, context_ns, end_ns)
        return [Span(int(steps.stamps[k]), int(steps.stamps[k + 1]), 0, JUMPED, 0, 0.0)
                for k in _candidates(steps, new, spacing)
                if self._is_doubtful(ring, steps, k, spacing, context_ns)]

    def mask(self, times: np.ndarray, half_ns: int, tail: list[Span]) -> np.ndarray:
        """Which of these times (k,) [ns] have such positions within half a window around them.

        Args:
            tail: further spans.
        """
        hit = np.zeros(len(times), dtype=bool)
        if not len(times):
            return hit
        first, last = int(times[0]) - half_ns, int(times[-1]) + half_ns
        for span in [*self.spans, *tail]:
            if span.last > first and span.first < last:
                hit |= (times > span.first - half_ns) & (times < span.last + half_ns)
        return hit

    def _steps(self, ring: SampleRing, since: int | None, context_ns: int,
               end_ns: int | None = None) -> tuple[_Steps, int]:
        """The samples of a ring from some time before `since` on, and the first step after it."""
        end = ring.newest + 1 if end_ns is None else end_ns
        first = int(ring.stamps[0]) if since is None else since - context_ns
        near = ring.between(first, end)
        stamps, change = ring.stamps[near], np.diff(ring.rows[near], axis=0)
        if np.abs(change).max(initial=0.0) > np.pi:
            change = self._without_turns(change)
        new = 0 if since is None else int(np.searchsorted(stamps, since))
        return _Steps(stamps, np.diff(stamps) * 1e-9, change), new

    def _without_turns(self, change: Array) -> Array:
        """Changes (..., joints) without whole turns, which drivers count differently."""
        turns = np.round(change / (2.0 * np.pi)) * self._turning
        return np.asarray(change - 2.0 * np.pi * turns)

    def _note_still(self, steps: _Steps, until: int) -> None:
        """Note since when each joint stands still to the last bit, at the sample with this stamp,
        which is judged then."""
        low, high = np.searchsorted(steps.stamps, [self._judged or 0, until])
        moved = steps.change[low:high] != 0.0
        for joint in np.flatnonzero(moved.any(axis=0)):
            last = low + int(np.flatnonzero(moved[:, joint])[-1])
            self._still_since[joint] = steps.stamps[last + 1]
        self._judged = until

    def _goes_to_and_fro(self, ring: SampleRing, steps: _Steps, k: int) -> np.ndarray:
        """Which joints go back and forth in the steps from k on, as many as there are of those that
        count, by more than their noise in the seconds before."""
        turning = _zigzag(steps.change[k:k + _ZIGZAG], np.full(len(self._turning), _FLOOR))
        if not turning.any():
            return turning
        now = int(steps.stamps[k])
        rough = np.abs(np.diff(ring.rows[ring.between(now - _ROUGH_NS, now)], 2, axis=0))
        floor = (np.clip(_ROUGH * np.quantile(rough, 0.25, axis=0), _FLOOR, _ROUGHEST)
                 if len(rough) >= _ENOUGH else np.full(len(turning), _ROUGHEST))
        return _zigzag(steps.change[k:k + _ZIGZAG], floor)

    def _is_doubtful(self, ring: SampleRing, steps: _Steps, k: int, spacing: Spacing,
                     context_ns: int) -> bool:
        """Whether step k may be a jump or part of a zigzag, by what is known by now."""
        if _is_gap(steps.time[k], spacing):
            return bool(self._beyond_limit(steps, k, spacing).any())
        before = _speed(steps, k, spacing, context_ns, ahead=False)
        size = np.abs(steps.change[k])
        turns = (1 < len(steps.change[k:]) < _ZIGZAG
                 and bool(self._goes_to_and_fro(ring, steps, k).any()))
        allowed = _allowed(np.nan_to_num(before), steps.time[k], spacing)
        return bool((size > allowed).any()) or turns

    def _judge_step(self, ring: SampleRing, steps: _Steps, k: int, spacing: Spacing,
                    context_ns: int) -> list[Span]:
        """The span that ends with step k, if it is a jump; its end, if it is a gap."""
        stamp, after = int(steps.stamps[k]), int(steps.stamps[k + 1])
        beyond = self._beyond_limit(steps, k, spacing)
        before = self._before
        if _is_gap(steps.time[k], spacing) and not beyond.any():
            self._before = stamp, after, False
            if before is None or not before[2] or stamp - before[1] > _PAIR_NS:
                return []
            return [Span(before[0], after, after, JUMPED, 0, 0.0)]
        turns = (self._goes_to_and_fro(ring, steps, k) if len(steps.change[k:]) >= _ZIGZAG
                 else np.zeros(len(beyond), dtype=bool))
        speed = np.fmax(_speed(steps, k, spacing, context_ns, ahead=False),
                        _speed(steps, k, spacing, context_ns, ahead=True))
        size = np.abs(steps.change[k])
        jumped = (size > _allowed(speed, steps.time[k], spacing)) | beyond | turns
        if not jumped.any():
            return []
        self._note_still(steps, stamp)
        joint = int(np.argmax(np.where(jumped, size, -1.0)))
        step = float(steps.change[k, joint])
        still = min(self._still_since[jumped].tolist())
        if not turns.any() and stamp - still >= (_STILL - 1) * 1e9 * spacing.period * 0.9:
            self._before = None
            return [Span(still, after, after, FROZEN, joint, step)]
        first = stamp
        if before is not None and stamp - before[1] <= _PAIR_NS:
            first = before[0]
        self._before = (stamp, after, True)
        last = int(steps.stamps[min(k + (_ZIGZAG if turns.any() else 1), len(steps.stamps) - 1)])
        return [Span(first, last, after, MIXED if turns.any() else JUMPED, joint, step)]

    def _beyond_limit(self, steps: _Steps, k: int, spacing: Spacing) -> np.ndarray:
        """Which joints (joints,) would have moved faster in step k than the robot can."""
        time = steps.time[k] + 2.0 * max(spacing)  # stamps jitter, and come in bursts
        return np.asarray(
            np.abs(steps.change[k]) > _ROUGHEST + _BEYOND_LIMIT * self._limits * time)


def _candidates(steps: _Steps, first: int, spacing: Spacing) -> list[int]:
    """The steps from a number on that are large enough to be a jump, or a gap."""
    some = (np.abs(steps.change[first:]).max(axis=1, initial=0.0) > _FLOOR) | _is_gap(
        steps.time[first:], spacing)
    return (first + np.flatnonzero(some)).tolist()


def _is_gap(time: Array, spacing: Spacing) -> np.ndarray:
    """Which steps of these times [s] leave out samples."""
    return np.asarray(time > max(_GAP, _GAP_PERIODS * max(spacing)))


def _allowed(speed: Array, time: float, spacing: Spacing) -> Array:
    """Largest step (joints,) within a time [s] at a speed (joints,) before and after it; NaN, which
    no step exceeds, where that is not known."""
    return np.asarray(_FLOOR + _START * spacing.period**2
                      + _MARGIN * speed * max(time, spacing.period))


def _speed(steps: _Steps, k: int, spacing: Spacing, context_ns: int, ahead: bool) -> Array:
    """Usual speed (joints,) of the steps before or after step k; NaN where there are none."""
    if ahead:
        low, high = k + 1, int(np.searchsorted(
            steps.stamps, steps.stamps[k + 1] + context_ns, side="right")) - 1
    else:
        low, high = int(np.searchsorted(steps.stamps, steps.stamps[k] - context_ns)), k
    if high <= low:
        return np.full(steps.change.shape[1], np.nan)
    time = np.maximum(steps.time[low:high], spacing.period)[:, None]
    speeds = np.sort(np.abs(steps.change[low:high]) / time, axis=0)
    middle = len(speeds) // 2  # numpy.median takes six times as long for so few
    return np.asarray(speeds[middle] if len(speeds) % 2
                      else 0.5 * (speeds[middle - 1] + speeds[middle]))


def _zigzag(change: Array, floor: Array) -> np.ndarray:
    """Which joints go back and forth in all of these steps (n, joints), by more than `floor`
    (joints,)."""
    signs = np.where(np.abs(change) > floor, np.sign(change), 0.0)
    return np.asarray((signs[1:] * signs[:-1] < 0.0).all(axis=0))
