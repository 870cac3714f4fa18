# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Robot files: whatever is written can be read again, for robots of many joints, too."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import bags
import numpy as np
import pytest

from inertial_id_ros.errors import InvalidData, InvalidModel
from inertial_id_ros.robot.model import JointTerms, RobotModel
from inertial_id_ros.robot.robot_file import Drives, IdentifiedRobot, load_robot, save_robot


def robot(joints: int) -> IdentifiedRobot:
    rng = np.random.default_rng(0)
    size = 13 * joints  # ten of the body, three terms
    root = rng.normal(size=(size, size))
    return IdentifiedRobot(
        tuple(f"joint_{k}" for k in range(joints)), tuple(f"link_{k}" for k in range(joints)),
        JointTerms(), np.array([0.0, 0.0, -9.81]), 0.001, rng.normal(size=size),
        root @ root.T / 7.0, np.ones(joints))


CURRENTS = Drives(np.array([2.0, 3.0]), np.diag([0.01, 0.04]), np.ones((26, 2)))


@pytest.mark.parametrize("joints", [2, 20])
def test_a_robot_of_many_joints_comes_back_to_the_last_bit(tmp_path: Path, joints: int) -> None:
    """From 15 joints on the covariance alone has more than a megabyte of digits."""
    made = replace(robot(joints), terms=JointTerms(("viscous", "load"), 0.01),
                   currents=CURRENTS if joints == 2 else None)
    save_robot(tmp_path / "a.robot", made)
    assert joints == 2 or (tmp_path / "a.robot").stat().st_size > 1_000_000
    read = load_robot(tmp_path / "a.robot")
    np.testing.assert_array_equal(read.covariance, made.covariance)
    np.testing.assert_array_equal(read.phi, made.phi)
    assert read.joints == made.joints and read.terms == made.terms
    for found, given in zip(read.currents or (), made.currents or (), strict=True):
        np.testing.assert_array_equal(found, given)


@pytest.mark.parametrize("change", [
    {"phi": [1.0]}, {"phi": "many"}, {"noise": [1.0, 0.0]}, {"gravity": [9.81]}, {"delay": None},
    {"terms": {"viscous": True}}, {"terms": []}, {"joints": 3},
    {"currents": {"gain": [2.0]}}, {"currents": {"gain": [2.0, -3.0], "spread": [[0.01] * 2] * 2,
                                                "follow": [[1.0] * 2] * 26}}])
def test_a_file_whose_values_do_not_fit_is_named(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "a.robot"
    save_robot(path, replace(robot(2), currents=CURRENTS))
    document = json.loads(path.read_text())
    (tree,) = [part for part in document.values() if isinstance(part, dict)]
    tree.update(change)
    path.write_text(json.dumps(document | {"content": tree}))
    with pytest.raises(InvalidData, match="a.robot"):
        load_robot(path)


def test_another_description_is_no_model_of_the_robot() -> None:
    made = RobotModel.from_urdf(bags.URDF)
    fits = replace(robot(1), joints=made.joint_names, bodies=made.bodies, phi=np.zeros(made.size))
    assert fits.model(bags.URDF).size == made.size
    for wrong in (replace(fits, bodies=("a",)), replace(fits, phi=np.zeros(3)),
                  replace(fits, joints=("nothing",)), replace(fits, joints=fits.joints[::-1])):
        with pytest.raises(InvalidModel):
            wrong.model(bags.URDF)
