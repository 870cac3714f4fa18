# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Serialised messages as samples, many at once, without building message objects.

CDR (XCDR1) as ROS 2 writes it: four bytes of encapsulation, the second of which tells the byte
order, then fields aligned to their own size, counted from after the encapsulation. Decoding by
rclpy takes ten times as long, and longer than identifying a payload from the messages.

Messages of one topic differ in stamps and numbers alone, hardly ever in names and lengths. So the
first message is read field by field, and where its numbers stand then serves for all that have the
same bytes between them.

One ``control_msgs/DynamicJointState`` may hold wrench, joint positions and the payload that the
driver compensates: ros2_control's broadcasters publish every state interface there, by name of its
joint or sensor, all under one stamp. Drivers state the payload as ``payload/mass``,
``payload/cog.x``, ... and, newer ones, ``payload/inertia.ixx``, ..., about the centre of mass.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..inertia import PARAMETER_NAMES, Array
from ..settings import Settings
from .input_topics import (
    DYNAMIC_JOINT_STATES,
    DYNAMIC_PAYLOAD,
    JOINT_STATES,
    STATIC_TRANSFORMS,
    TRANSFORMS,
    WRENCH,
    InputTopic,
)
from .sample_blocks import Edges, JointStates, Samples, Wrenches, join_streams

START = 4
LONGEST = 100_000  # bytes of a name, and elements of a sequence: more is damage
# Bytes at most after the last field: writers pad to a multiple of four, and rclpy's
# `serialize_message` reserves four bytes for the alignment of each of three empty sequences.
PADDING = 15
FORCES = ("force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z")
PAYLOAD = ("mass", "cog.x", "cog.y", "cog.z")
ENTRIES = PARAMETER_NAMES[4:]
INERTIA = tuple(f"inertia.{entry}" for entry in ENTRIES)
Interfaces = Mapping[tuple[str, str], Any]  # numbers or columns by joint or sensor, and interface
Columns = list[np.ndarray]  # the numbers of n messages: (n,) or (n, count)
Build = Callable[[Columns], list[Any]]


class Layout:
    """Where the fields of a first message stand, read one by one (methods raise ValueError); then,
    the numbers of all messages that have the same bytes between theirs."""

    def __init__(self, data: bytes) -> None:
        if len(data) < START or data[0] != 0 or data[1] > 1:
            raise ValueError(f"it begins with 0x{data[:START].hex()}, not as plain CDR does")
        self._data, self._at, self._order = data, START, "<" if data[1] else ">"
        self._is_fixed = np.zeros(len(data), dtype=bool)
        self._is_fixed[:START] = True
        self._formats: list[Any] = []
        self._offsets: list[int] = []

    def _advance(self, size: int, align: int = 1) -> int:
        """Where the next bytes begin, after padding, which may hold any bytes."""
        begin = self._at + -(self._at - START) % align
        if begin + size > len(self._data):
            raise ValueError("it is cut off")
        self._at = begin + size
        return begin

    def stamp(self) -> int:
        """Read a stamp; returns the number of its column of seconds, which nanoseconds follow."""
        begin = self._advance(8, 4)
        self._formats += [f"{self._order}i4", f"{self._order}u4"]
        self._offsets += [begin, begin + 4]
        return len(self._formats) - 2

    def count(self, largest: int = LONGEST) -> int:
        """Read the length of a text or a sequence."""
        begin = self._advance(4, 4)
        self._is_fixed[begin:self._at] = True
        (count,) = struct.unpack_from(f"{self._order}I", self._data, begin)
        if count > largest:
            raise ValueError(f"a length of {count}; at most {largest} is allowed")
        return int(count)

    def text(self, longest: int = LONGEST) -> str:
        """Read a text."""
        begin = self._advance(self.count(longest))
        self._is_fixed[begin:self._at] = True
        if begin == self._at or self._data[self._at - 1] != 0:
            raise ValueError("a text that does not end")
        return str(self._data[begin:self._at - 1], "utf-8")

    def texts(self) -> tuple[str, ...]:
        """Read a sequence of texts."""
        return tuple([self.text() for _ in range(self.count())])

    def doubles(self, count: int) -> int:
        """Read so many doubles; returns the number of their column."""
        self._formats.append((f"{self._order}f8", (count,)))
        self._offsets.append(self._advance(8 * count, 8) if count else 0)  # nothing is aligned
        return len(self._formats) - 1

    def finish(self) -> None:
        """End the first message."""
        size = len(self._data)
        if size - self._at > PADDING:
            raise ValueError(f"{size - self._at} bytes follow its end")
        self._names = [str(k) for k in range(len(self._formats))]
        self._type = np.dtype({"names": self._names, "formats": self._formats,
                               "offsets": self._offsets, "itemsize": size})
        self._fixed = np.frombuffer(self._data, np.uint8)[self._is_fixed]

    def read(self, messages: Sequence[bytes]) -> tuple[np.ndarray, Columns]:
        """Of messages of the length of the first, (n,) True where they have its layout, and the
        numbers of these."""
        rows = np.frombuffer(b"".join(messages), np.uint8).reshape(len(messages), -1)
        same = (rows[:, self._is_fixed] == self._fixed).all(axis=1)
        table = rows[same].view(self._type)[:, 0]
        return same, [table[name].astype(float if table[name].dtype.kind == "f" else np.int64)
                      for name in self._names]


