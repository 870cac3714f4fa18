# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Planned motions as files: CSV, a JointTrajectory in YAML, and a plot."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...inertia import Array
from ..bag.output import write_text
from ..report.charts import SERIES, Axes, Curve, chart, limits_around, picture_file
from ..report.html import Markup
from .arm import Arm
from .fourier import FourierMotion
from .limits import Limits

_DIGITS = 9  # of numbers in files


def sample_times(motion: FourierMotion, rate: float) -> Array:
    """Times (n,) [s] from 0 to the end of the motion, at least `rate` of them a second."""
    return np.linspace(0.0, motion.duration, int(np.ceil(motion.duration * rate)) + 1)


def write_csv(path: Path, names: Sequence[str], motion: FourierMotion, rate: float) -> None:
    """Columns ``time``, then position, velocity and acceleration of every joint.

    Raises:
        InvalidSetting: the file cannot be written.
    """
    t = sample_times(motion, rate)
    header = ["time", *(f"{kind}.{name}" for kind in ("position", "velocity", "acceleration")
                        for name in names)]
    rows = np.hstack([t[:, None], *motion(t)])
    text = [",".join(header), *(",".join(f"{x:.{_DIGITS}g}" for x in row) for row in rows)]
    write_text(path, "\n".join(text) + "\n")


def write_trajectory(path: Path, names: Sequence[str], motion: FourierMotion, rate: float) -> None:
    """A trajectory_msgs/JointTrajectory in the YAML that `ros2 topic pub` reads.

    Raises:
        InvalidSetting: the file cannot be written.
    """
    t = sample_times(motion, rate)
    text = [f"joint_names: [{', '.join(names)}]", "points:"]
    for time, q, dq, ddq in zip(t, *motion(t), strict=True):
        seconds, nanoseconds = divmod(round(float(time) * 1e9), 1_000_000_000)
        text += [f"- positions: {_yaml_list(q)}", f"  velocities: {_yaml_list(dq)}",
                 f"  accelerations: {_yaml_list(ddq)}",
                 f"  time_from_start: {{sec: {seconds}, nanosec: {nanoseconds}}}"]
    write_text(path, "\n".join(text) + "\n")


def save_plot(path: Path, arm: Arm, motion: FourierMotion, limits: Limits) -> None:
    """Positions, velocities and accelerations of the moving joints, and the tool's speed, as SVG
    (raises InvalidSetting where the file cannot be written)."""
    t = sample_times(motion, 100.0)
    state = motion(t)
    joints = list(motion.active)
    titles = (("Position", "rad"), ("Velocity", "rad/s"), ("Acceleration", "rad/s\u00b2"))
    charts = [_chart(title, unit, t, values[:, joints], [str(k + 1) for k in joints])
              for (title, unit), values in zip(titles, state, strict=True)]
    speeds = arm.frame_motion(*state).point_speeds(limits.tool_points)
    charts.append(_chart("Speed of the tool points", "m/s", t, speeds,
                         [str(k + 1) for k in range(speeds.shape[1])], limits.tool_speed))
    heading = textwrap.wrap("Joints: " + ", ".join(f"{k + 1} {arm.joint_names[k]}"
                                                   for k in joints), 110)
    write_text(path, picture_file(heading, charts))


def _chart(title: str, unit: str, t: Array, values: Array, names: Sequence[str],
           limit: float = np.nan) -> Markup:
    """A chart of curves (n, k), and of a limit that they keep."""
    curves = [Curve(name, t, column, SERIES[k % len(SERIES)])
              for k, (name, column) in enumerate(zip(names, values.T, strict=True))]
    most = values
    if np.isfinite(limit):
        curves.append(Curve("limit", t, np.full(len(t), limit), "black", dashed=True))
        most = np.append(values, limit)
    return chart(title, unit, curves, Axes((0.0, float(t[-1])), limits_around(values, most)),
                 f"{title} over time")


def _yaml_list(values: Array) -> str:
    """Numbers as a YAML list of floats."""
    # A bare 0 would be read as a whole number, which a field of floats refuses.
    return "[" + ", ".join(repr(round(float(x), _DIGITS) + 0.0) for x in values) + "]"
