# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The next motion: of many that the limits allow, what gains most information per second.

Candidates are random moves from rest to rest around the present pose; the best are varied, and the
best of those. There are single moves; a few to and fro; and swings, which first go to a pose and
then there to and fro, where the first move pays only with those that follow. Wrist joints come
first: the other joints move only where no motion of the wrist helps. Of a long plan only the first
seconds are made before the next is planned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...errors import InvalidData
from ...inertia import Array
from .arm import Arm
from .knowledge import STEP, Knowledge
from .motions import MotionLimits, PlannedMotion, RestToRest, shortest_moves
from .violations import violations

DRAWN, VARIED = 48, 6  # motions of a kind; variations of each
KEPT, ROUNDS = 5, 2  # candidates that are varied, and how often
SPREAD = 0.25  # of a variation, relative to a move
AT_ONCE = 0.3  # of the swings have no way to go first
TINY = 1e-9
WRIST = 3  # joints before the frame that move first
LONGEST = 4.0  # s, of a motion: what goes on where nobody can stop it any more
HORIZON = 16.0  # s, of a plan, of which the first motion is made before the next is planned
REST = 0.2  # s before and after a motion, that its rows hold
TRIES = 12  # candidates of a kind, best first, that are checked
LEAST_GAIN = 0.02  # nats a second: less is not worth a motion of the wrist
# Of mass, each coordinate of its centre, each entry of the inertia: what takes six numbers must not
# count more than what takes one, since slow motions with a poor sensor never identify it.
WEIGHTS = np.repeat([1.0, 1.0 / 3.0, 1.0 / 6.0], [1, 3, 6])
ENOUGH = 0.8  # of the wanted standard deviation: beyond that nothing is gained
SLACK = 0.02  # rad from the limits of position


class Kind(NamedTuple):
    """A kind of motion: number of moves; index of the first of those that go to and fro."""

    moves: int
    repeated: int


ONE, TO_AND_FRO, TWICE, SWING = KINDS = Kind(1, 1), Kind(2, 0), Kind(4, 0), Kind(5, 1)
STEPS = (0.2, 3.0)  # rad, smallest and largest move
PAUSE = 1.0  # s after a motion


Gains = Callable[[list[RestToRest]], Array]  # (c,) of c motions [nats/s]


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
        self._chain = arm.index(arm.chain)
        self._lower = np.maximum(arm.lower + SLACK, home - limits.range)
        self._upper = np.minimum(arm.upper - SLACK, home + limits.range)
        still = np.tile(home[self._chain], (2, 1))
        rest = PlannedMotion(arm.chain, np.array([0.0, 0.1]), still, 0.0 * still, 0.0 * still)
        if problems := violations(arm, rest, home, limits):
            raise InvalidData(f"no motion can start here: {problems[0]}")

    def next_motion(self, start: Array, knowledge: Knowledge, wanted: Array, seed: int = 0
                    ) -> PlannedMotion:
        """The motion from a pose (joints,) that lowers the uncertainty most per second, and that
        violates no limit.

        Gain is the sum over parameters of the logarithm by which their standard deviations fall
        towards those that are wanted; what is known well enough counts no more.

        Args:
            wanted: standard deviations (10,) of mass, centre of mass and inertia about it; infinite
                where nothing is wanted. seed: of the candidates.

        Raises:
            InvalidData: no motion from there is within the limits.
        """
        def gains(motions: list[RestToRest]) -> Array:
            total = np.array([motion.duration for motion in motions])
            times = _instants(float(total.max()))
            state = np.stack([motion.at(times) for motion in motions], axis=1)
            motion = self._arm.motion(*state.reshape(3, -1, state.shape[-1]))
            lengths = np.array([len(_instants(duration)) for duration in total.tolist()])
            sigma = knowledge.sigma(knowledge.information_of(motion, lengths))
            gained = _missing(knowledge.sigma(), wanted) - _missing(sigma, wanted)
            return np.asarray(gained / (total + PAUSE))

        found = self.best_motion(start, gains, (self._chain[-WRIST:], self._chain),
                                 np.random.default_rng(seed))
        if found is None:
            raise InvalidData("no motion from this pose is within the limits: move the arm to "
                              "where it has more room")
        return found.as_planned(self._arm)

    def best_motion(self, start: Array, gains: Gains, joints: Sequence[np.ndarray],
                    rng: np.random.Generator, longest: float = LONGEST) -> RestToRest | None:
        """The motion from a pose (joints,) that gains most and violates no limit; None: there is
        none.

        Args:
            joints: indices (a,) of those that move; each further set where those before gain
                little. longest: duration of the motion [s].
        """
        best: Plan | None = None
        for active in joints:
            pool = [plan for kind in KINDS for plan in self._candidates(
                _Draw(start, active, kind, rng), gains)]
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
        return best.motion if best else None

    def knowledge_after(self, knowledge: Knowledge, motion: PlannedMotion, start: Array
                        ) -> Knowledge:
        """What will be known after a motion from a pose (joints,)."""
        state = motion.of_all(self._arm, start, _instants(motion.duration))
        return knowledge.after(self._arm.motion(*state))

    def _candidates(self, draw: _Draw, gains: Gains) -> list[Plan]:
        """The best plans of a kind, whose speeds are within the limits."""
        first = found = self._evaluate(draw.poses(), draw.active, gains)
        for _ in range(ROUNDS):
            if found:
                varied = draw.vary(np.stack([plan.motion.poses for plan in found[:KEPT]]))
                found = sorted(found[:KEPT] + self._evaluate(varied, draw.active, gains),
                               key=lambda plan: -plan.gain)
        return found[:TRIES] + first[:TRIES]  # variations of a few may all be in the way

    def _evaluate(self, poses: Array, active: np.ndarray, gains: Gains) -> list[Plan]:
        """Plans through poses (c, k + 1, joints) within the limits of position, best first."""
        joints = poses.shape[2]
        poses[:, 1:, active] = np.clip(poses[:, 1:, active], self._lower[active],
                                       self._upper[active])
        pace = shortest_moves(self._arm, self._limits, poses[:, :-1].reshape(-1, joints),
                              poses[:, 1:].reshape(-1, joints))
        durations, ramps = (part.reshape(poses.shape[0], -1) for part in pace)
        within = ((durations.sum(axis=1) <= HORIZON) & (durations.max(axis=1) <= LONGEST)
                  & (np.ptp(poses, axis=1).max(axis=1) > 0.0))
        motions = [RestToRest(*plan) for plan in zip(
            poses[within], durations[within], ramps[within], strict=True)]
        if not motions:
            return []
        gained = gains(motions)
        return [Plan(float(gained[k]), motions[k]) for k in np.argsort(-gained)]


