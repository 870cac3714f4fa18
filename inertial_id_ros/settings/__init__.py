# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Every setting: type, default, unit, range and meaning, in one place.

The node declares its parameters from this table, the tools read the same names from YAML, and the
documentation page is made from it, so that a setting means the same everywhere.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidSetting
from . import groups, node
from .groups import (
    ESTIMATORS,
    SENSORS,
    DynamicJointStatesSettings,
    PrecompensatedSettings,
    ShapeSettings,
    WrenchSettings,
)
from .node import ApplySettings
from .spec import Spec, check, coerce, iter_group, unknown_setting

__all__ = ["ESTIMATORS", "SENSORS", "ApplySettings", "DynamicJointStatesSettings",
           "PrecompensatedSettings", "Settings", "ShapeSettings", "WrenchSettings", "flatten",
           "iter_settings", "settings_from_mapping"]


def settings_from_mapping(tree: Mapping[str, Any]) -> Settings:
    """Settings from a nested or dotted mapping (as YAML gives it); missing names keep defaults.

    Raises:
        InvalidSetting: unknown name, wrong type, or value outside its range.
    """
    return Settings().replace(flatten(tree))


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Dotted names from a nested mapping; opens ``/**: ros__parameters`` of ROS files.

    Raises:
        InvalidSetting: a name that is not text.
    """
    out: dict[str, Any] = {}
    for key, value in tree.items():
        if not isinstance(key, str):
            raise InvalidSetting(f"setting names must be text, got {str(key)[:200]}")
        if isinstance(value, Mapping):
            inside = prefix if _is_ros_wrapper(key, value) else f"{prefix}{key}."
            out.update(flatten(value, inside))
        else:
            out[f"{prefix}{key}"] = value
    return out


def _is_ros_wrapper(key: str, value: Mapping[str, Any]) -> bool:
    """Whether a key is ``ros__parameters``, or a node or namespace above one."""
    return key == "ros__parameters" or any(
        k == "ros__parameters" or (isinstance(v, Mapping) and _is_ros_wrapper("", v))
        for k, v in value.items())


@dataclass(frozen=True)
class Settings:
    """All settings, one group a field; immutable, checked on construction.

    Raises:
        InvalidSetting: a value is outside its range; the text names it.
    """

    wrench: groups.WrenchSettings = groups.WrenchSettings()
    load: groups.LoadSettings = groups.LoadSettings()
    joint_states: groups.JointStatesSettings = groups.JointStatesSettings()
    dynamic_joint_states: groups.DynamicJointStatesSettings = groups.DynamicJointStatesSettings()
    robot_description: groups.RobotDescriptionSettings = groups.RobotDescriptionSettings()
    tf: groups.TfSettings = groups.TfSettings()
    gravity: groups.GravitySettings = groups.GravitySettings()
    buffer: groups.BufferSettings = groups.BufferSettings()
    alignment: groups.AlignmentSettings = groups.AlignmentSettings()
    estimator: groups.EstimatorSettings = groups.EstimatorSettings()
    pmd: groups.PmdSettings = groups.PmdSettings()
    lmi: groups.LmiSettings = groups.LmiSettings()
    entropic: groups.EntropicSettings = groups.EntropicSettings()
    precompensated: groups.PrecompensatedSettings = groups.PrecompensatedSettings()
    shape: groups.ShapeSettings = groups.ShapeSettings()
    tool: groups.ToolSettings = groups.ToolSettings()
    compensation: node.CompensationSettings = node.CompensationSettings()
    motion: node.MotionSettings = node.MotionSettings()
    apply: node.ApplySettings = node.ApplySettings()
    state: node.StateSettings = node.StateSettings()
    lifecycle: node.LifecycleSettings = node.LifecycleSettings()

    def __post_init__(self) -> None:
        for name, value, spec in iter_settings(self):
            check(name, value, spec)
        if self.dynamic_joint_states.topic and not self.wrench.sensor_frame:
            raise InvalidSetting(
                f"dynamic_joint_states.topic is '{self.dynamic_joint_states.topic}', which does "
                "not tell the frame of the wrench; set wrench.sensor_frame")
        if self.load.source == "joint_torque":
            if not self.wrench.sensor_frame:
                raise InvalidSetting("wrench.sensor_frame is empty; load.robot needs it")
            if self.dynamic_joint_states.topic:
                raise InvalidSetting(
                    f"dynamic_joint_states.topic is '{self.dynamic_joint_states.topic}'; with "
                    "load.robot efforts are read from joint_states.topic, so leave it empty")

    def replace(self, changes: Mapping[str, Any]) -> Settings:
        """A copy with dotted names changed, e.g. ``{"wrench.topic": "/ft"}``; values are coerced.

        Another ``wrench.sensor`` also changes what its data sheet gives, but for names in changes.

        Raises:
            InvalidSetting: unknown name, wrong type, or value outside its range.
        """
        known = {name: value for name, value, _ in iter_settings(self)}
        sensor = changes.get("wrench.sensor", self.wrench.sensor)
        if sensor != self.wrench.sensor and isinstance(sensor, str) and sensor in SENSORS:
            changes = SENSORS[sensor].defaults() | dict(changes)
        groups: dict[str, dict[str, Any]] = {}
        for name, value in changes.items():
            if name not in known:
                raise unknown_setting(name, known)
            group, key = name.split(".")
            groups.setdefault(group, {})[key] = coerce(name, value, known[name])
        return dataclasses.replace(self, **{
            group: dataclasses.replace(getattr(self, group), **values)
            for group, values in groups.items()})


def iter_settings(settings: Settings) -> Iterator[tuple[str, Any, Spec]]:
    """Dotted name, value and spec of every setting, in order."""
    for group in dataclasses.fields(settings):
        yield from iter_group(getattr(settings, group.name), f"{group.name}.")
