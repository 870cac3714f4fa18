# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Planned motions as files: CSV, a JointTrajectory in YAML, and a plot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...inertia import Array
from ..bag.output import replace_when_complete, write_text
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
    """Positions, velocities and accelerations of the moving joints, and the tool's speed.

    Raises:
        InvalidSetting: the file cannot be written, or is of a kind that is not known.
    """
    from ..bag.plot import Figure, check_format  # costs a second; only where it is needed

    check_format(path)
    t = sample_times(motion, 100.0)
    state = motion(t)
    figure = Figure(figsize=(8.0, 9.0), layout="constrained")
    axes = figure.subplots(4, 1, sharex=True)
    units = ("position [rad]", "velocity [rad/s]", "acceleration [rad/s²]")
    for panel, values, unit in zip(axes, state, units, strict=False):
        for joint in motion.active:
            panel.plot(t, values[:, joint], label=arm.joint_names[joint])
        panel.set_ylabel(unit)
    axes[0].legend(loc="upper right", fontsize="small")
    for k, speed in enumerate(arm.frame_motion(*state).point_speeds(limits.tool_points).T):
        axes[3].plot(t, speed, label=f"tool point {k + 1}")
    axes[3].axhline(limits.tool_speed, color="black", linestyle="--", linewidth=0.8)
    axes[3].set_ylabel("tool speed [m/s]")
    axes[3].set_xlabel("time [s]")
    with replace_when_complete(path) as temporary:
        figure.savefig(temporary, dpi=110)


def _yaml_list(values: Array) -> str:
    """Numbers as a YAML list of floats."""
    # A bare 0 would be read as a whole number, which a field of floats refuses.
    return "[" + ", ".join(repr(round(float(x), _DIGITS) + 0.0) for x in values) + "]"
