# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The next motion of an identification: limits by MuJoCo, and the check of every trajectory."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from scipy.interpolate import BPoly
from test_arm import points_of

from inertial_id_ros.apps.excitation.arm import Arm
from inertial_id_ros.apps.excitation.collision import Obstacle, box_obstacle
from inertial_id_ros.apps.excitation.knowledge import STEP, Knowledge
from inertial_id_ros.apps.excitation.motions import MotionLimits, PlannedMotion, RestToRest
from inertial_id_ros.apps.excitation.planner import MotionPlanner, Payload
from inertial_id_ros.apps.excitation.violations import violations
from inertial_id_ros.apps.simulation.cobot import SimulatedCobot
from inertial_id_ros.apps.simulation.description import SENSOR_FRAME, load_description
from inertial_id_ros.apps.simulation.motion import START_POSE, sinusoid
from inertial_id_ros.errors import InvalidData
from inertial_id_ros.settings import Settings

URDF, BOX = load_description().urdf, np.array([[-0.06, -0.05, 0.0], [0.06, 0.05, 0.15]])
WANTED = 0.5 * np.repeat([0.04, 0.003, 0.0005], [1, 3, 6])
NOTHING = Knowledge.usual(Settings().replace({"wrench.sensor": "ati_gamma"}))
LIMITS = MotionLimits()


@pytest.fixture(scope="module")
def arm() -> Arm:
    return Arm(URDF, SENSOR_FRAME, BOX)


@pytest.fixture(scope="module")
def planner(arm: Arm) -> MotionPlanner:
    return MotionPlanner(arm, LIMITS, START_POSE)


@pytest.fixture(scope="module")
def moves(arm: Arm, planner: MotionPlanner) -> list[RestToRest]:
    """Three motions, one after the other."""
    found, goal, pose, rng = [], Payload(arm, NOTHING, WANTED), START_POSE, np.random.default_rng(0)
    for _ in range(3):
        found.append(planner.next_motion(pose, goal, rng))
        goal, pose = goal.after(found[-1]), found[-1].poses[-1]
    return found


@pytest.fixture(scope="module")
def motions(arm: Arm, moves: list[RestToRest]) -> list[PlannedMotion]:
    return [move.as_planned(arm) for move in moves]


def test_motions_follow_each_other_at_rest_as_quintics_between_their_points(arm, motions):
    at = START_POSE
    for motion in motions:
        np.testing.assert_allclose(motion.positions[0], at, atol=1e-12)
        for part in (motion.velocities, motion.accelerations):
            assert not part[[0, -1]].any() and np.abs(part).max() > 0.1
        assert violations(arm, motion, at, LIMITS) == ()
        at = motion.positions[-1]
    points = np.stack(motion.trajectory[1:], axis=1)
    t = np.linspace(0.0, motion.duration, 333)
    spline = BPoly.from_derivatives(motion.stamps, points)
    sampled = motion.trajectory.sample(t)
    for order, (part, atol) in enumerate(zip(sampled, (1e-10, 1e-8, 1e-6), strict=True)):
        np.testing.assert_allclose(part, spline(t, order), atol=atol)


def test_three_motions_identify_more_than_the_published_sinusoid_in_the_same_time(
        arm, moves):
    goal = Payload(arm, NOTHING, WANTED)
    for move in moves:
        before, goal = goal.knowledge, goal.after(move)
        assert (goal.knowledge.sigma() <= before.sigma() * (1.0 + 1e-9)).all()
    spent = sum(move.duration for move in moves) + 0.4 * len(moves)  # with all rests
    path = sinusoid(1.0)
    published = NOTHING.after(arm.motion(*path(np.arange(0.0, spent, STEP))))
    missing = [np.log(np.maximum(k.sigma() / WANTED, 1.0)).sum() for k in (
        goal.knowledge, published)]
    assert missing[0] < 0.5 * missing[1]


def test_no_corner_of_the_payload_is_faster_than_allowed_by_mujoco(motions):
    model = points_of(BOX)
    data, velocity, peak = mujoco.MjData(model), np.zeros(6), 0.0
    for motion in motions:
        q, dq, _ = motion.trajectory.sample(np.arange(0.0, motion.duration, 0.002))
        for data.qpos[:], data.qvel[:] in zip(q, dq, strict=True):
            mujoco.mj_forward(model, data)
            for site in range(model.nsite):
                mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, site, velocity, 0)
                peak = max(peak, float(np.linalg.norm(velocity[3:])))
    assert 0.15 < peak <= LIMITS.link_speed


@pytest.mark.parametrize(("limits", "words"), [
    ({"link_speed": 0.1}, "m/s, and may be 0.1"), ({"joint_speed": 0.2}, "speed of wrist"),
    ({"joint_acceleration": 0.5}, "acceleration of wrist"), ({"joint_jerk": 5.0}, "jerk of wrist"),
    ({"floor": 0.6}, "below the floor"), ({"share": 0.05}, "torque of"),
    ({"clearance": 0.2}, "would come within"),
])
def test_the_check_names_each_limit_that_a_motion_exceeds(arm, motions, limits, words):
    found = violations(arm, motions[0], START_POSE, MotionLimits(**limits))
    assert any(words in problem for problem in found)


@pytest.mark.parametrize("shape", ["sphere", "cylinder", "box"])
def test_the_check_names_an_obstacle_in_the_way_and_no_motion_starts_in_one(motions, shape):
    pose = np.eye(4)
    end = motions[0].positions[-1:]
    sensor = SimulatedCobot().engine.evaluate(end, 0.0 * end, 0.0 * end)
    pose[:3, 3] = sensor.position[0] + sensor.rotation[0] @ [0.0, 0.0, 0.1]
    size = {"sphere": (0.05,), "cylinder": (0.3, 0.02), "box": (0.06, 0.06, 0.06)}[shape]
    arm = Arm(URDF, SENSOR_FRAME, BOX, obstacles=[Obstacle("crate", shape, size, pose)])
    assert any("crate" in problem for problem in violations(arm, motions[0], START_POSE, LIMITS))
    around = box_obstacle("crate", np.array([[-2.0, -2.0, 0.3], [2.0, 2.0, 2.0]]))
    with pytest.raises(InvalidData, match="crate"):
        MotionPlanner(Arm(URDF, SENSOR_FRAME, BOX, obstacles=[around]), LIMITS, START_POSE)


@pytest.mark.parametrize(("change", "words"), [
    ({"velocities": lambda v: v + 0.1}, "does not begin and end at rest"),
    ({"positions": lambda q: q + 0.1}, "rad from where"),
    ({"positions": lambda q: q * np.nan}, "not finite"),
])
def test_the_check_names_what_is_wrong_with_points(arm, motions, change, words):
    (name, make), = change.items()
    bad = replace(motions[0], **{name: make(getattr(motions[0], name))})
    assert any(words in problem for problem in violations(arm, bad, START_POSE, LIMITS))


def test_no_joint_goes_farther_from_home_than_its_range(arm):
    tight = MotionPlanner(arm, MotionLimits(range=0.3), START_POSE)
    motion = tight.next_motion(START_POSE, Payload(arm, NOTHING, WANTED), np.random.default_rng(0))
    assert (np.abs(motion.poses - START_POSE).max(axis=0) <= 0.3 + 1e-9).all()
