# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The next motion: of many that the limits allow, what lowers the uncertainty most per second.

Candidates are random moves from rest to rest around the present pose; the best are varied, and the
best of those. There are single moves; a few to and fro; and swings, which first go to a pose and
then there to and fro, where the first move pays only with those that follow. Wrist joints come
first: the other joints move only where no motion of the wrist helps. Of a long plan only the first
seconds are made before the next is planned. Gain is the sum over parameters of the logarithm by
which their standard deviations fall towards those that are wanted; what is known well enough counts
no more.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import NamedTuple

import numpy as np

from ....errors import InvalidData
from ....identification.accuracy_goal import AccuracyGoal
from ....inertia import Array
from ..arm import Arm
from .knowledge import STEP, Knowledge, motion_products
from .planned_motion import (
    MotionLimits,
    Pace,
    PlannedMotion,
    RestToRest,
    describe_motion,
    shortest_moves,
)

DRAWN, VARIED = 48, 6  # motions of a kind; variations of each
_SPREAD = 0.25  # of a variation, relative to a move
_SWINGS = 4  # moves to and fro, after the one to their pose
_AT_ONCE = 0.3  # of the swings have no way to go first
_TINY = 1e-9


class Kind(Enum):
    """A kind of motion: number of moves, and whether all but the first go to and fro."""

    ONE = (1, False)
    TO_AND_FRO = (2, True)
    TWICE = (4, True)
    SWING = (1 + _SWINGS, True)

    @property
    def moves(self) -> int:
        """Number of moves."""
        return self.value[0]

    @property
    def has_way_first(self) -> bool:
        """Whether the first move is of its own."""
        return self is Kind.SWING


class Draw(NamedTuple):
    """Random motions from a start (joints,) of some joints (a,), by their indices.

    Attributes:
        steps: smallest and largest move [rad].
    """

    start: Array
    active: Array
    steps: tuple[float, float]
    rng: np.random.Generator

    def poses(self, kind: Kind) -> Array:
        """Poses (c, k + 1, joints) of random motions."""
        rng, size = self.rng, (DRAWN, kind.moves, len(self.active))
        direction = rng.normal(size=size)
        # Some turn few joints: a single one may go farther.
        direction *= rng.random((DRAWN, 1, size[2])) < rng.choice([0.35, 1.0], (DRAWN, 1, 1))
        low, high = np.log(self.steps)
        length = np.exp(rng.uniform(low, high, (*size[:2], 1)))
        steps = length * direction / np.maximum(_norm(direction), _TINY)
        if kind.has_way_first:
            steps[: int(_AT_ONCE * DRAWN), 0] = 0.0
        return self._poses(_to_and_fro(steps, kind))

    def vary(self, poses: Array, kind: Kind) -> Array:
        """Variations (c, k + 1, joints) of the poses of motions; no move becomes too small."""
        steps = np.diff(np.repeat(poses[:, :, self.active], VARIED, axis=0), axis=1)
        there = _norm(steps) > 0.0
        size = _SPREAD * np.abs(steps).max(axis=2, keepdims=True)
        steps = steps + size * self.rng.normal(size=steps.shape)
        steps *= np.where(there, np.maximum(self.steps[0] / np.maximum(_norm(steps), _TINY), 1.0),
                          0.0)
        return self._poses(_to_and_fro(steps, kind))

    def _poses(self, steps: Array) -> Array:
        """Poses that steps (c, k, a) lead to."""
        out = np.tile(self.start, (len(steps), steps.shape[1] + 1, 1))
        out[:, 1:, self.active] += np.cumsum(steps, axis=1)
        return out


def _to_and_fro(steps: Array, kind: Kind) -> Array:
    """Steps (c, k, a), those that a kind has to and fro made each the opposite of the one before.
    """
    _, repeated = kind.value
    if repeated:
        first = 1 if kind.has_way_first else 0
        sign = np.where(np.arange(kind.moves - first) % 2 == 0, 1.0, -1.0)
        steps[:, first:] = steps[:, first:first + 1] * sign[:, None]
    return steps


def _norm(steps: Array) -> Array:
    """Lengths (c, k, 1) of steps."""
    return np.asarray(np.linalg.norm(steps, axis=2, keepdims=True))


WRIST = 3  # joints before the frame that move first
_LONGEST = 4.0  # s, of a motion: what goes on where nobody can stop it any more
_HORIZON = 16.0  # s, of a plan, of which the first motion is made before the next is planned
_KINDS, _BY_HAND = tuple(Kind), (Kind.ONE, Kind.TO_AND_FRO, Kind.TWICE)
_KEPT, _ROUNDS = 5, 2  # candidates that are varied, and how often
_STEPS = (0.2, 3.0)  # rad, of a move: drawn evenly in the logarithm
_STEPS_BY_HAND = (0.35, 1.3)  # rad
_REST = 0.2  # s before and after a motion, that its rows hold
_PAUSE, _PAUSE_BY_HAND = 1.0, 5.0  # s that pass after a motion until the next one begins
_DENSE = 0.01  # s between the poses at which shapes are compared
_POINTS = 0.02  # s between points of a trajectory
_TRIES = 12  # candidates of a kind, best first, whose shapes are compared
_LEAST_GAIN = 0.02  # nats a second: less is not worth a motion of the wrist
# Of mass, each coordinate of its centre, each entry of the inertia: what takes six numbers must not
# count more than what takes one, since slow motions with a poor sensor never tell it.
_WEIGHTS = np.repeat([1.0, 1.0 / 3.0, 1.0 / 6.0], [1, 3, 6])
_FLOOR_OF_GAIN = 0.8  # of the wanted standard deviation: beyond that nothing is gained
_SLACK = 0.02  # rad from the limits of position


