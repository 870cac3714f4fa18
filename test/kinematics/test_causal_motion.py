# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motion of the sensor from the samples so far: exact where it can be, with the noise and the delay
that the documentation gives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from synthetic import (
    JOINTS,
    TILT,
    URDF,
    Placement,
    Scene,
    first_difference,
    joint_messages,
    nanoseconds,
    second_difference,
    stamps,
)

from inertial_id_ros.kinematics.causal.features import ACCELERATION, ALPHA, AXES, PRODUCTS
from inertial_id_ros.kinematics.causal.joint_filter import SETTLED, FadingMemory, JointFilter
from inertial_id_ros.kinematics.causal.pose_filter import PoseFilter, chain_of
from inertial_id_ros.kinematics.joint_motion import RobotFrame
from inertial_id_ros.kinematics.robot_description import parse_urdf
from inertial_id_ros.kinematics.transform_tree import TransformTree

PERIOD, TAU = 0.002, 0.03  # s
MOVING = Scene(base=TILT)
# Power of white noise in value, velocity and acceleration, by tau and the period T: the integrals
# of the squared transfer functions, times T / tau, T / tau^3, T / tau^5.
NOISE_POWER = (93.0 / 32.0, 185.0 / 32.0, 81.0 / 32.0)
_STEP = 2e-3  # s, of the finite differences


def filtered(samples: np.ndarray, tau: float = TAU, period: float = PERIOD) -> np.ndarray:
    """Value and derivatives (k, 4, n) after each of samples (k, n)."""
    made = FadingMemory(samples[0], tau)
    out = [made.state]
    for sample in samples[1:]:
        made.update(sample, period)
        out.append(made.state)
    return np.array(out)


def test_it_is_the_fit_of_a_cubic_whose_weights_fade(rng: np.random.Generator) -> None:
    """Against weighted least squares on all samples, a share of theta being lost at each."""
    samples = rng.normal(size=(600, 1))
    ages = -PERIOD * np.arange(len(samples))[::-1]
    weights = np.exp(0.5 * ages / TAU)  # np.polyfit squares them
    coefficients = np.polyfit(ages, samples[:, 0], 3, w=weights)[::-1]
    np.testing.assert_allclose(filtered(samples)[-1, :, 0], coefficients * [1.0, 1.0, 2.0, 6.0],
                               rtol=1e-3)


def test_a_motion_of_constant_jerk_is_followed_exactly_at_any_times(
        rng: np.random.Generator) -> None:
    t = np.cumsum(rng.uniform(0.5, 1.5, 800) * PERIOD)
    made = FadingMemory(np.zeros(1), TAU)
    for before, now in zip(t[:-1], t[1:], strict=True):
        made.update(np.array([1.0 + now + 2.0 * now**2 - now**3]), now - before)
    x, end = 0.004, t[-1]
    at = end + x
    np.testing.assert_allclose(made.predict(x)[:3, 0], [
        1.0 + at + 2.0 * at**2 - at**3, 1.0 + 4.0 * at - 3.0 * at**2, 4.0 - 6.0 * at], atol=0.02)


def noise_gain(derivative: int, period: float, tau: float) -> float:
    """Standard deviation of value (0), velocity (1) or acceleration (2) per unit of white noise in
    samples with this period [s], which is short against tau [s]."""
    return math.sqrt(NOISE_POWER[derivative] * period / tau) / tau**derivative


def group_delay(frequency: float, tau: float) -> float:
    """Group delay [s] of the acceleration at a frequency [Hz]: none at 0, at most 2.4 tau."""
    x = (2.0 * math.pi * frequency * tau)**2
    return 4.0 * tau * (1.0 / (1.0 + x) - 1.0 / (1.0 + 16.0 * x))


@pytest.mark.parametrize("derivative", [0, 1, 2])
def test_the_noise_gain_is_the_documented_one(derivative: int, rng: np.random.Generator) -> None:
    out = filtered(rng.normal(size=(4000, 40)))[round(SETTLED * TAU / PERIOD):]
    assert out[:, derivative].std() == pytest.approx(noise_gain(derivative, PERIOD, TAU), rel=0.05)


