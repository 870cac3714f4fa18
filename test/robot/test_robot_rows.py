# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Rows of recordings keep the truth; rest, tilt, delay, gains and terms of joints are found."""

from pathlib import Path

import numpy as np
import pytest
from robots import panda, random_tree, recording, ur10e
from torque_arm import COULOMB, URDF, VISCOUS, identify_arm, simulate, wide_motion

from inertial_id_ros.robot import METHODS, TERMS, RobotRequest
from inertial_id_ros.robot.calibration import align_recording, gains_from_payload
from inertial_id_ros.robot.identify import identify_described_robot
from inertial_id_ros.robot.least_squares import fit_unconstrained, friction_weight
from inertial_id_ros.robot.model import NO_TERMS, JointTerms, RobotModel
from inertial_id_ros.robot.recording import RowFilter

RATE = 200  # Hz
DELAY = 0.012  # s


def moving(rng: np.random.Generator, seconds: float) -> tuple[np.ndarray, ...]:
    """Times with jitter (n,), and q, dq, ddq (n, 4) of a sum of sines."""
    t = np.arange(0.0, seconds, 1.0 / RATE) + rng.uniform(0.0, 0.2 / RATE, int(seconds * RATE))
    return t, *(rows[:, :4] for rows in wide_motion(seconds, 1, round(0.6 * seconds), 1.2)(t))


def test_filtered_rows_still_satisfy_the_equations_of_motion(rng: np.random.Generator) -> None:
    model = RobotModel.from_urdf(random_tree(rng, 4), NO_TERMS)
    t, q, dq, ddq = moving(rng, 8.0)
    torque = model.regressor(q, dq, ddq) @ model.nominal
    filtered = RowFilter(recording(1e6 + t, q, torque))
    rows = filtered.rows(model)
    error = rows.regressor @ model.nominal - rows.effort
    assert np.linalg.norm(error) < 1e-3 * np.linalg.norm(rows.effort)
    assert 1e6 <= rows.time.min() and rows.time.max() <= 1e6 + 8.0
    middle = slice(20, -20)
    slope = np.gradient(rows.effort, rows.time, axis=0)
    np.testing.assert_allclose(filtered.effort_rate[middle], slope[middle],
                               atol=0.05 * np.abs(slope).max())


def test_the_noise_of_a_short_recording_is_that_of_its_samples(rng: np.random.Generator) -> None:
    """White noise of 1 N m, whose variance falls with the time between independent rows."""
    model, ratios = RobotModel.from_urdf(random_tree(rng, 4)), []
    for _ in range(8):
        t, *motion = moving(rng, 8.0)
        effort = model.regressor(*motion) @ model.nominal + rng.normal(size=(len(t), 4))
        rows = RowFilter(recording(t, motion[0], effort)).rows(model)
        ratios.append(fit_unconstrained(rows).noise * np.sqrt(RATE * (rows.time[1] - rows.time[0])))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.07)


def test_friction_of_either_sign_is_noise_of_that_variance(rng: np.random.Generator) -> None:
    """At rest friction is uniform from minus to plus: its variance adds to that of the noise."""
    friction, noise = 3.0, 0.5
    left = rng.uniform(-friction, friction, 200_000) + noise * rng.normal(size=200_000)
    assert friction_weight(np.zeros(1), friction / noise)[0] == pytest.approx(
        noise / np.std(left), rel=0.01)
    assert friction_weight(np.array([1.0, -1.0]), friction / noise) == pytest.approx([1.0, 1.0])


def test_only_the_joint_that_rests_loses_weight() -> None:
    model = RobotModel.from_urdf(URDF, JointTerms(coulomb_velocity=0.01))
    made = simulate(wide_motion(12.0), 12.0)
    rests, q = made.stamps < 5e9, made.positions
    q[rests, 2] = q[~rests, 2][0]
    rows = RowFilter(made).rows(model)
    weights = fit_unconstrained(rows).rows.weights
    before = rows.time < 4.5
    assert weights[before, 2].max() < 0.2 < 0.9 < np.median(weights[~before, 2])
    assert np.median(np.delete(weights[before], 2, axis=1)) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "aligned"), [(1, False), (0, True)])