class Decoded(NamedTuple):
    """What messages of a topic hold.

    Attributes:
        samples: of each stream one block, in the order of the messages.
        payload: mass [kg], centre of mass (3,) [m] and inertia about it (6,) [kg m^2] that the
            newest message states, in the frame of the sensor; None: none does, or the settings
            read it elsewhere.
        damaged: number of messages that cannot be used; why: of the last of them.
    """

    samples: list[Samples]
    payload: Array | None
    damaged: int
    why: str


class Stated(NamedTuple):
    """Payloads that a driver states: stamps (n,) [ns], rows (n, 10) as in `Decoded`."""

    stamps: np.ndarray
    rows: Array


class Decoder:
    """Decodes messages of one topic of `LEARN`; not to be shared by threads. Settings name the
    sensor and the payload in dynamic joint states, and the frame of their wrench."""

    def __init__(self, topic: InputTopic, settings: Settings) -> None:
        self._learn, self._settings, driver = LEARN[topic], settings, settings.precompensated
        self._is_apart = topic is DYNAMIC_PAYLOAD  # of another controller than the samples
        self._is_stated = self._is_apart or (
            driver.source == "dynamic_joint_states" and not driver.topic)
        self._known: dict[int, tuple[Layout, Build]] = {}  # by length of the message

    def __call__(self, messages: Sequence[bytes], times: np.ndarray | None = None) -> Decoded:
        """Decode serialised messages; times: (messages,) stamps in place of those in their headers
        [ns]."""
        places, batches = list[np.ndarray](), list[Any]()
        damaged, why = 0, ""
        lengths = np.fromiter(map(len, messages), dtype=np.int64, count=len(messages))
        for length in dict.fromkeys(lengths.tolist()):
            left, known = np.flatnonzero(lengths == length), self._known.get(length)
            while len(left):
                try:
                    layout, build = known or self._read_first(messages[left[0]])
                except ValueError as error:
                    left, damaged, why = left[1:], damaged + 1, str(error)
                    continue
                self._known[length], known = (layout, build), None
                same, columns = layout.read([messages[k] for k in left.tolist()])
                samples = build(columns) if same.any() else []
                batches += samples if times is None else [
                    some._replace(stamps=times[left[same]]) for some in samples]
                places += [left[same]] * len(samples)
                left = left[~same]
        blocks = join_streams(batches, places)
        stated = [some.rows[-1] for some in blocks if isinstance(some, Stated)]
        samples = [some for some in blocks if not isinstance(some, Stated)]
        return Decoded([] if self._is_apart else samples,
                       stated[0] if stated and self._is_stated else None, damaged, why)

    def _read_first(self, data: bytes) -> tuple[Layout, Build]:
        """The layout of a message, and what makes samples of the numbers of many (raises
        ValueError)."""
        layout = Layout(data)
        build = self._learn(layout, self._settings)
        layout.finish()
        return layout, build


def decode(topic: InputTopic, messages: Sequence[bytes], settings: Settings) -> Decoded:
    """What messages of a topic of `LEARN` hold."""
    return Decoder(topic, settings)(messages)