class _Candidates(NamedTuple):
    """Motions of a kind: poses (c, k + 1, joints), durations and ramps (c, k) [s], gains (c,)
    [nats/s]."""

    poses: Array
    durations: Array
    ramps: Array
    gains: Array

    def best(self, count: int) -> _Candidates:
        """The best of them, best first."""
        order = np.argsort(-self.gains)[:count]
        return _Candidates(*(part[order] for part in self))


class _Aim(NamedTuple):
    """Standard deviations (10,) that are wanted, and the pause after a motion [s]."""

    wanted: Array
    pause: float


class _Plan(NamedTuple):
    """A motion, which may be too long to be made at once; gain: [nats/s]."""

    gain: float
    motion: RestToRest


class MotionPlanner:
    """Plans motions of a robot from rest to rest.

    Args:
        arm: the robot with payload and surroundings.
        limits: of every motion.
        home: (joints,) pose around which all motions stay [rad or m].

    Raises:
        InvalidData: the pose itself is beyond the limits.
    """

    def __init__(self, arm: Arm, limits: MotionLimits, home: Array) -> None:
        self._arm, self._limits = arm, limits
        names = list(arm.joint_names)
        self._chain = np.array([names.index(name) for name in arm.chain])
        # Between the poses that are compared, shapes come nearer by no more than this.
        between = limits.link_speed * _DENSE
        self._shapes = arm.collision_shapes(home, self._chain, limits.clearance + between)
        self._lower = np.maximum(arm.lower + _SLACK, home - limits.range)
        self._upper = np.minimum(arm.upper - _SLACK, home + limits.range)
        problem = self.find_problem(home[None], np.zeros((1, len(home))), np.zeros((1, len(home))))
        if problem:
            raise InvalidData(f"no motion can start here: {problem}")

    def next_motion(self, start: Array, knowledge: Knowledge, goal: AccuracyGoal, seed: int = 0,
                    by_hand: bool = False) -> PlannedMotion:
        """The motion from a pose (joints,) that lowers the uncertainty most per second.

        Args:
            goal: accuracy that is wanted; seed: of the candidates.
            by_hand: large moves, one or to and fro, as a person can make them who is told their
                words.

        Raises:
            InvalidData: no motion from there is within the limits.
        """
        aim = _Aim(knowledge.still_to_show(goal), _PAUSE_BY_HAND if by_hand else _PAUSE)
        kinds, steps = (_BY_HAND, _STEPS_BY_HAND) if by_hand else (_KINDS, _STEPS)
        best: _Plan | None = None
        for active in (self._chain[-WRIST:], self._chain):
            draw = Draw(start, active, steps, np.random.default_rng(seed))
            found = self._best_of(draw, kinds, knowledge, aim)
            if found is not None and (best is None or found.gain > best.gain):
                best = found
            if best is not None and best.gain > _LEAST_GAIN:
                break
        if best is None:
            raise InvalidData("no motion from this pose is within the limits: move the arm to "
                              "where it has more room")
        motion = self._as_planned(best.motion.begin(_LONGEST))
        return replace(motion, expected_sigma=self.knowledge_after(
            knowledge, motion, start).total_sigma())

    def knowledge_after(self, knowledge: Knowledge, motion: PlannedMotion, start: Array
                        ) -> Knowledge:
        """What will be known after a motion from a pose (joints,)."""
        times = _instants(motion.duration)
        state = [np.tile(pose, (len(times), 1)) for pose in (start, 0.0 * start, 0.0 * start)]
        for part, values in zip(state, motion.sample(times), strict=True):
            part[:, self._chain] = values
        return knowledge.after(self._arm.frame_motion(*state))

    def find_problem(self, q: Array, dq: Array, ddq: Array) -> str:
        """What joint motion (n, joints) exceeds, in words; empty where nothing."""
        arm, limits = self._arm, self._limits
        if np.isfinite(limits.floor):
            height = arm.links.links_at(q, dq).height.min(axis=0)
            height[~arm.links.rises] = np.inf
            if height.min() < limits.floor:
                return f"{arm.links.names[int(np.argmin(height))]} would be below the floor"
        strong = np.isfinite(arm.effort)
        torque = np.abs(arm.torque(q, dq, ddq)).max(axis=0)
        over = strong & (torque > limits.share * arm.effort)
        if over.any():
            joint = int(np.argmax(over))
            return (f"{arm.joint_names[joint]} would need {torque[joint]:.3g} N m, and may have "
                    f"{limits.share * arm.effort[joint]:.3g}")
        near = self._shapes.near(q).any(axis=0)
        if near.any():
            return "{} would come near {}".format(*self._shapes.pairs[int(np.argmax(near))])
        return ""

    def _best_of(self, draw: Draw, kinds: tuple[Kind, ...], knowledge: Knowledge, aim: _Aim
                 ) -> _Plan | None:
        """The best plan of some joints; None where the limits allow none."""
        pool = []
        for kind in kinds:
            drawn = found = self._evaluate(self._within(draw.poses(kind), draw), knowledge, aim)
            for _ in range(_ROUNDS):
                varied = self._within(draw.vary(found.best(_KEPT).poses, kind), draw)
                more = self._evaluate(varied, knowledge, aim)
                found = _Candidates(*(np.concatenate(parts) for parts in zip(
                    found.best(_KEPT), more, strict=True)))
            pool += [_Plan(float(gain), RestToRest(poses, Pace(*pace)))
                     for part in (found, drawn)  # variations of a few may all be in the way
                     for poses, *pace, gain in zip(*part.best(_TRIES), strict=True)
                     if np.isfinite(gain)]
        pool.sort(key=lambda plan: -plan.gain)
        for plan in pool:
            motion = plan.motion
            state = motion(np.linspace(0.0, motion.duration, int(motion.duration / _DENSE) + 2))
            if not self.find_problem(*state):
                return plan
        return None

    def _within(self, poses: Array, draw: Draw) -> Array:
        """The poses, but for the first of each motion within the limits of position."""
        active = draw.active
        poses[:, 1:, active] = np.clip(poses[:, 1:, active], self._lower[active],
                                       self._upper[active])
        return poses

    def _evaluate(self, poses: Array, knowledge: Knowledge, aim: _Aim) -> _Candidates:
        """Durations and gains of motions through poses (c, k + 1, joints)."""
        count, moves = len(poses), poses.shape[1] - 1
        joints = poses.shape[2]
        pace = Pace(*(part.reshape(count, moves) for part in shortest_moves(
            self._arm, self._limits, poses[:, :-1].reshape(-1, joints),
            poses[:, 1:].reshape(-1, joints))))
        total = pace.durations.sum(axis=1)
        within = (total <= _HORIZON) & (pace.durations.max(axis=1) <= _LONGEST) & (
            np.abs(np.diff(poses, axis=1)).max(axis=(1, 2)) > 0.0)
        gains = np.full(count, -np.inf)
        if within.any():
            gains[within] = self._gains(
                [RestToRest(q, Pace(*own)) for q, *own in zip(
                    poses[within], *(part[within] for part in pace), strict=True)],
                knowledge, aim)
        return _Candidates(poses, *pace, gains)

    def _gains(self, motions: list[RestToRest], knowledge: Knowledge, aim: _Aim) -> Array:
        """Gains (c,) [nats/s] of motions."""
        total = np.array([motion.duration for motion in motions])
        joints = motions[0].poses.shape[1]
        times = _instants(float(total.max()))
        state = np.stack([motion(times) for motion in motions], axis=1)
        motion = self._arm.frame_motion(*state.reshape(3, -1, joints))
        lengths = np.array([len(_instants(duration)) for duration in total.tolist()])
        sigma = knowledge.sigma(motion_products(motion, lengths, knowledge.sensor))
        gained = _missing(knowledge.sigma(), aim.wanted) - _missing(sigma, aim.wanted)
        return gained / (total + aim.pause)

    def _as_planned(self, motion: RestToRest) -> PlannedMotion:
        """Points of the joints that move the frame."""
        ends = np.concatenate([[0.0], np.cumsum(motion.pace.durations)])
        parts = [np.linspace(a, b, max(int(np.ceil((b - a) / _POINTS)), 2) + 1)[1:]
                 for a, b in zip(ends[:-1], ends[1:], strict=True)]
        stamps = np.concatenate([[0.0], *parts])
        q, dq, ddq = (part[:, self._chain] for part in motion(stamps))
        dq[[0, -1]] = ddq[[0, -1]] = 0.0  # what is left there is rounding
        names = tuple(self._arm.joint_names[j] for j in self._chain)
        return PlannedMotion(names, stamps, q, dq, ddq,
                             words=describe_motion(names, motion.poses[:, self._chain]))


def _instants(duration: float) -> Array:
    """Times (n,) [s] at which the rows of a motion are computed, rests before and after included.
    """
    count = int(np.ceil((duration + 2.0 * _REST) / STEP))
    return (np.arange(count) + 0.5) * STEP - _REST


def _missing(sigma: Array, wanted: Array) -> Array:
    """How far standard deviations (..., 10) are from those that are wanted [nats]; where all are
    reached, how far they are from zero matters a little."""
    asked = np.isfinite(wanted)
    share = sigma[..., asked] / wanted[asked]
    beyond = np.log(np.maximum(share, _FLOOR_OF_GAIN))
    return np.asarray((beyond + 1e-3 * np.log(share)) @ _WEIGHTS[asked])