class _Draw(NamedTuple):
    """Random motions of a kind from a start (joints,), of some joints (a,), by their indices."""

    start: Array
    active: Array
    kind: Kind
    rng: np.random.Generator

    def poses(self) -> Array:
        """Poses (c, k + 1, joints) of random motions."""
        rng, size = self.rng, (DRAWN, self.kind.moves, len(self.active))
        direction = rng.normal(size=size)
        # Some turn few joints: a single one may go farther.
        direction *= rng.random((DRAWN, 1, size[2])) < rng.choice([0.35, 1.0], (DRAWN, 1, 1))
        low, high = np.log(STEPS)
        length = np.exp(rng.uniform(low, high, (*size[:2], 1)))
        steps = length * direction / np.maximum(_norm(direction), TINY)
        if self.kind is SWING:
            steps[: int(AT_ONCE * DRAWN), 0] = 0.0
        return self._through(steps)

    def vary(self, poses: Array) -> Array:
        """Variations (c, k + 1, joints) of the poses of motions; no move becomes too small."""
        steps = np.diff(np.repeat(poses[:, :, self.active], VARIED, axis=0), axis=1)
        there = _norm(steps) > 0.0
        steps = steps + SPREAD * np.abs(steps).max(axis=2, keepdims=True) * self.rng.normal(
            size=steps.shape)
        steps *= there * np.maximum(STEPS[0] / np.maximum(_norm(steps), TINY), 1.0)
        return self._through(steps)

    def _through(self, steps: Array) -> Array:
        """Poses that steps (c, k, a) lead to, those to and fro each the opposite of the one before.
        """
        first = self.kind.repeated
        back = np.where(np.arange(self.kind.moves - first) % 2, -1.0, 1.0)
        steps[:, first:] = steps[:, first:first + 1] * back[:, None]
        out = np.tile(self.start, (len(steps), steps.shape[1] + 1, 1))
        out[:, 1:, self.active] += np.cumsum(steps, axis=1)
        return out


def _norm(steps: Array) -> Array:
    """Lengths (c, k, 1) of steps."""
    return np.asarray(np.linalg.norm(steps, axis=2, keepdims=True))


def _instants(duration: float) -> Array:
    """Times (n,) [s] at which the rows of a motion are computed, rests before and after included.
    """
    count = int(np.ceil((duration + 2.0 * REST) / STEP))
    return (np.arange(count) + 0.5) * STEP - REST


def _missing(sigma: Array, wanted: Array) -> Array:
    """How far standard deviations (..., 10) are from those that are wanted [nats]; where all are
    reached, how far they are from zero matters a little."""
    asked = np.isfinite(wanted)
    share = sigma[..., asked] / wanted[asked]
    beyond = np.log(np.maximum(share, ENOUGH))
    return np.asarray((beyond + 1e-3 * np.log(share)) @ WEIGHTS[asked])
