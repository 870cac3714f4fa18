# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Rooms stand in layers: each imports only from the rooms below it."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

pytest.importorskip("importlinter")
PACKAGE = ROOT / "inertial_id_ros"
# A module of each layer, from top to bottom.
MODULES = ("client", "ros.node", "api", "apps.bag.reader", "identification.pipeline", "robot.model",
           "detection.segments", "estimators.base", "regression.rows",
           "kinematics.transform_tree", "signals.bins", "geometry.shape", "io.files",
           "settings.table", "errors")


def broken_contracts(source: Path) -> str:
    """Run import-linter on the package of a folder with this project's contract; return what it
    says, empty where every contract is kept."""
    command = "from importlinter.cli import lint_imports_command as run; run()"
    done = subprocess.run(
        [sys.executable, "-c", command, "--no-cache", "--config", str(ROOT / "pyproject.toml")],
        env={**os.environ, "PYTHONPATH": str(source)}, cwd=source, capture_output=True, text=True)
    assert done.returncode in (0, 1) and "Contracts:" in done.stdout, done.stdout + done.stderr
    return done.stdout if done.returncode else ""


def test_every_import_points_downwards() -> None:
    assert broken_contracts(ROOT) == ""


def test_an_upward_import_breaks_the_contract(tmp_path: Path) -> None:
    """Put into a module of each layer, it is named for each."""
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    for above, below in zip(MODULES, MODULES[1:], strict=False):
        with (tmp_path / PACKAGE.name / f"{below.replace('.', '/')}.py").open("a") as file:
            file.write(f"import {PACKAGE.name}.{above}\n")
    report = broken_contracts(tmp_path)
    named = set(re.findall(r"(inertial_id_ros\.\S+) -> (inertial_id_ros\.\S+)", report))
    assert {(f"{PACKAGE.name}.{below}", f"{PACKAGE.name}.{above}")
            for above, below in zip(MODULES, MODULES[1:], strict=False)} <= named, report


def test_every_room_says_what_belongs_there() -> None:
    for path in PACKAGE.rglob("__init__.py"):
        assert path.parent == PACKAGE or ast.get_docstring(ast.parse(path.read_text())), path
