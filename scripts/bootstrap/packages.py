# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The virtual environment and what pip installs into it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from errors import SetupError
from layout import ROOT, SITE_PACKAGES, VENV, VENV_PYTHON, clean_environment, run
from ros_environment import RosEnvironment

LOCKED = ROOT / "requirements" / "locked"  # exact versions and hashes of all that pip installs
# The one package that has no wheel; it is built with the setuptools of build.txt.
WITHOUT_WHEEL = "empy"
# The ROS 2 wheels export the include folders of the machine that built them.
BUILD_MACHINE_NUMPY = re.compile(
    r"/opt/python/cp3\d+-cp3\d+/lib/python3\.\d+/site-packages/numpy/_?core/include"
)
BUILD_MACHINE_PYTHON = re.compile(r"/opt/python/cp3\d+-cp3\d+/include/python3\.\d+")
PRINT_INCLUDES = (
    "import numpy, sysconfig; print(numpy.get_include()); print(sysconfig.get_path('include'))"
)


def requirement_files(ros: RosEnvironment) -> list[Path]:
    """Return the locked requirements to install; the first are needed to install the others."""
    names = ["build", "run", "dev", *([] if ros.sourced else [ros.distro])]
    return [LOCKED / f"{name}.txt" for name in names]


def make_venv(ros: RosEnvironment) -> None:
    """Make an empty virtual environment; it sees the system's packages where ROS 2 is sourced."""
    VENV.mkdir(exist_ok=True)
    (VENV / "COLCON_IGNORE").touch()
    command: list[str | Path] = [sys.executable, "-m", "venv", VENV]
    command += ["--system-site-packages"] if ros.sourced else []
    run(command, clean_environment(), "the virtual environment .venv could not be made")


def install_requirements(ros: RosEnvironment) -> None:
    """Install the locked requirements with pip, which refuses every file of another hash."""
    build, *others = requirement_files(ros)
    pip: list[str | Path] = [VENV_PYTHON, "-m", "pip", "install", "--no-input"]
    pip += ["--disable-pip-version-check", "--require-hashes", "--only-binary", ":all:"]
    failure = (
        "pip could not install the requirements: check the network connection and, where you "
        "use a proxy or an index of your own, `pip config list`; an index with other files than "
        "PyPI's is refused"
    )
    # What pip finds on PYTHONPATH or in ~/.local, it would not install into .venv.
    environment = {**clean_environment(), "PYTHONNOUSERSITE": "1"}
    environment.pop("PYTHONPATH", None)
    run([*pip, "--requirement", build], environment, failure)
    pip += ["--no-binary", WITHOUT_WHEEL, "--no-build-isolation"]
    for file in others:
        pip += ["--requirement", file]
    run(pip, environment, failure)


def read_includes() -> tuple[str, str]:
    """Return the include folders of NumPy and Python in the virtual environment."""
    done = subprocess.run(
        [VENV_PYTHON, "-c", PRINT_INCLUDES],
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SetupError("NumPy cannot be imported in .venv: run `make clean`, then try again.")
    numpy, python = done.stdout.split("\n")[:2]
    return numpy, python


def correct_cmake_exports() -> None:
    """Replace the build machine's include folders in the CMake files of the wheels by ours."""
    numpy, python = read_includes()
    for file in VENV.glob("share/*/cmake/*.cmake"):
        text = file.read_text()
        fixed = BUILD_MACHINE_NUMPY.sub(lambda _: numpy, text)
        fixed = BUILD_MACHINE_PYTHON.sub(lambda _: python, fixed)
        if fixed != text:
            file.write_text(fixed)


def set_import_order(ros: RosEnvironment) -> None:
    """Let Python in .venv import the package from the source tree, then what .venv has itself.

    The root goes first, so that an edited file always takes effect, whatever else is installed; the
    package's `extend_path` then finds the generated msg and srv. The packages of a sourced ROS 2
    stand in PYTHONPATH, before .venv: its Pinocchio, say, was built for another NumPy than ours.
    """
    cmeel = SITE_PACKAGES / "cmeel.prefix" / SITE_PACKAGES.relative_to(VENV)  # has Pinocchio
    first = [ROOT, cmeel, SITE_PACKAGES] if ros.sourced else [ROOT]
    line = f"import sys; sys.path[:0] = {[str(folder) for folder in first]!r}\n"
    (SITE_PACKAGES / "inertial_id_ros_import_order.pth").write_text(line)
