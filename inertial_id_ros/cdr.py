"""The message types that every recording has, decoded without building message objects.

CDR (XCDR1) as ROS 2 writes it: four bytes of encapsulation, the second of which tells the byte
order, then fields aligned to their own size, counted from after the encapsulation. Decoding these
types with the general decoder takes longer than identifying a payload from them.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

_START = 4
LONGEST = 100_000  # bytes of a name, and elements of a sequence: more is damage


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


class Text(NamedTuple):
    """std_msgs/String."""

    data: str


class Cursor:
    """Reads one message from its beginning on."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, _START
        self.order = "<" if data[1] & 1 else ">"

    def stamp(self) -> int:
        self._align(4)
        seconds, nanoseconds = struct.unpack_from(self.order + "iI", self.data, self.at)
        self.at += 8
        return seconds * 1_000_000_000 + nanoseconds

    def count(self, largest: int = LONGEST) -> int:
        self._align(4)
        (count,) = struct.unpack_from(self.order + "I", self.data, self.at)
        if count > largest:
            raise ValueError(f"a length of {count}; at most {largest} is allowed")
        self.at += 4
        return int(count)

    def text(self, longest: int = LONGEST) -> str:
        length = self.count(longest)
        end = self.at + length
        if end > len(self.data) or length == 0 or self.data[end - 1] != 0:
            raise ValueError("a text that does not end")
        text = str(self.data[self.at:end - 1], "utf-8")
        self.at = end
        return text

    def doubles(self, count: int) -> tuple[float, ...]:
        if count == 0:  # then nothing is aligned either
            return ()
        self._align(8)
        values = struct.unpack_from(f"{self.order}{count}d", self.data, self.at)
        self.at += 8 * count
        return values

    def _align(self, size: int) -> None:
        self.at += -(self.at - _START) % size


def read_wrench(cursor: Cursor) -> Wrench:
    """A geometry_msgs/WrenchStamped (raises struct.error, ValueError)."""
    stamp, frame = cursor.stamp(), cursor.text()
    values = cursor.doubles(6)
    return Wrench(stamp, frame, values[:3], values[3:])


def read_joint_state(cursor: Cursor) -> JointState:
    """A sensor_msgs/JointState (raises struct.error, ValueError)."""
    stamp, _ = cursor.stamp(), cursor.text()
    names = tuple([cursor.text() for _ in range(cursor.count())])
    positions, _, efforts = (cursor.doubles(cursor.count()) for _ in range(3))
    return JointState(stamp, names, positions, efforts)


def read_transforms(cursor: Cursor) -> list[Edge]:
    """A tf2_msgs/TFMessage (raises struct.error, ValueError)."""
    edges = []
    for _ in range(cursor.count()):
        stamp, parent, child = cursor.stamp(), cursor.text(), cursor.text()
        pose = cursor.doubles(7)
        edges.append(Edge(stamp, parent, child, pose[:3], pose[3:]))
    return edges


def wrench(data: bytes) -> Wrench:
    """As `read_wrench`, of a serialised message."""
    return read_wrench(Cursor(data))


def joint_state(data: bytes) -> JointState:
    """As `read_joint_state`, of a serialised message."""
    return read_joint_state(Cursor(data))


def transforms(data: bytes) -> list[Edge]:
    """As `read_transforms`, of a serialised message."""
    return read_transforms(Cursor(data))


def text(data: bytes) -> Text:
    """A serialised std_msgs/String (raises struct.error, ValueError)."""
    return Text(Cursor(data).text(longest=len(data)))


DECODERS = {"geometry_msgs/msg/WrenchStamped": wrench, "sensor_msgs/msg/JointState": joint_state,
            "tf2_msgs/msg/TFMessage": transforms, "std_msgs/msg/String": text}
