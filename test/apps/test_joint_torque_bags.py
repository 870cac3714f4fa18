# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Recordings of an arm without a wrist sensor: `identify_bag` and `identify_robot` read them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from torque_arm import FRAME, NAMES, URDF, bag, loaded, write_robot

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


def write_columns(folder: Path) -> str:
    """A file of columns that names the joints and their efforts."""
    (folder / "columns.yaml").write_text(
        f"joints: {{{', '.join(f'{name}: q{k}' for k, name in enumerate(NAMES))}}}\n"
        f"efforts: {{{', '.join(f'{name}: tau{k}' for k, name in enumerate(NAMES))}}}\n")
    return str(folder / "columns.yaml")


@pytest.mark.slow
def test_a_table_of_efforts_gives_exactly_what_a_bag_of_them_gives(
        robot_file: Path, tmp_path: Path):
    recorded = loaded(2.0, 4)
    (tmp_path / "arm.urdf").write_text(URDF)
    titles = ["t", *(f"{what}{k}" for what in ("q", "tau") for k in range(len(NAMES)))]
    rows = np.column_stack([recorded.t, recorded.q, recorded.effort])
    np.savetxt(tmp_path / "arm.csv", rows, delimiter=",", header=",".join(titles), comments="",
               fmt="%.17g")
    options = ["--set", f"load.robot={robot_file}", "--sensor-frame", FRAME,
               "--quiet", "--json"]
    found = []
    for path, words in ((bag(tmp_path / "bag", recorded), []),
                        (tmp_path / "arm.csv", ["--columns", write_columns(tmp_path), "--urdf",
                                                 str(tmp_path / "arm.urdf")])):
        out = tmp_path / f"{path.name}.json"
        assert main([str(path), *options, str(out), *words]) == 0
        found.append(json.loads(out.read_text()))
    for key in ("mass", "com", "inertia_com", "covariance", "verdict", "frame_id"):
        assert found[0][key] == found[1][key], key


def test_a_bag_without_efforts_ends_without_estimate(robot_file: Path, tmp_path: Path):
    path = bag(tmp_path / "bag", loaded(1.0, 0, 0.5), efforts=False)
    assert main([str(path), "--set", f"load.robot={robot_file}",
                 "--sensor-frame", FRAME]) == 1
    assert identify_robot([str(path)]) == 2
