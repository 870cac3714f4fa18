# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Recordings of an arm without a wrist sensor: `identify_bag` and `identify_robot` read them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from torque_arm import FRAME, bag, loaded, write_robot

from inertial_id_ros.apps.bag.identify_bag import main
from inertial_id_ros.apps.robot.identify_robot import main as identify_robot


@pytest.fixture(scope="module")
def robot_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_robot(tmp_path_factory.mktemp("robot") / "arm.robot")


@pytest.mark.slow
def test_identify_bag_and_identify_robot_read_efforts_from_a_bag(
        robot_file: Path, tmp_path: Path):
    recorded = loaded(2.0, 4)
    path = bag(tmp_path / "bag", recorded)
    assert main([str(path), "--set", f"load.robot={robot_file}",
                 "--sensor-frame", FRAME, "--json", str(tmp_path / "out.json"),
                 "--report", str(tmp_path)]) == 0
    tree = json.loads((tmp_path / "out.json").read_text())
    assert tree["mass"] == pytest.approx(2.0, rel=0.03)
    assert tree["frame_id"] == FRAME
    assert identify_robot([str(path), "--quiet", "--set", "hold_back=0", "--set", "align=false",
                           "--set", "coulomb_velocity=0.003"]) == 0


def test_a_bag_without_efforts_ends_without_estimate(robot_file: Path, tmp_path: Path):
    path = bag(tmp_path / "bag", loaded(1.0, 0, 0.5), efforts=False)
    assert main([str(path), "--set", f"load.robot={robot_file}",
                 "--sensor-frame", FRAME]) == 1
    assert identify_robot([str(path)]) == 2