def text(data: bytes) -> str:
    """The content of a serialised std_msgs/String (raises ValueError)."""
    return Layout(data).text(longest=len(data))


# ---- messages, by topic --------------------------------------------------------------------------


def _times(columns: Columns, at: int) -> np.ndarray:
    """Stamps (n,) [ns]."""
    return columns[at] * 1_000_000_000 + columns[at + 1]


def _learn_wrench(layout: Layout, _: Settings) -> Build:
    at, frame, values = layout.stamp(), layout.text(), layout.doubles(6)
    return lambda c: [Wrenches(_times(c, at), frame, c[values])]


def _learn_joint_state(layout: Layout, _: Settings) -> Build:
    at, _frame, names = layout.stamp(), layout.text(), layout.texts()
    q, _speeds, effort = (layout.doubles(layout.count()) for _ in range(3))
    return lambda c: [JointStates(_times(c, at), names, c[q],
                                  c[effort] if c[effort].shape[1] == len(names) else None)]


def _learn_transforms(layout: Layout, _: Settings) -> Build:
    where = [(layout.stamp(), layout.text(), layout.text(), layout.doubles(7))
             for _ in range(layout.count())]
    return lambda c: [Edges(_times(c, at), parent, child, c[pose])
                      for at, parent, child, pose in where]


def _learn_dynamic(layout: Layout, settings: Settings) -> Build:
    at, _frame, names = layout.stamp(), layout.text(), layout.texts()
    where: dict[tuple[str, str], tuple[int, int]] = {}
    for k in range(layout.count()):
        kinds, count = layout.texts(), layout.count()
        column = layout.doubles(count)
        if k < len(names):
            where.update({(names[k], kind): (column, j) for j, kind in enumerate(kinds[:count])})
    return lambda c: _of_interfaces({key: c[column][:, j] for key, (column, j) in where.items()},
                                    _times(c, at), settings)


def _of_interfaces(values: Interfaces, stamps: np.ndarray, settings: Settings) -> list[Any]:
    """Joint states, wrench and payload, as far as they are there, of columns (n,)."""
    def rows(keys: Sequence[tuple[str, str]]) -> Array | None:
        return (np.stack([values[key] for key in keys], axis=1)
                if keys and all(key in values for key in keys) else None)

    group = settings.dynamic_joint_states
    names = tuple(name for name, kind in values if kind == "position")
    positions = rows([(name, "position") for name in names])
    wrench = rows([(group.sensor, kind) for kind in FORCES])
    payload = stated_payload(values, group.payload)
    out: list[Any] = []
    if positions is not None:
        out.append(JointStates(stamps, names, positions, rows([(n, "effort") for n in names])))
    if wrench is not None:
        out.append(Wrenches(stamps, settings.wrench.sensor_frame, wrench))
    if payload is not None:
        out.append(Stated(stamps, payload))
    return out


LEARN = {WRENCH: _learn_wrench, JOINT_STATES: _learn_joint_state, TRANSFORMS: _learn_transforms,
         STATIC_TRANSFORMS: _learn_transforms, DYNAMIC_JOINT_STATES: _learn_dynamic,
         DYNAMIC_PAYLOAD: _learn_dynamic}


def stated_payload(values: Interfaces, name: str) -> Array | None:
    """Mass, centre of mass and inertia about it (10,) of the payload that a driver states under a
    name, or (n, 10) of columns (n,); None where it states none."""
    if any((name, kind) not in values for kind in PAYLOAD):
        return None
    # A driver that publishes no inertia does not compensate that of the payload.
    absent = np.zeros_like(values[name, PAYLOAD[0]], dtype=float)
    return np.stack([values.get((name, kind), absent) for kind in PAYLOAD + INERTIA], axis=-1)


def interfaces_of(message: Any) -> dict[tuple[str, str], float]:
    """Values by joint or sensor, and interface, of a control_msgs/DynamicJointState."""
    return {(name, kind): float(value)
            for name, some in zip(message.joint_names, message.interface_values, strict=False)
            for kind, value in zip(some.interface_names, some.values, strict=False)}


def inertia_numbers(i: Any) -> Array:
    """Mass, centre of mass and inertia about it (10,) of a geometry_msgs/Inertia."""
    return np.array([i.m, i.com.x, i.com.y, i.com.z, *(getattr(i, name) for name in ENTRIES)])
