# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Rotations in the order of ROS messages (x, y, z, w), over transforms3d (w, x, y, z).

The functions have the names, arguments and results of the ROS package tf_transformations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from transforms3d import euler, quaternions

Quaternion = tuple[float, float, float, float]


def _w_first(quaternion: Sequence[float]) -> Quaternion:
    x, y, z, w = quaternion
    return w, x, y, z


def _w_last(quaternion: Sequence[float]) -> Quaternion:
    w, x, y, z = quaternion
    return x, y, z, w


def quaternion_matrix(quaternion: Sequence[float]) -> np.ndarray:
    """Return the 4x4 homogeneous matrix of a rotation; a quaternion of any length is normalised."""
    matrix = np.identity(4)
    matrix[:3, :3] = quaternions.quat2mat(_w_first(quaternion))
    return matrix


def quaternion_from_matrix(matrix: np.ndarray) -> Quaternion:
    """Return the unit quaternion, with w >= 0, of a 4x4 homogeneous matrix without scale."""
    return _w_last(quaternions.mat2quat(np.asarray(matrix)[:3, :3]))


def euler_from_quaternion(
    quaternion: Sequence[float], axes: str = "sxyz"
) -> tuple[float, float, float]:
    """Return three angles [rad]; `sxyz`: roll, pitch, yaw about the fixed axes x, y, z in turn."""
    return euler.mat2euler(quaternion_matrix(quaternion), axes=axes)


def quaternion_from_euler(ai: float, aj: float, ak: float, axes: str = "sxyz") -> Quaternion:
    """Return the quaternion of three angles [rad] about `axes`."""
    return _w_last(euler.euler2quat(ai, aj, ak, axes=axes))


def quaternion_multiply(quaternion1: Sequence[float], quaternion0: Sequence[float]) -> Quaternion:
    """Return quaternion1 * quaternion0: the rotation by quaternion0, then by quaternion1."""
    return _w_last(quaternions.qmult(_w_first(quaternion1), _w_first(quaternion0)))


def quaternion_inverse(quaternion: Sequence[float]) -> np.ndarray:
    """Return the inverse, as an array."""
    x, y, z, w = quaternion
    return np.array([-x, -y, -z, w]) / np.dot(quaternion, quaternion)
