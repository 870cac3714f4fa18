# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Writes requirements/constraints.txt: the exact version of everything pip pulls in.

Run it with `make lock` after changing a file in requirements/. It needs the network. The versions
are resolved for each supported Python and merged, with a marker where they differ.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent.parent / "requirements"
PLATFORM = "x86_64-manylinux_2_28"
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
FILES = ("build.txt", "ros.txt", "run.txt", "dev.txt")
HEADER = f"# Written by `make lock` from {', '.join(FILES)}; do not edit.\n"


def resolve(python: str) -> dict[str, str]:
    """Return name -> version of all packages that the requirements need on Python `python`."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--no-header", "--no-annotate"]
    command += ["--quiet", "--python-version", python, "--python-platform", PLATFORM]
    command += [str(REQUIREMENTS / name) for name in FILES]
    environment = {**os.environ, "UV_PYTHON_DOWNLOADS": "never"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    pins = (line.split("==") for line in done.stdout.splitlines() if "==" in line)
    return {name: version.strip() for name, version in pins}


def merge(resolved: dict[str, dict[str, str]]) -> list[str]:
    """Return the lines of one constraints file for the Pythons that are the keys of `resolved`."""
    lines = []
    for name in sorted({name for pins in resolved.values() for name in pins}):
        pythons_of: dict[str, list[str]] = {}
        for python, pins in resolved.items():
            if name in pins:
                pythons_of.setdefault(pins[name], []).append(python)
        for version, pythons in pythons_of.items():
            marker = " or ".join(f'python_version == "{python}"' for python in pythons)
            everywhere = len(pythons) == len(resolved)
            lines.append(f"{name}=={version}" + ("" if everywhere else f"; {marker}"))
    return lines


def main() -> int:
    """Write the constraints file."""
    lines = merge({python: resolve(python) for python in PYTHONS})
    (REQUIREMENTS / "constraints.txt").write_text(HEADER + "\n".join(lines) + "\n")
    print(f"requirements/constraints.txt: {len(lines)} lines")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
