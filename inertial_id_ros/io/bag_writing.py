# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Topics and messages of the recordings that this package writes, without ROS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..extras import optional_packages
from ..inertia import Array

with optional_packages("writing a recording"):
    from rosbags.interfaces import (
        Connection,
        Qos,
        QosDurability,
        QosHistory,
        QosLiveliness,
        QosReliability,
        QosTime,
    )
    from rosbags.rosbag2 import Writer
    from rosbags.typesys import Stores, get_typestore

WRENCH, JOINTS = "geometry_msgs/msg/WrenchStamped", "sensor_msgs/msg/JointState"
TRANSFORMS = "tf2_msgs/msg/TFMessage"


def bag_qos(latched: bool) -> Qos:
    """Reliable, kept for late subscribers where latched; times of 0 s mean no limit."""
    zero = QosTime(0, 0)
    durability = QosDurability.TRANSIENT_LOCAL if latched else QosDurability.VOLATILE
    return Qos(
        history=QosHistory.KEEP_LAST, depth=1 if latched else 10,
        reliability=QosReliability.RELIABLE, durability=durability, deadline=zero, lifespan=zero,
        liveliness=QosLiveliness.AUTOMATIC, liveliness_lease_duration=zero,
        avoid_ros_namespace_conventions=False)


class MessageWriter:
    """Makes messages of standard types, and writes them to an open recording; stamps in ns."""

    def __init__(self, writer: Writer) -> None:
        self._writer, self._store = writer, get_typestore(Stores.ROS2_JAZZY)

    def add_topic(self, name: str, kind: str, latched: bool = False) -> Connection:
        """Add a topic of a type such as `WRENCH`."""
        return self._writer.add_connection(f"/{name.lstrip('/')}", kind, typestore=self._store,
                                           offered_qos_profiles=[bag_qos(latched)])

    def write(self, topic: Connection, stamp: int, message: Any) -> None:
        """Write a message, as recorded at its stamp."""
        self._writer.write(topic, stamp, self._store.serialize_cdr(message, topic.msgtype))

    def make(self, kind: str, *values: Any) -> Any:
        """A message of a type, of the values of its fields."""
        return self._store.types[kind](*values)

    def header(self, stamp: int, frame: str) -> Any:
        """A std_msgs/Header."""
        return self.make("std_msgs/msg/Header", self.make(
            "builtin_interfaces/msg/Time", *divmod(stamp, 1_000_000_000)), frame)

    def vector(self, values: Array) -> Any:
        """A geometry_msgs/Vector3."""
        return self.make("geometry_msgs/msg/Vector3", *values.tolist())

    def wrench(self, stamp: int, frame: str, row: Array) -> Any:
        """Force and torque (6,) [N, N m] in a frame."""
        return self.make(WRENCH, self.header(stamp, frame), self.make(
            "geometry_msgs/msg/Wrench", self.vector(row[:3]), self.vector(row[3:])))

    def joints(self, stamp: int, names: Sequence[str], position: Array, velocity: Array,
               effort: Array) -> Any:
        """Joint states; velocity and effort may be empty."""
        return self.make(JOINTS, self.header(stamp, ""), list(names), position, velocity, effort)

    def transform(self, stamp: int, parent: str, child: str, translation: Array,
                  quaternion: Array) -> Any:
        """Translation (3,) [m] and quaternion (4,) x, y, z, w of a child in its parent."""
        return self.make(
            "geometry_msgs/msg/TransformStamped", self.header(stamp, parent), child, self.make(
                "geometry_msgs/msg/Transform", self.vector(translation),
                self.make("geometry_msgs/msg/Quaternion", *quaternion.tolist())))

    def transforms(self, edges: Sequence[Any]) -> Any:
        """A tf2_msgs/TFMessage."""
        return self.make(TRANSFORMS, list(edges))
