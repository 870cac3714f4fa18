# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint-torque regressors agree with MuJoCo, with the balance of energy, and with themselves."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from published_robots import wam
from robots import random_tree, unfiltered
from scipy.linalg import null_space

from inertial_id_ros.errors import NotEnoughData
from inertial_id_ros.robot import TERMS
from inertial_id_ros.robot.base_parameters import fit_base_parameters, structural_base_parameters
from inertial_id_ros.robot.model import NO_TERMS, JointTerms, RobotModel


def motion(rng: np.random.Generator, n: int, nv: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random positions, velocities and accelerations (n, nv)."""
    return rng.uniform(-2, 2, (n, nv)), rng.normal(size=(n, nv)), 3.0 * rng.normal(size=(n, nv))


def mujoco_torque(text: str, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
    """Joint torques of MuJoCo's inverse dynamics for a URDF without free base."""
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.gravity[:] = [0.0, 0.0, -9.81]
    model.opt.disableflags |= (mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
                               | mujoco.mjtDisableBit.mjDSBL_CONTACT)
    order = [model.joint(f"joint{k + 1}").dofadr[0] for k in range(model.nv)]
    data = mujoco.MjData(model)
    out = np.empty_like(q)
    for i in range(len(q)):
        data.qpos[order], data.qvel[order], data.qacc[order] = q[i], dq[i], ddq[i]
        mujoco.mj_inverse(model, data)
        out[i] = data.qfrc_inverse[order]
    return out


def test_torques_of_a_random_tree_are_those_of_mujoco(rng: np.random.Generator) -> None:
    text = random_tree(rng, 12, kinds=("revolute", "continuous", "prismatic"))
    robot = RobotModel.from_urdf(text, NO_TERMS)
    # Pinocchio orders the joints of a tree by depth; the description by number.
    number = np.array([int(name.removeprefix("joint")) - 1 for name in robot.joint_names])
    q, dq, ddq = motion(rng, 20, 12)
    want = mujoco_torque(text, q, dq, ddq)[:, number]
    got = robot.regressor(q[:, number], dq[:, number], ddq[:, number]) @ robot.nominal
    np.testing.assert_allclose(got, want, atol=1e-9 * np.abs(want).max())


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


def test_every_torque_is_told_by_base_parameters_alone(rng: np.random.Generator) -> None:
    model = RobotModel.from_urdf(random_tree(rng, 6), JointTerms(TERMS[:4]))
    base = structural_base_parameters(model)
    phi = rng.normal(size=model.size)
    q, dq, ddq = rng.normal(size=(3, 40, 6))
    rows = model.regressor(q, dq, ddq)
    np.testing.assert_allclose(rows[:, :, base.independent] @ (base.matrix @ phi), rows @ phi,
                               atol=1e-9)
    np.testing.assert_allclose(rows @ null_space(base.matrix), 0.0, atol=1e-9)
    assert np.linalg.matrix_rank(rows.reshape(-1, model.size), rtol=1e-9) == len(base.matrix)


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
    rest = np.zeros((100, 3))
    with pytest.raises(NotEnoughData):  # an arm that stands still
        fit_base_parameters(unfiltered(model, rest + 0.3, rest, rest, rest), base)
