# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Small recordings made from a motion in closed form, whose wrench is independent of the package.

Three wrist joints (about z, y, x) turn a sensor that sits 0.3 m along the last link, so that the
same motion can be recorded as transforms or as joint states with a robot description.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from scipy.spatial.transform import Rotation

from inertial_id_ros.apps.simulation.write import STORE, header, make, quality_of_service

START = 1_700_000_000_000_000_000  # ns
WRENCH, JOINTS = "geometry_msgs/msg/WrenchStamped", "sensor_msgs/msg/JointState"
TF, TEXT = "tf2_msgs/msg/TFMessage", "std_msgs/msg/String"

GRAVITY = np.array([0.0, 0.0, -9.81])
OFFSET = np.array([0.0, 0.0, 0.3])  # sensor origin in the last link
FREQUENCY, AMPLITUDE = np.array([0.55, 0.75, 0.95]), np.array([0.9, 0.8, 0.7])
JOINT_NAMES = ["wrist_z", "wrist_y", "wrist_x"]
_H = 1e-3  # s, step of the finite differences of the closed-form pose

URDF = f"""<?xml version="1.0"?>
<robot name="wrist">
  <link name="base"/><link name="first"/><link name="second"/><link name="third"/>
  <link name="sensor"/>
  <joint name="wrist_z" type="revolute"><parent link="base"/><child link="first"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="10" velocity="9"/></joint>
  <joint name="wrist_y" type="revolute"><parent link="first"/><child link="second"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="10" velocity="9"/></joint>
  <joint name="wrist_x" type="revolute"><parent link="second"/><child link="third"/>
    <axis xyz="1 0 0"/><limit lower="-3" upper="3" effort="10" velocity="9"/></joint>
  <joint name="flange" type="fixed"><parent link="third"/><child link="sensor"/>
    <origin xyz="0 0 {OFFSET[2]}"/></joint>
</robot>
"""


@dataclass(frozen=True)
class Payload:
    """A payload and the sensor's reading at zero load (sign of the topic)."""

    mass: float = 1.3
    com: tuple[float, float, float] = (0.02, -0.03, 0.08)
    inertia: np.ndarray = field(default_factory=lambda: np.array(
        [[4.0, 0.3, -0.2], [0.3, 3.0, 0.4], [-0.2, 0.4, 2.0]]) * 1e-3)
    bias: tuple[float, ...] = (1.0, -2.0, 3.0, 0.1, -0.2, 0.3)


@dataclass(frozen=True)
class Stream:
    """One topic: (log time [ns], message) pairs, serialised unless they are bytes already."""

    topic: str
    type: str
    samples: Sequence[tuple[int, Any]]
    latched: bool = False


def angles(t: np.ndarray) -> np.ndarray:
    """Joint angles (n, 3) [rad] at t (n,) [s]."""
    return AMPLITUDE * np.sin(2.0 * np.pi * FREQUENCY * t[:, None])


def pose(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Orientation (n, 3, 3) and position (n, 3) [m] of the sensor in the base."""
    rotation = Rotation.from_euler("ZYX", angles(t)).as_matrix()
    return rotation, rotation @ OFFSET


def wrench(t: np.ndarray, payload: Payload, convention: str = "on_sensor") -> np.ndarray:
    """Readings (n, 6) [N, N m]: rates of linear and angular momentum, by central differences."""
    com = np.array(payload.com)

    def world_com(s: np.ndarray) -> np.ndarray:
        r, p = pose(s)
        return p + r @ com

    def omega(s: np.ndarray) -> np.ndarray:
        step = pose(s - _H)[0].transpose(0, 2, 1) @ pose(s + _H)[0]
        return Rotation.from_matrix(step).as_rotvec() / (2.0 * _H)

    rotation, _ = pose(t)
    acceleration = (world_com(t + _H) - 2.0 * world_com(t) + world_com(t - _H)) / _H**2
    force = payload.mass * np.einsum("nji,nj->ni", rotation, acceleration - GRAVITY)
    w, alpha = omega(t), (omega(t + _H) - omega(t - _H)) / (2.0 * _H)
    torque = (alpha @ payload.inertia + np.cross(w, w @ payload.inertia)
              + np.cross(com, force))
    sign = -1.0 if convention == "on_sensor" else 1.0
    return sign * np.hstack([force, torque]) + payload.bias


def times(duration: float, rate: float) -> np.ndarray:
    """Sample times [s]."""
    return np.arange(round(duration * rate)) / rate


def nanoseconds(t: np.ndarray) -> list[int]:
    """Absolute stamps [ns] of times [s] since the start."""
    return [START + int(x) for x in np.rint(t * 1e9)]


def wrench_messages(stamps: Sequence[int], rows: np.ndarray, frame: str) -> list[tuple[int, Any]]:
    """Stamp [ns] and geometry_msgs/WrenchStamped of rows (n, 6) [N, N m]."""
    return [(s, make("geometry_msgs/WrenchStamped", header(s, frame), make(
        "geometry_msgs/Wrench", *(make("geometry_msgs/Vector3", *part)
                                  for part in row.reshape(2, 3).tolist()))))
        for s, row in zip(stamps, rows, strict=True)]


def wrench_stream(duration: float, payload: Payload, topic: str = "/wrench", rate: float = 200.0,
                  frame: str = "sensor", convention: str = "on_sensor") -> Stream:
    """Wrench samples with noise of 0.05 N and 0.002 N m."""
    t = times(duration, rate)
    rng = np.random.default_rng(7)
    rows = wrench(t, payload, convention)
    rows += rng.normal(size=rows.shape) * np.repeat([0.05, 0.002], 3)
    return Stream(topic, WRENCH, wrench_messages(nanoseconds(t), rows, frame))


def joint_stream(duration: float, topic: str = "/joint_states", rate: float = 200.0) -> Stream:
    """Joint positions without noise."""
    t = times(duration, rate)
    return Stream(topic, JOINTS, [
        (s, make("sensor_msgs/JointState", header(s, ""), JOINT_NAMES, q, np.empty(0), np.empty(0)))
        for s, q in zip(nanoseconds(t), angles(t), strict=True)])


def transform(stamp: int, parent: str, child: str, position: np.ndarray,
              quaternion: np.ndarray) -> Any:
    """A geometry_msgs/TransformStamped."""
    return make("geometry_msgs/TransformStamped", header(stamp, parent), child, make(
        "geometry_msgs/Transform", make("geometry_msgs/Vector3", *map(float, position)),
        make("geometry_msgs/Quaternion", *map(float, quaternion))))


def tf_stream(duration: float) -> Stream:
    """Pose of the sensor in the base."""
    t = times(duration, 100.0)
    rotation, position = pose(t)
    quaternions = Rotation.from_matrix(rotation).as_quat()
    return Stream("/tf", TF, [
        (s, make("tf2_msgs/TFMessage", [transform(s, "base", "sensor", p, q)]))
        for s, p, q in zip(nanoseconds(t), position, quaternions, strict=True)])


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
           **wrench_options: Any) -> Path:
    """A recording with wrench and TF only."""
    return write_bag(path, [wrench_stream(duration, Payload(), **wrench_options),
                            tf_stream(duration), static_tf_stream()], storage)


def joint_bag(path: Path, duration: float, storage: Literal["mcap", "sqlite3"] = "mcap") -> Path:
    """A recording with wrench, joint states and robot description."""
    return write_bag(path, [wrench_stream(duration, Payload()), joint_stream(duration),
                            text_stream("/robot_description", URDF)], storage)
