# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Building the interfaces, and stand-ins for ROS packages that are missing, into .venv."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

from layout import ROOT, VENV, VENV_PYTHON, clean_environment, run
from ros_environment import RosEnvironment

STAND_INS = ("tf2_msgs", "tf_transformations", "control_msgs", "ur_msgs")


def executables() -> list[Path]:
    """Return the installed programs: the files without a suffix in scripts/."""
    files = (file for file in (ROOT / "scripts").iterdir() if file.is_file())
    return sorted(file for file in files if not file.suffix)


def missing_packages(ros: RosEnvironment) -> list[str]:
    """Return the names of the stand-ins that the sourced ROS 2 does not have itself."""
    index = Path("share/ament_index/resource_index/packages")
    return [
        name
        for name in STAND_INS
        if not any((Path(prefix) / index / name).exists() for prefix in ros.prefixes)
    ]


def install_prefix(ros: RosEnvironment) -> Path:
    """Return where to install: into the wheels' ROS 2, or as an overlay of the sourced one."""
    return VENV / "ros" if ros.sourced else VENV


def build_environment(ros: RosEnvironment) -> dict[str, str]:
    """Return the environment to build in: our prefix, then the ROS 2 that is sourced, if any."""
    environment = clean_environment()
    prefixes = [str(install_prefix(ros)), *ros.prefixes]
    environment["AMENT_PREFIX_PATH"] = os.pathsep.join(prefixes)
    environment["PATH"] = os.pathsep.join([str(VENV / "bin"), environment.get("PATH", "")])
    return environment


def build_package(source: Path, name: str, ros: RosEnvironment) -> None:
    """Configure, compile and install one CMake package into .venv."""
    environment = build_environment(ros)
    build = VENV / "build" / name
    cmake = shutil.which("cmake", path=environment["PATH"]) or "cmake"
    failure = f"building {name} failed"
    configure: list[str | Path] = [cmake, "-S", source, "-B", build, "-G", "Ninja"]
    configure += [
        f"-DCMAKE_INSTALL_PREFIX={install_prefix(ros)}",
        f"-DCMAKE_PREFIX_PATH={environment['AMENT_PREFIX_PATH'].replace(os.pathsep, ';')}",
        f"-DPython3_EXECUTABLE={VENV_PYTHON}",
        "-DBUILD_TESTING=OFF",
        "-DAMENT_CMAKE_SYMLINK_INSTALL=ON",
        "-DINERTIAL_ID_ROS_INTERFACES_ONLY=ON",
        "--no-warn-unused-cli",
    ]
    run(configure, environment, failure)
    run([cmake, "--build", build], environment, failure)
    # The list of installed links, which the next install reads, is kept in the current folder.
    run([cmake, "--install", build], environment, failure, folder=build)


def packages_to_build(ros: RosEnvironment) -> dict[str, Path]:
    """Return name -> folder of the missing stand-ins and, last, of this package."""
    stand_ins = {name: ROOT / "underlay" / name for name in missing_packages(ros)}
    return {**stand_ins, "inertial_id_ros": ROOT}


def write_commands() -> None:
    """Put every executable on the PATH of the virtual environment."""
    for script in executables():
        command = VENV / "bin" / script.name
        start = f"exec {shlex.quote(str(VENV_PYTHON))} {shlex.quote(str(script))}"
        command.write_text(f'#!/bin/sh\n{start} "$@"\n')
        command.chmod(0o755)
