# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Bags as recordings: rosbag2 (mcap, sqlite3) and ROS 1, read without ROS, and their topics.

The files themselves are read, so that a metadata.yaml that is missing, or of another tool, hides no
message; only of a compressed bag it is needed.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...errors import RecordingError
from ...extras import optional_packages
from ...io import decoding
from ...io.files import user_path
from ...io.input_topics import (
    DYNAMIC_JOINT_STATES,
    DYNAMIC_PAYLOAD,
    FRANKA_PAYLOAD,
    JOINT_STATES,
    PAYLOADS,
    ROBOT_DESCRIPTION,
    STATIC_TRANSFORMS,
    TRANSFORMS,
    WRENCH,
    InputTopic,
    input_topics,
)
from ...io.sample_blocks import Edges, JointStates, Samples
from ...kinds import Finding, made
from ...settings import Settings
from .recording import FixedFrame, Part, Recording, StatedPayload

SUFFIXES = (".mcap", ".db3", ".bag")
TOGETHER = 2000  # messages of a part
LONGEST = 1_000_000_000  # ns of one
FIRST = 20  # messages that tell joints or payload of a topic: the first may still hold NaN
LEAST = 1e-3  # kg; less is no payload
SHOWN = 20  # topics in a message
# Without these there is nothing to read, and no other topic can be meant.
REQUIRED = (DYNAMIC_JOINT_STATES, *PAYLOADS.values())
OLD_TYPES = {"tf/msg/tfMessage": TRANSFORMS.type}  # of ROS 1


class Message(NamedTuple):
    """A serialised message: topic, time of recording [ns], CDR bytes."""

    topic: str
    time: int
    data: bytes



class BagReader:
    """A bag opened for reading; use as a context manager.

    Args:
        path: folder of a rosbag2, or one .mcap, .db3 or (ROS 1) .bag file.

    Attributes:
        topics: number of messages by name and type, sorted.
        start: time of the first message [ns]; duration: from there to the last one [s].

    Raises:
        RecordingError: missing, cut off, or not a recording; the text says which.
    """

    def __init__(self, path: str | Path) -> None:
        with optional_packages("reading a recording"):  # the node may lack rosbags
            from rosbags.highlevel import AnyReader
            from rosbags.typesys import Stores, get_typestore
        self._path, self._store = user_path(path), get_typestore(Stores.ROS2_JAZZY)
        files = _files_of(self._path)
        with _one_error(f"recording {self._path} cannot be read"):
            self._reader = AnyReader(files, default_typestore=self._store)
            self._reader.open()
            self.start = self._reader.start_time
            self.duration = 1e-9 * max(0, self._reader.duration - 1)
        counts: Counter[tuple[str, str]] = Counter()
        for connection in self._reader.connections:
            counts[connection.topic, _type_of(connection)] += connection.msgcount
        self.topics = dict(sorted(counts.items()))

    def __enter__(self) -> BagReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()

    def messages(self, types: Mapping[str, str]) -> Iterator[Message]:
        """Messages of topics (type by name) in the order of their times of recording; what has
        another type under such a name is left out (raises RecordingError: damaged)."""
        chosen = [c for c in self._reader.connections if types.get(c.topic) == _type_of(c)]
        if not chosen:  # rosbags would read all
            return
        with _one_error(f"recording {self._path} cannot be read"):
            for connection, time, data in self._reader.messages(chosen):
                if not self._reader.is2:
                    data = bytes(self._store.serialize_cdr(self._reader.deserialize(
                        data, connection.msgtype), _type_of(connection)))
                yield Message(connection.topic, time, data)

    def decode(self, message: Message, kind: str) -> Any:
        """The fields of a message of a type that the file defines (raises RecordingError)."""
        with _one_error(f"a message of {message.topic} ({kind}) cannot be decoded"):
            return self._reader.deserialize(message.data, kind)


