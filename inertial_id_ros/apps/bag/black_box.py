# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Black boxes: the last minutes of a node's inputs, which replay as any recording does.

A black box is a rosbag2 folder. Beside the recording lie the settings, the state (tool and tare),
and a report: versions, findings, the last outcome, what was asked of the node meanwhile, and the
SHA-256 of the other files. The node processes and solves at times of arrival that are multiples of
a period (`signals.inbox`), so that a replay can do the same between the same messages.

The recording is of mcap, with the definitions of its types.

The node keeps serialised messages in a log of bounded size.
"""

from __future__ import annotations

import hashlib
import heapq
import platform
import shutil
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import chain, islice, starmap
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import DamagedFile, RecordingError
from ...extras import optional_packages
from ...geometry.mesh import package_roots
from ...identification.state import State, StateFile
from ...io.files import (
    Content,
    format_document,
    read_document,
    replace_file,
    user_path,
    without_nonfinite,
)
from ...settings import Settings, iter_settings

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore

_HEADER_BYTES = 14  # of a packed message beside its own: topic, time, length
_CHUNK_BYTES = 250_000  # dropped as a whole when it is too old


class LoggedMessage(NamedTuple):
    """A serialised message.

    Attributes:
        topic: its number.
        time_ns: of its arrival [ns]; no two messages have the same, latched ones apart.
    """

    topic: int
    time_ns: int
    data: bytes


class _Chunk:
    """Many messages that follow each other, packed: as objects they need several times the memory.

    Args:
        messages: (topic, time [ns], bytes) of each, at least one.
    """

    def __init__(self, messages: Sequence[tuple[int, int, bytes]]) -> None:
        topics, times, data = zip(*messages, strict=True)
        self._topics, self._times = array("h", topics), array("q", times)
        self._sizes = array("I", map(len, data))
        self._data = b"".join(data)
        self.newest_ns, self.size = times[-1], len(self._data) + _HEADER_BYTES * len(data)

    def messages(self) -> Iterator[LoggedMessage]:
        at = 0
        for topic, time_ns, size in zip(self._topics, self._times, self._sizes, strict=True):
            yield LoggedMessage(topic, time_ns, self._data[at:at + size])
            at += size


class MessageLog:
    """Keeps messages until they are too old or too many, the oldest first.

    One thread adds messages, another may take a snapshot meanwhile. Messages of latched topics,
    which come once, are kept whatever their age.

    Args:
        duration: of what is kept [s]; most_bytes: that it may need, latched messages apart.

    Attributes:
        forgets: whether messages were dropped since the log began.
    """

    def __init__(self, duration: float, most_bytes: int) -> None:
        self._duration_ns, self._most_bytes = round(duration * 1e9), most_bytes
        # Whole chunks, and the messages since; replaced as a whole, for who takes a snapshot.
        self._kept: tuple[list[_Chunk], list[tuple[int, int, bytes]]] = [], []
        self._bytes = self._new_bytes = self._newest_ns = 0
        self._latched: deque[LoggedMessage] = deque()
        self._latched_bytes = 0
        self.forgets = False

    def add(self, topic: int, time_ns: int, data: bytes) -> None:
        """Add a message that arrived at a time [ns] not before that of the last."""
        self._newest_ns = time_ns = max(time_ns, self._newest_ns + 1)
        self._kept[1].append((topic, time_ns, data))
        self._new_bytes += _HEADER_BYTES + len(data)
        if self._new_bytes >= _CHUNK_BYTES:
            self._pack(time_ns)

    def add_latched(self, topic: int, time_ns: int, data: bytes) -> None:
        """Add a message of a latched topic, of any time [ns]; a copy of one that is there is left
        out."""
        if any(m.topic == topic and m.data == data for m in self._latched):
            return
        self._latched.append(LoggedMessage(topic, time_ns, data))
        self._latched_bytes += len(data)
        while self._latched_bytes > self._most_bytes and len(self._latched) > 1:
            self._latched_bytes -= len(self._latched.popleft().data)
            self.forgets = True

    def _pack(self, now_ns: int) -> None:
        """Pack the newest messages, and drop chunks that are too old, or beyond the limit of
        bytes."""
        chunks = [*self._kept[0], _Chunk(self._kept[1])]
        self._bytes += chunks[-1].size
        while len(chunks) > 1 and (chunks[0].newest_ns < now_ns - self._duration_ns
                                   or self._bytes > self._most_bytes):
            self._bytes -= chunks.pop(0).size
            self.forgets = True
        self._kept, self._new_bytes = (chunks, []), 0

    @property
    def has_messages(self) -> bool:
        """Whether any were added, latched ones apart."""
        return any(self._kept)

    def snapshot(self) -> Iterator[LoggedMessage]:
        """The messages at the time of the call, in the order of time."""
        chunks, newest = self._kept
        count = len(newest)
        messages = chain(chain.from_iterable(chunk.messages() for chunk in chunks),
                         starmap(LoggedMessage, islice(newest, count)))
        by_time = attrgetter("time_ns")
        return heapq.merge(sorted(self._latched, key=by_time), messages, key=by_time)


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

    from ...io.bag_writing import bag_qos
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
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
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


FORMAT, VERSION = "inertial_id_ros black box", 3
_REPORT, _SETTINGS, _STATE = "report.json", "settings.yaml", "state.json"
_PACKAGES = ("numpy", "scipy", "pin", "clarabel", "osqp", "rosbags")


@dataclass(frozen=True)
class BlackBox:
    """What lies in the folder beside the recording.

    Attributes:
        settings: those that differ from the defaults, by dotted name.
        state: tool and tare; of the node's start, like the settings, where nothing was asked of it
            since, else of the end of the recording.
        complete: whether the recording reaches back to the node's start.
        commands: what was asked of the node meanwhile, with the times.
        round_period: time of arrival from one round of the node to the next [s]; 0: not known.
        end_ns: time of arrival at which the recording ends [ns]; 0: not known.
    """

    settings: Mapping[str, Any]
    state: State
    complete: bool
    commands: tuple[str, ...] = ()
    round_period: float = 0.0
    end_ns: int = 0

    def notes(self, changed: bool) -> tuple[str, ...]:
        """What a replay of it uses, and how far that can be relied on, in sentences.

        Args:
            changed: whoever replays wants other settings.
        """
        notes = ["this is a black box: the settings and the state of its node are used"]
        why = ("it has settings of its own" if changed else
               "the node was told something meanwhile" if self.commands else
               "the recording begins later than the node" if not self.complete else
               "it was written by an earlier version" if not self.round_period else "")
        notes.append(f"the replay may differ from the node, because {why}" if why else
                     "the replay gives the estimates of the node")
        if self.commands:
            notes.append("the node was told meanwhile, which is not repeated here: "
                         + "; ".join(self.commands))
        return tuple(notes)


def settings_to_keep(settings: Settings) -> dict[str, Any]:
    """The settings that differ from the defaults, those of the sensor's data sheet among them, by
    dotted name, as YAML holds them."""
    default = Settings()
    defaults = [default, default.replace({"wrench.sensor": settings.wrench.sensor})]
    usual = [{name: value for name, value, _ in iter_settings(table)} for table in defaults]
    return {name: list(value) if isinstance(value, tuple) else value
            for name, value, _ in iter_settings(settings)
            if any(value != table[name] for table in usual)}


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
        write_recording(part, topics, messages)
        (part / _SETTINGS).write_text(yaml.safe_dump(
            {"/**": {"ros__parameters": dict(box.settings)}}, sort_keys=False), encoding="utf-8")
        StateFile(part / _STATE).save(box.state)
        content = {**report, "settings": dict(box.settings), "commands": list(box.commands),
                   "complete": box.complete, "round_period": box.round_period,
                   "end_ns": box.end_ns, "versions": _versions(),
                   "sha256": {file.name: _sha256(file) for file in sorted(part.iterdir())}}
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
        content = read_document(report, FORMAT, VERSION, _UPGRADES)
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
                    tuple(str(command) for command in asked),
                    float(content.get("round_period", 0.0)), int(content.get("end_ns", 0)))


def _read_state(file: Path) -> State:
    """The state of a black box, which is evidence: unlike a node's own file, it is never set aside
    (raises DamagedFile, OSError)."""
    try:
        return StateFile(file).read()
    except DamagedFile as error:
        raise DamagedFile(f"{file.name}: {error}") from error


def _from_earlier(content: Content) -> Content:
    """Earlier versions solved when a timer asked: between which messages is not known. What version
    2 noted of that, and of what its node had learnt, is not used any more."""
    return {**content, "round_period": 0.0, "end_ns": 0}


_UPGRADES = {1: _from_earlier, 2: _from_earlier}


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
