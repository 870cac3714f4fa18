# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The manifests in packaging/ say what package.xml and setup.py say; pages and workflows name the
same releases of ROS, and the page on releasing all that a maintainer fills in."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from conftest import ROOT

from inertial_id_ros.extras import EXTRAS

tomllib = pytest.importorskip("tomllib")  # from Python 3.11 on
FOLDER = ROOT / "packaging"
# conda-forge's names where rosdep has others.
CONDA = {"python3-yaml": "pyyaml", "pinocchio": "pinocchio"}


@pytest.fixture(scope="module")
def pixi() -> dict[str, Any]:
    loaded: dict[str, Any] = tomllib.loads((FOLDER / "pixi.toml").read_text())
    return loaded


def conda_name(key: str) -> str:
    """Of a rosdep key."""
    if key.startswith("python3-") or key in CONDA:
        return CONDA.get(key, key.removeprefix("python3-"))
    return "ros-jazzy-" + key.replace("_", "-")


def test_pixi_installs_all_that_package_xml_names(pixi: dict[str, Any]) -> None:
    package = ElementTree.parse(ROOT / "package.xml").getroot()
    keys = {str(element.text) for kind in ("depend", "exec_depend", "buildtool_depend")
            for element in package.iter(kind)}
    tools = {"cmake", "colcon-common-extensions", "compilers", "ninja", "ros-jazzy-ros2launch",
             "ros-jazzy-ros2run"}
    assert set(pixi["dependencies"]) == {conda_name(key) for key in keys} | tools


def test_the_features_of_pixi_are_the_extras_that_conda_forge_was_not_asked_for(
        pixi: dict[str, Any]) -> None:
    extras = {package or module for modules in EXTRAS.values()
              for module, package in modules.items()}
    features = pixi["feature"]["features"]["pypi-dependencies"]
    assert set(features) == extras - {"rich", "jinja2", "matplotlib"}
    stated = (ROOT / "setup.py").read_text()
    for name, wanted in features.items():
        version = wanted if isinstance(wanted, str) else wanted["version"]
        assert f"{name}{version}" in stated


def test_every_task_of_pixi_runs_in_the_folder_of_the_sources(pixi: dict[str, Any]) -> None:
    assert all((FOLDER / task["cwd"] / "package.xml").is_file() for task in pixi["tasks"].values())


def instructions() -> list[tuple[str, str]]:
    """Words and the rest of each instruction of the Dockerfile."""
    text = re.sub(r"^#.*\n", "", (FOLDER / "Dockerfile").read_text(), flags=re.M)
    lines = text.replace("\\\n", " ").splitlines()
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines) if word]


def test_the_container_runs_as_a_user_who_is_not_root() -> None:
    users = [rest for word, rest in instructions() if word == "USER"]
    assert len(users) == 1 and int(users[0]) > 1000  # numbers up to 1000 are in the base image
    made = next(rest for word, rest in instructions() if rest.startswith("useradd"))
    assert f"--uid {users[0]}" in made
    words = [word for word, _ in instructions()]
    assert "RUN" not in words[words.index("USER"):]


def test_all_that_the_container_copies_is_there_and_not_ignored() -> None:
    ignored = (FOLDER / "Dockerfile.dockerignore").read_text().split("\n")
    for source in (rest.split()[0] for word, rest in instructions() if word == "COPY"):
        assert (ROOT / source).exists() and source not in ignored, source
    installed = re.findall(r"DIRECTORY (.*?)\s+DESTINATION|^\s+(scripts)/",
                           (ROOT / "CMakeLists.txt").read_text(), re.M)
    folders = {name.strip("/") for pair in installed for name in " ".join(pair).split()}
    assert {"config", "launch", "inertial_id_ros", "scripts"} <= folders
    assert folders.isdisjoint(ignored)


def test_the_base_image_is_the_one_of_the_release_that_is_asked_for() -> None:
    assert instructions()[:2] == [("ARG", "ROS_DISTRO=jazzy"),
                                  ("FROM", "ros:${ROS_DISTRO}-ros-base")]


# Releases


def table_below(heading: str, page: str) -> list[list[str]]:
    """Cells of the rows of the first table below a heading."""
    below = (ROOT / page).read_text().partition(heading)[2]
    table = re.search(r"(?:^\|.*\n)+", below, re.M)
    assert table is not None
    return [[cell.strip() for cell in row.strip("|").split("|")]
            for row in table.group().splitlines()[2:]]


def test_workspaces_are_built_on_the_releases_whose_platforms_the_page_tells() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "check.yml").read_text())
    built = workflow["jobs"]["workspace"]["strategy"]["matrix"]["ros"]
    told = {name.strip().lower() for row in table_below("## Platforms", "docs/release.md")
            for name in row[0].split(",")}
    assert set(built) == told == {"humble", "jazzy", "kilted", "lyrical", "rolling"}


def test_the_badge_names_only_releases_of_ros_and_pythons_on_which_the_suite_ran() -> None:
    readme = (ROOT / "README.md").read_text()
    ran = " ".join((ROOT / "CONTRIBUTING.md").read_text().split())
    (pythons, first_ros, other), = re.findall(
        r"The suite has run on Python ([\d. to]+) with (\w+) and on [\d.]+ with (\w+)", ran)
    (badge,) = re.findall(r"!\[ROS 2: ([\w, ]+)\]", readme)
    assert set(badge.split(", ")) <= {first_ros, other}
    assert re.findall(r"!\[Python: (3\.\d+ to 3\.\d+)\]", readme) == [pythons]


def test_the_page_on_releasing_names_every_file_that_a_maintainer_fills_in() -> None:
    files = [path for path in [*ROOT.glob("*"), *(p for folder in (
        "config", "docs", "inertial_id_ros", "launch", "packaging", "underlay")
        for p in (ROOT / folder).rglob("*"))] if path.is_file() and path.stat().st_size < 1_000_000]
    blank = {str(path.relative_to(ROOT)) for path in files
             if b"inertial-id-ros.example" in path.read_bytes()}
    rows = table_below("## Fill in", "docs/release.md")
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row[1])}
    assert blank - {"docs/release.md"} == named
