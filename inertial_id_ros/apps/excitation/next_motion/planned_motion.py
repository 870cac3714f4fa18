# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A planned motion: points of a trajectory, at rest at its beginning and end, and what it tells."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ....inertia import Array
from ...simulation.motion import JointMotion, Trajectory


@dataclass(frozen=True, eq=False)
class PlannedMotion:
    """Points of a joint trajectory, as a trajectory controller takes them.

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
        return Trajectory(self.stamps, self.positions, self.velocities,
                          self.accelerations).sample(times)
