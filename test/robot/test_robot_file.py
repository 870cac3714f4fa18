# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Robot files: whatever is written can be read again, for robots of many joints, too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from inertial_id_ros.errors import InvalidData, InvalidModel
from inertial_id_ros.robot import robot_file
from inertial_id_ros.robot.joint_terms import JointTerms
from inertial_id_ros.robot.robot_file import IdentifiedRobot, load_robot, save_robot


def robot(joints: int) -> IdentifiedRobot:
    rng = np.random.default_rng(0)
    size = 13 * joints  # ten of the body, three terms
    root = rng.normal(size=(size, size))
    return IdentifiedRobot(
        tuple(f"joint_{k}" for k in range(joints)), tuple(f"link_{k}" for k in range(joints)),
        JointTerms(), np.array([0.0, 0.0, -9.81]), 0.001, 0.1, rng.normal(size=size),
        root @ root.T / 7.0, np.ones(joints))


@pytest.mark.slow
@pytest.mark.parametrize("joints", [1, 20, 40])
def test_a_robot_of_many_joints_comes_back_to_the_last_bit(tmp_path: Path, joints: int) -> None:
    """From 15 joints on the covariance alone has more than a megabyte of digits."""
    made = robot(joints)
    save_robot(tmp_path / "a.robot", made)
    assert joints == 1 or (tmp_path / "a.robot").stat().st_size > 1_000_000
    read = load_robot(tmp_path / "a.robot")
    np.testing.assert_array_equal(read.covariance, made.covariance)
    np.testing.assert_array_equal(read.phi, made.phi)
    assert read.joints == made.joints and read.terms == made.terms


def test_friction_by_load_comes_back(tmp_path: Path) -> None:
    terms = JointTerms(drive_inertia=True, coulomb_velocity=0.01, load=(False, True),
                       load_bodies=(0.1,) * 20)
    save_robot(tmp_path / "a.robot", replace(robot(2), terms=terms))
    assert load_robot(tmp_path / "a.robot").terms == terms


def test_what_could_not_be_read_again_is_not_written(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_robot(tmp_path / "small.robot", robot(3))
    monkeypatch.setattr(robot_file, "MAX_ROBOT_BYTES", 10_000)
    with pytest.raises(InvalidModel, match="39 parameters, whose file .* at most 10000 are"):
        save_robot(tmp_path / "a.robot", robot(3))
    assert not (tmp_path / "a.robot").exists()
    with pytest.raises(InvalidData, match="more than 10000 bytes"):
        load_robot(tmp_path / "small.robot")
