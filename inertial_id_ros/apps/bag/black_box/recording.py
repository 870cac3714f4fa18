# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The recording in a black box: a rosbag2 folder of mcap, with the definitions of its types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ....errors import RecordingError
from ....extras import optional_packages
from ....geometry.resources import package_roots
from ....io.message_log import LoggedMessage
from ..reader import standard_types

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore


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


def type_definitions(kind: str) -> Typestore:
    """Definitions that hold a type; of one that is not standard, the installed one.

    Raises:
        RecordingError: it is not installed.
    """
    store = standard_types()
    if kind in store.types:
        return store
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store, waiting = get_typestore(Stores.ROS2_JAZZY), [kind]
    while waiting:
        name = waiting.pop()
        package, _, plain = name.split("/")
        file = next((f for root in package_roots()
                     if (f := root / package / "msg" / f"{plain}.msg").is_file()), None)
        if file is None:
            raise RecordingError(f"the definition of {name} is not installed")
        found = get_types_from_msg(file.read_text(encoding="utf-8"), name)
        store.fielddefs.update(found)  # registered below, when all are there
        waiting += [inner for _, field in found[name][1] for inner in _names_in(field)
                    if inner not in store.fielddefs]
    ours = {n: f for n, f in store.fielddefs.items() if n not in store.types}
    store = get_typestore(Stores.ROS2_JAZZY)
    store.register(ours)
    return store


def _names_in(field: Any) -> Iterator[str]:
    """Names of the types of messages in the description of a field."""
    if isinstance(field, str) and "/" in field:
        yield field
    elif isinstance(field, tuple):
        for part in field:
            yield from _names_in(part)
