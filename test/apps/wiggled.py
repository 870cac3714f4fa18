# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A simulated arm that tilts its wrist to and fro, and what a faulty set-up makes of it."""

from __future__ import annotations

import numpy as np

from inertial_id_ros.apps.guide.received import Stretch, make_stretch
from inertial_id_ros.apps.simulation.cobot import SimulatedCobot
from inertial_id_ros.apps.simulation.motion import START_POSE, JointMotion, minimum_jerk
from inertial_id_ros.apps.simulation.settings import CobotSettings
from inertial_id_ros.kinematics.joint_motion import JointMotion as MotionFromJoints
from inertial_id_ros.kinematics.joint_motion import RobotFrame
from inertial_id_ros.kinematics.robot_description import parse_urdf
from inertial_id_ros.kinematics.transform_tree import TransformTree

BIAS = (2.0, -1.5, 3.0, 0.05, -0.08, 0.03)
EPOCH = 10**18  # ns


def wiggle(angle: float = 18.0, move: float = 1.4, joints: tuple[int, ...] = (3, 4)):
    """A motion that turns joints by an angle [deg] to either side, in moves of some time [s]."""
    poses = [np.zeros(6)]
    for joint in joints:
        poses += [np.radians(angle) * side * np.eye(6)[joint] for side in (1, -1, 0)]

    def motion(t) -> JointMotion:
        t = np.atleast_1d(np.asarray(t, dtype=float))
        out = JointMotion(np.tile(START_POSE, (len(t), 1)), np.zeros((len(t), 6)),
                          np.zeros((len(t), 6)))
        for k, step in enumerate(np.diff(poses, axis=0)):
            progress = minimum_jerk((t - 0.5 - k * move) / move)
            out.q[:] += progress.value[:, None] * step
            out.dq[:] += progress.rate[:, None] * step / move
            out.ddq[:] += progress.acceleration[:, None] * step / move**2
        return out

    return motion


def record(order=None, motion=None, seconds: float = 9.5, **settings) -> Stretch:
    """What is recorded while the wrist is tilted.

    Args:
        order: of the positions among the names of the joints; settings: of the simulated cobot.
    """
    defaults = {"payload": "drill", "bias": list(BIAS)}
    cobot = SimulatedCobot(CobotSettings().replace({**defaults, **settings}),
                           motion=wiggle() if motion is None else motion)
    run = cobot.run(seconds)
    tree = TransformTree()
    for edge in cobot.static_transforms():
        tree.set_static(edge.parent, edge.child, edge.translation, edge.quaternion)
    source = MotionFromJoints(
        RobotFrame(parse_urdf(cobot.urdf), tree, cobot.sensor_frame, "", 9.81), 0.15)
    stamps = np.round(run.t * 1e9).astype(np.int64) + EPOCH
    positions = run.q if order is None else run.q[:, order]
    for stamp, row in zip(stamps.tolist(), positions, strict=True):
        source.add(stamp, cobot.joint_names, row)
    return make_stretch(stamps, run.wrench, source)
