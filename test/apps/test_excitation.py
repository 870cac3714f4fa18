# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Fourier motions: shape, derivatives, limits; plans are checked with MuJoCo."""

from __future__ import annotations

from types import SimpleNamespace

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from checked_motions import check, gain_of, payload_objective, sinusoid_in_time

from inertial_id_ros.apps.excitation import optimise
from inertial_id_ros.apps.excitation.arm import Arm, CarriedLoad
from inertial_id_ros.apps.excitation.limits import Excess, Limits
from inertial_id_ros.apps.excitation.objective import (
    RobotInformation,
    gain_slopes,
    information_gain,
)
from inertial_id_ros.apps.excitation.optimise import (
    Basis,
    FourierMotion,
    Plan,
    SearchEffort,
    plan_motion,
)
from inertial_id_ros.apps.simulation.cobot import SimulatedCobot
from inertial_id_ros.apps.simulation.description import SENSOR_FRAME, load_description
from inertial_id_ros.apps.simulation.motion import START_POSE, TOOL_POINT
from inertial_id_ros.errors import InvalidData, InvalidSetting, UnknownFrame
from inertial_id_ros.inertia import phi_from_body
from inertial_id_ros.robot.base_parameters import structural_base_parameters
from inertial_id_ros.robot.joint_terms import NO_TERMS, JointTerms
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.reference import description_reference

WRIST = np.array([3, 4, 5])
LIMITS = Limits(tool_points=((0.0, 0.0, float(TOOL_POINT[2])),))
DURATION, RATE = 8.0, 500.0


@pytest.fixture(scope="module")
def arm() -> Arm:
    return Arm(load_description().urdf, SENSOR_FRAME)


@pytest.fixture(scope="module")
def best(arm: Arm) -> Plan:
    return plan_motion(Basis(DURATION, 4), START_POSE, WRIST, payload_objective(arm),
                       Excess(arm, LIMITS, START_POSE), RATE, SearchEffort(starts=1, iterations=24))


def random_motion(seed: int = 0) -> FourierMotion:
    basis = Basis(DURATION, 4)
    x = np.random.default_rng(seed).normal(size=(3, basis.size))
    return FourierMotion(basis, START_POSE, WRIST, 0.1 * x)


# Fourier series


def test_motion_starts_and_ends_at_rest_in_the_start_pose():
    motion = random_motion()
    q, dq, ddq = motion([-1.0, 1e-9, DURATION - 1e-9, DURATION + 1.0])
    np.testing.assert_allclose(q, np.tile(START_POSE, (4, 1)), atol=1e-8)
    np.testing.assert_allclose(dq, 0.0, atol=1e-8)
    np.testing.assert_allclose(ddq, 0.0, atol=1e-7)
    assert np.abs(motion([1.0]).dq[:, WRIST]).min() > 1e-3


def test_velocity_and_acceleration_are_derivatives():
    motion, t, h = random_motion(), np.linspace(0.5, DURATION - 0.5, 30), 1e-5
    np.testing.assert_allclose((motion(t + h).q - motion(t - h).q) / (2 * h), motion(t).dq,
                               atol=1e-8)
    np.testing.assert_allclose((motion(t + h).dq - motion(t - h).dq) / (2 * h), motion(t).ddq,
                               atol=1e-8)


def test_periods_repeat_the_motion():
    once = random_motion()
    twice = FourierMotion(once.basis, once.start, once.active, once.x, 2)
    np.testing.assert_allclose(twice([1.3 + DURATION]).q, once([1.3]).q, atol=1e-12)


@pytest.mark.parametrize(("period", "harmonics"), [(0.0, 4), (np.nan, 4), (5.0, 1)])
def test_a_basis_that_cannot_be_is_refused(period: float, harmonics: int):
    with pytest.raises(InvalidSetting):
        Basis(period, harmonics)


# The arm


