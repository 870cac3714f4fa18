# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The next motion of an identification: limits by MuJoCo, and the check that shares no planner."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from inertial_id_ros.apps.excitation.arm import Arm, CarriedLoad
from inertial_id_ros.apps.excitation.collision_shapes import Obstacle, box_obstacle
from inertial_id_ros.apps.excitation.next_motion.check_motion import CheckedRobot, check_motion
from inertial_id_ros.apps.excitation.next_motion.knowledge import (
    STEP,
    Knowledge,
    SensorModel,
    wanted_sigma,
)
from inertial_id_ros.apps.excitation.next_motion.planned_motion import MotionLimits, PlannedMotion
from inertial_id_ros.apps.excitation.next_motion.planner import MotionPlanner
from inertial_id_ros.apps.simulation.description import SENSOR_FRAME, load_description
from inertial_id_ros.apps.simulation.motion import START_POSE
from inertial_id_ros.errors import InvalidData, InvalidSetting, InvalidShape
from inertial_id_ros.identification.accuracy_goal import AccuracyGoal
from inertial_id_ros.settings import Settings

BOX = np.array([[-0.06, -0.05, 0.0], [0.06, 0.05, 0.15]])
GOAL = AccuracyGoal(0.04, 0.003, 0.1)
SENSOR = SensorModel.from_settings(Settings().replace({"wrench.sensor": "ati_gamma"}))
LIMITS = MotionLimits()
START = dict(zip(load_description().joint_names, START_POSE.tolist(), strict=True))


@pytest.fixture(scope="module")
def arm() -> Arm:
    return Arm(load_description().urdf, SENSOR_FRAME, CarriedLoad(box=BOX))


@pytest.fixture(scope="module")
def planner(arm: Arm) -> MotionPlanner:
    return MotionPlanner(arm, LIMITS, START_POSE)


@pytest.fixture(scope="module")
def robot() -> CheckedRobot:
    return CheckedRobot(load_description().urdf, SENSOR_FRAME, CarriedLoad(box=BOX))


@pytest.fixture(scope="module")
def motions(planner: MotionPlanner) -> list[PlannedMotion]:
    """Three motions, one after the other."""
    found, knowledge, pose = [], Knowledge.usual(SENSOR), START_POSE
    for seed in range(3):
        found.append(planner.next_motion(pose, knowledge, GOAL, seed))
        knowledge = planner.knowledge_after(knowledge, found[-1], pose)
        pose = found[-1].positions[-1]
    return found


# What a motion is


def test_each_motion_begins_where_the_last_one_ended_and_rests_at_both_ends(motions):
    at = START_POSE
    for motion in motions:
        np.testing.assert_allclose(motion.positions[0], at, atol=1e-12)
        for part in (motion.velocities, motion.accelerations):
            assert not part[[0, -1]].any() and np.abs(part).max() > 0.1
        at = motion.positions[-1]


def test_between_its_points_a_motion_is_the_quintic_that_scipy_makes_of_them(motions):
    from scipy.interpolate import BPoly

    motion = motions[0]
    points = np.stack([motion.positions, motion.velocities, motion.accelerations], axis=1)
    t = np.linspace(0.0, motion.duration, 333)
    spline = BPoly.from_derivatives(motion.stamps, points)
    q, dq, ddq = motion.sample(t)
    np.testing.assert_allclose(q, spline(t), atol=1e-10)
    np.testing.assert_allclose(dq, spline(t, 1), atol=1e-8)
    np.testing.assert_allclose(ddq, spline(t, 2), atol=1e-6)


def test_a_motion_is_also_told_in_words(motions):
    assert all("turn " in motion.words and "°" in motion.words for motion in motions)


def test_a_motion_by_hand_is_large_and_no_more_than_to_and_fro_twice(planner):
    motion = planner.next_motion(START_POSE, Knowledge.usual(SENSOR), GOAL, by_hand=True)
    assert 1 <= motion.words.count("turn ") <= 4
    assert np.linalg.norm(np.ptp(motion.positions, axis=0)) > np.radians(15.0)


# What it tells


def test_each_motion_lowers_the_uncertainty_as_expected_of_it(planner, motions):
    knowledge, pose = Knowledge.usual(SENSOR), START_POSE
    for motion in motions:
        before, knowledge = knowledge, planner.knowledge_after(knowledge, motion, pose)
        np.testing.assert_allclose(knowledge.total_sigma(), motion.expected_sigma, rtol=1e-9)
        assert (knowledge.sigma() <= before.sigma() * (1.0 + 1e-9)).all()
        pose = motion.positions[-1]


