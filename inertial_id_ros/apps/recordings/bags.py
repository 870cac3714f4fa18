# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Bags as recordings: rosbag2 (mcap, sqlite3) and ROS 1, read without ROS.

The storage files themselves are read, so that a metadata.yaml that is missing, or of another tool,
hides no message; only of a compressed bag it is needed.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from heapq import merge
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import RecordingError
from ...extras import optional_packages
from ...io import decoding, inputs
from ...io.files import user_path
from ...io.inputs import JOINT_STATES, PAYLOADS, ROBOT_DESCRIPTION, WRENCH, InputTopic, Samples
from ...kinds import Finding, made
from ...settings import Settings
from . import Recording, StatedPayload, one_error

SECOND = 1_000_000_000  # ns, of a part
FIRST = 20  # messages that tell the payload of a driver: the first may still hold NaN
LEAST = 1e-3  # kg; less is no payload
DRIVER = "precompensated.topic"
OLD_TYPES = {"tf/msg/tfMessage": inputs.TRANSFORMS.type}  # of ROS 1
Message = tuple[str, int, bytes]  # topic, time of recording [ns], CDR


class Bag(ExitStack):
    """A bag opened for reading, as a context manager: folder of a rosbag2, or one .mcap, .db3 or
    (ROS 1) .bag file (raises RecordingError: missing, cut off, or not a recording).

    Attributes:
        topics: number of messages by name and type, sorted; duration: of all messages [s].
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        with optional_packages("reading a recording"):  # the node may lack rosbags
            from rosbags import rosbag1, rosbag2
            from rosbags.typesys import Stores, get_typestore
        self._path, self._store = user_path(path), get_typestore(Stores.ROS2_JAZZY)
        files, counts = _files_of(self._path), Counter[tuple[str, str]]()
        with one_error(f"recording {self._path} cannot be read"):
            self._readers: list[Any] = [self.enter_context(
                (rosbag1 if file.suffix == ".bag" else rosbag2).Reader(file)) for file in files]
            self._connections = [c for reader in self._readers for c in reader.connections]
            for connection in self._connections:
                counts[connection.topic, _type_of(connection)] += connection.msgcount
            self.duration = 1e-9 * max(0, max(reader.end_time for reader in self._readers) - 1
                                       - min(reader.start_time for reader in self._readers))
        self.topics = dict(sorted(counts.items()))
        spans = sorted((r.start_time, r.end_time, r.path) for r in self._readers if r.message_count)
        for k, (start, _, own) in enumerate(spans[1:], 1):  # parts of one bag leave no gap
            gap, said = start - max(end for _, end, _ in spans[:k]), own.with_name("metadata.yaml")
            if gap > SECOND and not (said.is_file() and own.name.encode() in said.read_bytes()):
                raise RecordingError(f"{self._path} holds several recordings, {1e-9 * gap:.0f} s "
                                     f"apart: give one of its files, such as {own.name}")

    def messages(self, types: Mapping[str, str]) -> Iterator[Message]:
        """Messages of topics (type by name) in the order of their times of recording; what has
        another type under such a name is left out (raises RecordingError: damaged)."""
        def of_file(reader: Any) -> Iterator[Message]:
            chosen = [c for c in reader.connections if types.get(c.topic) == _type_of(c)]
            convert = self._store.ros1_to_cdr if reader.path.suffix == ".bag" else None
            for connection, time, data in reader.messages(chosen) if chosen else ():
                yield connection.topic, time, (
                    bytes(convert(data, _type_of(connection))) if convert else data)

        with one_error(f"recording {self._path} cannot be read"):
            yield from merge(*map(of_file, self._readers), key=lambda message: message[1])

    def message(self, kind: str, data: bytes) -> Any:
        """A message of a type (raises RecordingError)."""
        from rosbags.typesys import get_types_from_msg

        with one_error(f"a message of type {kind} cannot be decoded"):
            if kind not in self._store.types:  # the file defines it
                self._store.register(get_types_from_msg(next(
                    c.msgdef.data for c in self._connections if c.msgtype == kind), kind))
            return self._store.deserialize_cdr(data, kind)


def read_bag(path: Path, settings: Settings, recorded_stamps: bool = False) -> Recording:
    """Read a bag, with the times of recording in place of the header stamps where those are asked
    for (raises RecordingError: it cannot be read, or lacks a topic)."""
    with Bag(path) as bag:
        notes, parts, fixed, description = list[str](), list[Any](), list[Any](), ""
        topics, states = select_topics(bag, settings, notes), decoding.StateReader()
        counts, damaged = dict.fromkeys(topics, 0), dict[str, tuple[int, str]]()

        def messages(latched: bool) -> Iterator[Message]:
            return bag.messages({name: topic.type for name, topic in topics.items()
                                 if topic.latched == latched})

        def decode(name: str, data: Sequence[bytes], times: Sequence[int] | None = None
                   ) -> Sequence[Samples | StatedPayload]:
            counts[name] += len(data)
            if topics[name].setting == DRIVER:
                stated = states.payload(bag.message(topics[name].type, data[-1]),
                                        settings.precompensated.name)
                return () if stated is None else (stated,)
            samples, bad, why = decoding.decode(topics[name], data, times)
            if bad:
                damaged[name] = (damaged.get(name, (0, ""))[0] + bad, why)
            return samples

        for name, _, data in messages(latched=True):  # live, they are there at once
            if topics[name] is ROBOT_DESCRIPTION:
                counts[name] += 1
                with one_error(f"the robot description on {name} cannot be read"):
                    description = decoding.Reader(data).text()
            else:
                fixed += decode(name, [data])
        for _, some in groupby(messages(latched=False), lambda message: message[1] // SECOND):
            by_topic: dict[str, list[tuple[Any, ...]]] = {}
            for name, time, data in some:
                by_topic.setdefault(name, []).append((data, time) if recorded_stamps else (data,))
            parts.append([sample for name, own in by_topic.items()
                          for sample in decode(name, *zip(*own, strict=True))])
        findings = [made(f"message_malformed.{name.lstrip('/')}", count=count, why=why)
                    for name, (count, why) in damaged.items()]
        return Recording(parts, bag.duration, counts, description, tuple(fixed), tuple(notes),
                         (*_payload_not_added(bag, settings), *findings))


def select_topics(bag: Bag, settings: Settings, notes: list[str]) -> dict[str, InputTopic]:
    """The topics to read by name: those of the settings, or others that cannot be meant otherwise;
    notes: gets a sentence on each choice.

    Raises:
        RecordingError: no wrench, several and none chosen, or a chosen topic that is missing or of
            another type; or nothing tells the motion.
    """
    chosen = {name: wanted for wanted in inputs.input_topics(settings)
              for name in _names(bag, wanted, settings, notes)}
    kinds, by_torque = set(chosen.values()), bool(settings.load.robot)
    if JOINT_STATES in kinds and (settings.robot_description.file or ROBOT_DESCRIPTION in kinds):
        return chosen
    described, states = ("/" + group.topic.lstrip("/") for group in (
        settings.robot_description, settings.joint_states))
    if by_torque or inputs.TRANSFORMS not in kinds:
        raise RecordingError(
            f"the recording does not tell the motion: joint states ({states}, {JOINT_STATES.type}) "
            f"with a robot description ({described}, or a file by --urdf)"
            + ("" if by_torque else " or transforms (/tf)")
            + f" are needed; it holds {_held(bag)}")
    if JOINT_STATES in kinds:
        notes.append(f"no robot description ({described}, --urdf): transforms tell the motion")
    return chosen


def _names(bag: Bag, wanted: InputTopic, settings: Settings, notes: list[str]) -> list[str]:
    """The topic that the settings name; where there is none, what can be meant: the only one of
    that name in another namespace, and where the name is the usual one, the only wrench, or all
    joint states (raises RecordingError)."""
    name, usual = (wanted.name(which).lstrip("/") for which in (settings, Settings()))
    found = [topic for (topic, kind), count in bag.topics.items() if kind == wanted.type and count]
    if f"/{name}" in found or (f"/{name}", wanted.type) in bag.topics and wanted is not WRENCH:
        return [f"/{name}"]
    if name != usual or wanted not in (WRENCH, JOINT_STATES):
        found = [topic for topic in found if topic.endswith("/" + name.rsplit("/", 1)[-1])]
        found = found if len(found) == 1 else []  # which one is meant, is for the user to say
    is_needed = wanted is WRENCH or wanted.setting == DRIVER or name != usual
    if is_needed and not found or wanted is WRENCH and len(found) > 1 or (
            f"/{name}" in dict(bag.topics)):
        raise RecordingError(
            f"{wanted.content} topic /{name} holds no {wanted.type}; choose one with --set "
            f"{wanted.setting}=NAME; the recording holds {_held(bag)}")
    if found:
        notes.append(f"using {' and '.join(found)} for /{name}")
    return found


def _held(bag: Bag) -> str:
    """Names and types of topics on one line, or that there are none."""
    return ", ".join(f"{name} ({kind}{'' if count else ', empty'})"
                     for (name, kind), count in bag.topics.items()) or "no topics at all"


def _payload_not_added(bag: Bag, settings: Settings) -> tuple[Finding, ...]:
    """At most one finding: a driver states a payload, which it may compensate in the wrench, and
    the settings do not say so. Only the first messages of each topic are read."""
    driver = settings.precompensated
    if settings.load.robot or driver.source != "settings" or driver.mass:
        return ()
    for source, name in ((source, name) for source in PAYLOADS if source != "inertia"
                         for name, kind in bag.topics if kind == PAYLOADS[source][-1].type):
        name, states = name.removesuffix(PAYLOADS[source][-1].suffix), decoding.StateReader()
        types = {name + topic.suffix: topic.type for topic in PAYLOADS[source]}
        with suppress(RecordingError):  # the type is not defined in the file
            for topic, _, data in islice(bag.messages(types), FIRST):
                stated = states.payload(bag.message(types[topic], data), driver.name)
                if stated is not None and LEAST < stated.values[0] < np.inf:
                    return (made("payload_not_added", why="stated", topic=name, source=source,
                                 mass=stated.values[0]),)
    return ()


def _type_of(connection: Any) -> str:
    """Type of a connection's messages, by its name in ROS 2."""
    return OLD_TYPES.get(connection.msgtype, connection.msgtype)


def _files_of(path: Path) -> list[Path]:
    """The storage files of a recording; of a compressed one its folder (raises RecordingError)."""
    path = path.parent if path.name == "metadata.yaml" else path
    metadata = path / "metadata.yaml"
    if metadata.is_file() and re.search(
            r"compression_mode:[ \"']*\w", metadata.read_text(errors="replace")):
        return [path]
    if files := [file for file in (path, *sorted(path.glob("*")))
                 if file.suffix in (".mcap", ".db3", ".bag") and file.is_file()]:  # pipes block
        return files
    raise RecordingError(
        f"{path} " + ("is not a recording" if path.exists() else "does not exist")
        + "; allowed: a rosbag2 folder, a .mcap, .db3 or .bag file, a table (.csv, .tsv, .txt, "
        ".npz, .parquet) or the folder of a LeRobot dataset")
