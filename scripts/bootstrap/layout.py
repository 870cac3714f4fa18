# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Where things are, and the commands that are run there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from errors import SetupError

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
LOG = VENV / "setup.log"
VENV_PYTHON = VENV / "bin" / "python"
SITE_PACKAGES = (
    VENV / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
)


def without_venv(paths: str) -> list[str]:
    """Return the entries of a PATH-like variable that do not lie in this project's venv."""
    entries = [entry for entry in paths.split(os.pathsep) if entry]
    return [entry for entry in entries if VENV not in (Path(entry), *Path(entry).parents)]


def clean_environment() -> dict[str, str]:
    """Return the environment without what `activate` and a virtual environment put in."""
    environment = dict(os.environ)
    for name in ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "PATH"):
        if name in environment:
            environment[name] = os.pathsep.join(without_venv(environment[name]))
    for name in ("VIRTUAL_ENV", "PYTHONHOME", "_ROS_WHEELS_BOOTSTRAP_COMPLETE"):
        environment.pop(name, None)
    return environment


def run(
    command: list[str | Path], environment: dict[str, str], failure: str, folder: Path = VENV
) -> None:
    """Run `command` in `folder`, log its output; raise SetupError(failure) where it fails."""
    arguments = [str(part) for part in command]
    with LOG.open("a") as log:
        log.write(f"\n$ {' '.join(arguments)}\n")
        log.flush()
        done = subprocess.run(
            arguments,
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode:
        raise SetupError(f"{failure}; the whole output is in {LOG.relative_to(ROOT)}.")


def say(text: str) -> None:
    """Tell the user what happens now."""
    print(text, flush=True)
