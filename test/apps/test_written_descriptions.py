# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A description written with identified bodies is in other programs the robot that was found."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from inertial_id_ros.apps.robot.files import set_inertias
from inertial_id_ros.apps.simulation.description import load_description
from inertial_id_ros.robot.model import NO_TERMS, RobotModel

NAMES = load_description().joint_names
FINGERS = "".join(f"""
  <link name="{name}"><inertial><origin xyz="0 {y} 0.03" rpy="0.3 0 0.2"/><mass value="0.05"/>
    <inertia ixx="2e-5" ixy="1e-6" ixz="0" iyy="2.5e-5" iyz="0" izz="1e-5"/></inertial></link>
  <link name="{name}_tip"><inertial><mass value="0.01"/>
    <inertia ixx="1e-6" ixy="0" ixz="0" iyy="1e-6" iyz="0" izz="1e-6"/></inertial></link>
  <joint name="{name}_tip" type="fixed"><parent link="{name}"/><child link="{name}_tip"/>
    <origin xyz="0 0 0.05"/></joint>
  <joint name="{name}_slide" type="prismatic"><parent link="tool0"/><child link="{name}"/>
    <origin xyz="0 0 0.06" rpy="0 0 {y}"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.04" effort="20" velocity="0.2"/></joint>"""
    for name, y in (("left", 0.02), ("right", -0.02)))
URDF = load_description().urdf.replace("</robot>", FINGERS + "</robot>")


def identified(factor: float = 1.1) -> tuple[RobotModel, np.ndarray]:
    """The arm with locked fingers, its bodies other than described: heavier, and the last one by a
    factor."""
    model = RobotModel.from_urdf(URDF, NO_TERMS, joints=NAMES)
    phi = 1.2 * model.nominal
    phi[model.body_slice(model.bodies[-1])] *= factor / 1.2
    return model, phi


def mujoco_model(urdf: str) -> mujoco.MjModel:
    spec = mujoco.MjSpec.from_string(urdf)
    for geom in spec.geoms:  # bodies come of inertias alone
        geom.mass = 0.0
    model = spec.compile()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    return model


def mujoco_torque(model: mujoco.MjModel, state: np.ndarray) -> np.ndarray:
    data = mujoco.MjData(model)
    data.qpos, data.qvel, data.qacc = state
    mujoco.mj_inverse(model, data)
    return np.array(data.qfrc_inverse)


@pytest.mark.parametrize("factor", [1.1, 0.5, 0.05, 1e-6])
def test_torques_are_those_of_the_robot_that_was_found(factor: float) -> None:
    """With the fingers where they were locked; light bodies cannot hold them as described."""
    model, phi = identified(factor)
    written = set_inertias(URDF, model, phi)
    read, simulated = pin.buildModelFromXML(written), mujoco_model(written)
    simulated.dof_damping[:], simulated.dof_frictionloss[:] = 0.0, 0.0
    arm = [read.idx_vs[read.getJointId(name)] for name in NAMES]
    places = [simulated.joint(name).dofadr[0] for name in NAMES]
    rng = np.random.default_rng(0)
    for _ in range(5):
        state = rng.normal(size=(3, len(NAMES)))
        truth = (model.regressor(*(x[None] for x in state)) @ phi)[0]
        full = np.zeros((3, read.nv))
        full[:, arm] = state
        tolerance = 1e-9 * np.abs(truth).max()
        np.testing.assert_allclose(pin.rnea(read, read.createData(), *full)[arm], truth,
                                   rtol=0.0, atol=tolerance)
        full[:], full[:, places] = 0.0, state
        np.testing.assert_allclose(mujoco_torque(simulated, full)[places], truth, rtol=0.0,
                                   atol=tolerance)


@pytest.mark.parametrize("factor", [1.1, 0.05, 1e-6])
def test_locked_joints_can_move_in_the_written_description(factor: float) -> None:
    """Forward dynamics has numbers for fingers, too; their own inertials stay where they fit."""
    model, phi = identified(factor)
    written = set_inertias(URDF, model, phi)
    read = pin.buildModelFromXML(written)
    q, torque = pin.neutral(read), np.ones(read.nv)
    acceleration = pin.aba(read, read.createData(), q, np.zeros(read.nv), torque)
    assert np.isfinite(acceleration).all()
    finger = read.getJointId("left_slide")
    described = pin.buildModelFromXML(URDF).inertias[finger]
    share = read.inertias[finger].mass / described.mass
    assert share == 1.0 if factor == 1.1 else 0.0 < share < 1.0
    np.testing.assert_allclose(read.inertias[finger].matrix(), share * described.matrix(),
                               rtol=1e-12, atol=1e-15)
