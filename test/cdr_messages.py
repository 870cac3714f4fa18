# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Messages as the middleware hands them over, written by an independent library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import bags
import numpy as np
from bags import STORE

Edge = tuple[int, str, str, Sequence[float], Sequence[float]]


def wrench(stamp_ns: int, frame: str, force: Sequence[float], torque: Sequence[float],
           little_endian: bool = True) -> bytes:
    """geometry_msgs/WrenchStamped."""
    ((_, message),) = bags.wrench_messages([stamp_ns], np.array([[*force, *torque]]), frame)
    return _written(message, little_endian)


def joint_state(stamp_ns: int, names: Sequence[str], positions: Sequence[float],
                velocities: Sequence[float] = (), efforts: Sequence[float] = (),
                little_endian: bool = True) -> bytes:
    """sensor_msgs/JointState."""
    return _written(bags.make(
        "sensor_msgs/JointState", bags.header(stamp_ns, "base"), list(names),
        *(np.asarray(x, dtype=float) for x in (positions, velocities, efforts))), little_endian)


def transforms(edges: Iterable[Edge], little_endian: bool = True) -> bytes:
    """tf2_msgs/TFMessage of stamp [ns], parent, child, translation and quaternion x, y, z, w."""
    return _written(bags.make("tf2_msgs/TFMessage", [
        bags.transform(*edge) for edge in edges]), little_endian)


def _written(message: Any, little_endian: bool) -> bytes:
    return bytes(STORE.serialize_cdr(message, message.__msgtype__, little_endian=little_endian))