def read_bag(bag: BagReader, settings: Settings, asked: Collection[str] = (),
             recorded_stamps: bool = False) -> Recording:
    """An open bag as a recording.

    Args:
        asked: names of settings that the user chose for this very recording.
        recorded_stamps: use the times of recording in place of the header stamps.

    Raises:
        RecordingError: it lacks a topic, or is damaged.
    """
    notes: list[str] = []
    topics = select_topics(bag, settings, asked, notes)
    reader = _Parts(bag, settings, topics, recorded_stamps)
    description, fixed = reader.latched()  # live, they are there at once
    return Recording(reader.parts(), bag.duration, reader.counts, description, fixed, tuple(notes),
                     _payload_not_added(bag, settings), reader.damaged)


def select_topics(bag: BagReader, settings: Settings, asked: Collection[str],
                  notes: list[str]) -> dict[str, InputTopic]:
    """The topics to read by name: those of the settings, or others that cannot be meant otherwise.

    Args:
        asked: names of settings that the user chose for this very recording; these are not replaced
            by another topic.
        notes: gets a sentence on each choice.

    Raises:
        RecordingError: no wrench, several and none chosen, a chosen topic of another type, or one
            that is chosen for two things; or nothing tells the motion.
    """
    chosen: dict[str, InputTopic] = {}
    by_torque = settings.load.source == "joint_torque"
    for wanted in input_topics(settings):
        is_fixed = wanted.setting in asked or wanted in REQUIRED
        for name in _names(bag, wanted, absolute_name(wanted.name(settings)), is_fixed, notes):
            if name in chosen:
                raise RecordingError(f"topic {name} is chosen for two things, which have different "
                                     "types of messages; name another topic for one of them")
            chosen[name] = wanted
    if by_torque and JOINT_STATES not in chosen.values():
        raise RecordingError("load.robot needs joint torques and no joint state topic is chosen "
                             f"({JOINT_STATES.type}); the recording holds {_described(bag)}")
    _require_motion(chosen.values(), settings, notes)
    return chosen


def _names(bag: BagReader, wanted: InputTopic, name: str, is_fixed: bool, notes: list[str]
           ) -> list[str]:
    """The topic of this name; where there is none, and it is not fixed, what can be meant: the
    only wrench, joint states that belong together, else the only topic of that name in another
    namespace (raises RecordingError)."""
    types = [kind for topic, kind in bag.topics if topic == name]
    if wanted.type in types:
        if wanted is WRENCH and not bag.topics[name, wanted.type]:
            raise RecordingError(f"wrench topic {name} holds no messages")
        return [name]
    if types:
        raise RecordingError(f"{wanted.content} topic {name} is of type {types[0]}; it must be "
                             f"{wanted.type}; the recording holds {_described(bag)}")
    found = [topic for (topic, kind), count in bag.topics.items() if kind == wanted.type and count]
    if is_fixed:
        near = difflib.get_close_matches(name, found, n=1, cutoff=0.0)
        raise RecordingError(f"{wanted.content} topic {name} is not in the recording; " + (
            f"did you mean {near[0]}?" if near else f"it holds {_described(bag)}"))
    if wanted is WRENCH and len(found) != 1:
        raise RecordingError(
            f"the recording holds {len(found)} wrench topics: {', '.join(found)}; choose one with "
            "--set wrench.topic=NAME" if found else
            f"the recording holds no wrench ({WRENCH.type}); it holds {_described(bag)}")
    if wanted is JOINT_STATES:
        joints = [joint for topic in found for joint in _joints(bag, topic)]
        is_clear = len(joints) == len(set(joints))
    else:
        found = [topic for topic in found if wanted is WRENCH
                 or topic.endswith("/" + name.rsplit("/", 1)[-1])]
        is_clear = len(found) < 2
    if not is_clear:
        notes.append(f"none of {', '.join(found)} is used: choose one with --set "
                     f"{wanted.setting}=NAME")
        return []
    if found:
        notes.append(f"using {' and '.join(found)} for {name}")
    return found


