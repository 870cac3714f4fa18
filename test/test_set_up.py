# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Which release of ROS 2 `make setup` works with."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT


@pytest.fixture()
def set_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The module that finds ROS 2, for a .venv in `tmp_path`; no ROS 2 is sourced or asked for."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts" / "bootstrap"))
    names = ("ros_environment", "layout", "machine", "errors")
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    module = importlib.import_module("ros_environment")
    monkeypatch.setattr(module, "VENV", tmp_path)
    monkeypatch.setattr(module, "without_venv", lambda paths: [p for p in paths.split(":") if p])
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    return module


def test_without_a_sourced_ros_the_default_release_is_installed(set_up: ModuleType) -> None:
    found = set_up.find_ros_environment()
    assert (found.distro, found.sourced) == ("jazzy", False)


def test_the_release_that_is_installed_stays(set_up: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "ros_distro").write_text("kilted")
    assert set_up.find_ros_environment().distro == "kilted"


def test_the_release_asked_for_is_installed(
        set_up: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ros_distro").write_text("jazzy")
    monkeypatch.setenv("ROS_DISTRO", "kilted")
    assert set_up.find_ros_environment().distro == "kilted"


def test_a_release_without_wheels_is_refused_by_name(
        set_up: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DISTRO", "humble")
    with pytest.raises(sys.modules["errors"].SetupError,  # type: ignore[attr-defined]
                       match="ROS_DISTRO=humble has no wheels .* jazzy, kilted"):
        set_up.find_ros_environment()


def test_a_sourced_ros_that_this_python_cannot_use_is_refused(
        set_up: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    monkeypatch.setattr(set_up, "PROBE", "import no_such_module")
    with pytest.raises(sys.modules["errors"].SetupError,  # type: ignore[attr-defined]
                       match="cannot import its rclpy"):
        set_up.find_ros_environment()


def test_each_release_with_wheels_has_its_locked_requirements(set_up: ModuleType) -> None:
    for distro in set_up.WHEELS:
        assert (ROOT / "requirements" / "locked" / f"{distro}.txt").exists()
