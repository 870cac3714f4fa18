# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the machine must have before anything is installed."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
import sysconfig
from pathlib import Path

from errors import SetupError

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


def check_venv_module() -> None:
    """Raise SetupError where this Python cannot make a virtual environment with pip in it."""
    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            raise SetupError(
                f"Python {VERSION} ({sys.executable}) lacks its module {module}: install it with "
                f"`sudo apt install python{VERSION}-venv`, or name another Python with PYTHON=."
            )


def check_python_headers() -> None:
    """Raise SetupError where Python.h is missing, which the generated message modules include."""
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if not header.exists():
        raise SetupError(
            f"the C headers of Python {VERSION} are missing ({header}): install them with "
            f"`sudo apt install python{VERSION}-dev`, or name another Python with PYTHON=."
        )


def check_compiler(language: str, variable: str, commands: tuple[str, ...]) -> None:
    """Raise SetupError where neither the variable nor the PATH names a compiler."""
    named = os.environ.get(variable, "").split()
    looked_for = tuple(named[:1]) or commands
    if not any(shutil.which(command) for command in looked_for):
        raise SetupError(
            f"no {language} compiler found (looked for {', '.join(looked_for)}): install one with "
            f"`sudo apt install build-essential`, or set {variable}."
        )


def check_wheel_platform() -> None:
    """Raise SetupError where there are no ROS 2 wheels for this machine."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise SetupError(
            f"there are no ROS 2 wheels for {sys.platform} on {platform.machine()}, only for linux "
            "on x86_64: install ROS 2 and source its setup.bash first."
        )


def check_machine() -> None:
    """Check everything that is needed with and without an installed ROS 2."""
    check_venv_module()
    check_compiler("C", "CC", ("cc", "gcc", "clang"))
    check_compiler("C++", "CXX", ("c++", "g++", "clang++"))
    check_python_headers()
