# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The motions that identify a robot itself."""

from __future__ import annotations

import numpy as np
import pytest

from inertial_id_ros.apps.excitation.next_motion.motion_limits import MotionLimits
from inertial_id_ros.apps.guide import robot_motions
from inertial_id_ros.apps.guide.motions import USUAL_BOX
from inertial_id_ros.apps.guide.robot_motions import RobotMotions, last_link
from inertial_id_ros.apps.simulation.description import load_description
from inertial_id_ros.apps.simulation.motion import START_POSE
from inertial_id_ros.errors import InvalidData

NAMES = load_description().joint_names
POSE = dict(zip(NAMES, START_POSE.tolist(), strict=True))


@pytest.fixture(scope="module")
def motions(tmp_path_factory) -> RobotMotions:
    urdf = tmp_path_factory.mktemp("robot") / "robot.urdf"
    urdf.write_text(load_description().urdf)
    return RobotMotions(urdf, last_link(urdf.read_text()), POSE, MotionLimits(), USUAL_BOX, (), ())


def test_the_last_link_hangs_on_all_joints(motions):
    assert motions.arm.frame == "ft_sensor" and motions.arm.chain == NAMES


@pytest.mark.slow
def test_each_joint_goes_to_and_fro_at_three_speeds_that_the_limits_allow(motions):
    for k, joint in enumerate(NAMES):
        motion = motions.friction(joint)
        assert motion is not None and motions.problems(motion, POSE) == ()
        others = np.delete(motion.velocities, k, axis=1)
        assert not others.any()
        speed = np.abs(motion.velocities[:, k])
        steady = speed[1:][np.abs(np.diff(speed)) < 1e-6 * speed.max()]
        kept = np.unique(np.round(steady[steady > 0.0] / speed.max(), 2))
        assert {0.1, 0.35, 1.0} <= set(kept.tolist()), (joint, kept)


@pytest.mark.slow
def test_the_excitation_moves_all_joints_another_way_for_each_seed(motions, monkeypatch):
    monkeypatch.setattr(robot_motions, "BUDGET", 6.0)
    first, second = motions.excitation(1), motions.excitation(2)
    for motion in (first, second):
        assert motion.joint_names == NAMES and motions.problems(motion, POSE) == ()
        assert (np.ptp(motion.positions, axis=0) > 0.02).all()
    assert np.abs(first.positions - second.positions).max() > 0.1


@pytest.mark.slow
def test_the_way_back_begins_where_the_robot_is_and_is_checked(motions):
    assert motions.way_home(POSE) is None
    away = {**POSE, "wrist_1_joint": POSE["wrist_1_joint"] + 0.2}
    motion = motions.way_home(away)
    np.testing.assert_allclose(motion.positions[[0, -1], 3],
                               [away["wrist_1_joint"], POSE["wrist_1_joint"]])
    folded = {**POSE, "elbow_joint": 2.9}
    with pytest.raises(InvalidData, match="way back"):
        motions.way_home(folded)
