# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What QUALITY_DECLARATION.md promises of the source: who owns it, under which licence."""

from __future__ import annotations

import re
from pathlib import Path

from conftest import ROOT

FOLDERS = ("benchmarks", "docs", "examples", "inertial_id_ros", "launch", "scripts", "test",
           "underlay")
HEADER = re.compile(
    r"(#!.*\n)?# Copyright 20\d\d inertial_id_ros developers\. "
    r"SPDX-License-Identifier: Apache-2\.0\n")


def source_files() -> list[Path]:
    """All files of Python and shell code."""
    files = [ROOT / ".ci" / "run", ROOT / "activate", ROOT / "setup.py"]
    files += (f for folder in FOLDERS for f in (ROOT / folder).rglob("*.py"))
    files += (f for f in (ROOT / "scripts").rglob("*") if f.is_file() and f.suffix in ("", ".sh"))
    return files


def test_every_source_file_names_its_owner_and_its_licence() -> None:
    """In the first line, or the second below ``#!``: the line that all other files have."""
    lacking = [str(f.relative_to(ROOT)) for f in source_files()
               if not HEADER.match(f.read_text())]
    assert lacking == []


def test_the_declared_floor_of_coverage_is_the_one_that_is_enforced() -> None:
    """Continuous integration runs the target that fails below it."""
    floor = re.search(r"^fail_under = (\d+)", (ROOT / "pyproject.toml").read_text(), re.M)
    assert floor is not None
    declared = (ROOT / "QUALITY_DECLARATION.md").read_text()
    assert f"at least {floor[1]} %" in declared
    assert "coverage" in (ROOT / ".ci" / "run").read_text().split()
