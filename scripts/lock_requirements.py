# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Writes requirements/locked/*.txt: the exact version and the hash of everything pip installs.

Run it with `make lock` after changing a file in requirements/. It needs the network and Python 3.11
or later. The versions are resolved for each supported Python and machine and merged, with a marker
where they differ. A hash is that of the one wheel that fits a Python and a machine, so that pip
installs this file and no other; of what has no wheel, that of the source archive.

A locked file holds what its requirements need beside those of the files that stand before it in
`FILES`: to install one, install those before it, too. Of `ALONE` at most one is installed with
them: one release of ROS 2, or what builds the documentation.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import NamedTuple

REQUIREMENTS = Path(__file__).resolve().parent.parent / "requirements"
LOCKED = REQUIREMENTS / "locked"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
MACHINES = ("x86_64", "aarch64")
PLATFORM = "manylinux_2_28"
FILES = ("build", "run", "dev")
# Releases of ROS 2 that have wheels, and the documentation, with the machines that they are for.
ALONE = {"jazzy": ("x86_64",), "kilted": ("x86_64",), "docs": MACHINES}
WITHOUT_WHEEL = "empy"  # pure Python; needed by the message generator of ROS
HEADER = "# Written by `make lock` from requirements/{}.txt; do not edit.\n"


class Target(NamedTuple):
    """What a wheel is for: version of Python, and machine."""

    python: str
    machine: str


class Pin(NamedTuple):
    """A package in one version."""

    name: str
    version: str


Resolved = dict[Pin, set[str]]  # hashes of the files, by pin
TARGETS = tuple(Target(*pair) for pair in product(PYTHONS, MACHINES))


def resolve(target: Target, files: Iterable[str], known: Iterable[Pin], folder: Path) -> Resolved:
    """What requirements files need on a target, in known versions where there are such."""
    import tomllib  # which Python 3.10 lacks

    constraints, out = folder / "constraints.txt", folder / "pylock.toml"
    constraints.write_text("".join(f"{pin.name}=={pin.version}\n" for pin in known))
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-annotate"]
    command += ["--only-binary", ":all:", "--no-binary", WITHOUT_WHEEL]
    command += ["--python-version", target.python, "--output-file", str(out)]
    command += ["--python-platform", f"{target.machine}-{PLATFORM}"]
    command += ["--constraints", str(constraints)]
    command += [str(REQUIREMENTS / f"{name}.txt") for name in files]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "UV_PYTHON_DOWNLOADS": "never"})
    packages = tomllib.loads(out.read_text())["packages"]
    out.unlink()
    return {Pin(package["name"], package["version"]): {
        file["hashes"]["sha256"] for file in package.get("wheels") or [package["sdist"]]}
        for package in packages}


def lock(target: Target, folder: Path) -> dict[str, Resolved]:
    """What each of the files adds to those before it on a target."""
    everything = resolve(target, FILES, (), folder)
    added: dict[str, Resolved] = {}
    before: set[Pin] = set()
    for count, name in enumerate(FILES, 1):
        needed = resolve(target, FILES[:count], everything, folder)
        added[name] = {pin: hashes for pin, hashes in needed.items() if pin not in before}
        before |= set(needed)
    for name in (name for name, machines in ALONE.items() if target.machine in machines):
        needed = resolve(target, (*FILES, name), everything, folder)
        added[name] = {pin: hashes for pin, hashes in needed.items() if pin not in before}
    return added


def marker(targets: set[Target], possible: set[Target]) -> str:
    """The environment marker of targets, of those that are possible; empty for all of them."""
    if targets == possible:
        return ""
    pythons = [python for python in PYTHONS if any(t.python == python for t in targets)]
    machines = [machine for machine in MACHINES if any(t.machine == machine for t in targets)]
    if targets != {t for t in possible if t.python in pythons and t.machine in machines}:
        return " or ".join(  # no rectangle: name each
            f'(python_version == "{t.python}" and platform_machine == "{t.machine}")'
            for t in TARGETS if t in targets)
    by_python = " or ".join(f'python_version == "{python}"' for python in pythons)
    by_machine = " or ".join(f'platform_machine == "{machine}"' for machine in machines)
    if len(pythons) == len(PYTHONS):
        return by_machine
    if {t.machine for t in possible} == set(machines):
        return by_python
    return f"({by_python}) and ({by_machine})"


def merge(resolved: Mapping[Target, Resolved]) -> str:
    """The lines of one locked file from what each target needs."""
    hashes: dict[Pin, set[str]] = {}
    targets: dict[Pin, set[Target]] = {}
    for target, pins in resolved.items():
        for pin, found in pins.items():
            hashes.setdefault(pin, set()).update(found)
            targets.setdefault(pin, set()).add(target)
    lines = []
    for pin in sorted(hashes):
        where = marker(targets[pin], set(resolved))
        lines.append(" \\\n    ".join([
            f"{pin.name}=={pin.version}" + (f" ; {where}" if where else ""),
            *(f"--hash=sha256:{value}" for value in sorted(hashes[pin]))]))
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the locked files."""
    with tempfile.TemporaryDirectory() as folder:
        locked = {target: lock(target, Path(folder)) for target in TARGETS}
    LOCKED.mkdir(exist_ok=True)
    for name in (*FILES, *ALONE):
        text = merge({target: files[name] for target, files in locked.items() if name in files})
        (LOCKED / f"{name}.txt").write_text(HEADER.format(name) + text)
        pins = sum(not line.startswith(" ") for line in text.splitlines())
        print(f"requirements/locked/{name}.txt: {pins} pins")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
