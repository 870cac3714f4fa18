# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Which targets there are: those of this package, and those that other packages bring along.

This package's own are listed here as well as in setup.py, since colcon installs no entry points of
a package that it builds with CMake.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import cast

from ..errors import InertialIdError, InvalidSetting
from .target import Target

GROUP = "inertial_id_ros.apply"
_HERE = __package__
OWN = {
    "universal_robots": f"{_HERE}.universal_robots:UniversalRobots",
    "franka": f"{_HERE}.cobots:Franka",
    "xarm": f"{_HERE}.cobots:XArm",
    "doosan": f"{_HERE}.cobots:Doosan",
    "fanuc": f"{_HERE}.cobots:Fanuc",
    "dobot": f"{_HERE}.cobots:Dobot",
    "force_torque_sensor_broadcaster": f"{_HERE}.ros2_control:BroadcasterOffsets",
    "gravity_compensation": f"{_HERE}.ros2_control:GravityFilter",
    "admittance_controller": f"{_HERE}.ros2_control:AdmittanceController",
}
_MEMBERS = ("takes_tool", "needs_limits", "changes_wrench", "sources", "placement", "plan", "ready",
            "read")


class BadTarget(InertialIdError):
    """A target of another package that cannot be used."""


def target_names() -> list[str]:
    """Names of all targets, in order."""
    return sorted({*OWN, *(entry.name for entry in entry_points(group=GROUP))})


def load_target(name: str) -> Target:
    """The target of this name; one of another package goes before one of this package.

    Raises:
        InvalidSetting: there is none; the text names all.
        BadTarget: its package raises an error, or it lacks something.
    """
    if not name:
        raise InvalidSetting("apply.target is empty; name one of: " + ", ".join(target_names()))
    places = {entry.value: entry.value for entry in entry_points(group=GROUP, name=name)}
    others = [place for place in places if place != OWN.get(name)]
    place = others[0] if others else OWN.get(name)
    if place is None:
        raise InvalidSetting(f"there is no target '{name[:100]}'; there are: "
                             + ", ".join(target_names()))
    try:
        module, _, attribute = place.partition(":")
        found = getattr(import_module(module), attribute)
        target = found() if isinstance(found, type) else found
    except Exception as error:  # whatever another package does
        raise BadTarget(f"target '{name}' ({place}) cannot be loaded: "
                        f"{type(error).__name__}: {error}") from error
    missing = [member for member in _MEMBERS if not hasattr(target, member)]
    if missing:
        raise BadTarget(f"target '{name}' ({place}) has no {', '.join(missing)}")
    return cast(Target, target)
