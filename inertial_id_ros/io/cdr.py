# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The message types that every recording has, decoded without building message objects.

CDR (XCDR1) as ROS 2 writes it: four bytes of encapsulation, the second of which tells the byte
order, then fields aligned to their own size, counted from after the encapsulation. Decoding by
rclpy takes ten times as long, and longer than identifying a payload from the messages.

Messages of one topic differ in stamps and numbers alone, hardly ever in names and lengths. So the
first message is read field by field, and where its numbers stand then serves for all that have the
same bytes between them: one by one as they come live, or all at once from a recording.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

START = 4
LONGEST = 100_000  # bytes of a name, and elements of a sequence: more is damage
# Bytes at most after the last field: writers pad to a multiple of four, and rclpy's
# `serialize_message` reserves four bytes for the alignment of each of three empty sequences.
PADDING = 15
SECOND = 1_000_000_000  # ns
TEMPLATES = 32  # of one type; publishers that vary their names must not grow memory
Fields = Any  # those of one message, or columns of many


class Wrench(NamedTuple):
    """geometry_msgs/WrenchStamped: force [N] and torque [N m] (6,)."""

    stamp_ns: int
    frame_id: str
    wrench: tuple[float, ...]


class JointState(NamedTuple):
    """Names, positions and efforts of sensor_msgs/JointState."""

    stamp_ns: int
    names: tuple[str, ...]
    positions: tuple[float, ...]
    efforts: tuple[float, ...]


class Edge(NamedTuple):
    """geometry_msgs/TransformStamped: pose of child in parent [m], quaternion x, y, z, w."""

    stamp_ns: int
    parent: str
    child: str
    translation: tuple[float, ...]
    quaternion: tuple[float, ...]


class DynamicJointState(NamedTuple):
    """control_msgs/DynamicJointState: values by joint or sensor, and interface."""

    stamp_ns: int
    values: dict[tuple[str, str], float]


class Layout:
    """Reads one message field by field (all methods raise ValueError), and records its fields.

    Attributes:
        fields: format in `struct` ("s": bytes between numbers), place and size [bytes] of each.
    """

    def __init__(self, data: bytes) -> None:
        if len(data) < START:
            raise ValueError(f"it has {len(data)} bytes")
        if data[0] != 0 or data[1] > 1:
            raise ValueError(f"its encoding 0x{data[0]:02x}{data[1]:02x} is not plain CDR")
        self._data, self._at = data, 0
        self.order = "<" if data[1] else ">"
        self.fields: list[tuple[str, int, int]] = []
        self._add("s", START)

    def _add(self, kind: str, size: int) -> None:
        if self._at + size > len(self._data):
            raise ValueError("it is cut off")
        last, place, length = self.fields[-1] if self.fields else ("", 0, 0)
        if kind == last == "s" and place + length == self._at:
            self.fields[-1] = (kind, place, length + size)
        else:
            self.fields.append((kind, self._at, size))
        self._at += size

    def _align(self, size: int) -> None:
        """Skip padding, which may hold any bytes."""
        self._at += -(self._at - START) % size

    def stamp(self) -> int:
        """Read a stamp; returns the index of its seconds among the fields. Nanoseconds follow."""
        self._align(4)
        self._add("i", 4)
        self._add("I", 4)
        return len(self.fields) - 2

    def count(self, largest: int = LONGEST) -> int:
        """Read the length of a text or a sequence."""
        self._align(4)
        self._add("s", 4)
        count = int(struct.unpack_from(self.order + "I", self._data, self._at - 4)[0])
        if count > largest:
            raise ValueError(f"a length of {count}; at most {largest} is allowed")
        return count

    def text(self, longest: int = LONGEST) -> str:
        """Read a text."""
        size = self.count(longest)
        if size == 0 or self._data[self._at + size - 1:self._at + size] != b"\0":
            raise ValueError("a text that does not end")
        self._add("s", size)
        return str(self._data[self._at - size:self._at - 1], "utf-8")

    def doubles(self, count: int) -> slice:
        """Read so many doubles; returns their place among the fields."""
        first = len(self.fields)
        if count:  # else nothing is aligned either
            self._align(8)
        for _ in range(count):
            self._add("d", 8)
        return slice(first, first + count)

    def finish(self) -> None:
        """End the message."""
        if len(self._data) - self._at > PADDING:
            raise ValueError(f"{len(self._data) - self._at} bytes follow its end")


Learn = Callable[[Layout], Callable[[Fields], Any]]


