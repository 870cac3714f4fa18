# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Writes a simulated recording with ``rosbags``, without ROS.

It holds what a driver with robot_state_publisher would have published: ``/joint_states``,
``/wrench``, ``/tf`` (from the measured joint positions), and the latched ``/tf_static`` and
``/robot_description``; besides these the truth, latched, on ``/simulate_cobot/truth``."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ...errors import RecordingError
from ...extras import optional_packages
from ...inertia import Array, six_from_tensor
from .cobot import Recording, SimulatedCobot
from .description import Transform

with optional_packages("writing a recording"):
    from rosbags.interfaces import (
        Qos,
        QosDurability,
        QosHistory,
        QosLiveliness,
        QosReliability,
        QosTime,
    )
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.rosbag2.errors import WriterError
    from rosbags.typesys import Stores, get_typestore

START = 1_700_000_000.0  # s: stamp of the first sample where none is given; never 0, "no stamp"
# Type of each topic, and whether it is latched.
TOPICS = {
    "/joint_states": ("sensor_msgs/msg/JointState", False),
    "/wrench": ("geometry_msgs/msg/WrenchStamped", False),
    "/tf": ("tf2_msgs/msg/TFMessage", False),
    "/tf_static": ("tf2_msgs/msg/TFMessage", True),
    "/robot_description": ("std_msgs/msg/String", True),
    "/simulate_cobot/truth": ("geometry_msgs/msg/InertiaStamped", True)}
STORE = get_typestore(Stores.ROS2_JAZZY)


def write_bag(path: str | Path, cobot: SimulatedCobot, blocks: Recording | Iterable[Recording], *,
              start: float = START) -> None:
    """Writes consecutive recordings of a cobot into a new bag.

    Args:
        path: folder of the bag, which must not exist.
        cobot: gives names, transforms and the robot description.
        blocks: one recording, or consecutive blocks (``cobot.blocks(duration)``), which are
            written as they come.
        start: ROS time of the sample at t = 0 [s].

    Raises:
        RecordingError: the folder exists, or cannot be written.
    """
    folder = Path(path)
    if folder.exists():
        raise RecordingError(f"bag {folder} exists already; name a folder that does not")
    try:
        with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            topics = {name: writer.add_connection(
                name, kind, typestore=STORE, offered_qos_profiles=[quality_of_service(latched)])
                for name, (kind, latched) in TOPICS.items()}
            for stamp, name, message in _messages(
                    cobot, [blocks] if isinstance(blocks, Recording) else blocks,
                    round(start * 1e9)):
                writer.write(topics[name], stamp, STORE.serialize_cdr(message, TOPICS[name][0]))
    except BaseException as error:
        # A bag that stops half-way looks like a complete one.
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError | WriterError):
            raise RecordingError(f"bag {folder} cannot be written: {error}") from error
        raise


def _messages(cobot: SimulatedCobot, blocks: Iterable[Recording], start: int
              ) -> Iterator[tuple[int, str, Any]]:
    """Stamp [ns], topic and message; first what is latched."""
    payload, frame = cobot.payload, cobot.sensor_frame
    inertia = make("geometry_msgs/Inertia", payload.mass, _vector(payload.com),
                    *six_from_tensor(payload.inertia_com).tolist())
    yield start, "/tf_static", _transforms(start, cobot.static_transforms())
    yield start, "/robot_description", make("std_msgs/String", cobot.urdf)
    yield start, "/simulate_cobot/truth", make(
        "geometry_msgs/InertiaStamped", header(start, frame), inertia)
    for block in blocks:
        turns = cobot.description.joint_quaternions(block.q)
        for i, t in enumerate(block.t.tolist()):
            stamp, wrench = start + round(1e9 * t), block.wrench[i]
            yield stamp, "/joint_states", make(
                "sensor_msgs/JointState", header(stamp, ""), list(cobot.joint_names), block.q[i],
                block.dq[i], block.effort[i])
            yield stamp, "/wrench", make("geometry_msgs/WrenchStamped", header(stamp, frame),
                                          make("geometry_msgs/Wrench", _vector(wrench[:3]),
                                                _vector(wrench[3:])))
            if round(t * cobot.settings.rate) % cobot.tf_step == 0:
                yield stamp, "/tf", _transforms(stamp, [
                    joint._replace(quaternion=turn)
                    for joint, turn in zip(cobot.description.moving, turns[i], strict=True)])


def make(kind: str, *values: Any) -> Any:
    """A message of a type, such as std_msgs/Header, of the values of its fields."""
    return STORE.types[kind.replace("/", "/msg/")](*values)


def header(stamp: int, frame: str) -> Any:
    """A std_msgs/Header with a stamp [ns]."""
    return make("std_msgs/Header", make("builtin_interfaces/Time", *divmod(stamp, 10**9)), frame)


def _vector(values: Array) -> Any:
    return make("geometry_msgs/Vector3", *values.tolist())


def _transforms(stamp: int, edges: Iterable[Transform]) -> Any:
    return make("tf2_msgs/TFMessage", [
        make("geometry_msgs/TransformStamped", header(stamp, edge.parent), edge.child, make(
            "geometry_msgs/Transform", _vector(edge.translation),
            make("geometry_msgs/Quaternion", *edge.quaternion.tolist()))) for edge in edges])


def quality_of_service(latched: bool) -> Qos:
    """Reliable, kept for late subscribers where latched; times of 0 s mean no limit."""
    zero = QosTime(0, 0)
    return Qos(QosHistory.KEEP_LAST, 1 if latched else 10, QosReliability.RELIABLE,
               QosDurability.TRANSIENT_LOCAL if latched else QosDurability.VOLATILE, zero, zero,
               QosLiveliness.AUTOMATIC, zero, False)
