# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The message types that every recording has, decoded without building message objects.

CDR (XCDR1) as ROS 2 writes it: four bytes of encapsulation, the second of which tells the byte
order, then fields aligned to their own size, counted from after the encapsulation. Decoding these
types with the general decoder takes longer than identifying a payload from them.

Messages of one topic differ in stamps and numbers alone, hardly ever in names and lengths. So the
first message is read field by field, and its template, where numbers stand and which bytes lie
between them, then serves for all that have the same bytes there: one by one as they come live, or
all at once from a recording.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

_START = 4
_LONGEST = 100_000  # bytes of a name, and elements of a sequence: more is damage
# Bytes at most after the last field: writers pad to a multiple of four, and rclpy's
# `serialize_message` reserves four bytes for the alignment of each of three empty sequences.
_PADDING = 15
_SECOND = 1_000_000_000  # ns
_TEMPLATES = 32  # of one type; publishers that vary their names must not grow memory
_FIELD = re.compile(r"(\d*)([a-zA-Z])")
_NUMBERS = {"i": "i4", "I": "u4", "d": "f8"}  # formats of `struct` and of NumPy
T = TypeVar("T")


class Wrench(NamedTuple):
    """geometry_msgs/WrenchStamped: force [N], torque [N m]."""

    stamp_ns: int
    frame_id: str
    force: tuple[float, ...]
    torque: tuple[float, ...]


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


class Text(NamedTuple):
    """std_msgs/String."""

    data: str


class _Cursor:
    """Reads the fields of one message in their order, and records where its numbers stand."""

    def __init__(self, data: bytes) -> None:
        if len(data) < _START:
            raise ValueError(f"it has {len(data)} bytes")
        if data[0] != 0 or data[1] > 1:
            raise ValueError(f"its encoding 0x{data[0]:02x}{data[1]:02x} is not plain CDR")
        self._data, self._at = data, _START
        self._order = "<" if data[1] else ">"
        self._format, self._between = "", 0
        self._constants: list[int] = []
        self._fields = 0

    def stamp(self) -> int:
        """Read a stamp; returns the index of its seconds among the fields. Nanoseconds follow."""
        return self._numbers("iI", 2, 4, 8)

    def count(self, largest: int = _LONGEST) -> int:
        """Read the length of a text or a sequence (raises ValueError)."""
        self._align(4)
        if self._at + 4 > len(self._data):
            raise ValueError("it is cut off")
        (count,) = struct.unpack_from(self._order + "I", self._data, self._at)
        if count > largest:
            raise ValueError(f"a length of {count}; at most {largest} is allowed")
        self._at += 4
        return int(count)

    def text(self, longest: int = _LONGEST) -> str:
        """Read a text (raises ValueError)."""
        length = self.count(longest)
        end = self._at + length
        if end > len(self._data) or length == 0 or self._data[end - 1] != 0:
            raise ValueError("a text that does not end")
        text = str(self._data[self._at:end - 1], "utf-8")
        self._at = end
        return text

    def doubles(self, count: int) -> slice:
        """Read so many doubles; returns their place among the fields."""
        if count == 0:  # then nothing is aligned either
            return slice(0, 0)
        first = self._numbers(f"{count}d", count, 8, 8 * count)
        return slice(first, first + count)

    def finish(self) -> tuple[struct.Struct, list[int]]:
        """End the message: its fields, and the indices of those that are bytes between numbers.

        Raises:
            ValueError: more bytes follow.
        """
        if len(self._data) - self._at > _PADDING:
            raise ValueError(f"{len(self._data) - self._at} bytes follow its end")
        self._close_constant()
        return struct.Struct(self._order + self._format), self._constants

    def _numbers(self, kind: str, count: int, alignment: int, size: int) -> int:
        """Read numbers with these formats of `struct`; returns the index of the first field."""
        self._align(alignment)
        if self._at + size > len(self._data):
            raise ValueError("it is cut off")
        self._close_constant()
        first = self._fields
        self._format += kind
        self._fields += count
        self._at += size
        self._between = self._at
        return first

    def _close_constant(self) -> None:
        """Make one field of the bytes since the last number."""
        if self._at > self._between:
            self._format += f"{self._at - self._between}s"
            self._constants.append(self._fields)
            self._fields += 1

    def _align(self, size: int) -> None:
        """Skip padding, which may hold any bytes."""
        padding = -(self._at - _START) % size
        if padding:
            self._close_constant()
            self._format += f"{padding}x"
            self._at += padding
            self._between = self._at


class _Template(Generic[T]):
    """Reads messages that have the layout of a first one.

    Args:
        cursor: has read the first one, `data`, to its end.
        build: makes the result of all fields.

    Raises:
        ValueError: more bytes follow.
    """

    def __init__(self, cursor: _Cursor, data: bytes, build: Callable[[tuple[Any, ...]], T]) -> None:
        self._struct, constants = cursor.finish()
        self._pick = itemgetter(*constants)
        self.fields = self._struct.unpack_from(data)
        self._expected = self._pick(self.fields)
        self._build = build

    def read(self, data: bytes) -> T | None:
        """The message; None where its bytes between the numbers are others."""
        fields = self._struct.unpack_from(data)
        return self._build(fields) if self._pick(fields) == self._expected else None

    def group(self, messages: Sequence[bytes]) -> tuple[np.ndarray, Any]:
        """Of n messages of one length (n,) True where the bytes between the numbers are those of
        the first one, and the columns of these messages."""
        kind = _row_type(self._struct.format, len(messages[0]))
        rows = np.frombuffer(b"".join(messages), dtype=kind)
        fields = [rows[name] for name in kind.names or ()]
        same: np.ndarray = np.ones(len(rows), dtype=bool)
        for field in fields:
            if field.ndim > 1:
                same &= (field == field[0]).all(axis=1)
        return same, self._build(tuple(
            field[same].astype(np.int64) if field.dtype.kind in "iu" else field[same]
            for field in fields))