def test_motions_that_creep_at_their_ends_leave_friction_right(seed: int, aligned: bool) -> None:
    """MuJoCo's friction is a step; the model's fades below 0.01 rad/s. With full weight of all rows
    torques of another motion are wrong by 2 to 4 %, and with a tilt of the base by 20 %."""
    creeping = simulate(wide_motion(20.0, seed, 5, 0.4), 20.0, seed=seed)
    found = identify_arm(creeping, 0.01, aligned).fit
    terms = found.model.terms.names
    joints = found.phi[-6 * len(terms):].reshape(6, -1)
    np.testing.assert_allclose(joints[:, terms.index("coulomb")], COULOMB, rtol=0.05)
    np.testing.assert_allclose(joints[:, terms.index("viscous")], VISCOUS, rtol=0.25)
    step = RobotModel.from_urdf(URDF, JointTerms(coulomb_velocity=1e-4))
    other = RowFilter(simulate(wide_motion(20.0, 77), 20.0, noise=0.0)).rows(step)
    error = other.effort - other.regressor @ found.phi
    assert np.linalg.norm(error) < 0.012 * np.linalg.norm(other.effort)


# Mounting, clocks and drives


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])  # on a floor, and on a wall
def test_tilt_and_delay_are_found(rng: np.random.Generator, order: list[int]) -> None:
    level = np.array([0.0, 0.0, -9.81])[order]
    model = RobotModel.from_urdf(random_tree(rng, 4), gravity=level)
    tilt = np.array([0.02, -0.03])
    sines = np.sin(tilt)
    gravity = 9.81 * np.array([*sines, -np.sqrt(1.0 - sines @ sines)])[order]
    t, q, dq, ddq = moving(rng, 15.0)
    leaning = model.with_gravity(gravity)
    late = leaning.regressor(q, dq, ddq) @ model.nominal
    late += 0.02 * rng.normal(size=late.shape)
    stamped = np.stack([np.interp(t - DELAY, t, late[:, j]) for j in range(4)], axis=1)[10:]
    found, delay = align_recording(model, RowFilter(recording(t[10:], q[10:], stamped)))
    assert delay == pytest.approx(DELAY, abs=0.3e-3)
    np.testing.assert_allclose(found, gravity, atol=0.02)


# Terms of the joints


@pytest.mark.parametrize("size", [0.0, 1.0])
def test_drives_and_friction_by_load_are_found_as_they_are(size: float) -> None:
    """Of an arm that has them, and of one that does not; nothing is said of the terms."""
    truth = {"viscous": 1.0, "coulomb": 1.0, "drive_inertia": 0.3 * size, "load": 0.1 * size}
    model = RobotModel.from_urdf(URDF, JointTerms(TERMS, 0.003))
    phi = model.nominal
    for term, value in truth.items():
        phi[model.term_indices(term)] = value
    t = np.arange(0.0, 30.0, 0.004)
    q, dq, ddq = wide_motion(30.0, harmonics=18)(t)
    effort = model.regressor(q, dq, ddq) @ phi
    effort += 0.02 * np.random.default_rng(1).normal(size=q.shape) * effort.std(axis=0)
    result = identify_described_robot(URDF, [recording(t, q, effort)], RobotRequest(
        coulomb_velocity=0.003, align=False))
    found, sigma = result.fit.phi, np.sqrt(np.diag(result.fit.covariance))
    for term, value in truth.items():
        own = result.fit.model.term_indices(term)
        assert (np.abs(found[own] - value) < 4.0 * sigma[own] + 0.02 * value).all(), term
    assert result.validation is not None and result.validation.relative < 0.02


# Real robots


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_the_torques_of_a_real_panda_are_predicted_by_links_that_exist(
        data_folder: Path, method: str) -> None:
    """Its description holds made-up bodies, for scale; the last 30 % are held back."""
    data = np.load(data_folder / "panda_joint_torque" / "excitation.npz")
    result = identify_described_robot(
        panda(np.random.default_rng(0)), [recording(data["t"], data["q"], data["tau"])],
        RobotRequest(method=method))
    assert result.consistent.all() and result.validation is not None
    assert result.validation.relative < 0.0095
    assert 0.001 < result.delay < 0.005


def test_motor_currents_of_a_real_ur10e_tell_the_gains_of_its_controller(data_folder: Path) -> None:
    """They come from the controller's target currents and torques, which the pair was not told."""
    folder = data_folder / "ur10e_motor_current"
    free, held = (np.load(folder / f"{name}.npz") for name in ("unloaded", "loaded_2.805kg"))
    model = RobotModel.from_urdf(ur10e(np.random.default_rng(0)), JointTerms(TERMS[:4]))
    found = gains_from_payload(*(RowFilter(recording(d["t"], d["q"], d["current"])
                                           ).rows(model) for d in (free, held)), 2.805)
    for j, gain in enumerate(found.gain):
        rows = np.column_stack([free["torque_target"][:, j], free["dq"][:, j],
                                np.sign(free["dq"][:, j]), np.ones(len(free["t"]))])
        makers = 1.0 / np.linalg.lstsq(rows, free["current_target"][:, j])[0][0]
        assert gain == pytest.approx(makers, rel=0.1)
