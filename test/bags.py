# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Small recordings of a moving arm, whose wrench is independent of the package (`scenes`), with
transforms or with joint states and a robot description."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rosbags.rosbag2 import StoragePlugin
from rosbags.typesys import get_types_from_msg
from scenes import BIAS, BODY, NOTHING, URDF, Points, Truth, cobot, pose, times, wide_motion
from scenes import NAMES as NAMES

from inertial_id_ros.apps.simulation import write
from inertial_id_ros.apps.simulation.cobot import Scenario
from inertial_id_ros.apps.simulation.write import STORE, Topic, make, messages_of
from inertial_id_ros.apps.simulation.write import header as header
from inertial_id_ros.inertia import Array
from inertial_id_ros.io import inputs
from inertial_id_ros.io.inputs import START, Edges, JointStates, Wrenches

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


def arm(rate: float, points: Points = BODY, convention: str = "on_sensor", noise: float = 0.0
        ) -> Scenario:
    """The arm in a motion of 7 s, which begins in full speed."""
    return cobot(8.0, rate=rate, noise=noise, encoder_noise=0.0, convention=convention,
                 bias=BIAS if convention == "on_sensor" else -BIAS, payload=NOTHING,
                 effects=[lambda _, at: points.wrench(at)],
                 motion=lambda t: wide_motion(8.0, 1, 4)(t + 1.0))


def motion(duration: float, rate: float) -> Truth:
    """Its motion."""
    return arm(rate).truth(times(duration, rate))


def wrench(duration: float, rate: float) -> np.ndarray:
    """Readings (n, 6) without noise [N, N m]."""
    return arm(rate).record(duration).of_kind(Wrenches)[0].rows


def nanoseconds(duration: float, rate: float) -> Array:
    """Stamps (n,) [ns]."""
    return START + np.rint(1e9 * times(duration, rate)).astype(np.int64)


def wrench_stream(duration: float, topic: str = "/wrench", points: Points = BODY,
                  convention: str = "on_sensor") -> Topic:
    """Wrench samples at 200 Hz with noise."""
    return Topic(topic, WRENCH, messages_of(
        arm(200.0, points, convention, 0.5).record(duration).of_kind(Wrenches)))


def joint_stream(duration: float, topic: str = "/joint_states") -> Topic:
    """Joint positions at 200 Hz without noise."""
    return Topic(topic, JOINTS, messages_of([
        JointStates(*arm(200.0).record(duration).joints[:3])]))


def tf_stream(duration: float) -> Topic:
    """Pose of the sensor in the base, at 100 Hz."""
    return Topic("/tf", inputs.TRANSFORMS.type, messages_of([
        pose(arm(100.0).record(duration).of_kind(Edges))]))


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
