# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The next motion: of many that the limits allow, what gains most information per second.

Candidates are random moves from rest to rest around the present pose: single moves; a few to and
fro; and swings, which first go to a pose and then there to and fro, where the first move pays only
with those that follow. Wrist joints come first: the other joints move only where no motion of the
wrist helps. Of a long plan only the first seconds are made before the next is planned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ...errors import InvalidData
from ...inertia import Array
from .arm import Arm
from .knowledge import STEP, WEIGHTS, Knowledge
from .motions import MotionLimits, PlannedMotion, RestToRest, shortest_moves
from .violations import violations

DRAWN = 144  # motions of a kind
AT_ONCE = 0.3  # of the swings have no way to go first
TINY = 1e-9
WRIST = 3  # joints before the frame that move first
LONGEST = 4.0  # s, of a motion: what goes on where nobody can stop it any more
HORIZON = 16.0  # s, of a plan, of which the first motion is made before the next is planned
REST = 0.2  # s before and after a motion, that its rows hold
TRIES = 12  # candidates of a kind, best first, that are checked
LEAST_GAIN = 0.02  # nats a second: less is not worth a motion of the wrist
SLACK = 0.02  # rad from the limits of position
STEPS = (0.2, 3.0)  # rad, smallest and largest move
PAUSE = 1.0  # s after a motion
# Kinds of motions: number of moves, and index of the first of those that go to and fro.
ONE, TO_AND_FRO, TWICE, SWING = KINDS = ((1, 1), (2, 0), (4, 0), (5, 1))


class Goal(Protocol):
    """What motions are planned for, with what is known of it."""

    @property
    def spread(self) -> float:
        """Geometric mean of the standard deviations of the parameters, in some unit."""
        ...

    def gains(self, motions: list[RestToRest]) -> Array:
        """Information (c,) that each of c motions brings [nats/s]."""
        ...

    def after(self, motion: RestToRest) -> Goal:
        """The same after a motion."""
        ...


class Payload(NamedTuple):
    """A payload on an arm, to be known to standard deviations (10,) of mass, centre of mass and
    inertia about it; infinite where nothing is wanted.

    Gain is the sum over parameters of the logarithm by which their standard deviations fall towards
    those that are wanted; what is known well enough counts no more.
    """

    arm: Arm
    knowledge: Knowledge
    wanted: Array

    @property
    def spread(self) -> float:
        """See `Goal`; in units of what is wanted, each kind of parameter once."""
        return float(np.exp(self.knowledge.missing(self.wanted) / WEIGHTS.sum()))

    def gains(self, motions: list[RestToRest]) -> Array:
        """See `Goal`."""
        total = np.array([motion.duration for motion in motions])
        times = _instants(float(total.max()))
        state = np.stack([motion.at(times) for motion in motions], axis=1)
        motion = self.arm.motion(*state.reshape(3, -1, state.shape[-1]))
        lengths = np.array([len(_instants(duration)) for duration in total.tolist()])
        added = self.knowledge.information_of(motion, lengths)
        gained = self.knowledge.missing(self.wanted) - self.knowledge.missing(self.wanted, added)
        return np.asarray(gained / (total + PAUSE))

    def after(self, motion: RestToRest) -> Payload:
        """See `Goal`."""
        state = motion.at(_instants(motion.duration))
        return self._replace(knowledge=self.knowledge.after(self.arm.motion(*state)))


class Plan(NamedTuple):
    """A motion, which may be too long to be made at once; gain: [nats/s]."""

    gain: float
    motion: RestToRest


