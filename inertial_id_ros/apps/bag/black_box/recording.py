# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The recording in a black box: a rosbag2 folder of mcap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ....errors import RecordingError
from ....extras import optional_packages
from ....io.message_log import LoggedMessage
from .message_types import type_definitions


class LoggedTopic(NamedTuple):
    """A topic of a message log: its name, type, and whether it is latched."""

    name: str
    type: str
    latched: bool


def write_recording(folder: Path, topics: Sequence[LoggedTopic],
                    messages: Iterable[LoggedMessage]) -> None:
    """Write the messages as a rosbag2 recording of mcap (raises OSError, RecordingError)."""
    with optional_packages("saving a black box"):
        from rosbags.rosbag2 import StoragePlugin, Writer
        from rosbags.rosbag2.errors import WriterError

    from ....io.bag_qos import bag_qos
    try:
        with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            connections = [writer.add_connection(
                topic.name, topic.type, typestore=type_definitions(topic.type),
                offered_qos_profiles=[bag_qos(topic.latched)]) for topic in topics]
            for message in messages:
                writer.write(connections[message.topic], message.time_ns, message.data)
    except WriterError as error:
        raise RecordingError(f"black box {folder} cannot be written: {error}") from error
