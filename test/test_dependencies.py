# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The list of dependencies names what is required and locked."""

from __future__ import annotations

import re

from conftest import ROOT

PAGE = (ROOT / "docs" / "dependencies.md").read_text()
FILES = ("run", "jazzy", "kilted", "build", "dev", "docs")


def normalise(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def required(file: str) -> dict[str, str]:
    """What each requirement of a file is for, by its name; "" where only its version repeats."""
    found: dict[str, str] = {}
    for line in (ROOT / "requirements" / f"{file}.txt").read_text().splitlines():
        if "==" in line:
            use = line.partition("#")[2].strip()
            found[line.split("==")[0]] = use or found[line.split("==")[0]]
    return found


def locked(file: str) -> dict[str, set[str]]:
    """The locked versions by normalised name."""
    text = (ROOT / "requirements" / "locked" / f"{file}.txt").read_text()
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", text, re.M):
        found.setdefault(normalise(name), set()).add(version)
    return found


def test_the_page_tells_the_use_of_every_requirement_and_of_no_other() -> None:
    """In the words of the file that requires it."""
    rows = dict(re.findall(r"^\| ([\w-]+) \| (.+?) \| .+ \| .+ \|$", PAGE, re.M))
    rows.pop("package")
    assert rows == {name: use for file in FILES for name, use in required(file).items()}


def test_the_page_names_whatever_else_is_installed_with_them_and_nothing_more() -> None:
    lists = re.findall(r"^Needed by these: (.*?)\.$", PAGE, re.M | re.S)
    named = {normalise(word) for text in lists
             for word in re.sub(r"\(.*?\)|the packages .*?,", "", text, flags=re.S)
             .replace(",", " ").split()}
    direct = {normalise(name) for file in FILES for name in required(file)}
    indirect = {name for file in FILES for name in locked(file)} - direct
    assert named == {name for name in indirect if not name.startswith("ros-")}
