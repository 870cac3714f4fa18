# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A table as a recording, so that it takes the same road as one."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidSetting, RecordingError
from ...extras import optional_packages
from ...settings import Settings
from .motion_table import Columns, MotionTable, motion_table
from .read_table import SUFFIXES, is_dataset, read_episode, read_table

_WORLD = "world"  # frame in which the poses of a table are given


def is_table(path: Path) -> bool:
    """Whether a path is a table, not a recording."""
    return path.suffix in SUFFIXES or is_dataset(path)


@contextmanager
def as_recording(path: Path, columns: Columns, settings: Settings, episode: int = 0
                 ) -> Iterator[Path]:
    """The recording of a table, which is removed at the end; a recording stays as it is.

    Args:
        columns: of the table; settings: name the topics; episode: of a dataset of several.

    Raises:
        RecordingError, InvalidData, InvalidSetting: it cannot be read as such a table.
    """
    if not is_table(path):
        yield path
        return
    table = read_episode(path, episode) if is_dataset(path) else read_table(path)
    motion = motion_table(table, columns, settings.load.source == "joint_torque",
                          f"table {path}")
    if motion.joints and not settings.robot_description.file:
        raise InvalidSetting(f"table {path} holds joint positions: name the robot description "
                             "with --urdf")
    folder = Path(tempfile.mkdtemp(prefix="inertial_id_ros_"))
    try:
        _write(folder / path.stem, motion, columns, settings)
        yield folder / path.stem
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write(path: Path, motion: MotionTable, columns: Columns, settings: Settings) -> None:
    """Write a table as a bag of wrenches and transforms, or wrenches and joint states."""
    with optional_packages("reading a table"):
        from rosbags.rosbag2 import StoragePlugin, Writer
        from rosbags.typesys import Stores, get_typestore
    store = get_typestore(Stores.ROS2_JAZZY)
    try:
        with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            messages = _Messages(store.types, columns.frame)
            streams = [(writer.add_connection(_absolute(topic), kind, typestore=store), kind, make)
                       for topic, kind, make in _streams(messages, motion, settings)]
            for k, stamp in enumerate(motion.stamps.tolist()):
                for connection, kind, make in streams:
                    writer.write(connection, stamp, store.serialize_cdr(make(k, stamp), kind))
    except OSError as error:
        raise RecordingError(f"no room for the recording of a table: {error}") from error


def _streams(messages: _Messages, motion: MotionTable, settings: Settings) -> list[tuple]:
    """Topic, type, and maker of the message of a row; motion before the wrench."""
    streams: list[tuple] = []
    if motion.joints:
        names, positions = list(motion.joints), np.stack(list(motion.joints.values()), axis=1)
        efforts = (np.stack([motion.efforts[name] for name in names], axis=1) if motion.efforts
                   else np.empty((len(positions), 0)))
        streams.append((settings.joint_states.topic, "sensor_msgs/msg/JointState",
                        lambda k, stamp: messages.joints(stamp, names, positions[k], efforts[k])))
    else:
        position, quaternion = motion.position, motion.quaternion
        assert position is not None and quaternion is not None
        streams.append((settings.tf.topic, "tf2_msgs/msg/TFMessage",
                        lambda k, stamp: messages.pose(stamp, position[k], quaternion[k])))
    wrench = motion.wrench
    if wrench is not None:
        streams.append((settings.wrench.topic, "geometry_msgs/msg/WrenchStamped",
                        lambda k, stamp: messages.wrench(stamp, wrench[k])))
    return streams


def _absolute(topic: str) -> str:
    """A topic with its leading slash, as recordings have it."""
    return f"/{topic.lstrip('/')}"


class _Messages:
    """Makes the messages of rows.

    Args:
        types: of rosbags. frame: of the sensor.
    """

    def __init__(self, types: Any, frame: str) -> None:
        self._types, self._frame = types, frame

    def wrench(self, stamp: int, row: np.ndarray) -> Any:
        """Force and torque."""
        vector, values = self._types["geometry_msgs/msg/Vector3"], row.tolist()
        return self._types["geometry_msgs/msg/WrenchStamped"](
            self._header(stamp, self._frame),
            self._types["geometry_msgs/msg/Wrench"](vector(*values[:3]), vector(*values[3:])))

    def joints(self, stamp: int, names: list[str], row: np.ndarray, effort: np.ndarray) -> Any:
        """Joint positions, and torques where there are any."""
        return self._types["sensor_msgs/msg/JointState"](
            header=self._header(stamp, ""), name=names, position=row, velocity=np.empty(0),
            effort=effort)

    def pose(self, stamp: int, position: np.ndarray, quaternion: np.ndarray) -> Any:
        """The sensor in the world."""
        transform = self._types["geometry_msgs/msg/Transform"](
            self._types["geometry_msgs/msg/Vector3"](*position.tolist()),
            self._types["geometry_msgs/msg/Quaternion"](*quaternion.tolist()))
        return self._types["tf2_msgs/msg/TFMessage"]([
            self._types["geometry_msgs/msg/TransformStamped"](
                self._header(stamp, _WORLD), self._frame, transform)])

    def _header(self, stamp: int, frame: str) -> Any:
        seconds, nanoseconds = divmod(stamp, 1_000_000_000)
        return self._types["std_msgs/msg/Header"](
            self._types["builtin_interfaces/msg/Time"](seconds, nanoseconds), frame)
