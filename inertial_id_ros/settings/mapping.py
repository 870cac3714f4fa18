# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings from files: dotted names and values from nested mappings, as YAML gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InvalidSetting
from .table import Settings


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
