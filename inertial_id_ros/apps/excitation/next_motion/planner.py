# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The next motion: of many that the limits allow, what lowers the uncertainty most per second.

Candidates are moves from rest to rest through one to four poses around the present one, some of
them to and fro; the best are varied, and the best of those. Wrist joints come first: the other
joints move only where no motion of the wrist helps. Gain is the sum over parameters of the
logarithm by which their standard deviations fall towards those that are wanted; what is known well
enough counts no more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....errors import InvalidData
from ....identification.accuracy_goal import AccuracyGoal
from ....inertia import Array
from ..arm import Arm
from .knowledge import Knowledge, motion_products, wanted_sigma
from .motion_limits import MotionLimits
from .planned_motion import PlannedMotion
from .rest_to_rest import RestToRest, shortest_moves
from .words import describe_motion

WRIST = 3  # joints before the frame that move first
_LONGEST = 4.0  # s, of a motion: what goes on where nobody can stop it any more
_MOVES = (1, 2, 3, 4)  # between rests
_BY_HAND = (1,)  # what a person can do who is told
_DRAWN, _KEPT, _VARIED, _ROUNDS = 80, 6, 8, 2  # candidates for each number of moves, and so on
_STEPS = (0.08, 1.3)  # rad, of a move: drawn evenly in the logarithm
_STEPS_BY_HAND = (0.35, 1.3)  # rad
_SPREAD = 0.25  # of a variation, relative to a move
_INSTANTS = 40  # of a candidate, at which its rows are computed
_REST = 0.2  # s before and after a motion, that its rows hold
_SETTLING = 0.3  # s that the rest after a motion takes
_DENSE = 0.01  # s between the poses at which shapes are compared
_POINTS = 0.02  # s between points of a trajectory
_TRIES = 12  # candidates, best first, whose shapes are compared
_LEAST_GAIN = 0.02  # nats a second: less is not worth a motion of the wrist
_FLOOR_OF_GAIN = 0.8  # of the wanted standard deviation: beyond that nothing is gained
_SLACK = 0.02  # rad from the limits of position


class _Candidates(NamedTuple):
    """Motions with as many moves each: poses (c, k + 1, joints), durations (c, k) [s], gains per
    second (c,), and the standard deviations (c, 10) expected afterwards."""

    poses: Array
    durations: Array
    gains: Array
    sigma: Array

    def best(self, count: int) -> _Candidates:
        """The best of them, best first."""
        order = np.argsort(-self.gains)[:count]
        return _Candidates(*(part[order] for part in self))


