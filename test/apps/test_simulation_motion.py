# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint motions: derivatives, smooth start, speeds, rests."""

import numpy as np
import pinocchio as pin
import pytest

from inertial_id_ros.apps.simulation.cobot import SimulatedCobot
from inertial_id_ros.apps.simulation.description import load_description
from inertial_id_ros.apps.simulation.motion import (
    START_POSE,
    STOPPING,
    CommandedMotion,
    PointToPoint,
    Trajectory,
    sinusoid,
)
from inertial_id_ros.apps.simulation.settings import CobotSettings

ARM = load_description()
MAKERS = {"sinusoid": lambda: sinusoid(ARM, 1.5),
          "point_to_point": lambda: PointToPoint(ARM, 1.5, rest=0.3, seed=3)}
motions = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def tool_speeds(motion, t):
    """Linear (n,) and angular (n,) speed of the point 0.12 m before the flange, by Pinocchio."""
    model = pin.buildModelFromXML(ARM.urdf)
    data, flange = model.createData(), model.getFrameId("tool0")
    lever = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.12]))
    out = []
    for q, dq, _ in zip(*motion(t), strict=True):
        pin.forwardKinematics(model, data, q, dq)
        twist = lever.actInv(pin.getFrameVelocity(model, data, flange, pin.ReferenceFrame.LOCAL))
        out.append((np.linalg.norm(twist.linear), np.linalg.norm(twist.angular)))
    return np.array(out).T


@motions
def test_velocities_and_accelerations_are_the_derivatives_of_the_positions(make):
    motion, h = make(), 1e-5
    t = np.random.default_rng(0).uniform(-0.5, 25.0, 2000)
    before, at, after = (motion(t + x) for x in (-h, 0.0, h))
    np.testing.assert_allclose((after.q - before.q) / (2 * h), at.dq, atol=1e-6)
    np.testing.assert_allclose((after.dq - before.dq) / (2 * h), at.ddq, atol=5e-4)


@motions
def test_motion_starts_from_rest_in_the_start_pose(make):
    q, dq, ddq = make()(np.array([-1.0, 0.0, 1e-6]))
    np.testing.assert_allclose(q, np.tile(START_POSE, (3, 1)), atol=1e-12)
    np.testing.assert_allclose(dq, 0.0, atol=1e-9)
    np.testing.assert_allclose(ddq, 0.0, atol=1e-4)


@motions
def test_accelerations_have_no_jumps(make):
    ddq = make()(np.arange(0.0, 25.0, 1e-3)).ddq
    assert np.abs(np.diff(ddq, axis=0)).max() < 0.02 * np.abs(ddq).max()


@motions
def test_motion_does_not_depend_on_the_times_asked_before(make):
    fresh, used = make(), make()
    used(np.array([90.0]))
    used(np.array([3.0]))
    t = np.linspace(0.0, 30.0, 100)
    np.testing.assert_array_equal(fresh(t).q, used(t).q)


@motions
def test_joints_stay_within_the_limits_of_the_arm(make):
    model = pin.buildModelFromXML(ARM.urdf)
    q, dq, _ = make()(np.arange(0.0, 120.0, 0.02))
    assert np.all(q > model.lowerPositionLimit) and np.all(q < model.upperPositionLimit)
    assert np.all(np.abs(dq) < model.upperVelocityLimit)


@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_sinusoid_has_the_wanted_mean_angular_speed_in_the_engine(speed):
    cobot = SimulatedCobot(CobotSettings(speed=speed, rate=20.0))
    period = 100.0 / 1.308 / speed
    omega = np.linalg.norm(cobot.run(1.0 + period).truth.omega[20:], axis=1)
    assert omega.mean() == pytest.approx(speed, rel=0.01)


