# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Every setting: type, default, unit, range and meaning, in one place.

The node declares its parameters from this table, the tools read the same names from YAML, and the
documentation page is made from it, so that a setting means the same everywhere.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidSetting
from . import groups
from .groups import ESTIMATORS, SENSORS, CompensationSettings, ShapeSettings
from .spec import Spec, check, coerce, iter_group, unknown_setting

__all__ = ["ESTIMATORS", "SENSORS", "CompensationSettings", "Settings", "ShapeSettings", "flatten",
           "iter_settings", "settings_from_mapping"]


def settings_from_mapping(tree: Mapping[str, Any]) -> "Settings":
    """Settings from a nested or dotted mapping (as YAML gives it); missing names keep defaults.

    Raises:
        InvalidSetting: unknown name, wrong type, or value outside its range.
    """
    return Settings().replace(flatten(tree))


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Dotted names from a nested mapping; opens ``/**: ros__parameters`` of ROS files (raises
    InvalidSetting: a name that is not text)."""
    out: dict[str, Any] = {}
    for key, value in tree.items():
        if not isinstance(key, str):
            raise InvalidSetting(f"setting names must be text, got {str(key)[:200]}")
        if isinstance(value, Mapping):
            out.update(flatten(value, f"{prefix}{key}."))
        else:
            out[f"{prefix}{key}".rpartition("ros__parameters.")[2]] = value
    return out


@dataclass(frozen=True)
class Settings:
    """All settings, one group a field; immutable, checked on construction.

    Raises:
        InvalidSetting: a value is outside its range; the text names it.
    """

    wrench: groups.WrenchSettings = groups.WrenchSettings()
    load: groups.LoadSettings = groups.LoadSettings()
    joint_states: groups.JointStatesSettings = groups.JointStatesSettings()
    robot_description: groups.RobotDescriptionSettings = groups.RobotDescriptionSettings()
    gravity: groups.GravitySettings = groups.GravitySettings()
    buffer: groups.BufferSettings = groups.BufferSettings()
    alignment: groups.AlignmentSettings = groups.AlignmentSettings()
    estimator: groups.EstimatorSettings = groups.EstimatorSettings()
    pmd: groups.PmdSettings = groups.PmdSettings()
    lmi: groups.LmiSettings = groups.LmiSettings()
    precompensated: groups.PrecompensatedSettings = groups.PrecompensatedSettings()
    shape: groups.ShapeSettings = groups.ShapeSettings()
    tool: groups.ToolSettings = groups.ToolSettings()
    compensation: groups.CompensationSettings = groups.CompensationSettings()
    motion: groups.MotionSettings = groups.MotionSettings()
    apply: groups.ApplySettings = groups.ApplySettings()
    state: groups.StateSettings = groups.StateSettings()
    lifecycle: groups.LifecycleSettings = groups.LifecycleSettings()

    def __post_init__(self) -> None:
        for name, value, spec in iter_settings(self):
            check(name, value, spec)
        if self.load.robot and not self.wrench.sensor_frame:
            raise InvalidSetting("wrench.sensor_frame is empty; load.robot needs it")

    def replace(self, changes: Mapping[str, Any]) -> "Settings":
        """A copy with dotted names changed, e.g. ``{"wrench.topic": "/ft"}``; values are coerced.

        Another ``wrench.sensor`` also changes what its data sheet gives, but for names in changes.

        Raises:
            InvalidSetting: unknown name, wrong type, or value outside its range.
        """
        known = {name: value for name, value, _ in iter_settings(self)}
        sensor = changes.get("wrench.sensor", self.wrench.sensor)
        if sensor != self.wrench.sensor and isinstance(sensor, str) and sensor in SENSORS:
            changes = SENSORS[sensor].defaults() | dict(changes)
        values: dict[str, dict[str, Any]] = {}
        for name, value in changes.items():
            if name not in known:
                raise unknown_setting(name, known)
            group, key = name.split(".")
            values.setdefault(group, {})[key] = coerce(name, value, known[name])
        return dataclasses.replace(self, **{
            group: dataclasses.replace(getattr(self, group), **some)
            for group, some in values.items()})


def iter_settings(settings: Settings) -> Iterator[tuple[str, Any, Spec]]:
    """Dotted name, value and spec of every setting, in order."""
    for group in dataclasses.fields(settings):
        yield from iter_group(getattr(settings, group.name), f"{group.name}.")