class _Draw(NamedTuple):
    """Random motions from a start (joints,) of some joints (a,), by their indices.

    Attributes:
        moves: numbers of moves to try; steps: smallest and largest of a move [rad].
    """

    start: Array
    active: Array
    moves: tuple[int, ...]
    steps: tuple[float, float]
    rng: np.random.Generator

    def poses(self, moves: int) -> Array:
        """Poses (c, moves + 1, joints) of random motions; half of them to and fro."""
        rng, size = self.rng, (_DRAWN, 1, len(self.active))
        direction = rng.normal(size=(_DRAWN, moves, len(self.active)))
        # Some turn few joints: a single one may go farther.
        direction *= rng.random(size) < rng.choice([0.5, 1.0], (_DRAWN, 1, 1))
        length = np.maximum(np.linalg.norm(direction, axis=2, keepdims=True), 1e-9)
        low, high = np.log(self.steps)
        steps = direction / length * np.exp(rng.uniform(low, high, (_DRAWN, moves, 1)))
        to_and_fro = np.arange(_DRAWN) % 2 == 0
        sign = np.where(np.arange(moves) % 2 == 0, 1.0, -1.0)[None, :, None]
        steps[to_and_fro] = (steps[:, :1] * sign)[to_and_fro]
        poses = np.tile(self.start, (_DRAWN, moves + 1, 1))
        poses[:, 1:, self.active] += np.cumsum(steps, axis=1)
        return poses

    def vary(self, poses: Array) -> Array:
        """Variations (c, k + 1, joints) of the poses of motions; no move becomes too small."""
        steps = np.diff(np.repeat(poses[:, :, self.active], _VARIED, axis=0), axis=1)
        size = _SPREAD * np.abs(steps).max(axis=(1, 2), keepdims=True)
        steps += size * self.rng.normal(size=steps.shape)
        length = np.linalg.norm(steps, axis=2, keepdims=True)
        steps *= np.maximum(self.steps[0] / np.maximum(length, 1e-9), 1.0)
        out = np.repeat(poses, _VARIED, axis=0)
        out[:, 1:, self.active] = out[:, :1, self.active] + np.cumsum(steps, axis=1)
        return out


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
        self._shapes = arm.collision_shapes(home, self._chain, limits.clearance)
        self._lower = np.maximum(arm.lower + _SLACK, home - limits.range)
        self._upper = np.minimum(arm.upper - _SLACK, home + limits.range)
        problem = self.find_problem(home[None], np.zeros((1, len(home))), np.zeros((1, len(home))))
        if problem:
            raise InvalidData(f"no motion can start here: {problem}")

    def next_motion(self, start: Array, knowledge: Knowledge, goal: AccuracyGoal, seed: int = 0,
                    by_hand: bool = False) -> PlannedMotion:
        """The motion from a pose (joints,) that lowers the uncertainty most per second.

        Args:
            goal: accuracy that is wanted; seed: of the candidates; by_hand: one large move, as a
                person can make it who is told its words.

        Raises:
            InvalidData: no motion from there is within the limits.
        """
        wanted = wanted_sigma(goal, knowledge.phi)
        best: tuple[float, RestToRest, Array] | None = None
        for active in (self._chain[-WRIST:], self._chain):
            draw = _Draw(start, active, _BY_HAND if by_hand else _MOVES,
                         _STEPS_BY_HAND if by_hand else _STEPS, np.random.default_rng(seed))
            found = self._best_of(draw, knowledge, wanted)
            if found is not None and (best is None or found[0] > best[0]):
                best = found
            if best is not None and best[0] > _LEAST_GAIN:
                break
        if best is None:
            raise InvalidData("no motion from this pose is within the limits: move the arm to "
                              "where it has more room")
        return self._as_planned(best[1], best[2])

    def knowledge_after(self, knowledge: Knowledge, motion: PlannedMotion, start: Array
                        ) -> Knowledge:
        """What will be known after a motion from a pose (joints,)."""
        sampled = motion.sample(_instants(motion.duration))
        state = [np.tile(pose, (_INSTANTS, 1)) for pose in (start, 0.0 * start, 0.0 * start)]
        for part, values in zip(state, sampled, strict=True):
            part[:, self._chain] = values
        return knowledge.after(self._arm.frame_motion(*state), motion.duration + 2.0 * _REST)

    def find_problem(self, q: Array, dq: Array, ddq: Array) -> str:
        """What joint motion (n, joints) exceeds, in words; empty where nothing."""
        arm, limits = self._arm, self._limits
        if np.isfinite(limits.floor):
            height = arm.links.links_at(q, dq).height.min(axis=0)
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

    def _best_of(self, draw: _Draw, knowledge: Knowledge, wanted: Array
                 ) -> tuple[float, RestToRest, Array] | None:
        """Gain per second, motion and expected standard deviations (10,) of the best motion of some
        joints; None where the limits allow none."""
        pool = []
        for moves in draw.moves:
            found = self._evaluate(self._within(draw.poses(moves), draw), knowledge, wanted)
            for _ in range(_ROUNDS):
                varied = draw.vary(found.best(_KEPT).poses)
                more = self._evaluate(self._within(varied, draw), knowledge, wanted)
                found = _Candidates(*(np.concatenate(parts) for parts in zip(
                    found.best(_KEPT), more, strict=True)))
            best = found.best(_TRIES)
            pool += [(float(gain), RestToRest(poses, durations), sigma) for
                     poses, durations, gain, sigma in zip(*best, strict=True) if
                     np.isfinite(gain)]
        pool.sort(key=lambda item: -item[0])
        for gain, motion, sigma in pool[:_TRIES]:
            state = motion(np.linspace(0.0, motion.duration, int(motion.duration / _DENSE) + 2))
            if not self.find_problem(*state):
                return gain, motion, sigma
        return None

    def _within(self, poses: Array, draw: _Draw) -> Array:
        """The poses, but for the first of each motion within the limits of position."""
        active = draw.active
        poses[:, 1:, active] = np.clip(poses[:, 1:, active], self._lower[active],
                                       self._upper[active])
        return poses

    def _evaluate(self, poses: Array, knowledge: Knowledge, wanted: Array) -> _Candidates:
        """Durations and gains of motions through poses (c, k + 1, joints)."""
        count, moves = len(poses), poses.shape[1] - 1
        joints = poses.shape[2]
        durations = shortest_moves(
            self._arm, self._limits, poses[:, :-1].reshape(-1, joints),
            poses[:, 1:].reshape(-1, joints)).reshape(count, moves)
        total = durations.sum(axis=1)
        state = [np.empty((count, _INSTANTS, joints)) for _ in range(3)]
        for i in range(count):
            moved = RestToRest(poses[i], durations[i])(_instants(total[i]))
            for part, values in zip(state, moved, strict=True):
                part[i] = values
        motion = self._arm.frame_motion(*(part.reshape(-1, joints) for part in state))
        sigma = knowledge.sigma(motion_products(motion, total + 2.0 * _REST, knowledge.sensor))
        gain = _missing(knowledge.sigma(), wanted) - _missing(sigma, wanted)
        goes = np.abs(np.diff(poses, axis=1)).max(axis=(1, 2)) > 0.0
        gains = np.where(goes & (total <= _LONGEST), gain / (total + _SETTLING), -np.inf)
        return _Candidates(poses, durations, gains, sigma)

    def _as_planned(self, motion: RestToRest, sigma: Array) -> PlannedMotion:
        """Points of the joints that move the frame."""
        ends = np.concatenate([[0.0], np.cumsum(motion.durations)])
        parts = [np.linspace(a, b, max(int(np.ceil((b - a) / _POINTS)), 2) + 1)[1:]
                 for a, b in zip(ends[:-1], ends[1:], strict=True)]
        stamps = np.concatenate([[0.0], *parts])
        q, dq, ddq = (part[:, self._chain] for part in motion(stamps))
        dq[[0, -1]] = ddq[[0, -1]] = 0.0  # what is left there is rounding
        names = tuple(self._arm.joint_names[j] for j in self._chain)
        return PlannedMotion(names, stamps, q, dq, ddq, sigma,
                             describe_motion(names, motion.poses[:, self._chain]))


def _instants(duration: float) -> Array:
    """Times (n,) [s] at which the rows of a motion are computed, rests before and after included.
    """
    length = duration + 2.0 * _REST
    return (np.arange(_INSTANTS) + 0.5) * length / _INSTANTS - _REST


def _missing(sigma: Array, wanted: Array) -> Array:
    """How far standard deviations (..., 10) are from those that are wanted [nats]; where all are
    reached, how far they are from zero matters a little."""
    asked = np.isfinite(wanted)
    share = sigma[..., asked] / wanted[asked]
    beyond = np.log(np.maximum(share, _FLOOR_OF_GAIN))
    return np.asarray(beyond.sum(axis=-1) + 1e-3 * np.log(share).sum(axis=-1))
