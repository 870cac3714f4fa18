# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The next motion: of many that the limits allow, what gains most information per second.

Candidates are random moves from rest to rest around the present pose: single moves; a few to and
fro; and swings, which first go to a pose and then there to and fro, where the first move pays only
with those that follow. Wrist joints come first: the other joints move only where no motion of the
wrist helps. Of a long plan only the first seconds are made before the next is planned.
"""

from __future__ import annotations

import numpy as np

from ...errors import InvalidData
from ...inertia import Array
from ..simulation.motion import Trajectory
from .arm import Arm
from .information import Goal
from .motions import MotionLimits, moves, points_for_controller, shortest_moves, violations

DRAWN = 144  # motions of a kind
AT_ONCE = 0.3  # of the swings have no way to go first
LONGEST = 4.0  # s, of a motion: what goes on where nobody can stop it any more
HORIZON = 16.0  # s, of a plan, of which the first motion is made before the next is planned
TRIES = 12  # candidates of a kind, best first, that are checked
LEAST_GAIN = 0.02  # nats a second: less is not worth a motion of the wrist
SLACK = 0.02  # rad from the limits of position
STEPS = (0.2, 3.0)  # rad, smallest and largest move
# Kinds of motions: number of moves, and index of the first of those that go to and fro.
ONE, TO_AND_FRO, TWICE, SWING = KINDS = ((1, 1), (2, 0), (4, 0), (5, 1))
Plan = tuple[float, Trajectory]  # gain [nats/s], and what may be too long to be made at once


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
        self._lower = np.maximum(arm.lower + SLACK, home - limits.range)
        self._upper = np.minimum(arm.upper - SLACK, home + limits.range)
        still = np.tile(home[chain], (2, 1))
        rest = Trajectory(np.array([0.0, 0.1]), still, 0.0 * still, 0.0 * still, arm.chain)
        if problems := violations(arm, rest, home, limits):
            raise InvalidData(f"no motion can start here: {problems[0]}")

    def next_motion(self, start: Array, goal: Goal, rng: np.random.Generator,
                    longest: float = LONGEST) -> Trajectory:
        """The `moves` of all joints from a pose (joints,), of at most so many seconds, that gain
        most and violate no limit (raises InvalidData: there are none)."""
        best: Plan | None = None
        for active in goal.joints:
            pool = [plan for kind in KINDS
                    for plan in self._candidates(start, active, kind, goal, rng)]
            for gain, plan in sorted(pool, key=lambda plan: -plan[0]):
                if best is not None and gain <= best[0]:
                    break
                ends = max(1, int(np.searchsorted(plan.stamps[3::3], longest, side="right")))
                motion = Trajectory._make([*(part[:3 * ends + 1] for part in plan[:4]), (), ""])
                if motion.duration <= longest and not violations(
                        self._arm, points_for_controller(self._arm, motion), start, self._limits):
                    best = gain, motion
                    break
            if best is not None and best[0] > LEAST_GAIN:
                break
        if best is None:
            raise InvalidData("no motion from this pose is within the limits: move the arm to "
                              "where it has more room")
        return best[1]

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
        plans = [moves(*plan) for plan in zip(
            poses[within], durations[within], ramps[within], strict=True)]
        gains = goal.gains(plans) if plans else np.empty(0)
        return [(float(gains[k]), plans[k]) for k in np.argsort(-gains)[:TRIES]]


def _draw(kind: tuple[int, int], joints: int, rng: np.random.Generator) -> Array:
    """Steps (c, k, a) of random motions of a kind."""
    count, repeated = kind
    direction = rng.normal(size=(DRAWN, count, joints))
    # Some turn few joints: a single one may go farther.
    direction *= rng.random((DRAWN, 1, joints)) < rng.choice([0.35, 1.0], (DRAWN, 1, 1))
    length = np.exp(rng.uniform(np.log(STEPS[0]), np.log(STEPS[1]), (DRAWN, count, 1)))
    steps = length * direction / np.maximum(
        np.linalg.norm(direction, axis=2, keepdims=True), 1e-9)
    if kind is SWING:
        steps[: int(AT_ONCE * DRAWN), 0] = 0.0
    back = np.where(np.arange(count - repeated) % 2, -1.0, 1.0)[:, None]
    steps[:, repeated:] = steps[:, repeated:repeated + 1] * back
    return np.asarray(steps)
