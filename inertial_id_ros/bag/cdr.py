"""The three message types that come at high rates, decoded without building message objects.

CDR (XCDR1) as ROS 2 writes it: four bytes of encapsulation, the second of which tells the byte
order, then fields aligned to their own size, counted from after the encapsulation. Decoding these
types with the general decoder takes longer than identifying a payload from them.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

_START = 4
_LONGEST = 100_000  # bytes of a name, and elements of a sequence: more is damage


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


class _Cursor:
    """Reads one message from its beginning on."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, _START
        self._order = "<" if data[1] & 1 else ">"

    def stamp(self) -> int:
        self._align(4)
        seconds, nanoseconds = struct.unpack_from(self._order + "iI", self._data, self._at)
        self._at += 8
        return seconds * 1_000_000_000 + nanoseconds

    def count(self) -> int:
        self._align(4)
        (count,) = struct.unpack_from(self._order + "I", self._data, self._at)
        if count > _LONGEST:
            raise ValueError(f"a length of {count}; at most {_LONGEST} is allowed")
        self._at += 4
        return int(count)

    def text(self) -> str:
        length = self.count()
        end = self._at + length
        if end > len(self._data) or length == 0 or self._data[end - 1] != 0:
            raise ValueError("a text that does not end")
        text = str(self._data[self._at:end - 1], "utf-8")
        self._at = end
        return text

    def doubles(self, count: int) -> tuple[float, ...]:
        if count == 0:  # then nothing is aligned either
            return ()
        self._align(8)
        values = struct.unpack_from(f"{self._order}{count}d", self._data, self._at)
        self._at += 8 * count
        return values

    def _align(self, size: int) -> None:
        self._at += -(self._at - _START) % size


def wrench(data: bytes) -> Wrench:
    """A serialised geometry_msgs/WrenchStamped (raises struct.error, ValueError)."""
    cursor = _Cursor(data)
    stamp, frame = cursor.stamp(), cursor.text()
    values = cursor.doubles(6)
    return Wrench(stamp, frame, values[:3], values[3:])


def joint_state(data: bytes) -> JointState:
    """A serialised sensor_msgs/JointState (raises struct.error, ValueError)."""
    cursor = _Cursor(data)
    stamp, _ = cursor.stamp(), cursor.text()
    names = tuple([cursor.text() for _ in range(cursor.count())])
    positions, _, efforts = (cursor.doubles(cursor.count()) for _ in range(3))
    return JointState(stamp, names, positions, efforts)


def transforms(data: bytes) -> list[Edge]:
    """A serialised tf2_msgs/TFMessage (raises struct.error, ValueError)."""
    cursor = _Cursor(data)
    edges = []
    for _ in range(cursor.count()):
        stamp, parent, child = cursor.stamp(), cursor.text(), cursor.text()
        pose = cursor.doubles(7)
        edges.append(Edge(stamp, parent, child, pose[:3], pose[3:]))
    return edges


DECODERS = {"geometry_msgs/msg/WrenchStamped": wrench, "sensor_msgs/msg/JointState": joint_state,
            "tf2_msgs/msg/TFMessage": transforms}
