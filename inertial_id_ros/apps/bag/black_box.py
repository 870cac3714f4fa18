# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Black boxes: the last minutes of a node's inputs, with what is needed to replay them to the bit.

A black box is a rosbag2 folder. Beside the recording lie the settings, the state with which the
node started, and a report: versions, findings, the last outcome, what was asked of the node
meanwhile, and the SHA-256 of the other files. On the topic `MARKS` the node notes behind which
message it did what: an estimate starts from the one before, and sums of the same rows in other
portions differ in their last bits.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import DamagedFile, RecordingError
from ...geometry.resources import package_roots
from ...identification.state import State, StateFile
from ...io.files import (
    format_document,
    read_document,
    replace_file,
    user_path,
    without_nonfinite,
)
from ...io.message_log import MARK, LoggedMessage
from ...settings import Settings, iter_settings

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore

FORMAT, VERSION = "inertial_id_ros black box", 1
MARKS, MARKS_TYPE = "/inertial_id_node/black_box", "std_msgs/msg/String"
ADVANCE, SOLVE, DESCRIBE = "advance", "solve", "describe"  # texts of marks
_REPORT, _SETTINGS, _STATE = "report.json", "settings.yaml", "state.json"
_PACKAGES = ("numpy", "scipy", "pin", "clarabel", "osqp", "rosbags")


class LoggedTopic(NamedTuple):
    """A topic of a message log: its name, type, and whether it is latched."""

    name: str
    type: str
    latched: bool


@dataclass(frozen=True)
class BlackBox:
    """What lies in the folder beside the recording.

    Attributes:
        settings: those that differ from the defaults, by dotted name.
        state: that the node started with.
        complete: whether the recording reaches back to the node's start, so that a replay gives the
            node's numbers to the bit.
        commands: what was asked of the node meanwhile, with the times.
    """

    settings: Mapping[str, Any]
    state: State
    complete: bool
    commands: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a replay of it uses, and how far that can be relied on, in sentences."""
        notes = ["this is a black box: the settings and the state of its node are used"]
        if not self.complete:
            notes.append("it does not reach back to the start of its node: what the node had "
                         "learnt before is missing, and the numbers may differ a little")
        if self.commands:
            notes.append("the node was told meanwhile, which is not repeated here: "
                         + "; ".join(self.commands))
        return tuple(notes)


def write_black_box(folder: Path, topics: Sequence[LoggedTopic], messages: Iterable[LoggedMessage],
                    box: BlackBox, report: Mapping[str, Any]) -> Path:
    """Write a black box, whole or not at all; one of the same name is replaced.

    Args:
        topics: of the messages, by their numbers.
        report: further content of the report.

    Raises:
        RecordingError: the system refuses, or the definition of a type is not installed.
    """
    import yaml  # loads slowly, and who reads recordings needs none

    whole = folder.with_name(f".{folder.name}.part")
    part = whole / folder.name  # the name of the folder goes into those of its files
    try:
        shutil.rmtree(whole, ignore_errors=True)
        whole.mkdir(parents=True)
        _write_bag(part, topics, messages)
        (part / _SETTINGS).write_text(yaml.safe_dump(
            {"/**": {"ros__parameters": dict(box.settings)}}, sort_keys=False), encoding="utf-8")
        StateFile(part / _STATE).save(box.state)
        content = {**report, "settings": dict(box.settings), "commands": list(box.commands),
                   "complete": box.complete, "versions": _versions(), "sha256": {
            file.name: _sha256(file) for file in sorted(part.iterdir())}}
        with replace_file(part / _REPORT) as temporary:
            text = format_document(FORMAT, VERSION, without_nonfinite(content))
            temporary.write_text(text, encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    except OSError as error:
        raise RecordingError(
            f"black box {folder} cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(whole, ignore_errors=True)
    return folder


def _write_bag(folder: Path, topics: Sequence[LoggedTopic],
               messages: Iterable[LoggedMessage]) -> None:
    """Write the messages as a rosbag2 recording of mcap (raises OSError, RecordingError)."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.rosbag2.errors import WriterError

    from ...io.bag_qos import bag_qos
    from .reader import standard_types

    try:
        with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            connections = [writer.add_connection(
                topic.name, topic.type, typestore=_types(topic.type),
                offered_qos_profiles=[bag_qos(topic.latched)]) for topic in topics]
            marks = writer.add_connection(MARKS, MARKS_TYPE, typestore=standard_types(),
                                          offered_qos_profiles=[bag_qos(latched=False)])
            for message in messages:
                if message.topic == MARK:
                    writer.write(marks, message.time_ns, _as_string(message.data))
                else:
                    writer.write(connections[message.topic], message.time_ns, message.data)
    except WriterError as error:
        raise RecordingError(f"black box {folder} cannot be written: {error}") from error


def _types(kind: str) -> Typestore:
    """Definitions that hold a type; of one that is not standard, the installed one.

    Raises:
        RecordingError: it is not installed.
    """
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    from .reader import standard_types

    store = standard_types()
    if kind in store.types:
        return store
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


def _as_string(text: bytes) -> bytes:
    """A serialised std_msgs/String."""
    from .reader import standard_types

    store = standard_types()
    content = store.types[MARKS_TYPE](data=text.decode())
    return bytes(store.serialize_cdr(content, MARKS_TYPE))


def read_black_box(recording: str | Path) -> BlackBox | None:
    """What lies beside a recording that is a black box; None where it is none.

    Raises:
        RecordingError: a file of it is missing or damaged.
    """
    folder = user_path(recording)
    report = folder / _REPORT
    if not report.is_file():
        return None
    try:
        content = read_document(report, FORMAT, VERSION)
        for name, digest in dict(content.get("sha256", {})).items():
            if _sha256(folder / Path(name).name) != digest:
                raise DamagedFile(f"{name} does not match its checksum")
        state = _read_state(folder / _STATE)
    except (OSError, DamagedFile, ValueError) as error:
        raise RecordingError(f"black box {folder} cannot be read: {error}") from error
    settings, asked = content.get("settings"), content.get("commands")
    if not isinstance(settings, dict) or not isinstance(asked, list):
        raise RecordingError(f"black box {folder} cannot be read: {_REPORT} lacks its settings or "
                             "commands")
    return BlackBox(settings, state, content.get("complete") is True,
                    tuple(str(command) for command in asked))


def _read_state(file: Path) -> State:
    """The state of a black box, which is evidence: unlike a node's own file, it is never set aside
    (raises DamagedFile, OSError)."""
    try:
        return StateFile(file).read()
    except DamagedFile as error:
        raise DamagedFile(f"{file.name}: {error}") from error


def settings_to_keep(settings: Settings) -> dict[str, Any]:
    """The settings that differ from the defaults, by dotted name, as YAML holds them."""
    defaults = {name: value for name, value, _ in iter_settings(Settings())}
    return {name: list(value) if isinstance(value, tuple) else value
            for name, value, _ in iter_settings(settings) if value != defaults[name]}


def _versions() -> dict[str, str]:
    """Versions of what the numbers depend on."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for name in ("inertial_id_ros", *_PACKAGES):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # a source tree, or an optional package
            continue
    return found


def _sha256(file: Path) -> str:
    """SHA-256 of a file (raises OSError)."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
