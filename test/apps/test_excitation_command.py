# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`plan_excitation`: its files, and its errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from inertial_id_ros.apps.excitation.plan_excitation import main
from inertial_id_ros.apps.simulation.description import load_description

START = "--start=0,-1.5708,1.0472,-1.5708,-1.5708,0"


@pytest.fixture(scope="module")
def urdf(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("robot") / "arm.urdf"
    path.write_text(load_description().urdf)
    return str(path)


@pytest.fixture(scope="module")
def folder(urdf: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("plan")
    assert main([urdf, "--frame", "ft_sensor", START, "--duration", "4", "--harmonics", "2",
                 "--starts", "1", "--iterations", "2", "--periods", "2",
                 "--payload-box", "0.1,0.1,0.1,0,0,0.05", "--csv", str(out / "a.csv"),
                 "--trajectory", str(out / "a.yaml")]) == 0
    return out


def test_csv_holds_the_motion_of_every_joint(folder: Path):
    lines = (folder / "a.csv").read_text().splitlines()
    names = lines[0].split(",")
    rows = np.loadtxt(lines[1:], delimiter=",")
    assert names[0] == "time"
    assert names[1:7] == [f"position.{n}" for n in load_description().joint_names]
    assert rows[-1, 0] == 8.0
    np.testing.assert_allclose(rows[0, 1:7], rows[-1, 1:7], atol=1e-9)
    slope = np.gradient(rows[:, 4], rows[:, 0])[5:-5]
    np.testing.assert_allclose(slope, rows[5:-5, 10], atol=0.02 * np.abs(slope).max())


def test_trajectory_has_the_fields_of_the_message(folder: Path):
    tree = yaml.safe_load((folder / "a.yaml").read_text())
    assert tree["joint_names"] == list(load_description().joint_names)
    stamps = []
    for point in tree["points"]:
        assert set(point) == {"positions", "velocities", "accelerations", "time_from_start"}
        assert all(isinstance(x, float) for x in point["positions"] + point["velocities"])
        stamps.append(point["time_from_start"]["sec"]
                      + 1e-9 * point["time_from_start"]["nanosec"])
    assert (np.diff(stamps) > 0.0).all()
    assert tree["points"][-1]["velocities"] == [0.0] * 6


@pytest.mark.parametrize(("words", "said"), [
    (["--frame", "hand"], "no link 'hand'"),
    (["--frame", "ft_sensor", "--joints", "knee"], "no joint 'knee'"),
    (["--frame", "ft_sensor", "--start=0,1"], "it needs one for each of"),
    (["--frame", "ft_sensor", "--tool-speed", "0"], "tool_speed is 0 m/s"),
    (["--frame", "ft_sensor", "--duration", "-1"], "--duration is -1"),
    (["--frame", "ft_sensor", "--payload-box", "1,2"], "six numbers"),
    (["--frame", "base_link"], "no joint of the robot description moves"),
    (["--frame", "ft_sensor", "--csv", "/nowhere/a.csv"], "does not exist"),
    (["--frame", "ft_sensor", START, "--floor", "2"], "height of wrist_3_link"),
    (["--frame", "ft_sensor", "--for", "robot", "--noise", "1,2"], "--noise has 2 numbers"),
    (["--frame", "ft_sensor", "--keep-out", "1,1,0,0,0,0"], "lengths must be positive"),
    (["--frame", "ft_sensor", START, "--keep-out", "1,1,1,0.4,0,0.5"], "keep-out box 1"),
    ([], "--frame"),
])
def test_a_request_that_cannot_be_carried_out_is_one_sentence(
        urdf: str, words: list[str], said: str, capsys: pytest.CaptureFixture[str]):
    assert main([urdf, *words]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert said in error
    assert error.count("\n") == 1


def test_a_robot_is_planned_for_with_all_its_joints(
        urdf: str, capsys: pytest.CaptureFixture[str]):
    assert main([urdf, "--frame", "tool0", "--for", "robot", START, "--duration", "4",
                 "--harmonics", "2", "--starts", "1", "--iterations", "2"]) == 0
    said = capsys.readouterr().out
    assert all(f"  {name}:" in said for name in load_description().joint_names)
