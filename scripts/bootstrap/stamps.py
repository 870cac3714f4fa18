# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Stamps: a step is done again only where the content it was made from has changed."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from pathlib import Path

from interfaces import executables, missing_packages
from layout import ROOT, VENV
from packages import requirement_files
from ros_environment import RosEnvironment

SCRIPTS = Path(__file__).resolve().parent


def digest(parts: list[str | bytes]) -> str:
    """Return one hash of all parts in their order."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part.encode() if isinstance(part, str) else part)
        whole.update(b"\0")
    return whole.hexdigest()


def files_below(source: Path, *folders: str) -> list[Path]:
    """Return the files below folders of `source`, sorted; a folder may be missing."""
    files = (file for folder in folders for file in (source / folder).rglob("*"))
    return sorted(f for f in files if f.is_file() and "__pycache__" not in f.parts)


def packages_key(ros: RosEnvironment) -> str:
    """Return what the installed packages depend on: place, Python, ROS 2, requirements.

    Which stand-ins are needed belongs to it: none may stay once the real package is there.
    """
    files = requirement_files(ros)
    code = [SCRIPTS / name for name in ("packages.py", "layout.py", "ros_environment.py")]
    python = os.path.realpath(sys.executable)
    identity = [str(ROOT), python, platform.python_version(), *missing_packages(ros)]
    identity += [ros.home, ros.distro]
    return digest([*identity, *(file.read_bytes() for file in (*files, *code))])


def build_key(source: Path, ros: RosEnvironment) -> str:
    """Return what building the package in `source` depends on."""
    content = [source / "CMakeLists.txt", source / "package.xml", SCRIPTS / "interfaces.py"]
    content += files_below(source, "msg", "srv", "action")
    if source == ROOT:
        # Installed as links: the names matter, not the content.
        links = [*files_below(source, "launch", "config"), *executables()]
    else:
        links = files_below(source, source.name)
    names = [str(file) for file in (*content, *links)]
    return digest([packages_key(ros), *names, *(file.read_bytes() for file in content)])


def is_current(step: str, key: str) -> bool:
    """Return whether `step` was finished with this key."""
    stamp = VENV / f"{step}.stamp"
    return stamp.exists() and stamp.read_text() == key


def set_current(step: str, key: str) -> None:
    """Remember that `step` is finished with this key."""
    (VENV / f"{step}.stamp").write_text(key)
