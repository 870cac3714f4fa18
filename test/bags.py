# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Small recordings of a moving arm, whose wrench is independent of the package (`scenes`); the same
motion can be recorded as transforms or as joint states with a robot description."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import get_types_from_msg
from scenes import BIAS, BODY, FRAME, NAMES, URDF, Points, Truth, moved
from scipy.spatial.transform import Rotation

from inertial_id_ros.apps.simulation.write import STORE, header, make, quality_of_service

START = 1_700_000_000_000_000_000  # ns
WRENCH, JOINTS = "geometry_msgs/msg/WrenchStamped", "sensor_msgs/msg/JointState"
TF, TEXT = "tf2_msgs/msg/TFMessage", "std_msgs/msg/String"
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


@dataclass(frozen=True)
class Stream:
    """One topic: (log time [ns], message) pairs, serialised unless they are bytes already."""

    topic: str
    type: str
    samples: Sequence[tuple[int, Any]]
    latched: bool = False


def times(duration: float, rate: float) -> np.ndarray:
    """Sample times [s]."""
    return np.arange(round(duration * rate)) / rate


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


def nanoseconds(t: np.ndarray) -> list[int]:
    """Absolute stamps [ns] of times [s] since the start."""
    return [START + int(x) for x in np.rint(t * 1e9)]


def wrench_messages(stamps: Sequence[int], rows: np.ndarray, frame: str) -> list[tuple[int, Any]]:
    """Stamp [ns] and geometry_msgs/WrenchStamped of rows (n, 6) [N, N m]."""
    return [(s, make("geometry_msgs/WrenchStamped", header(s, frame), make(
        "geometry_msgs/Wrench", *(make("geometry_msgs/Vector3", *part)
                                  for part in row.reshape(2, 3).tolist()))))
        for s, row in zip(stamps, rows, strict=True)]


def wrench_stream(duration: float, topic: str = "/wrench", points: Points = BODY,
                  convention: str = "on_sensor") -> Stream:
    """Wrench samples at 200 Hz with noise."""
    rows = wrench(duration, 200.0, points, convention)
    rows += NOISE * np.random.default_rng(7).normal(size=rows.shape)
    return Stream(topic, WRENCH, wrench_messages(nanoseconds(times(duration, 200.0)), rows, FRAME))


def joint_stream(duration: float, topic: str = "/joint_states") -> Stream:
    """Joint positions at 200 Hz without noise."""
    return Stream(topic, JOINTS, [
        (s, make("sensor_msgs/JointState", header(s, ""), list(NAMES), q, np.empty(0), np.empty(0)))
        for s, q in zip(nanoseconds(times(duration, 200.0)), motion(duration, 200.0).q,
                        strict=True)])


def transform(stamp: int, parent: str, child: str, position: np.ndarray,
              quaternion: np.ndarray) -> Any:
    """A geometry_msgs/TransformStamped."""
    return make("geometry_msgs/TransformStamped", header(stamp, parent), child, make(
        "geometry_msgs/Transform", make("geometry_msgs/Vector3", *map(float, position)),
        make("geometry_msgs/Quaternion", *map(float, quaternion))))


def tf_stream(duration: float) -> Stream:
    """Pose of the sensor in the base, at 100 Hz."""
    moving = motion(duration, 100.0)
    return Stream("/tf", TF, [
        (s, make("tf2_msgs/TFMessage", [transform(s, "base", FRAME, p, q)]))
        for s, p, q in zip(nanoseconds(times(duration, 100.0)), moving.position,
                           Rotation.from_matrix(moving.rotation).as_quat(), strict=True)])


def static_tf_stream() -> Stream:
    """The base stands in the map, latched."""
    edge = transform(START, "map", "base", np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))
    return Stream("/tf_static", TF, [(START, make("tf2_msgs/TFMessage", [edge]))], latched=True)


def text_stream(topic: str, text: str) -> Stream:
    """One latched text, such as a robot description."""
    return Stream(topic, TEXT, [(START, make("std_msgs/String", text))], latched=True)


def write_bag(path: Path, streams: Sequence[Stream],
              storage: Literal["mcap", "sqlite3"] = "mcap") -> Path:
    """Write streams to a new rosbag2 folder, in the order of their log times."""
    plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3
    with Writer(path, version=9, storage_plugin=plugin) as writer:
        rows = []
        for stream in streams:
            connection = writer.add_connection(stream.topic, stream.type, typestore=STORE,
                                               offered_qos_profiles=[
                                                   quality_of_service(stream.latched)])
            for stamp, message in stream.samples:
                data = message if isinstance(message, bytes) else bytes(
                    STORE.serialize_cdr(message, stream.type))
                rows.append((stamp, connection, data))
        for stamp, connection, data in sorted(rows, key=lambda row: row[0]):
            writer.write(connection, stamp, data)
    return path


def storage_file(bag: Path) -> Path:
    """The only storage file of a bag."""
    (file,) = [*bag.glob("*.mcap"), *bag.glob("*.db3")]
    return file


def tf_bag(path: Path, duration: float, storage: Literal["mcap", "sqlite3"] = "mcap",
           convention: str = "on_sensor") -> Path:
    """A recording with wrench and TF only."""
    return write_bag(path, [wrench_stream(duration, convention=convention), tf_stream(duration),
                            static_tf_stream()], storage)


def joint_bag(path: Path, duration: float) -> Path:
    """A recording with wrench, joint states and robot description."""
    return write_bag(path, [wrench_stream(duration), joint_stream(duration),
                            text_stream("/robot_description", URDF)])
