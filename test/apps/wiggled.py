# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A simulated arm that tilts its wrist to and fro, and what a faulty set-up makes of it."""

from __future__ import annotations

import numpy as np
from rosbags.typesys import Stores, get_typestore

from inertial_id_ros.apps.guide.received import Received
from inertial_id_ros.apps.simulation.cobot import SimulatedCobot
from inertial_id_ros.apps.simulation.motion import START_POSE, Trajectory
from inertial_id_ros.apps.simulation.payload import Payload
from inertial_id_ros.apps.simulation.settings import CobotSettings
from inertial_id_ros.io.input_topics import JOINT_STATES, WRENCH
from inertial_id_ros.model.history import Window
from inertial_id_ros.settings import Settings

BIAS = (2.0, -1.5, 3.0, 0.05, -0.08, 0.03)
EPOCH, DELAY = 10**18, 4_000_000  # ns
STORE = get_typestore(Stores.ROS2_JAZZY)


def message(name: str, *fields: object) -> object:
    """A message of a type of ROS."""
    package, kind = name.split("/")
    return STORE.types[f"{package}/msg/{kind}"](*fields)


def header(stamp: int, frame: str = "") -> object:
    return message("std_msgs/Header", message("builtin_interfaces/Time", *divmod(stamp, 10**9)),
                   frame)


def wrench_bytes(stamp: int, frame: str, row: np.ndarray) -> bytes:
    """A geometry_msgs/WrenchStamped as it comes."""
    force, torque = (message("geometry_msgs/Vector3", *part) for part in (row[:3], row[3:]))
    return bytes(STORE.serialize_cdr(message(
        "geometry_msgs/WrenchStamped", header(stamp, frame),
        message("geometry_msgs/Wrench", force, torque)), "geometry_msgs/msg/WrenchStamped"))


def joint_bytes(stamp: int, names: tuple[str, ...], q: np.ndarray) -> bytes:
    """A sensor_msgs/JointState as it comes."""
    return bytes(STORE.serialize_cdr(message(
        "sensor_msgs/JointState", header(stamp), list(names), np.array(q), np.empty(0),
        np.empty(0)), "sensor_msgs/msg/JointState"))


def wiggle(angle: float = 18.0, move: float = 1.4, joints: tuple[int, ...] = (3, 4)):
    """A motion that turns joints by an angle [deg] to either side, in moves of some time [s]."""
    poses = [START_POSE, START_POSE]
    for joint in joints:
        poses += [START_POSE + np.radians(angle) * side * np.eye(6)[joint] for side in (1, -1, 0)]
    still = np.zeros((len(poses), 6))
    stamps = np.r_[0.0, 0.5 + move * np.arange(len(poses) - 1)]
    return Trajectory(stamps, np.array(poses), still, still).sample


def receive(order=None, motion=None, seconds: float = 9.5, given: Settings | None = None,
            carried: Payload | None = None, **settings) -> Received:
    """What is received while the wrist is tilted.

    Args:
        order: of the positions among the names of the joints; given: settings of the node;
            carried: in place of the payload of the settings; settings: of the simulated cobot.
    """
    cobot = SimulatedCobot(CobotSettings().replace({
        "payload": "drill", "bias": list(BIAS), "rate": 200.0, **settings}),
        payload=carried, motion=motion or wiggle())
    run = cobot.run(seconds)
    received = Received(given or Settings(), cobot.urdf)
    stamps = np.round(run.t * 1e9).astype(np.int64) + EPOCH
    positions = run.q if order is None else run.q[:, order]
    for stamp, q, row in zip(stamps.tolist(), positions, run.wrench, strict=True):
        received.add(JOINT_STATES, stamp + DELAY, joint_bytes(stamp, cobot.joint_names, q))
        received.add(WRENCH, stamp + DELAY, wrench_bytes(stamp, "ft_sensor", row))
    return received


def record(**changes) -> Window:
    """The same as wrench and motion."""
    return receive(**changes).window(0, 2 * EPOCH)