@pytest.mark.parametrize("frequency", [0.3, 0.5, 1.0, 2.0, 4.0])
def test_the_group_delay_of_the_acceleration_is_the_documented_one(frequency: float) -> None:
    """Measured as the slope of the phase over the frequency."""
    t, phases = PERIOD * np.arange(round(40.0 / PERIOD)), []
    near = frequency * np.array([0.98, 1.02])
    for f in near:
        wave = np.exp(2j * np.pi * f * t)
        out = filtered(np.stack([wave.real, wave.imag], axis=1))[:, 2]
        response = (out[-1, 0] + 1j * out[-1, 1]) / (-(2.0 * np.pi * f)**2 * wave[-1])
        phases.append(np.angle(response))
    delay = -(phases[1] - phases[0]) / (2.0 * np.pi * (near[1] - near[0]))
    assert delay == pytest.approx(group_delay(frequency, TAU), rel=0.02, abs=PERIOD)


def truth(scene: Scene, t: float) -> dict[str, np.ndarray]:
    """The motion of the sensor at a time [s], by finite differences."""
    around = [scene.sensor_in_world(np.array([t + k * _STEP])) for k in (-2, -1, 0, 1, 2)]
    turns = [turn[0] for turn, _ in around]
    back = turns[2].inv()
    vectors = [(back * turn).as_rotvec() for turn in turns]
    return {"acceleration": back.apply(second_difference([p[0] for _, p in around], _STEP)),
            "axes": 9.81 * turns[2].as_matrix(), "omega": first_difference(vectors, _STEP),
            "alpha": second_difference(vectors, _STEP)}


def assert_motion(features: np.ndarray | None, scene: Scene, t: float, rate: float,
                  change: float) -> None:
    """Features are those of a scene at a time, within tolerances of rates and accelerations."""
    assert features is not None
    at = truth(scene, t)
    x, y, z = at["omega"]
    np.testing.assert_allclose(features[AXES].reshape(3, 3), at["axes"], atol=0.1 * rate)
    np.testing.assert_allclose(features[PRODUCTS], [x * x, y * y, z * z, x * y, x * z, y * z],
                               atol=3.0 * rate)
    np.testing.assert_allclose(features[ALPHA], at["alpha"], atol=change)
    np.testing.assert_allclose(features[ACCELERATION], at["acceleration"], atol=change)


def joint_filter(scene: Scene = MOVING, terms: str = "acceleration", tau: float = 0.01
                 ) -> JointFilter:
    tree = TransformTree()
    tree.set_static("world", "base_link", scene.base.translation, scene.base.quaternion)
    return JointFilter(RobotFrame(parse_urdf(URDF), tree, "tool0", "", 9.81), terms, tau)


def fed(made: JointFilter, scene: Scene, t: np.ndarray) -> JointFilter:
    for stamp, _, (_, names, positions) in joint_messages(scene, t).messages:
        made.add(stamp, tuple(names), positions)
    return made


def test_joint_states_give_the_motion_at_the_stamp_of_a_later_wrench() -> None:
    """Of a robot with revolute, continuous and prismatic joints on a tilted base."""
    made = fed(joint_filter(), MOVING, stamps(2.0, 500.0))
    for t in (1.998, 2.0, 2.003):
        now = made.motion_at(int(nanoseconds(np.array([t]))[0]))
        assert_motion(now.features, MOVING, t, 0.05, 0.6)


def test_terms_that_are_left_out_are_zero() -> None:
    stamp = int(nanoseconds(np.array([2.0]))[0])
    weight = fed(joint_filter(terms="gravity"), MOVING, stamps(2.0, 500.0)).motion_at(stamp)
    rates = fed(joint_filter(terms="velocity"), MOVING, stamps(2.0, 500.0)).motion_at(stamp)
    assert weight.features is not None and rates.features is not None
    assert not np.delete(weight.features, np.r_[AXES]).any()
    np.testing.assert_allclose(weight.features[AXES], rates.features[AXES])
    assert np.abs(rates.features[PRODUCTS]).max() > 0.1


def test_positions_that_wrap_are_one_motion() -> None:
    plain, wrapped = joint_filter(), joint_filter()
    for k in range(800):
        stamp, angle = 10**9 + k * 2_000_000, 2.0 + 0.004 * k
        positions = [angle, 0.1, 0.0, 0.2, 0.3]
        plain.add(stamp, JOINTS, positions)
        positions[0] = (angle + np.pi) % (2.0 * np.pi) - np.pi
        wrapped.add(stamp, JOINTS, positions)
    a, b = plain.motion_at(stamp), wrapped.motion_at(stamp)
    assert a.features is not None and b.features is not None
    np.testing.assert_allclose(a.features, b.features, atol=1e-6)