class MotionPlanner:
    """Plans motions of a robot from rest to rest.

    Args:
        arm: the robot with payload and surroundings; limits: of every motion.
        home: (joints,) pose around which all motions stay [rad or m].

    Raises:
        InvalidData: the pose itself is beyond the limits.
    """

    def __init__(self, arm: Arm, limits: MotionLimits, home: Array) -> None:
        self._arm, self._limits = arm, limits
        chain = arm.index(arm.chain)
        self._wrist_first = chain[-WRIST:], chain
        self._lower = np.maximum(arm.lower + SLACK, home - limits.range)
        self._upper = np.minimum(arm.upper - SLACK, home + limits.range)
        still = np.tile(home[chain], (2, 1))
        rest = PlannedMotion(arm.chain, np.array([0.0, 0.1]), still, 0.0 * still, 0.0 * still)
        if problems := violations(arm, rest, home, limits):
            raise InvalidData(f"no motion can start here: {problems[0]}")

    def next_motion(self, start: Array, goal: Goal, rng: np.random.Generator,
                    joints: Sequence[np.ndarray] = (), longest: float = LONGEST) -> RestToRest:
        """The motion from a pose (joints,) that gains most and violates no limit.

        Args:
            joints: indices (a,) of those that move, each further set where those before gain
                little; none: the wrist, then the chain. longest: duration of the motion [s].

        Raises:
            InvalidData: no motion from there is within the limits.
        """
        best: Plan | None = None
        for active in joints or self._wrist_first:
            pool = [plan for kind in KINDS
                    for plan in self._candidates(start, active, kind, goal, rng)]
            for plan in sorted(pool, key=lambda p: -p.gain):
                if best is not None and plan.gain <= best.gain:
                    break
                motion = plan.motion.begin(longest)
                if motion.duration <= longest and not violations(
                        self._arm, motion.as_planned(self._arm), start, self._limits):
                    best = Plan(plan.gain, motion)
                    break
            if best is not None and best.gain > LEAST_GAIN:
                break
        if best is None:
            raise InvalidData("no motion from this pose is within the limits: move the arm to "
                              "where it has more room")
        return best.motion

    def _candidates(self, start: Array, active: np.ndarray, kind: tuple[int, int], goal: Goal,
                    rng: np.random.Generator) -> list[Plan]:
        """The best random plans of a kind within the limits of position and speed, best first."""
        steps, count = _draw(kind, len(active), rng), kind[0]
        poses = np.tile(start, (DRAWN, count + 1, 1))
        poses[:, 1:, active] = np.clip(
            poses[:, 1:, active] + np.cumsum(steps, axis=1), self._lower[active],
            self._upper[active])
        ends = [poses[:, part].reshape(-1, len(start)) for part in (slice(-1), slice(1, None))]
        durations, ramps = (part.reshape(DRAWN, count)
                            for part in shortest_moves(self._arm, self._limits, *ends))
        within = ((durations.sum(axis=1) <= HORIZON) & (durations.max(axis=1) <= LONGEST)
                  & (np.ptp(poses, axis=1).max(axis=1) > 0.0))
        motions = [RestToRest(*plan) for plan in zip(
            poses[within], durations[within], ramps[within], strict=True)]
        gained = goal.gains(motions) if motions else np.empty(0)
        return [Plan(float(gained[k]), motions[k]) for k in np.argsort(-gained)[:TRIES]]


def _draw(kind: tuple[int, int], joints: int, rng: np.random.Generator) -> Array:
    """Steps (c, k, a) of random motions of a kind."""
    moves, repeated = kind
    direction = rng.normal(size=(DRAWN, moves, joints))
    # Some turn few joints: a single one may go farther.
    direction *= rng.random((DRAWN, 1, joints)) < rng.choice([0.35, 1.0], (DRAWN, 1, 1))
    length = np.exp(rng.uniform(np.log(STEPS[0]), np.log(STEPS[1]), (DRAWN, moves, 1)))
    steps = length * direction / np.maximum(
        np.linalg.norm(direction, axis=2, keepdims=True), TINY)
    if kind is SWING:
        steps[: int(AT_ONCE * DRAWN), 0] = 0.0
    back = np.where(np.arange(moves - repeated) % 2, -1.0, 1.0)[:, None]
    steps[:, repeated:] = steps[:, repeated:repeated + 1] * back
    return np.asarray(steps)


def _instants(duration: float) -> Array:
    """Times (n,) [s] at which the rows of a motion are computed, rests before and after included.
    """
    count = int(np.ceil((duration + 2.0 * REST) / STEP))
    return (np.arange(count) + 0.5) * STEP - REST
