# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The wrench in another frame that is fixed to the sensor, about that frame's origin."""

from __future__ import annotations

import numpy as np

from ...inertia import Array, skew
from ...kinematics.transform_tree import Pose


def wrench_matrix(pose: Pose) -> Array:
    """Matrix (6, 6) from a wrench in a frame to that in another one, about its origin.

    Args:
        pose: of the other frame in the first one.
    """
    out = np.zeros((6, 6))
    turn = pose.rotation.T
    out[:3, :3] = out[3:, 3:] = turn
    out[3:, :3] = -turn @ skew(pose.translation)
    return out


class TargetFrame:
    """The matrix of a frame, the same object as long as its pose is the same."""

    def __init__(self) -> None:
        self._pose: Pose | None = None
        self._matrix: Array = np.eye(6)

    def matrix(self, pose: Pose) -> Array:
        """Matrix (6, 6) for the pose of the target in the sensor frame."""
        if self._pose is None or not _is_same(pose, self._pose):
            self._pose, self._matrix = pose, wrench_matrix(pose)
        return self._matrix


def _is_same(a: Pose, b: Pose) -> bool:
    """Whether two poses differ by no more than rounding, and noise of moving transforms."""
    return (np.allclose(a.rotation, b.rotation, rtol=0.0, atol=1e-3)
            and np.allclose(a.translation, b.translation, rtol=0.0, atol=1e-4))