@pytest.mark.parametrize("late, said", [(0.15, "older"), (-0.15, "newer")])
def test_joint_states_far_from_the_wrench_give_no_motion(late: float, said: str) -> None:
    made = fed(joint_filter(), MOVING, stamps(2.0, 500.0))
    now = made.motion_at(int(nanoseconds(np.array([2.0 + late]))[0]))
    assert now.features is None and f"joint state is more than 0.1 s {said}" in now.reason


def test_after_a_gap_or_a_jump_the_filter_settles_before_it_tells_a_motion() -> None:
    for t in (stamps(1.0, 500.0, start=3.0), stamps(1.0, 500.0, start=2.0)):
        made = fed(joint_filter(), MOVING, stamps(2.0, 500.0))
        if t[0] == 2.0:  # one position that no motion leads to
            made.add(int(nanoseconds(np.array([1.9995]))[0]), JOINTS, [1.9, 0.1, 0.0, 0.2, 0.3])
        fed(made, MOVING, t[:10])
        now = made.motion_at(int(nanoseconds(t[9:10])[0]))
        assert now.features is None and "begun anew" in now.reason
        fed(made, MOVING, t[10:])
        assert made.motion_at(int(nanoseconds(t[-1:])[0])).features is not None


def test_what_cannot_be_used_is_ignored() -> None:
    made = fed(joint_filter(), MOVING, stamps(2.0, 500.0))
    stamp = int(nanoseconds(np.array([2.0]))[0])
    before = np.array(made.motion_at(stamp).features)
    made.add(stamp, ("other",), [1.0])
    made.add(stamp, JOINTS, [np.nan] * 5)
    made.add(stamp, JOINTS, [1.0])
    made.add(stamp - 10_000_000, JOINTS, [0.0] * 5)
    np.testing.assert_array_equal(made.motion_at(stamp).features, before)


def pose_filter(tree: TransformTree) -> PoseFilter:
    return PoseFilter(chain_of(tree, "world", "sensor", 9.81), "acceleration", 0.02)


def test_transforms_give_the_motion_at_the_stamp_of_a_wrench() -> None:
    """Over a fixed base, two moving edges and a fixed mount, the second one turned about x."""
    mount = Placement(Rotation.from_euler("xyz", [0.4, -0.9, 2.0]), (0.03, -0.02, 0.08))
    scene = Scene(base=TILT, mount=mount)
    tree = TransformTree()
    tree.set_static("world", "base_link", TILT.translation, TILT.quaternion)
    tree.set_static("tool0", "sensor", mount.translation, mount.quaternion)
    t = stamps(2.0, 250.0)
    turn, shift = scene.flange_in_base(t)
    half = Rotation.from_euler("x", np.sin(t)[:, None])
    edges = [("base_link", "middle", (turn * half).as_quat(), shift),
             ("middle", "tool0", half.inv().as_quat(), np.zeros_like(shift))]
    for parent, child, quaternion, place in edges:
        tree.add(1, parent, child, place[0], quaternion[0])
    made = pose_filter(tree)
    for k, stamp in enumerate(nanoseconds(t).tolist()):
        for parent, child, quaternion, place in edges:
            made.add_transform(stamp, parent, child, place[k], quaternion[k])
    for ahead in (0.0, 0.004):
        now = made.motion_at(int(nanoseconds(t[-1:] + ahead)[0]))
        assert_motion(now.features, scene, t[-1] + ahead, 0.2, 1.5)
    far = made.motion_at(int(nanoseconds(t[-1:] + 0.2)[0]))
    assert far.features is None and "transform of the sensor is more than 0.1 s older" in far.reason


def test_transforms_of_different_times_are_no_pose() -> None:
    tree = TransformTree()
    for parent, child in (("world", "arm"), ("arm", "sensor")):
        tree.add(1, parent, child, (0.0, 0.0, 0.1), (0.0, 0.0, 0.0, 1.0))
    made = pose_filter(tree)
    for k in range(1000):
        made.add_transform(10**9 + k * 10**6, *(("world", "arm"), ("arm", "sensor"))[k % 2],
                           (0.0, 0.0, 0.1), (0.0, 0.0, 0.0, 1.0))
    now = made.motion_at(2 * 10**9)
    assert now.features is None and "no transform of the sensor" in now.reason
