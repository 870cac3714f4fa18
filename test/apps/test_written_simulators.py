# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Real robots written as URDF and MJCF are the same robot in Pinocchio and in MuJoCo."""

from __future__ import annotations

import sys
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from benchmarks.robot.descriptions import data_sheet_ur10e
from inertial_id_ros.apps.robot.identify_robot import described_mjcf, set_inertias
from inertial_id_ros.robot.joint_terms import COULOMB, DRIVE, VISCOUS, JointTerms
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.robot_file import robot_model

ROBOTS = {  # description, joints that were identified: all, or those whose names hold a word
    "Panda with fingers": ("panda_description/urdf/panda.urdf", "panda_joint"),
    "UR10e": ("", ""), "UR10": ("ur_description/urdf/ur10_robot.urdf", ""),
    "humanoid G1": ("g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf", ""),
    "humanoid Talos": ("talos_data/robots/talos_full_v2.urdf", "")}
DIGITS = 1e-5  # MuJoCo writes six digits of each number


def find(path: str) -> str:
    """Text of a description of the package example-robot-data, which development needs."""
    for folder in map(Path, sys.path):
        for place in folder.glob(f"cmeel.prefix/share/example-robot-data/robots/{path}"):
            return place.read_text()
    raise FileNotFoundError(path)


def identified(kind: str) -> tuple[str, RobotModel, np.ndarray]:
    """Description, model, and parameters other than described, with friction and drives."""
    path, word = ROBOTS[kind]
    urdf = find(path) if path else data_sheet_ur10e()
    names = tuple(n for n in robot_model(urdf).joint_names if word in n and "finger" not in n)
    model = robot_model(urdf, names, JointTerms(drive_inertia=True))
    rng = np.random.default_rng(0)
    phi = model.nominal
    for k in range(len(model.bodies)):
        phi[model.body_slice(k)] *= rng.uniform(1.0, 1.3)
    for j in range(len(names)):
        for term, most in ((VISCOUS, 5.0), (COULOMB, 3.0), (DRIVE, 0.5)):
            phi[model.term_index(j, term)] = rng.uniform(0.1, most)
    return urdf, model, phi


def rigid_torque(model: RobotModel, phi: np.ndarray, state: np.ndarray) -> np.ndarray:
    """Torques of the bodies alone."""
    bodies = phi.copy()
    bodies[10 * len(model.bodies):] = 0.0
    return model.torque(bodies, *(x[None] for x in state))[0]


def pinocchio_torque(read: pin.Model, names: tuple[str, ...], state: np.ndarray) -> np.ndarray:
    """Torques of these joints, the others at zero; continuous joints may be unit circles."""
    at = [read.joints[read.getJointId(name)] for name in names]
    q = pin.neutral(read)
    rates = np.zeros((2, read.nv))
    for joint, x, v, a in zip(at, *state, strict=True):
        if joint.nq == 2:
            q[joint.idx_q:joint.idx_q + 2] = np.cos(x), np.sin(x)
        else:
            q[joint.idx_q] = x
        rates[:, joint.idx_v] = v, a
    torque = pin.rnea(read, read.createData(), q, *rates)
    return np.array([torque[joint.idx_v] for joint in at])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ROBOTS)
def test_the_torques_are_the_same_in_all_formats(kind: str) -> None:
    urdf, model, phi = identified(kind)
    names = model.joint_names
    written = pin.buildModelFromXML(set_inertias(urdf, model, phi))
    physics = mujoco.MjModel.from_xml_string(described_mjcf(urdf, model, phi))
    physics.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_EQUALITY
                                    | mujoco.mjtDisableBit.mjDSBL_LIMIT)
    places = [physics.joint(name).dofadr[0] for name in names]
    for term, found in ((VISCOUS, physics.dof_damping), (COULOMB, physics.dof_frictionloss),
                        (DRIVE, physics.dof_armature)):
        np.testing.assert_allclose(found[places], [phi[model.term_index(n, term)]
                                                   for n in names], rtol=DIGITS)
    physics.dof_damping[:], physics.dof_frictionloss[:], physics.dof_armature[:] = 0.0, 0.0, 0.0
    data = mujoco.MjData(physics)
    rng = np.random.default_rng(1)
    for _ in range(5):
        state = rng.normal(size=(3, len(names)))
        truth = rigid_torque(model, phi, state)
        np.testing.assert_allclose(pinocchio_torque(written, names, state), truth, rtol=0.0,
                                   atol=1e-9 * np.abs(truth).max())
        data.qpos[:], data.qvel[:], data.qacc[:] = 0.0, 0.0, 0.0
        data.qpos[places], data.qvel[places], data.qacc[places] = state
        mujoco.mj_inverse(physics, data)
        np.testing.assert_allclose(data.qfrc_inverse[places], truth, rtol=0.0,
                                   atol=DIGITS * np.abs(truth).max())


def test_locked_fingers_move_and_follow_each_other() -> None:
    urdf, model, phi = identified("Panda with fingers")
    physics = mujoco.MjModel.from_xml_string(described_mjcf(urdf, model, phi))
    joints = {physics.joint(k).name for k in range(physics.njnt)}
    assert joints == {*model.joint_names, "panda_finger_joint1", "panda_finger_joint2"}
    assert (physics.body_mass[1:] > 0.0).sum() == len(joints) + 1  # and the base
    assert physics.neq == urdf.count("<mimic")


def test_a_joint_that_moves_no_mass_is_fixed() -> None:
    urdf, model, phi = identified("UR10e")
    tip = model.joint_names[-1]
    last = urdf[:urdf.index("</robot>")] + (
        '<link name="eye"/><joint name="look" type="continuous"><parent link="link6"/>'
        '<child link="eye"/><origin xyz="0 0 0.1"/><axis xyz="0 0 1"/></joint></robot>')
    physics = mujoco.MjModel.from_xml_string(described_mjcf(last, model, phi))
    assert physics.njnt == len(model.joint_names) and physics.joint(physics.njnt - 1).name == tip
    assert physics.body("eye").pos[2] == 0.1