def test_a_revised_estimate_has_the_covariance_that_it_was_given_less_what_no_motion_shows():
    root = np.random.default_rng(0).normal(size=(10, 10)) * 1e-3
    covariance = root @ root.T + 1e-8 * np.eye(10)
    exact = Knowledge.usual(replace(SENSOR, gain_error=0.0, position=0.0, orientation=0.0))
    revised = exact.revised(exact.phi, covariance)
    np.testing.assert_allclose(np.linalg.inv(revised.information()), covariance, rtol=1e-5,
                               atol=1e-12)
    known = Knowledge.usual(SENSOR)
    unseen = SENSOR.unseen_covariance(known.phi)
    seen = 3.0 * unseen + covariance
    np.testing.assert_allclose(
        np.linalg.inv(known.revised(known.phi, seen + unseen).information()), seen, rtol=1e-4,
        atol=1e-10)


def test_what_motions_told_is_not_told_anew_where_an_estimate_is_in_doubt_for_other_reasons(
        planner, motions):
    exact = replace(SENSOR, gain_error=0.0, position=0.0, orientation=0.0)
    knowledge = planner.knowledge_after(Knowledge.usual(exact), motions[0], START_POSE)
    told = replace(knowledge, elsewhere=np.zeros((10, 10))).information()
    doubted = knowledge.revised(knowledge.phi, 4.0 * np.linalg.inv(told + knowledge.elsewhere))
    np.testing.assert_allclose(np.diag(doubted.information())[:4], np.diag(told)[:4], rtol=0.05)
    # A narrower interval, as of a shape that the estimator knows, counts.
    sure = knowledge.revised(knowledge.phi, 0.25 * np.linalg.inv(told + knowledge.elsewhere))
    assert (sure.sigma() < 0.6 * knowledge.sigma()).all()


def test_three_planned_seconds_tell_more_than_three_seconds_of_the_published_sinusoid(
        planner, arm, motions):
    from inertial_id_ros.apps.simulation.motion import sinusoid

    knowledge, pose = Knowledge.usual(SENSOR), START_POSE
    for motion in motions:
        knowledge = planner.knowledge_after(knowledge, motion, pose)
        pose = motion.positions[-1]
    spent = sum(motion.duration for motion in motions) + 0.4 * len(motions)  # with all rests
    path = sinusoid(load_description(), 1.0)
    instants = np.arange(0.0, spent, STEP)
    published = Knowledge.usual(SENSOR).after(arm.frame_motion(*path(instants)))
    wanted = wanted_sigma(GOAL, knowledge.phi)
    missing = [np.log(np.maximum(k.sigma() / wanted, 1.0)).sum() for k in (knowledge, published)]
    assert missing[0] < 0.5 * missing[1]


# Its limits, by MuJoCo


def test_no_corner_of_link_or_payload_is_faster_than_allowed_by_mujoco(motions):
    spec = mujoco.MjSpec.from_string(load_description().urdf)
    spec.compiler.fusestatic = False
    body = spec.body(SENSOR_FRAME)
    for x in BOX[:, 0]:
        for y in BOX[:, 1]:
            for z in BOX[:, 2]:
                body.add_site(name=f"{x}{y}{z}", pos=[x, y, z])
    for name in ("forearm_link", "wrist_1_link", "wrist_2_link", "wrist_3_link"):
        spec.body(name).add_site(name=name, pos=[0.0, 0.0, 0.0])
    model = spec.compile()
    data, velocity, peak = mujoco.MjData(model), np.zeros(6), 0.0
    for motion in motions:
        q, dq, _ = motion.sample(np.arange(0.0, motion.duration, 0.002))
        for data.qpos[:], data.qvel[:] in zip(q, dq, strict=True):
            mujoco.mj_forward(model, data)
            for site in range(model.nsite):
                mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, site, velocity, 0)
                peak = max(peak, float(np.linalg.norm(velocity[3:])))
    assert 0.15 < peak <= LIMITS.link_speed


def test_the_check_finds_nothing_wrong_with_what_was_planned(robot, motions):
    at = START
    for motion in motions:
        assert check_motion(robot, motion, at, LIMITS) == ()
        at = dict(zip(motion.joint_names, motion.positions[-1].tolist(), strict=True))


@pytest.mark.parametrize(("limits", "words"), [
    (MotionLimits(link_speed=0.1), "m/s, and may at 0.1"),
    (MotionLimits(joint_speed=0.2), "speed of wrist"),
    (MotionLimits(joint_acceleration=0.5), "acceleration of wrist"),
    (MotionLimits(joint_jerk=5.0), "jerk of wrist"),
    (MotionLimits(floor=0.6), "below the floor"),
    (MotionLimits(share=0.05), "torque of"),
    (MotionLimits(clearance=0.2), "would come within"),
])
def test_the_check_names_each_limit_that_a_motion_exceeds(robot, motions, limits, words):
    assert any(words in problem for problem in check_motion(robot, motions[0], START, limits))


