# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Serialised wrenches (geometry_msgs/WrenchStamped, CDR) with other numbers in them.

A compensated wrench is the incoming message but for six doubles, and perhaps the frame: making
message objects of either would cost more than the compensation.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

_STAMP_END = 12  # bytes of encapsulation and stamp
_SIX = {0: struct.Struct(">6d"), 1: struct.Struct("<6d")}  # by the second byte
_LENGTH = {0: struct.Struct(">I"), 1: struct.Struct("<I")}
_HEADER = struct.Struct("<BBHiI")


def _numbers_at(length: int) -> int:
    """Where the numbers begin after a frame of this length in bytes, its final zero included."""
    return 4 + -(-(_STAMP_END + length) // 8) * 8


def patched(data: bytes, wrench: Sequence[float]) -> bytes:
    """A serialised wrench with other six numbers [N, N m]; stamp, frame and byte order stay.

    Args:
        data: a message that `io.cdr.wrench` accepts.
    """
    order = data[1]
    at = _numbers_at(_LENGTH[order].unpack_from(data, _STAMP_END)[0])
    return data[:at] + _SIX[order].pack(*wrench) + data[at + 48:]


def in_other_frame(data: bytes, frame: bytes, wrench: Sequence[float]) -> bytes:
    """A serialised wrench with another frame (UTF-8) and other six numbers; the stamp stays."""
    order, length = data[1], len(frame) + 1
    head = data[:_STAMP_END] + _LENGTH[order].pack(length) + frame
    return head.ljust(_numbers_at(length), b"\0") + _SIX[order].pack(*wrench)


def serialized(stamp_ns: int, frame: bytes, wrench: Sequence[float]) -> bytes:
    """A wrench as ROS 2 serialises it."""
    head = _HEADER.pack(0, 1, 0, *divmod(stamp_ns, 1_000_000_000))
    return in_other_frame(head, frame, wrench)
