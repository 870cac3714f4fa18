# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Messages as the middleware hands them over, written by an independent library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_JAZZY)
_T = STORE.types
Edge = tuple[int, str, str, Sequence[float], Sequence[float]]


def wrench(stamp_ns: int, frame: str, force: Sequence[float], torque: Sequence[float],
           little_endian: bool = True) -> bytes:
    """geometry_msgs/WrenchStamped."""
    return _written(_T["geometry_msgs/msg/WrenchStamped"](
        _header(stamp_ns, frame),
        _T["geometry_msgs/msg/Wrench"](_vector(force), _vector(torque))), little_endian)


def joint_state(stamp_ns: int, names: Sequence[str], positions: Sequence[float],
                velocities: Sequence[float] = (), efforts: Sequence[float] = (),
                little_endian: bool = True) -> bytes:
    """sensor_msgs/JointState."""
    return _written(_T["sensor_msgs/msg/JointState"](
        _header(stamp_ns, "base"), list(names),
        *(np.asarray(x, dtype=float) for x in (positions, velocities, efforts))), little_endian)


def transforms(edges: Iterable[Edge], little_endian: bool = True) -> bytes:
    """tf2_msgs/TFMessage of stamp [ns], parent, child, translation and quaternion x, y, z, w."""
    return _written(_T["tf2_msgs/msg/TFMessage"]([
        _T["geometry_msgs/msg/TransformStamped"](
            _header(stamp, parent), child, _T["geometry_msgs/msg/Transform"](
                _vector(p), _T["geometry_msgs/msg/Quaternion"](*q)))
        for stamp, parent, child, p, q in edges]), little_endian)


def _header(stamp_ns: int, frame: str) -> Any:
    return _T["std_msgs/msg/Header"](
        _T["builtin_interfaces/msg/Time"](*divmod(stamp_ns, 1_000_000_000)), frame)


def _vector(values: Sequence[float]) -> Any:
    return _T["geometry_msgs/msg/Vector3"](*values)


def _written(message: Any, little_endian: bool) -> bytes:
    return bytes(STORE.serialize_cdr(message, message.__msgtype__, little_endian=little_endian))
