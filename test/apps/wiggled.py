# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A simulated arm that tilts its wrist to and fro, and what a faulty set-up makes of it."""

import numpy as np

from inertial_id_ros.apps.guide.recorder import Recorder
from inertial_id_ros.apps.simulation.cobot import Scenario
from inertial_id_ros.apps.simulation.motion import START_POSE, Trajectory
from inertial_id_ros.apps.simulation.write import by_time, topics_of
from inertial_id_ros.io.inputs import JOINT_STATES, ROBOT_DESCRIPTION, WRENCH
from inertial_id_ros.model.history import Window
from inertial_id_ros.settings import Settings

BIAS = (2.0, -1.5, 3.0, 0.05, -0.08, 0.03)
EPOCH, DELAY = 10**18, 4_000_000  # ns
INPUTS = {"joint_states": JOINT_STATES, "wrench": WRENCH, "robot_description": ROBOT_DESCRIPTION}


def wiggle(angle: float = 18.0, move: float = 1.4, joints: tuple[int, ...] = (3, 4)):
    """A motion that turns joints by an angle [deg] to either side, in moves of some time [s]."""
    poses = [START_POSE, START_POSE]
    for joint in joints:
        poses += [START_POSE + np.radians(angle) * side * np.eye(6)[joint] for side in (1, -1, 0)]
    still = np.zeros((len(poses), 6))
    stamps = np.r_[0.0, 0.5 + move * np.arange(len(poses) - 1)]
    return Trajectory(stamps, np.array(poses), still, still).sample


def receive(motion=None, seconds: float = 9.5, node=None, **settings) -> Recorder:
    """What is received while the wrist is tilted; node: its settings by name; settings: of the
    scenario."""
    recording = Scenario(**{"payload": "drill", "bias": BIAS, "rate": 200.0,
                            "motion": motion or wiggle(), **settings}).record(seconds, EPOCH)
    recorder = Recorder(Settings().replace(node or {}))
    for stamp, name, data in by_time(topics_of(recording)):
        if name in INPUTS:
            recorder.messages[INPUTS[name]].append((stamp + DELAY, data))
    return recorder


def record(**changes) -> Window:
    """The same as wrench and motion."""
    return receive(**changes).read().window
