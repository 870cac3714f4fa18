# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A planned motion: points of a trajectory, at rest at its beginning and end, and what it tells.

With the limits that it keeps, and in words, for a person who moves the arm by hand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields

import numpy as np

from ....errors import InvalidSetting
from ....inertia import Array
from ...simulation.motion import JointMotion, Trajectory
from ..limits import COBOT_TOOL_SPEED

_MAY_BE_ZERO = ("clearance",)
_MAY_BE_INFINITE = ("range",)


@dataclass(frozen=True)
class MotionLimits:
    """Limits of a motion, beside those of the robot description.

    Attributes:
        link_speed: of every point of every link and of the payload [m/s].
        joint_speed, joint_acceleration, joint_jerk: of every joint [rad/s, rad/s^2, rad/s^3, or m].
        share: part of the description's limits of speed and effort that may be used.
        range: largest distance of a joint from where the motion starts [rad or m].
        clearance: least distance between shapes [m].
        floor: least height of every link that rises and falls, and of the payload, above the
            description's root, against gravity [m]; minus infinity: none.

    Raises:
        InvalidSetting: a number out of range.
    """

    link_speed: float = COBOT_TOOL_SPEED
    joint_speed: float = 2.0
    joint_acceleration: float = 5.0
    joint_jerk: float = 60.0
    share: float = 0.8
    range: float = 1.5
    clearance: float = 0.01
    floor: float = -math.inf

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name == "floor":
                allowed = value < math.inf
            else:
                allowed = (value > 0.0 or item.name in _MAY_BE_ZERO and value == 0.0) and (
                    math.isfinite(value) or item.name in _MAY_BE_INFINITE and value > 0.0)
            if not allowed:
                raise InvalidSetting(f"{item.name} of a motion is {value:g}; it must be above zero "
                                     "and finite")
        if self.share > 1.0:
            raise InvalidSetting(f"share of a motion is {self.share:g}; allowed: above 0 to 1")


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


_LEAST = np.radians(0.5)  # a joint that turns by less is not worth a word


def describe_motion(names: tuple[str, ...], poses: Array) -> str:
    """What to turn, move after move.

    Args:
        names: of the k joints; poses: (m, k) at which the arm rests [rad].

    Examples:
        >>> describe_motion(("wrist_1_joint", "wrist_2_joint"), np.radians([[0, 0], [25, -40]]))
        'turn wrist_1_joint by +25° and wrist_2_joint by -40°'
    """
    parts = []
    for step in np.diff(poses, axis=0):
        turns = [f"{name} by {np.degrees(angle):+.0f}°"
                 for name, angle in zip(names, step, strict=True) if abs(angle) >= _LEAST]
        if turns:
            parts.append("turn " + " and ".join(turns))
    if len(poses) > 2 and np.allclose(poses[0], poses[-1], atol=_LEAST):
        parts[-1] += ", back to where it was"
    return "; then ".join(parts)
