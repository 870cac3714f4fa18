# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The motions that identify a robot itself."""

from __future__ import annotations

import numpy as np
import pytest

from inertial_id_ros.apps.excitation.next_motion.planned_motion import MotionLimits
from inertial_id_ros.apps.guide import robot_motions
from inertial_id_ros.apps.guide.motions import USUAL_BOX
from inertial_id_ros.apps.guide.robot_motions import SWEEPS, RobotMotions, last_link
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
def test_in_the_sweeps_each_joint_goes_both_ways_at_slow_and_quick_steady_speeds(motions):
    kept = []
    for number in range(SWEEPS):
        motion = motions.sweep(number)
        assert motions.problems(motion, POSE) == ()
        np.testing.assert_allclose(motion.positions[-1], motion.positions[0], atol=1e-9)
        steady = (np.abs(motion.accelerations) < 1e-9).all(axis=1)
        velocities = motion.velocities[steady][1:-1]
        assert steady.sum() * motion.duration / len(motion.stamps) > 4 * 0.75  # s, of four moves
        assert (velocities.min(axis=0) < 0.0).all() and (velocities.max(axis=0) > 0.0).all()
        kept.append(velocities.max(axis=0))
    assert (np.max(kept, axis=0) > 5.0 * np.min(kept, axis=0)).all()


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