def _require_motion(chosen: Collection[InputTopic], settings: Settings, notes: list[str]) -> None:
    """Raise RecordingError where nothing tells the motion: no joint states with a robot description
    that gives them a meaning, nor transforms."""
    joints = JOINT_STATES in chosen or DYNAMIC_JOINT_STATES in chosen
    if joints and (settings.robot_description.file or ROBOT_DESCRIPTION in chosen):
        return
    described, states, tree = (absolute_name(group.topic) for group in (
        settings.robot_description, settings.joint_states, settings.tf))
    if TRANSFORMS not in chosen:
        raise RecordingError(
            f"the recording does not tell the motion: joint states ({states}) with a robot "
            f"description ({described}, or a file by --urdf) or transforms ({tree}) are needed; "
            "record them, or name their topics by joint_states.topic or tf.topic")
    if joints:
        notes.append(f"without a robot description ({described}, --urdf) the motion is taken from "
                     "the transforms")


def _joints(bag: BagReader, topic: str) -> set[str]:
    """Names of the joints in the first messages of a topic."""
    first = islice(bag.messages({topic: JOINT_STATES.type}), FIRST)
    decoded = decoding.decode(JOINT_STATES, [message.data for message in first], Settings())
    return {name for some in decoded.samples if isinstance(some, JointStates)
            for name in some.names}


def absolute_name(name: str) -> str:
    """The name of a topic with one slash before it."""
    return "/" + name.lstrip("/")


def _described(bag: BagReader) -> str:
    """Names and types of topics on one line, or that there are none."""
    shown = ", ".join(f"{name} ({kind})" for name, kind in list(bag.topics)[:SHOWN])
    more = len(bag.topics) - SHOWN
    return (shown or "no topics at all") + (f" and {more} more" if more > 0 else "")


class _Parts:
    """Goes once through the messages of a bag; counts, damaged: as `Recording` has them."""

    def __init__(self, bag: BagReader, settings: Settings, topics: Mapping[str, InputTopic],
                 recorded_stamps: bool) -> None:
        self._bag, self._settings, self._topics = bag, settings, topics
        self._recorded_stamps = recorded_stamps
        self.counts = dict.fromkeys(topics, 0)
        self.damaged: dict[str, tuple[int, str]] = {}

    def latched(self) -> tuple[str, tuple[FixedFrame, ...]]:
        """The newest robot description that can be read, and the frames that stay."""
        description, fixed = "", list[FixedFrame]()
        for name, _, data in self._messages(latched=True):
            self.counts[name] += 1
            if self._topics[name] is ROBOT_DESCRIPTION:
                try:
                    description = decoding.text(data)
                except ValueError as error:
                    self._note_damage(name, 1, str(error))
                continue
            for edge in decoding.decode(STATIC_TRANSFORMS, [data], self._settings).samples:
                assert isinstance(edge, Edges)
                pose = edge.rows[-1].tolist()
                fixed.append((edge.parent, edge.child, tuple(pose[:3]), tuple(pose[3:])))
        return description, tuple(fixed)

    def parts(self) -> Iterator[Part]:
        """Parts in the order of the times of recording."""
        together: list[Message] = []
        for message in self._messages(latched=False):
            if together and (len(together) >= TOGETHER
                             or message.time - together[0].time > LONGEST):
                yield self._part(together)
                together = []
            together.append(message)
        if together:
            yield self._part(together)

    def _messages(self, latched: bool) -> Iterator[Message]:
        return self._bag.messages({name: topic.type for name, topic in self._topics.items()
                                   if topic.latched == latched})

    def _part(self, messages: Sequence[Message]) -> Part:
        samples: list[Samples] = []
        payload, driver = None, self._settings.precompensated
        for name in dict.fromkeys(message.topic for message in messages):
            some = [message for message in messages if message.topic == name]
            self.counts[name] += len(some)
            topic = self._topics[name]
            if topic in PAYLOADS.values():
                payload = _stated_payload(self._bag, topic, some[-1], self._settings) or payload
                continue
            times = np.array([m.time for m in some]) if self._recorded_stamps else None
            decoded = decoding.Decoder(topic, self._settings)([m.data for m in some], times)
            self._note_damage(name, decoded.damaged, decoded.why)
            samples += decoded.samples
            if decoded.payload is not None and not driver.topic and (
                    driver.source == "dynamic_joint_states"):  # in the message of the wrench
                payload = StatedPayload("", decoded.payload)
        return Part(samples, 1e-9 * (messages[-1].time - self._bag.start), payload)

    def _note_damage(self, name: str, count: int, why: str) -> None:
        if count:
            self.damaged[name] = self.damaged.get(name, (0, ""))[0] + count, why


