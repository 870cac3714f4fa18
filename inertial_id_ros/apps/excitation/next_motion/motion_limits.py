# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a motion between two rests may not exceed."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from ....errors import InvalidSetting
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
