# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Every setting: type, default, unit, range and meaning, in one place.

The node declares its parameters from this table, the tools read the same names from YAML, and the
documentation page is made from it, so that a setting means the same everywhere.
"""

from .inputs import SENSORS, DynamicJointStatesSettings, WrenchSettings
from .node import ApplySettings
from .payload import (
    ESTIMATORS,
    PrecompensatedSettings,
    ShapeSettings,
)
from .table import Settings, flatten, iter_settings, settings_from_mapping

__all__ = [
    "ESTIMATORS",
    "SENSORS",
    "ApplySettings",
    "DynamicJointStatesSettings",
    "PrecompensatedSettings",
    "Settings",
    "ShapeSettings",
    "WrenchSettings",
    "flatten",
    "iter_settings",
    "settings_from_mapping",
]
