# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Writes docs/settings.md from the settings table: ``python docs/make_settings_page.py``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from inertial_id_ros.settings import SENSORS, Settings, iter_settings  # noqa: E402
from inertial_id_ros.settings.spec import allowed_range  # noqa: E402

PAGE = ROOT / "docs" / "settings.md"
HEAD = """# Settings

Parameters of `inertial_id_node`, keys of the YAML file of `identify_bag --config`, and names for
`Settings().replace(...)` in Python. YAML may be nested, dotted, or a ROS parameter file. Settings
with a star may be changed while the node runs (`ros2 param set`); the others are fixed when it
starts.

These describe a robot and its sensor; `config/<driver>.yaml` contains no others. The rest are
[advanced settings](#advanced-settings): their defaults seldom need a change.

"""
TABLE_HEAD = """| name | default | allowed | meaning |
|---|---|---|---|
"""
# What a user meets; `config/<driver>.yaml` contains no others.
FIRST = (
    "wrench.topic", "wrench.convention", "wrench.sensor_frame", "wrench.sensor",
    "joint_states.topic", "robot_description.topic", "gravity.frame", "load.robot",
    "load.rated_payload", "load.reference_mass", "precompensated.source", "precompensated.mass",
    "precompensated.com", "precompensated.inertia", "precompensated.frame",
    "state.directory", "apply.target", "apply.service", "apply.frame")

SENSOR_HEAD = """## Sensors
`wrench.sensor` names one of these. It gives noise, accuracy, gain error, cross-talk, drift and
range of force and torque where they are not set themselves in the same file, command line or
`replace`. The table has standard deviations, half of a limit in a data sheet; gain error in percent
of the reading, cross-talk in percent of the ranges. Where the axes differ, the range is the
smallest; 0 is unknown.

| `wrench.sensor` | noise<br>N, N m | accuracy<br>N, N m | gain, cross-talk<br>% \
| drift<br>N, N m / min | range<br>N, N m | source |
|---|---|---|---|---|---|---|
"""


def sensors() -> str:
    """The part of the page about sensors: a row of the table for each."""
    def pair(values: tuple[float, float]) -> str:
        return f"{values[0]:g}, {values[1]:g}"

    rows = [
        f"| `{name}` | {pair(s.noise)} | {pair(s.accuracy)} | "
        f"{pair((100.0 * s.gain_error, 100.0 * s.cross_talk))} | {pair(s.drift)} | "
        f"{pair(s.range)} | {s.source} |" for name, s in SENSORS.items()]
    return SENSOR_HEAD + "\n".join(rows) + "\n"


def page() -> str:
    """The settings page as Markdown: what a user meets, sensors, and the rest."""
    rows = {name: row(name, value, spec) for name, value, spec in iter_settings(Settings())}
    return "\n".join([HEAD + TABLE_HEAD + "".join(rows.pop(name) for name in FIRST), sensors(),
                      "## Advanced settings\n\n" + TABLE_HEAD + "".join(rows.values())])


def row(name: str, value: Any, spec: Any) -> str:
    """The row of one setting."""
    if isinstance(value, str):
        default, kind = value or '""', "text"
    elif isinstance(value, bool):
        default, kind = str(value).lower(), "true, false"
    elif isinstance(value, tuple):
        default, kind = str(list(value)), ""
    else:
        default, kind = f"{value:g}", ""
    allowed = kind if kind and not spec.choices else allowed_range(spec)
    if spec.length:
        allowed += f"; {spec.length} numbers"
    star = "*" if spec.runtime else ""
    return f"| `{name}`{star} | `{default}` | {allowed} | {spec.description} |\n"


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"wrote {PAGE}")