def _stated_payload(bag: BagReader, topic: InputTopic, message: Message, settings: Settings
                    ) -> StatedPayload | None:
    """The payload that a message of the driver states; None: it states none (raises
    RecordingError)."""
    if topic is DYNAMIC_PAYLOAD:
        found = decoding.decode(topic, [message.data], settings).payload
        return None if found is None else StatedPayload("", found)
    content = bag.decode(message, topic.type)
    given: Any = content.inertia_load if topic is FRANKA_PAYLOAD else content
    return StatedPayload(given.header.frame_id.lstrip("/"),
                         decoding.inertia_numbers(given.inertia))


def _payload_not_added(bag: BagReader, settings: Settings) -> tuple[Finding, ...]:
    """At most one finding: a driver states a payload, which it may compensate in the wrench, and
    the settings do not say so. Only the first messages of each topic are read."""
    driver = settings.precompensated
    if settings.load.source != "wrench" or driver.source != "settings" or driver.mass:
        return ()
    sources = {PAYLOADS[source].type: source for source in ("dynamic_joint_states", "franka")}
    for name, kind in bag.topics:
        if kind not in sources:
            continue
        source = sources[kind]
        try:
            stated = [_stated_payload(bag, PAYLOADS[source], message, settings)
                      for message in islice(bag.messages({name: kind}), FIRST)]
        except RecordingError:  # the type is not defined in the file
            continue
        masses = [float(payload.values[0]) for payload in stated if payload is not None]
        mass = next((m for m in masses if isfinite(m) and m > LEAST), 0.0)
        if mass:
            return (made("payload_not_added", why=(
                f"{name} states that a payload of {mass:.3f} kg is configured on the robot, whose "
                "driver compensates it in its own wrench (where that is this one: "
                f"precompensated.source={source} and precompensated.topic={name}; else "
                "precompensated.source=none)")),)
    return ()


def _type_of(connection: Any) -> str:
    """Type of a connection's messages, by its name in ROS 2."""
    return OLD_TYPES.get(connection.msgtype, connection.msgtype)


def _files_of(path: Path) -> list[Path]:
    """The storage files of a recording; of a compressed one its folder (raises RecordingError)."""
    if path.name == "metadata.yaml":
        path = path.parent
    if not path.is_dir():
        if not path.is_file() or path.suffix not in SUFFIXES:  # a named pipe would be waited for
            raise RecordingError(
                f"{path} " + ("is not a recording" if path.exists() else "does not exist")
                + "; allowed: a rosbag2 folder, a .mcap, .db3 or .bag file, a table (.csv, .tsv, "
                ".txt, .npz, .parquet) or the folder of a LeRobot dataset")
        return [path]
    metadata = path / "metadata.yaml"
    text = metadata.read_text(errors="replace") if metadata.is_file() else ""
    if re.search(r"compression_mode:[ \"']*\w", text):
        return [path]
    files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
    files = [file for file in files if file.name in text] or files
    if not files:
        raise RecordingError(f"folder {path} holds no {', '.join(SUFFIXES)} file")
    return files


@contextmanager
def _one_error(what: str) -> Iterator[None]:
    """Errors within as one RecordingError: damaged files and messages raise many kinds."""
    try:
        yield
    except Exception as error:
        reason = " ".join(str(error).split())[:500].rstrip(".") or type(error).__name__
        hints = {"magic": "mcap recover FILE -o NEW", "malformed": "sqlite3 FILE .recover"}
        repair = "".join(f"; if the file is cut off, repair it with '{command}'"
                         for word, command in hints.items() if word in reason)
        raise RecordingError(f"{what}: {reason}{repair}") from error