@lru_cache(maxsize=3 * _TEMPLATES)
def _row_type(fields: str, length: int) -> np.dtype[Any]:
    """NumPy's type for messages of that length [bytes] with these fields of a `struct.Struct`."""
    formats: list[Any] = []
    offsets, at = [], 0
    for digits, kind in _FIELD.findall(fields):
        count = int(digits or 1)
        if kind in _NUMBERS:
            number = np.dtype(fields[0] + _NUMBERS[kind])
            formats += [number] * count
            offsets += [at + k * number.itemsize for k in range(count)]
            at += count * number.itemsize
            continue
        if kind == "s":
            formats.append(("u1", (count,)))
            offsets.append(at)
        at += count
    return np.dtype({"names": [str(k) for k in range(len(formats))], "formats": formats,
                     "offsets": offsets, "itemsize": length})


class Decoder(Generic[T]):
    """Decodes messages of one type; not to be shared by threads.

    Args:
        learn: reads a message field by field; gives what makes the result of its fields.
    """

    def __init__(self, learn: Callable[[_Cursor], Callable[[tuple[Any, ...]], T]]) -> None:
        self.learn = learn
        self._templates: dict[int, _Template[T]] = {}  # by length of the message

    def __call__(self, data: bytes) -> T:
        """The content of a serialised message (raises ValueError, saying what is wrong)."""
        template = self._templates.get(len(data))
        message = template.read(data) if template is not None else None
        return self._read_and_learn(data) if message is None else message

    def groups(self, messages: Sequence[bytes]) -> Iterator[tuple[np.ndarray, Any]]:
        """Messages that differ in numbers alone, by their places (n,), with columns (n,) in place
        of the numbers; a damaged one alone with the ValueError that says what is wrong."""
        lengths = np.fromiter(map(len, messages), dtype=np.int64, count=len(messages))
        for length in dict.fromkeys(lengths.tolist()):
            left = np.flatnonzero(lengths == length)
            while len(left):
                first = messages[left[0]]
                try:
                    cursor = _Cursor(first)
                    template = _Template(cursor, first, self.learn(cursor))
                except ValueError as error:
                    yield left[:1], error
                    left = left[1:]
                    continue
                same, columns = template.group([messages[k] for k in left.tolist()])
                yield left[same], columns
                left = left[~same]

    def _read_and_learn(self, data: bytes) -> T:
        """Read a message field by field; its template reads those of the same length from then on,
        unless it is very long."""
        cursor = _Cursor(data)
        build = self.learn(cursor)
        template = _Template(cursor, data, build)
        if len(self._templates) >= _TEMPLATES:
            self._templates.clear()
        if len(data) <= _LONGEST:
            self._templates[len(data)] = template
        return build(template.fields)


def _learn_wrench(cursor: _Cursor) -> Callable[[tuple[Any, ...]], Wrench]:
    at, frame, values = cursor.stamp(), cursor.text(), cursor.doubles(6)
    force, torque = slice(values.start, values.start + 3), slice(values.start + 3, values.stop)
    return lambda f: Wrench(f[at] * _SECOND + f[at + 1], frame, f[force], f[torque])


def _learn_joint_state(cursor: _Cursor) -> Callable[[tuple[Any, ...]], JointState]:
    at, _ = cursor.stamp(), cursor.text()
    names = tuple([cursor.text() for _ in range(cursor.count())])
    positions, _, efforts = (cursor.doubles(cursor.count()) for _ in range(3))
    return lambda f: JointState(f[at] * _SECOND + f[at + 1], names, f[positions], f[efforts])


def _learn_transforms(cursor: _Cursor) -> Callable[[tuple[Any, ...]], list[Edge]]:
    where = []
    for _ in range(cursor.count()):
        at, parent, child = cursor.stamp(), cursor.text(), cursor.text()
        begin = cursor.doubles(7).start
        where.append((at, parent, child, slice(begin, begin + 3), slice(begin + 3, begin + 7)))
    return lambda f: [Edge(f[at] * _SECOND + f[at + 1], parent, child, f[p], f[q])
                      for at, parent, child, p, q in where]


def _learn_dynamic(cursor: _Cursor) -> Callable[[tuple[Any, ...]], DynamicJointState]:
    at, _ = cursor.stamp(), cursor.text()
    names = [cursor.text() for _ in range(cursor.count())]
    where: dict[tuple[str, str], int] = {}
    for k in range(cursor.count()):
        kinds = [cursor.text() for _ in range(cursor.count())]
        values = cursor.doubles(cursor.count())
        if k < len(names):
            places = range(values.start, values.stop)
            where.update(zip([(names[k], kind) for kind in kinds], places, strict=False))
    return lambda f: DynamicJointState(f[at] * _SECOND + f[at + 1],
                                       {key: f[place] for key, place in where.items()})


def text(data: bytes) -> Text:
    """A serialised std_msgs/String (raises ValueError)."""
    return Text(_Cursor(data).text(longest=len(data)))


wrench = Decoder(_learn_wrench)  # geometry_msgs/WrenchStamped
joint_state = Decoder(_learn_joint_state)  # sensor_msgs/JointState
transforms = Decoder(_learn_transforms)  # tf2_msgs/TFMessage
dynamic_joint_state = Decoder(_learn_dynamic)  # control_msgs/DynamicJointState
