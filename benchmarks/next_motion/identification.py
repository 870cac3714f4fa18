# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The pipeline of the product, fed by a simulated arm that moves when it is told to."""

import numpy as np

from inertial_id_ros.api import Identifier
from inertial_id_ros.apps.simulation.cobot import Scenario
from inertial_id_ros.apps.simulation.motion import CommandedMotion, Trajectory
from inertial_id_ros.estimate import Estimate, NoEstimate

from .task import Task

RATE = 500.0  # Hz
_BIAS = np.repeat([3.0, 0.2], 3)  # N, N m


class RunningIdentification:
    """An arm with a payload, and what the pipeline makes of its samples as they come.

    Attributes:
        time: simulated so far [s]; joints: (n, 6) positions at all samples [rad].
    """

    def __init__(self, task: Task, sensor: str) -> None:
        rng = np.random.default_rng([task.number, 5])
        self._motion = CommandedMotion(task.pose)
        self._scenario = Scenario(
            sensor=sensor, rate=RATE, seed=task.number, payload=task.payload, motion=self._motion,
            bias=tuple((_BIAS * rng.normal(size=6)).tolist()))
        self._identifier = Identifier(task.settings(sensor))
        self._identifier.set_robot_description(self._scenario.robot.urdf)
        self._samples = 0
        self.joints: list[np.ndarray] = []

    @property
    def time(self) -> float:
        return self._samples / RATE

    def follow(self, trajectory: Trajectory) -> None:
        """Let the arm begin to follow a trajectory."""
        self._motion.follow(trajectory)

    def advance(self, duration: float) -> None:
        """Take the samples of so many seconds."""
        count = max(1, round(duration * RATE))
        numbers = self._samples + np.arange(count)
        (joints, wrenches, *_), = self._scenario.samples(self._samples, count).parts
        self._samples += count
        self._identifier.add_joint_states(*joints[:3])
        self._identifier.add_wrenches(*wrenches)
        self.joints.append(self._motion(numbers / RATE).q)

    def solve(self) -> Estimate | NoEstimate:
        """The estimate from all samples so far."""
        return self._identifier.solve()
