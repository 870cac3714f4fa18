"""The virtual environment and what pip installs into it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from errors import SetupError
from layout import ROOT, SITE_PACKAGES, VENV, VENV_PYTHON, clean_environment, run
from ros_environment import RosEnvironment

REQUIREMENTS = ROOT / "requirements"
# The ROS 2 wheels export the include folders of the machine that built them.
BUILD_MACHINE_NUMPY = re.compile(
    r"/opt/python/cp3\d+-cp3\d+/lib/python3\.\d+/site-packages/numpy/_?core/include"
)
BUILD_MACHINE_PYTHON = re.compile(r"/opt/python/cp3\d+-cp3\d+/include/python3\.\d+")
PRINT_INCLUDES = (
    "import numpy, sysconfig; print(numpy.get_include()); print(sysconfig.get_path('include'))"
)


def requirement_files(ros: RosEnvironment | None) -> tuple[list[Path], Path]:
    """Return the requirements to install, and the versions of what these pull in."""
    if ros is None:
        return [
            REQUIREMENTS / f"{name}.txt" for name in ("build", "ros", "run", "dev")
        ], REQUIREMENTS / "constraints.txt"
    suffix = "-numpy1" if ros.numpy_major < 2 else ""
    files = [REQUIREMENTS / f"{name}.txt" for name in ("build", f"run{suffix}", "dev")]
    return files, REQUIREMENTS / f"constraints{suffix}.txt"


def make_venv(ros: RosEnvironment | None) -> None:
    """Make an empty virtual environment; it sees the system's packages where ROS 2 is sourced."""
    VENV.mkdir(exist_ok=True)
    (VENV / "COLCON_IGNORE").touch()
    command: list[str | Path] = [sys.executable, "-m", "venv", VENV]
    command += ["--system-site-packages"] if ros else []
    run(command, clean_environment(), "the virtual environment .venv could not be made")


def install_requirements(ros: RosEnvironment | None) -> None:
    """Install the pinned requirements with pip."""
    files, constraints = requirement_files(ros)
    pip: list[str | Path] = [VENV_PYTHON, "-m", "pip", "install", "--no-input"]
    pip += ["--disable-pip-version-check"]
    failure = (
        "pip could not install the requirements: check the network connection and, where you "
        "use a proxy or an index of your own, `pip config list`"
    )
    # What pip finds on PYTHONPATH or in ~/.local, it would not install into .venv.
    environment = {**clean_environment(), "PYTHONNOUSERSITE": "1"}
    environment.pop("PYTHONPATH", None)
    pip_itself = [line for line in files[0].read_text().splitlines() if line.startswith("pip==")]
    run([*pip, pip_itself[0].split()[0]], environment, failure)
    pip += ["--constraint", constraints]
    for file in files:
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


def link_source_tree() -> None:
    """Let Python in the virtual environment import the package from the source tree.

    The root goes first on the path, so that an edited file always takes effect, whatever else is
    installed; the package's `extend_path` then finds the generated msg and srv in .venv.
    """
    line = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    (SITE_PACKAGES / "inertial_id_ros_source_tree.pth").write_text(line)