def test_the_check_names_an_obstacle_in_the_way(motions):
    q = motions[0].positions[[0, -1]]
    position = load_description().tool_point(q, np.array([0.0, 0.0, 0.1]))[1]
    pose = np.eye(4)
    pose[:3, 3] = position
    for obstacle in (Obstacle("ball", "sphere", (0.05,), pose),
                     Obstacle("post", "cylinder", (0.3, 0.02), pose),
                     box_obstacle("crate", np.stack([position - 0.03, position + 0.03]))):
        robot = CheckedRobot(load_description().urdf, SENSOR_FRAME, CarriedLoad(box=BOX),
                             [obstacle])
        problems = check_motion(robot, motions[0], START, LIMITS)
        assert any(obstacle.name in problem for problem in problems), problems


def test_a_mesh_obstacle_is_where_its_corners_are():
    box = box_obstacle("box", np.array([[0.0, 0.0, 0.0], [0.1, 0.2, 0.3]]))
    import trimesh

    made = trimesh.creation.box((0.1, 0.2, 0.3))
    mesh = Obstacle("mesh", "mesh", (), box.pose, np.array(made.vertices), np.array(made.faces))
    ball = pin.GeometryModel()
    for name, solid, place in (("a", box.solid(), box.pose), ("b", mesh.solid(), mesh.pose)):
        ball.addGeometryObject(pin.GeometryObject(name, 0, pin.SE3(place), solid))
    low, high = (np.array(f) for f in zip(*(
        (shape.geometry.aabb_local.min_, shape.geometry.aabb_local.max_)
        for shape in ball.geometryObjects
        if shape.geometry.computeLocalAABB() is None), strict=True))
    np.testing.assert_allclose(low[0], low[1], atol=1e-9)
    np.testing.assert_allclose(high[0], high[1], atol=1e-9)


@pytest.mark.parametrize(("change", "words"), [
    ({"velocities": lambda v: v + 0.1}, "does not begin and end at rest"),
    ({"positions": lambda q: q + 0.1}, "rad from where"),
    ({"positions": lambda q: q * np.nan}, "not finite"),
    ({"stamps": lambda t: t[::-1]}, "do not increase"),
    ({"stamps": lambda t: t[:1]}, "two points or more"),
    ({"joint_names": lambda n: ("left", *n[1:])}, "no joint left"),
])
def test_the_check_names_what_is_wrong_with_points(robot, motions, change, words):
    (name, make), = change.items()
    bad = replace(motions[0], **{name: make(getattr(motions[0], name))})
    assert any(words in problem for problem in check_motion(robot, bad, START, LIMITS))


def test_the_check_needs_to_know_where_every_joint_is(robot, motions):
    known = {name: value for name, value in START.items() if name != "elbow_joint"}
    assert check_motion(robot, motions[0], known, LIMITS) == ("it is not known where elbow_joint "
                                                              "is",)


# What cannot be planned


def test_a_pose_that_touches_an_obstacle_is_no_place_to_start():
    crate = box_obstacle("crate", np.array([[-2.0, -2.0, 0.3], [2.0, 2.0, 2.0]]))
    arm = Arm(load_description().urdf, SENSOR_FRAME, CarriedLoad(box=BOX), obstacles=[crate])
    with pytest.raises(InvalidData, match="crate"):
        MotionPlanner(arm, LIMITS, START_POSE)


@pytest.mark.slow
def test_no_joint_goes_farther_from_home_than_its_range(arm):
    tight = MotionPlanner(arm, MotionLimits(range=0.3), START_POSE)
    motion = tight.next_motion(START_POSE, Knowledge.usual(SENSOR), GOAL)
    assert (np.abs(motion.positions - START_POSE).max(axis=0) <= 0.3 + 1e-9).all()


@pytest.mark.parametrize("bad", [{"link_speed": 0.0}, {"joint_speed": np.inf}, {"share": 1.5},
                                 {"clearance": -0.1}, {"floor": np.inf}, {"range": np.nan}])
def test_limits_that_cannot_be_are_refused(bad):
    with pytest.raises(InvalidSetting, match=next(iter(bad))):
        MotionLimits(**bad)


@pytest.mark.parametrize(("shape", "size"), [("cone", (1.0,)), ("box", (1.0, 1.0)),
                                             ("sphere", (-1.0,)), ("mesh", ())])
def test_obstacles_that_cannot_be_are_refused(shape, size):
    with pytest.raises(InvalidShape):
        Obstacle("thing", shape, size)
