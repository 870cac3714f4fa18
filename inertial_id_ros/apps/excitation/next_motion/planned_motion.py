# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A planned motion: points of a trajectory, at rest at its beginning and end, and what it tells."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ....inertia import Array
from ...simulation.motion import JointMotion


@dataclass(frozen=True, eq=False)
class PlannedMotion:
    """Points of a joint trajectory, as a trajectory controller takes them.

    Between two points every joint follows the quintic that has their positions, velocities and
    accelerations, as joint_trajectory_controller does.

    Attributes:
        joint_names: of the k joints; all others stay where they are.
        stamps: (n,) from the start, 0 first [s].
        positions, velocities, accelerations: (n, k) [rad, rad/s, rad/s^2, or m for sliding joints];
            at rest at the first and the last point.
        expected_sigma: (10,) standard deviations of mass [kg], centre of mass [m] and inertia about
            it [kg m^2] that are expected afterwards; empty where nobody computed them.
        words: what to do, for a person who moves the arm.
    """

    joint_names: tuple[str, ...]
    stamps: Array
    positions: Array
    velocities: Array
    accelerations: Array
    expected_sigma: Array = field(default_factory=lambda: np.empty(0))
    words: str = ""

    @property
    def duration(self) -> float:
        """Time from the first to the last point [s]."""
        return float(self.stamps[-1])

    def sample(self, times: Array) -> JointMotion:
        """Joint motion (m, k) at times (m,) [s]; at rest before the first and after the last."""
        t = np.clip(np.asarray(times, dtype=float), self.stamps[0], self.stamps[-1])
        i = np.clip(np.searchsorted(self.stamps, t, side="right") - 1, 0, len(self.stamps) - 2)
        step = np.diff(self.stamps)[i]
        begin, end = ((self.positions[k], self.velocities[k], self.accelerations[k])
                      for k in (i, i + 1))
        return _quintic(begin, end, step[:, None], (t - self.stamps[i])[:, None])


def _quintic(begin: tuple[Array, Array, Array], end: tuple[Array, Array, Array], step: Array,
             t: Array) -> JointMotion:
    """The quintics (m, k) with given ends, of durations (m, 1), at times (m, 1) since their begin.
    """
    (p0, v0, a0), (p1, v1, a1) = begin, end
    # What the motion lacks at its end if it goes on with the acceleration of its begin.
    p = (p1 - p0 - v0 * step - 0.5 * a0 * step**2) / step**3
    v = (v1 - v0 - a0 * step) / step**2
    a = (a1 - a0) / step
    c3 = 10.0 * p - 4.0 * v + 0.5 * a
    c4 = (-15.0 * p + 7.0 * v - a) / step
    c5 = (6.0 * p - 3.0 * v + 0.5 * a) / step**2
    return JointMotion(
        p0 + t * (v0 + t * (0.5 * a0 + t * (c3 + t * (c4 + t * c5)))),
        v0 + t * (a0 + t * (3.0 * c3 + t * (4.0 * c4 + t * 5.0 * c5))),
        a0 + t * (6.0 * c3 + t * (12.0 * c4 + t * 20.0 * c5)))
