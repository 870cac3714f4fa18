# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Small recordings of a moving arm, whose wrench is independent of the package (`scenes`); the same
motion can be recorded as transforms or as joint states with a robot description."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rosbags.rosbag2 import StoragePlugin
from rosbags.typesys import get_types_from_msg
from scenes import BIAS, BODY, FRAME, NAMES, URDF, Points, Truth, moved, poses, times

from inertial_id_ros.apps.simulation import write
from inertial_id_ros.apps.simulation.cobot import START
from inertial_id_ros.apps.simulation.write import STORE, Topic, make, messages_of
from inertial_id_ros.apps.simulation.write import header as header
from inertial_id_ros.inertia import Array
from inertial_id_ros.io import inputs
from inertial_id_ros.io.inputs import Edges, JointStates, Wrenches

WRENCH, JOINTS = inputs.WRENCH.type, inputs.JOINT_STATES.type
DYNAMIC = "control_msgs/msg/DynamicJointState"
KEYS, VALUES = "control_msgs/msg/Keys", "control_msgs/msg/Float64Values"
for _name, _text in {
        "control_msgs/msg/InterfaceValue": "string[] interface_names\nfloat64[] values\n",
        DYNAMIC: "std_msgs/Header header\nstring[] joint_names\n"
                 "control_msgs/InterfaceValue[] interface_values\n",
        KEYS: "std_msgs/Header header\nstring[] keys\n",
        VALUES: "std_msgs/Header header\nfloat64[] values\n"}.items():
    if _name not in STORE.types:
        STORE.register(get_types_from_msg(_text, _name))
MASS, COM = float(BODY.report()[0]), BODY.report()[1:4]  # of the payload [kg, m]
NOISE = np.repeat([0.05, 0.002], 3)  # N, N m


def motion(duration: float, rate: float) -> Truth:
    """Motion of the arm, a part of 6 s; the first second of them is left out, in which it begins.
    """
    begin = round(rate)
    return Truth(*(part[begin:begin + round(duration * rate)] for part in moved(1, 8.0, rate)))


def wrench(duration: float, rate: float, points: Points = BODY, convention: str = "on_sensor"
           ) -> np.ndarray:
    """Readings (n, 6) without noise [N, N m]."""
    sign = -1.0 if convention == "on_sensor" else 1.0
    return sign * points.wrench(motion(duration, rate)) + BIAS


def nanoseconds(duration: float, rate: float) -> Array:
    """Stamps (n,) [ns]."""
    return START + np.rint(1e9 * times(duration, rate)).astype(np.int64)


def wrench_stream(duration: float, topic: str = "/wrench", points: Points = BODY,
                  convention: str = "on_sensor") -> Topic:
    """Wrench samples at 200 Hz with noise."""
    rows = wrench(duration, 200.0, points, convention)
    rows += NOISE * np.random.default_rng(7).normal(size=rows.shape)
    return Topic(topic, WRENCH, messages_of([Wrenches(nanoseconds(duration, 200.0), FRAME, rows)]))


def joint_stream(duration: float, topic: str = "/joint_states") -> Topic:
    """Joint positions at 200 Hz without noise."""
    return Topic(topic, JOINTS, messages_of([
        JointStates(nanoseconds(duration, 200.0), NAMES, motion(duration, 200.0).q)]))


def tf_stream(duration: float) -> Topic:
    """Pose of the sensor in the base, at 100 Hz."""
    return Topic("/tf", inputs.TRANSFORMS.type, messages_of([Edges(
        nanoseconds(duration, 100.0), "base", FRAME, poses(motion(duration, 100.0)))]))


def text_stream(topic: str, text: str) -> Topic:
    """One latched text, such as a robot description."""
    return Topic(topic, inputs.ROBOT_DESCRIPTION.type, [
        (START, make("std_msgs/String", text))], latched=True)


def write_bag(path: Path, topics: Sequence[Topic], storage: str = "mcap") -> Path:
    """Write topics to a new rosbag2 folder, in the order of their stamps."""
    write.write_bag(path, topics, StoragePlugin[storage.upper()])
    return path


def storage_file(bag: Path) -> Path:
    """The only storage file of a bag."""
    (file,) = [*bag.glob("*.mcap"), *bag.glob("*.db3")]
    return file


def tf_bag(path: Path, duration: float, storage: str = "mcap",
           convention: str = "on_sensor") -> Path:
    """A recording with wrench and TF only, whose base stands in a map."""
    base = Topic("/tf_static", inputs.STATIC_TRANSFORMS.type, messages_of([
        Edges(np.array([START]), "map", "base", np.eye(7)[6:])]), latched=True)
    return write_bag(path, [wrench_stream(duration, convention=convention), tf_stream(duration),
                            base], storage)


def joint_bag(path: Path, duration: float) -> Path:
    """A recording with wrench, joint states and robot description."""
    return write_bag(path, [wrench_stream(duration), joint_stream(duration),
                            text_stream("/robot_description", URDF)])