def test_frame_motion_is_that_of_mujoco(arm: Arm):
    motion = random_motion()
    truth = SimulatedCobot(motion=motion).run(DURATION).truth
    at = slice(0, None, 37)
    q, dq, ddq = (x[at] for x in (truth.q, truth.dq, truth.ddq))
    found = arm.frame_motion(q, dq, ddq)
    np.testing.assert_allclose(found.proper_acceleration, truth.a_g[at], atol=1e-6)
    np.testing.assert_allclose(found.omega, truth.omega[at], atol=1e-7)
    np.testing.assert_allclose(found.alpha, truth.alpha[at], atol=1e-6)
    np.testing.assert_allclose(found.height, truth.position[at, 2], atol=1e-7)


def test_a_payload_adds_its_weight_to_the_torques():
    pose, still = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]), np.zeros((1, 6))
    urdf = load_description().urdf
    free = Arm(urdf, SENSOR_FRAME).torque(pose, still, still)[0]
    carried = phi_from_body(2.0, [0.0, 0.0, 0.0], 0.01 * np.eye(3))
    held = Arm(urdf, SENSOR_FRAME, CarriedLoad(carried)).torque(pose, still, still)[0]
    tool = load_description().tool_point(pose, np.zeros(3))[0]
    lift = np.hypot(tool[0], 0.0)  # lever about the lift joint, whose axis lies along y
    assert abs(held[1] - free[1]) == pytest.approx(2.0 * 9.81 * lift, rel=1e-6)


def test_a_box_around_the_payload_is_kept_clear_of_the_links():
    box = np.array([[-0.05, -0.05, 0.0], [0.05, 0.05, 0.3]])
    arm = Arm(load_description().urdf, SENSOR_FRAME, CarriedLoad(box=box))
    assert any("payload" in pair for pair in arm.collision_shapes().pairs)


def test_an_unknown_frame_is_named():
    with pytest.raises(UnknownFrame, match="nowhere"):
        Arm(load_description().urdf, "nowhere")


def test_a_description_without_shapes_says_that_collisions_are_not_checked():
    urdf = load_description().urdf
    bare = "".join(part.split("</collision>")[-1] for part in urdf.split("<collision>"))
    assert "no collision shapes" in Arm(bare, SENSOR_FRAME).unchecked


# Information


def test_gain_is_half_the_log_determinant_of_the_information():
    rows = np.random.default_rng(0).normal(size=(20, 2, 3))
    flat = rows.reshape(-1, 3)
    expected = 0.5 * np.log(np.linalg.det(np.eye(3) + 5.0 * flat.T @ flat))
    assert information_gain(rows, 100.0) == pytest.approx(expected, rel=1e-12)


def test_gain_slopes_are_differences():
    rng = np.random.default_rng(0)
    rows, step = rng.normal(size=(20, 2, 3)), rng.normal(size=(20, 2, 3))
    change = (information_gain(rows + 1e-5 * step, 50.0)
              - information_gain(rows - 1e-5 * step, 50.0)) / 2e-5
    assert change == pytest.approx(float((gain_slopes(rows, 50.0) * step).sum()), rel=1e-6)


def test_information_of_a_robot_covers_its_base_parameters():
    model = RobotModel.from_urdf(load_description().urdf, NO_TERMS)
    told = RobotInformation(model, description_reference(model), np.ones(6))
    assert told.count == structural_base_parameters(model).count
    motion = random_motion()
    everywhere = FourierMotion(motion.basis, START_POSE, np.arange(6), np.tile(motion.x, (2, 1)))
    period = motion.basis.period
    assert (gain_of(everywhere, told, RATE, period)
            > gain_of(motion, told, RATE, period))


