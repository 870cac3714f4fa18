# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Drivers and controllers that take a payload: what they have, and how another one is sent."""

from __future__ import annotations

from typing import Any

from ..errors import InvalidSetting
from ..settings import Settings
from .drivers import (
    AdmittanceController,
    BroadcasterOffsets,
    Dobot,
    Doosan,
    Fanuc,
    Franka,
    GravityFilter,
    UniversalRobots,
    XArm,
)
from .target import Target

TARGETS: dict[str, type[Target]] = {  # by the value of apply.target
    "admittance_controller": AdmittanceController,
    "dobot": Dobot,
    "doosan": Doosan,
    "fanuc": Fanuc,
    "force_torque_sensor_broadcaster": BroadcasterOffsets,
    "franka": Franka,
    "gravity_compensation": GravityFilter,
    "universal_robots": UniversalRobots,
    "xarm": XArm,
}


def load_target(name: str, robot: Any, settings: Settings) -> Target:
    """The target of this name (raises InvalidSetting, which names all)."""
    if name not in TARGETS:
        raise InvalidSetting(f"apply.target is '{name[:100]}'; allowed: {', '.join(TARGETS)}")
    return TARGETS[name](robot, settings)
