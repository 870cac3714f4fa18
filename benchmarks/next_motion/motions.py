# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Ways to move a payload: planned, the published sinusoid, and four poses with random motion.

The two usual ones know nothing of the payload; of the sinusoid of Nadeau et al. (2022) the pace, of
the poses the speed between them are such that no link exceeds its limit, as for the planned ones.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from inertial_id_ros.apps.excitation.arm import Arm
from inertial_id_ros.apps.excitation.information import Knowledge
from inertial_id_ros.apps.excitation.motions import moves, shortest_moves, violations
from inertial_id_ros.apps.simulation.motion import MEAN_SPEED, Sinusoid, Trajectory
from inertial_id_ros.inertia import Array

from .task import LIMITS, Task, goals

PLANNED = "planned"
_POINTS = 0.02  # s between points of a trajectory
_RAMP = 1.0  # s in which the sinusoid gains its speed
_SINUSOID = 60.0  # s
_STAND = 2.0  # s in each of the four poses
_TILT = np.radians(30.0)  # of the wrist between them
_RANDOM = np.radians(30.0)  # of the wrist's random motion


class Way(Protocol):
    """A way to move; problems: what the package's own check, by Pinocchio, finds in its motions."""

    problems: list[str]

    def next(self, knowledge: Knowledge) -> Trajectory:
        """The next motion."""
        ...

    def knowledge_after(self, knowledge: Knowledge) -> Knowledge:
        """What is known after it, before there is an estimate."""
        ...


class Planned:
    """The planner's motions."""

    def __init__(self, task: Task) -> None:
        self._planner, self._pose = task.planner(), task.pose
        self.problems: list[str] = []

    def next(self, knowledge: Knowledge) -> Trajectory:
        planner, pose = self._planner, self._pose
        planner.known = knowledge
        motion = planner.next_motion(pose, goals(knowledge.phi)["all"])
        self.problems += violations(planner.arm, motion, pose, LIMITS)
        self._pose = motion.positions[-1]
        return motion

    def knowledge_after(self, knowledge: Knowledge) -> Knowledge:
        return self._planner.known


class _Usual:
    """A way that takes no notice of what is known."""

    def __init__(self, task: Task) -> None:
        self._pose, self.problems = task.pose, []
        self._arm = task.arm()

    def knowledge_after(self, knowledge: Knowledge) -> Knowledge:
        return knowledge


class PublishedSinusoid(_Usual):
    """The sinusoids about the pose, at their own pace, or slower where a link would be too fast."""

    def next(self, knowledge: Knowledge) -> Trajectory:
        pace = 1.28
        while True:
            path = Sinusoid(pace * MEAN_SPEED, _RAMP, self._pose)
            t = np.arange(0.0, _SINUSOID, _POINTS)
            q, dq, ddq = path(t)
            peak = float(self._arm.link_speed(q, dq).max())
            if peak <= LIMITS.link_speed:
                return Trajectory(t, q, dq, ddq)
            pace *= 0.99 * LIMITS.link_speed / peak


class FourPosesAndRandom(_Usual):
    """Four poses of the wrist, then random moves of it about the pose."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._home, self._rng = task.pose, np.random.default_rng([task.number, 6])
        tilts = _TILT * np.array([[1, 0, 0], [-1, 1, 0], [0, -1, 1], [0, 0, -1]])
        self._goals = [self._with_wrist(tilt) for tilt in tilts]

    def next(self, knowledge: Knowledge) -> Trajectory:
        if self._goals:
            goal, stand = self._goals.pop(0), _STAND
        else:
            goal, stand = self._with_wrist(_RANDOM * self._rng.uniform(-1.0, 1.0, 3)), 0.0
        begin, self._pose = self._pose, goal
        return _move(self._arm, begin, goal, stand)

    def _with_wrist(self, turned: Array) -> Array:
        out = self._home.copy()
        out[3:] += turned
        return out


def _move(arm: Arm, begin: Array, end: Array, stand: float) -> Trajectory:
    """From rest to rest, as quick as the limits allow, and some seconds in the new pose."""
    poses = np.stack([begin, end])
    move = moves(poses, shortest_moves(arm, LIMITS, poses))
    if not stand:
        return move
    return Trajectory(np.append(move.stamps, move.duration + stand),
                      *(np.vstack([part, part[-1:]]) for part in move[1:4]))


MOTIONS: dict[str, Callable[[Task], Way]] = {
    PLANNED: Planned, "sinusoid": PublishedSinusoid, "four poses": FourPosesAndRandom}