class Template:
    """Reads messages that have the layout of a first one.

    Args:
        learn: reads the first one, `data`, and gives what makes the result of all fields.

    Raises:
        ValueError: what is wrong with the first one.
    """

    def __init__(self, learn: Learn, data: bytes) -> None:
        layout = Layout(data)
        self._build = learn(layout)
        layout.finish()
        self._order, self._fields = layout.order, layout.fields
        text, at = layout.order, 0
        for kind, place, size in self._fields:
            text += f"{place - at}x" + (f"{size}s" if kind == "s" else kind)
            at = place + size
        self._struct = struct.Struct(text)
        places = [k for k, (kind, _, _) in enumerate(self._fields) if kind == "s"]
        self._pick = itemgetter(*places)
        self._expected = self._pick(self._struct.unpack_from(data))

    def read(self, data: bytes) -> Any:
        """The content of a message; None where its bytes between the numbers are others."""
        fields = self._struct.unpack_from(data)
        return self._build(fields) if self._pick(fields) == self._expected else None

    def group(self, messages: Sequence[bytes]) -> tuple[np.ndarray, Any]:
        """Of n messages of one length (n,) True where the bytes between the numbers are those of
        the first one, and the columns of these messages."""
        rows = np.frombuffer(b"".join(messages), np.uint8).reshape(len(messages), -1)
        between = np.zeros(rows.shape[1], dtype=bool)
        for kind, place, size in self._fields:
            between[place:place + size] = kind == "s"
        same = (rows[:, between] == rows[0, between]).all(axis=1)
        rows = np.ascontiguousarray(rows[same])
        return same, self._build([None if kind == "s" else np.ndarray(
            len(rows), f"{self._order}{'f' if kind == 'd' else 'u' if kind == 'I' else 'i'}{size}",
            rows, place, rows.strides[:1]).astype(float if kind == "d" else np.int64)
            for kind, place, size in self._fields])


class Decoder:
    """Decodes messages of one type; not to be shared by threads.

    Args:
        learn: as `Template` takes it.
    """

    def __init__(self, learn: Learn) -> None:
        self._learn = learn
        self._templates: dict[int, Template] = {}  # by length of the message

    def __call__(self, data: bytes) -> Any:
        """The content of a serialised message (raises ValueError, saying what is wrong)."""
        template = self._templates.get(len(data))
        message = template.read(data) if template is not None else None
        if message is None:
            template = Template(self._learn, data)
            if len(self._templates) >= TEMPLATES:
                self._templates.clear()
            self._templates[len(data)] = template
            message = template.read(data)
        return message


def groups(learn: Learn, messages: Sequence[bytes]) -> Iterator[tuple[np.ndarray, Any]]:
    """Messages of one type that differ in numbers alone, by their places (n,), with columns (n,) in
    place of the numbers; a damaged one alone with the ValueError that says what is wrong."""
    lengths = np.fromiter(map(len, messages), dtype=np.int64, count=len(messages))
    for length in dict.fromkeys(lengths.tolist()):
        left = np.flatnonzero(lengths == length)
        while len(left):
            try:
                template = Template(learn, messages[left[0]])
            except ValueError as error:
                yield left[:1], error
                left = left[1:]
                continue
            same, columns = template.group([messages[k] for k in left.tolist()])
            yield left[same], columns
            left = left[~same]


def learn_wrench(layout: Layout) -> Callable[[Fields], Wrench]:
    """geometry_msgs/WrenchStamped."""
    at, frame, values = layout.stamp(), layout.text(), layout.doubles(6)
    return lambda f: Wrench(f[at] * SECOND + f[at + 1], frame, f[values])


def learn_joint_state(layout: Layout) -> Callable[[Fields], JointState]:
    """sensor_msgs/JointState."""
    at, _ = layout.stamp(), layout.text()
    names = tuple([layout.text() for _ in range(layout.count())])
    positions, _, efforts = (layout.doubles(layout.count()) for _ in range(3))
    return lambda f: JointState(f[at] * SECOND + f[at + 1], names, f[positions], f[efforts])


def learn_transforms(layout: Layout) -> Callable[[Fields], list[Edge]]:
    """tf2_msgs/TFMessage."""
    where = [(layout.stamp(), layout.text(), layout.text(), layout.doubles(3), layout.doubles(4))
             for _ in range(layout.count())]
    return lambda f: [Edge(f[at] * SECOND + f[at + 1], parent, child, f[p], f[q])
                      for at, parent, child, p, q in where]


def learn_dynamic(layout: Layout) -> Callable[[Fields], DynamicJointState]:
    """control_msgs/DynamicJointState."""
    at, _ = layout.stamp(), layout.text()
    names = [layout.text() for _ in range(layout.count())]
    where: dict[tuple[str, str], int] = {}
    for k in range(layout.count()):
        kinds = [layout.text() for _ in range(layout.count())]
        values = layout.doubles(layout.count())
        if k < len(names):
            places = range(values.start, values.stop)
            where.update(zip([(names[k], kind) for kind in kinds], places, strict=False))
    return lambda f: DynamicJointState(f[at] * SECOND + f[at + 1],
                                       {key: f[place] for key, place in where.items()})


def text(data: bytes) -> str:
    """The content of a serialised std_msgs/String (raises ValueError)."""
    return Layout(data).text(longest=len(data))
