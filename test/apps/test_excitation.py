# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The command `plan_excitation`: its files and its errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from inertial_id_ros.apps.excitation.arm import Arm
from inertial_id_ros.apps.excitation.knowledge import STEP
from inertial_id_ros.apps.excitation.motions import MotionLimits
from inertial_id_ros.apps.excitation.plan_excitation import WANTED, main, payload_known, sequence
from inertial_id_ros.apps.excitation.planner import MotionPlanner, Payload
from inertial_id_ros.apps.excitation.violations import violations
from inertial_id_ros.apps.simulation.description import SENSOR_FRAME, load_description
from inertial_id_ros.apps.simulation.motion import START_POSE, sinusoid

WRIST, PERIOD = np.array([3, 4, 5]), 8.0
LIMITS = MotionLimits(range=np.inf)
NAMES = load_description().joint_names
START = "--start=0,-1.5708,1.0472,-1.5708,-1.5708,0"


@pytest.mark.slow
def test_a_planned_motion_keeps_its_limits_and_beats_the_published_sinusoid() -> None:
    arm = Arm(load_description().urdf, SENSOR_FRAME)
    goal = Payload(arm, payload_known(1.0, None), WANTED)
    planner = MotionPlanner(arm, LIMITS, START_POSE)
    motion = sequence(planner, START_POSE, goal, WRIST, PERIOD)
    assert violations(arm, motion.as_planned(arm), START_POSE, LIMITS) == ()
    assert 0.8 * PERIOD < motion.duration <= PERIOD
    t = np.arange(0.0, PERIOD, STEP)
    published = sinusoid(1.0)(t)
    slower = LIMITS.link_speed / arm.links(published.q, published.dq).speed.max()
    known = goal.knowledge.after(arm.motion(*sinusoid(slower)(t)))
    planned = goal.after(motion).knowledge
    assert np.log(known.sigma() / planned.sigma()).mean() > 0.2


@pytest.fixture(scope="module")
def urdf(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("robot") / "arm.urdf"
    path.write_text(load_description().urdf)
    return str(path)


def test_the_files_hold_the_motion_of_every_joint(urdf: str, tmp_path: Path) -> None:
    assert main([urdf, "--frame", "ft_sensor", START, "--duration", "4",
                 "--payload-box", "0.1,0.1,0.1,0,0,0.05", "--csv", str(tmp_path / "a.csv"),
                 "--trajectory", str(tmp_path / "a.yaml")]) == 0
    lines = (tmp_path / "a.csv").read_text().splitlines()
    rows = np.loadtxt(lines[1:], delimiter=",")
    assert lines[0].split(",")[:7] == ["time", *(f"position.{name}" for name in NAMES)]
    assert 3.0 < rows[-1, 0] <= 4.0
    slope = np.gradient(rows[:, 4], rows[:, 0])[5:-5]
    np.testing.assert_allclose(slope, rows[5:-5, 10], atol=0.02 * np.abs(slope).max())
    tree = yaml.safe_load((tmp_path / "a.yaml").read_text())
    assert tree["joint_names"] == list(NAMES) and len(tree["points"]) == len(rows)
    last = tree["points"][-1]
    assert last["velocities"] == [0.0] * 6 and last["time_from_start"]["sec"] == 3
    assert all(isinstance(value, float) for value in last["positions"])


def test_a_robot_is_planned_for_with_all_its_joints(
        urdf: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([urdf, "--frame", "tool0", "--for", "robot", START, "--duration", "2"]) == 0
    said = capsys.readouterr().out
    assert all(f"\n{name}: from " in said for name in NAMES)


@pytest.mark.parametrize(("words", "said"), [
    (["--frame", "ft_sensor", "--joints", "knee"], "'knee'"),
    (["--frame", "ft_sensor", "--start=0,1"], "--start"),
    (["--frame", "ft_sensor", "--duration", "-1"], "--duration"),
    (["--frame", "base_link"], "base_link"),
    (["--frame", "ft_sensor", START, "--csv", "/nowhere/a.csv"], "/nowhere"),
    (["--frame", "ft_sensor", START, "--floor", "2"], "floor"),
    (["--frame", "ft_sensor", START, "--keep-out", "1,1,1,0.4,0,0.5"], "keep-out box 1"),
])
def test_a_request_that_cannot_be_carried_out_is_one_sentence(
        urdf: str, words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([urdf, *words]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and said in error and error.count("\n") == 1
