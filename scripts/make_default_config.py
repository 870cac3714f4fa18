#!/usr/bin/env python3
# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Writes config/default.yaml from the settings table: ``python scripts/make_default_config.py``."""

from __future__ import annotations

import sys
import textwrap
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "config" / "default.yaml"
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from inertial_id_ros.settings import SENSORS, Settings, iter_settings  # noqa: E402
from inertial_id_ros.settings.spec import Spec, allowed_range  # noqa: E402

HEADER = """\
# Every setting with its default. Written by scripts/make_default_config.py; do not edit.
# For a robot, copy the few lines that differ into a file of your own, or start from the file of
# its driver in this folder:
#   ros2 launch inertial_id_ros identify.launch.py config:=ur
#   ros2 run inertial_id_ros inertial_id_node --ros-args --params-file <file>
# Settings marked [run-time] may also be changed while the node runs (ros2 param set); the others
# are fixed when it starts. Values in comments are not set here: most follow from wrench.sensor.
/**:
  ros__parameters:
"""


def text() -> str:
    """The file's content."""
    parts = [HEADER]
    for group, settings in groupby(iter_settings(Settings()), lambda row: row[0].split(".")[0]):
        lines = [_setting(name, value, spec) for name, value, spec in settings]
        is_set = any(not line.splitlines()[-1].lstrip().startswith("#") for line in lines)
        parts += [f"    {'' if is_set else '# '}{group}:\n", *lines]  # no empty group
    return "".join(parts)


def _setting(name: str, value: Any, spec: Spec) -> str:
    unit = f" [{spec.unit}]" if spec.unit else ""
    limits = "" if isinstance(value, (str, bool)) and not spec.choices else (
        f" Allowed: {allowed_range(spec)}.")
    when = " [run-time]" if spec.runtime else ""
    lines = textwrap.wrap(f"{spec.description}{unit}{limits}{when}", 88, break_on_hyphens=False)
    comment = "".join(f"      # {line}\n" for line in lines)
    # Set here, it would hide what the data sheet says; ROS cannot tell the type of an empty list.
    mark = "# " if name in SENSORS["unknown"].defaults() or value == () else ""
    return f"{comment}      {mark}{name.split('.')[1]}: {_yaml(value)}\n"


def _yaml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        # YAML 1.1 takes 1e-06 for text; it wants a point.
        digits = repr(value)
        return digits if "." in digits else digits.replace("e", ".0e")
    if isinstance(value, tuple):
        return f"[{', '.join(_yaml(v) for v in value)}]"
    if isinstance(value, str):
        return f'"{value}"'
    return str(value)


if __name__ == "__main__":
    FILE.write_text(text())
