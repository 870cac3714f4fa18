# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The ROS 2 environment that is sourced in this shell, if any."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from errors import SetupError
from layout import clean_environment, without_venv
from machine import VERSION

PROBE = "import rclpy; print(rclpy.__file__)"


@dataclass(frozen=True)
class RosEnvironment:
    """A sourced ROS 2: all its prefixes, overlays first; the one that has rclpy; its name."""

    prefixes: tuple[str, ...]
    home: str
    distro: str


def find_ros_environment() -> RosEnvironment | None:
    """Return the sourced ROS 2, or None where there is none.

    Raises SetupError where one is sourced that this Python cannot use: mixing it with the wheels
    would load libraries of both.
    """
    prefixes = tuple(without_venv(os.environ.get("AMENT_PREFIX_PATH", "")))
    if not prefixes:
        return None
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
    return RosEnvironment(prefixes, (homes or prefixes)[-1], distro)