def test_point_to_point_reaches_and_keeps_its_tool_speeds():
    t = np.arange(0.0, 60.0, 0.01)
    linear, angular = tool_speeds(PointToPoint(ARM, 0.8, tool_speed=0.25, seed=1), t)
    assert linear.max() <= 0.25 and angular.max() <= 0.8
    # Every move is as fast as one of the two allows.
    assert max(linear.max() / 0.25, angular.max() / 0.8) > 0.98


def test_point_to_point_rests_before_every_move():
    t = np.arange(0.0, 40.0, 0.001)
    still = np.all(PointToPoint(ARM, 1.0, rest=0.5, seed=2)(t).dq == 0.0, axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], still, [False]]).astype(int)))
    lengths = np.diff(edges)[::2] * 0.001
    assert still[0] and len(lengths) > 5
    np.testing.assert_allclose(lengths[:-1], 0.5, atol=0.003)


def test_point_to_point_moves_to_poses_spread_over_the_workspace():
    q = PointToPoint(ARM, 2.0, tool_speed=2.0, rest=0.0)(np.arange(0.0, 200.0, 0.05)).q
    assert np.all(np.ptp(q, axis=0) > np.radians([60, 20, 30, 80, 80, 200]))
    height = ARM.tool_point(q, np.array([0.0, 0.0, 0.08]))[:, 2]
    assert height.min() > 0.2


# ---- a motion that is commanded ------------------------------------------------------------------

def cubic(t):
    """Points of q = t^3 of one joint; a quintic between them is that polynomial itself."""
    t = np.asarray(t, float)[:, None]
    return Trajectory(t[:, 0], t**3, 3.0 * t**2, 6.0 * t)


def test_a_trajectory_is_followed_from_the_newest_time_on_and_holds_its_end():
    motion = CommandedMotion([0.0])
    assert not np.any(motion(np.linspace(-1.0, 2.0, 7)).q)
    assert motion.follow(cubic([0.0, 0.3, 1.0])) == motion.newest == 2.0
    t = np.array([1.5, 2.0, 2.2, 2.77, 3.0, 9.0])
    run = np.clip(t - 2.0, 0.0, 1.0)
    got = motion(t)
    np.testing.assert_allclose(got.q[:, 0], run**3, atol=1e-12)
    np.testing.assert_allclose(got.dq[:, 0], 3.0 * run**2, atol=1e-12)
    np.testing.assert_allclose(got.ddq[:, 0], 6.0 * run, atol=1e-12)
    assert cubic([0.0, 0.3, 1.0]).duration == 1.0


def test_a_stop_comes_to_rest_without_a_jump_and_changes_nothing_that_was_seen():
    motion = CommandedMotion([0.0])
    motion.follow(cubic([0.0, 1.0]))
    seen = motion(np.linspace(0.0, 0.6, 61))
    end = motion.stop()
    assert end == pytest.approx(0.6 + STOPPING)
    np.testing.assert_array_equal(motion(np.linspace(0.0, 0.6, 61)).q, seen.q)
    after = motion(np.linspace(0.6 + 1e-9, end, 400))
    for before, part in zip(seen, after, strict=True):
        np.testing.assert_allclose(part[0], before[-1], atol=1e-6)
    step = STOPPING / 399
    np.testing.assert_allclose(np.gradient(after.q[:, 0], step)[1:-1], after.dq[1:-1, 0],
                               atol=1e-3)
    held = motion([end, end + 5.0])
    assert not np.any(held.dq[0]) and held.q[0] == held.q[1] == after.q[-1]


def test_a_command_after_many_others_holds():
    motion = CommandedMotion([0.0])
    for k in range(40):
        motion([float(k)])
        motion.follow(Trajectory(np.array([0.0, 0.5]), np.array([[k], [k + 1.0]]),
                                 np.zeros((2, 1)), np.zeros((2, 1))))
    np.testing.assert_allclose(motion([38.5, 39.0, 39.5, 50.0]).q[:, 0], [39.0, 39.0, 40.0, 40.0])