def test_information_counts_a_joint_that_creeps_less() -> None:
    """A sample says of friction and gravity what is left of it when friction is noise there."""
    model = RobotModel.from_urdf(load_description().urdf, JointTerms(coulomb_velocity=0.01))
    scale = description_reference(model)
    noise, friction = np.full(6, 0.5), np.full(6, 3.0)
    q = np.tile(START_POSE, (2, 1))
    dq = np.array([[1e-4] * 6, [0.5] * 6])
    plain = RobotInformation(model, scale, noise).rows(q, dq, 0.0 * q)
    told = RobotInformation(model, scale, noise, friction).rows(q, dq, 0.0 * q)
    either_way = np.sqrt(1.0 + 3.0**2 / 3.0 / 0.5**2)  # standard deviation, of noise 1
    np.testing.assert_allclose(told[0] * either_way, plain[0], rtol=1e-3)
    np.testing.assert_allclose(told[1], plain[1], rtol=1e-3)


# Plans


@pytest.mark.slow
def test_a_plan_beats_the_published_sinusoids_within_the_same_limits(arm: Arm, best: Plan):
    objective = payload_objective(arm)
    sinusoid = sinusoid_in_time(DURATION)
    assert gain_of(best.motion, objective, RATE, DURATION) > 2.0 + gain_of(
        sinusoid, objective, RATE, DURATION)
    assert check(sinusoid, DURATION, 50.0).speed == pytest.approx(0.25, rel=0.01)


def test_mujoco_finds_no_contact_and_no_speed_above_the_limit(best: Plan):
    seen = check(best.motion, DURATION, 200.0)
    assert seen.contacts == 0
    assert 0.2 < seen.speed <= 0.25


