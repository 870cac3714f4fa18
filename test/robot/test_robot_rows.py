# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint-torque regressors agree with MuJoCo, with the balance of energy, and with themselves; rows
of recordings keep the truth; rest, tilt, delay, gains and terms of joints are found; whatever is
written to a robot file can be read again, for robots of many joints, too."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from published_robots import wam
from robots import makers_gains, mujoco_torque, panda, random_tree, recording, unfiltered, ur10e
from torque_arm import COULOMB, URDF, VISCOUS, identify_arm, simulate, wide_motion

from inertial_id_ros.errors import InvalidData, InvalidModel, NotEnoughData
from inertial_id_ros.robot import METHODS, TERMS, RobotRequest
from inertial_id_ros.robot.base_parameters import fit_base_parameters, structural_base_parameters
from inertial_id_ros.robot.calibration import align_recording, gains_from_payload
from inertial_id_ros.robot.identify import identify_described_robot
from inertial_id_ros.robot.least_squares import fit_unconstrained, friction_weight
from inertial_id_ros.robot.model import NO_TERMS, JointTerms, RobotModel
from inertial_id_ros.robot.recording import RowFilter
from inertial_id_ros.robot.robot_file import Drives, IdentifiedRobot, load_robot, save_robot


def motion(rng: np.random.Generator, n: int, nv: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random positions, velocities and accelerations (n, nv)."""
    return rng.uniform(-2, 2, (n, nv)), rng.normal(size=(n, nv)), 3.0 * rng.normal(size=(n, nv))


def test_torques_of_a_random_tree_are_those_of_mujoco(rng: np.random.Generator) -> None:
    text = random_tree(rng, 12, kinds=("revolute", "continuous", "prismatic"))
    robot = RobotModel.from_urdf(text, NO_TERMS)
    states = motion(rng, 20, 12)
    want = mujoco_torque(text, robot.joint_names, *states)
    np.testing.assert_allclose(robot.regressor(*states) @ robot.nominal, want,
                               atol=1e-9 * np.abs(want).max())


def test_friction_offset_and_drive_inertia_add_their_terms(rng: np.random.Generator) -> None:
    terms = JointTerms(TERMS[:4])
    robot = RobotModel.from_urdf(random_tree(rng, 3), terms)
    q, dq, ddq = motion(rng, 6, 3)
    phi = np.zeros(robot.size)
    for k, term in enumerate(terms.names):
        phi[robot.term_indices(term)] = 1.0 + np.arange(3) + 0.1 * k
    j = np.arange(3)
    want = ((1.0 + j) * dq + (1.1 + j) * np.sign(dq) + (1.2 + j) + (1.3 + j) * ddq)
    np.testing.assert_allclose(robot.regressor(q, dq, ddq) @ phi, want, atol=1e-12)
    soft = RobotModel.from_urdf(random_tree(rng, 3), JointTerms(coulomb_velocity=0.1))
    only = np.zeros(soft.size)
    only[soft.term_indices("coulomb")[1]] = 2.0
    np.testing.assert_allclose((soft.regressor(q, dq, ddq) @ only)[:, 1],
                               2.0 * np.tanh(dq[:, 1] / 0.1))


def test_base_rows_of_a_free_robot_are_the_change_of_its_momentum(
        rng: np.random.Generator) -> None:
    """Free fall: without contact the base rows, the first six of the torques, are zero."""
    text = random_tree(rng, 6, rooted=True)
    model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    robot = RobotModel(model, NO_TERMS)
    data = model.createData()
    q = pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq))
    v, torque = rng.normal(size=(2, model.nv))
    torque[:6] = 0.0
    a = pin.aba(model, data, q, v, torque)
    motion = pin.difference(model, pin.neutral(model), q)[None], v[None], a[None]
    np.testing.assert_allclose((robot.regressor(*motion) @ robot.nominal)[0], torque, atol=1e-9)
    assert robot.bodies[0] == "link0" and len(robot.bodies) == 7


# Sousa and Cortesao 2014, Table 3, lines that are legible in full.
WAM_LINES = (
    "Lyy1 + Lzz2 + Ia1", "Lyz2", "fo2", "Lxy3 - 0.045 ly3", "lz3 + ly4", "Ia3",
    "Lxx4 + 0.002025 m4 - Lzz4 + 0.092025 m5 - 0.6 ly5 + Lzz5 + 0.092025 m6 + 0.092025 m7",
    "Lxy4 + 0.045 ly4", "lx4 - 0.045 m4 - 0.045 m5 - 0.045 m6 - 0.045 m7",
    "lz4 + 0.3 m5 - ly5 + 0.3 m6 + 0.3 m7", "Lxx5 - Lzz5 + Lzz6", "lz5 + ly6",
    "Lyy6 + 0.0036 m7 + 0.12 lz7 + Lyy7", "lz6 + 0.06 m7 + lz7", "Lxx7 - Lyy7", "Lyz7")


def test_the_wam_has_the_69_published_combinations_of_98_parameters() -> None:
    base = wam().base
    assert base.matrix.shape == (69, 98)
    assert set(WAM_LINES) <= set(base.expressions())


def test_compressed_rows_keep_sums_of_squares_and_least_squares(rng: np.random.Generator) -> None:
    model = RobotModel.from_urdf(random_tree(rng, 3))
    base = structural_base_parameters(model)
    q, dq, ddq, torque = rng.normal(size=(4, 4500, 3))
    data = unfiltered(model, q, dq, ddq, torque)
    phi, noise = rng.normal(size=model.size), np.array([0.1, 1.0, 3.0])
    residual = model.regressor(q, dq, ddq) @ phi - torque
    rows, target = data.factor(noise)
    np.testing.assert_allclose(np.sum((rows @ phi - target)**2), np.sum((residual / noise)**2))
    dense = model.regressor(q, dq, ddq).reshape(-1, model.size)[:, base.independent]
    np.testing.assert_allclose(fit_base_parameters(data, base),
                               np.linalg.lstsq(dense, torque.ravel())[0], atol=1e-9)
    for q, dq, ddq in np.multiply.outer([0.0, 1e-5], rng.normal(size=(3, 100, 3))):
        with pytest.raises(NotEnoughData):  # an arm that stands still, without noise and with it
            fit_base_parameters(unfiltered(model, q + 0.3, dq, ddq, torque[:100]), base)


# Recordings

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
    assert found.gain == pytest.approx(makers_gains(data_folder), rel=0.1)


# Files

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
    made = RobotModel.from_urdf(URDF)
    fits = replace(robot(1), joints=made.joint_names, bodies=made.bodies, phi=np.zeros(made.size))
    assert fits.model(URDF).size == made.size
    for wrong in (replace(fits, bodies=("a",)), replace(fits, phi=np.zeros(3)),
                  replace(fits, joints=("nothing",)), replace(fits, joints=fits.joints[::-1])):
        with pytest.raises(InvalidModel):
            wrong.model(URDF)
