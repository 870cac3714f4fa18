# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Moves from rest to rest through poses, as quick as the limits allow, for many candidates at once.

Between two poses every joint follows the minimum-jerk quintic, so that the path is straight in
joint space and every speed on it scales with the inverse of the duration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....inertia import Array
from ...simulation.motion import JointMotion
from ...simulation.timing import minimum_jerk
from ..arm import Arm
from .motion_limits import MotionLimits

_NODES = np.linspace(0.0, 1.0, 21)  # along a move, where its speed is found
_MARGIN = 1.02  # for a peak between two nodes
# Peaks of the minimum-jerk quintic of duration and length 1.
_SPEED, _ACCELERATION, _JERK = 1.875, 10.0 / np.sqrt(3.0), 60.0
_SHORTEST = 0.3  # s, of a move: what a controller still follows


@dataclass(frozen=True, eq=False)
class RestToRest:
    """Poses with moves between them.

    Attributes:
        poses: (k + 1, joints) [rad or m]; durations: (k,) of the moves [s].
    """

    poses: Array
    durations: Array

    @property
    def duration(self) -> float:
        """Time from the first to the last pose [s]."""
        return float(self.durations.sum())

    def begin(self, longest: float) -> RestToRest:
        """The first moves, as many as end within a time [s], and one at least."""
        count = max(1, int(np.searchsorted(np.cumsum(self.durations), longest, side="right")))
        return RestToRest(self.poses[:count + 1], self.durations[:count])

    def __call__(self, t: Array) -> JointMotion:
        """Joint motion (n, joints) at times (n,) [s]; at rest before and after."""
        begins = np.concatenate([[0.0], np.cumsum(self.durations)])
        k = np.clip(np.searchsorted(begins, t, side="right") - 1, 0, len(self.durations) - 1)
        length = self.durations[k][:, None]
        s = minimum_jerk((np.asarray(t) - begins[k])[:, None] / length)
        step = self.poses[k + 1] - self.poses[k]
        return JointMotion(self.poses[k] + step * s.value, step * s.rate / length,
                           step * s.acceleration / length**2)


def shortest_moves(arm: Arm, limits: MotionLimits, begins: Array, ends: Array) -> Array:
    """Durations (m,) [s] of moves from begins to ends (m, joints) within all limits of speed,
    acceleration and jerk."""
    step = ends - begins
    s = minimum_jerk(_NODES)
    q = begins[:, None] + s.value[:, None] * step[:, None]
    dq = s.rate[:, None] * step[:, None]
    joints = step.shape[1]
    speed = arm.links.links_at(q.reshape(-1, joints), dq.reshape(-1, joints)).speed
    peak = speed.reshape(len(step), -1).max(axis=1)
    length = np.abs(step)
    allowed = np.minimum(limits.joint_speed, limits.share * arm.speed)
    return np.asarray(np.max([
        _MARGIN * peak / limits.link_speed,
        (_SPEED * length / allowed).max(axis=1),
        np.sqrt(_ACCELERATION * length / limits.joint_acceleration).max(axis=1),
        np.cbrt(_JERK * length / limits.joint_jerk).max(axis=1),
        np.full(len(step), _SHORTEST)], axis=0))