def test_the_check_with_mujoco_sees_links_that_meet():
    def folded(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        q = np.tile([0.0, -1.57, 3.1, 0.0, 0.0, 0.0], (len(t), 1))
        return q, np.zeros_like(q), np.zeros_like(q)

    assert check(folded, 0.01).contacts > 0  # type: ignore[arg-type]


def test_links_that_meet_are_beyond_the_limits(arm: Arm):
    folded = np.array([[0.0, -1.57, 3.1, 0.0, 0.0, 0.0]])
    worst, what = Excess(arm, LIMITS, folded[0]).worst(folded, np.zeros((1, 6)), np.zeros((1, 6)))
    assert worst > 0.0
    assert "distance" in what


def test_a_plan_is_within_joint_limits_torques_and_range(arm: Arm, best: Plan):
    q, dq, ddq = best.motion(np.linspace(0.0, DURATION, 4000))
    model = pin.buildModelFromXML(load_description().urdf)
    assert (np.abs(dq) <= 0.8 * model.velocityLimit).all()
    assert (np.abs(ddq) <= LIMITS.acceleration).all()
    data = model.createData()
    torque = np.array([pin.rnea(model, data, *row) for row in zip(q, dq, ddq, strict=True)])
    assert (np.abs(torque) <= 0.8 * model.effortLimit).all()
    np.testing.assert_array_equal(q[:, :3], np.tile(START_POSE[:3], (len(q), 1)))


@pytest.mark.slow
def test_a_plan_is_the_same_for_a_seed(arm: Arm):
    objective, excess = payload_objective(arm), Excess(arm, LIMITS, START_POSE)
    found = [plan_motion(Basis(4.0, 2), START_POSE, WRIST, objective, excess, RATE,
                         SearchEffort(starts=1, iterations=4, seed=3)) for _ in range(2)]
    np.testing.assert_array_equal(found[0].motion.x, found[1].motion.x)


class Clock:
    """A clock that goes on by a hundredth of a second whenever it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 0.01
        return self.now


@pytest.mark.slow
@pytest.mark.parametrize("budget", [2.0, 5.0])
def test_a_budget_that_runs_out_is_kept(arm: Arm, budget: float, monkeypatch: pytest.MonkeyPatch):
    """The motion that was found until then is within the limits."""
    clock = Clock()
    monkeypatch.setattr(optimise, "time", clock)
    excess = Excess(arm, LIMITS, START_POSE, WRIST)
    found = plan_motion(Basis(4.0, 2), START_POSE, WRIST, payload_objective(arm), excess, RATE,
                        SearchEffort(starts=100, iterations=900, budget=budget))
    # Read once to begin with, and by three loops that find that time is up.
    assert 0.5 * budget < clock.now <= budget + 0.045
    assert excess.worst(*found.motion(np.linspace(0.0, 4.0, 3000)))[0] <= 0.0


def link_peaks(motion: FourierMotion) -> tuple[float, float]:
    """Largest speed [m/s] and least height [m] of the origins of all moving links, by MuJoCo."""
    spec = mujoco.MjSpec.from_string(load_description().urdf)
    spec.compiler.fusestatic = False
    model = spec.compile()
    data, velocity, speeds, heights = mujoco.MjData(model), np.zeros(6), [], []
    for q, dq, _ in zip(*motion(np.arange(0.0, DURATION, 0.01)), strict=True):
        data.qpos[:], data.qvel[:] = q, dq
        mujoco.mj_forward(model, data)
        for body in range(2, model.nbody):
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, velocity, 0)
            speeds.append(np.linalg.norm(velocity[3:]))
            heights.append(data.xpos[body, 2])
    return float(np.max(speeds)), float(np.min(heights))


@pytest.mark.slow
def test_no_link_of_a_motion_of_all_joints_is_too_fast_or_too_low(arm: Arm):
    """By MuJoCo: though the tool is slow, the elbow may be fast."""
    joints, low = np.arange(6), 0.02
    found = {}
    for speed, floor in ((np.inf, -np.inf), (0.25, low)):
        limits = Limits(link_speed=speed, floor=floor)
        plan = plan_motion(Basis(DURATION, 3), START_POSE, joints, payload_objective(arm),
                           Excess(arm, limits, START_POSE, joints), RATE,
                           SearchEffort(starts=1, iterations=15))
        found[speed] = link_peaks(plan.motion)
    assert found[np.inf][0] > 0.25
    assert 0.1 < found[0.25][0] <= 0.25 and found[0.25][1] >= low


def test_a_budget_too_short_for_any_motion_is_an_error(arm: Arm):
    with pytest.raises(InvalidSetting, match="allow more"):
        plan_motion(Basis(4.0, 2), START_POSE, WRIST, payload_objective(arm),
                    Excess(arm, LIMITS, START_POSE), RATE, SearchEffort(budget=0.0))


def test_a_start_pose_beyond_the_limits_is_named(arm: Arm):
    low = Limits(floor=2.0)
    with pytest.raises(InvalidData, match="height of upper_arm_link"):
        plan_motion(Basis(4.0, 2), START_POSE, WRIST, payload_objective(arm),
                    Excess(arm, low, START_POSE), RATE)


@pytest.mark.parametrize("bad", [
    {"tool_speed": 0.0}, {"link_speed": 0.0}, {"acceleration": -1.0}, {"torque_share": 1.5},
    {"clearance": -0.1}, {"tool_points": ((0.0, 0.0, np.nan),)}])
def test_limits_that_cannot_be_are_refused(bad: dict):
    with pytest.raises(InvalidSetting):
        Limits(**bad)


def test_excess_counts_from_the_limit(arm: Arm):
    """Joint 4 alone at half its allowed speed, in a pose where nothing else moves fast."""
    limits = Limits(tool_speed=10.0, link_speed=10.0)
    excess = Excess(arm, limits, START_POSE)
    dq = np.zeros((1, 6))
    dq[0, 3] = 0.5 * 0.8 * arm.speed[3]
    row = SimpleNamespace(**dict(zip(
        (name.replace(" ", "_") for name in excess.names),
        excess.rows(START_POSE[None], dq, np.zeros((1, 6)))[0], strict=True)))
    assert row.speed_of_wrist_1_joint == pytest.approx(-0.5, abs=1e-12)
