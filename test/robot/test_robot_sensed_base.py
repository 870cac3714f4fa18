# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Rows of a sensed base agree with MuJoCo, for a base that moves as a free body or not at all."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.robot.robots import random_tree
from inertial_id_ros.errors import InvalidData, InvalidModel
from inertial_id_ros.robot.base_parameters import structural_base_parameters
from inertial_id_ros.robot.joint_terms import NO_TERMS, JointTerms
from inertial_id_ros.robot.robot_file import robot_model
from inertial_id_ros.robot.sensed_base import BaseSensing, base_coordinates


def free_mujoco(urdf: str) -> mujoco.MjModel:
    """The robot with a free joint at its root link, without contacts."""
    spec = mujoco.MjSpec.from_string(urdf)
    spec.compiler.fusestatic = False
    spec.body("link0").add_freejoint()
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    return spec.compile()


def mujoco_forces(model: mujoco.MjModel, pose: np.ndarray, twist: np.ndarray, change: np.ndarray,
                  joints: tuple[np.ndarray, np.ndarray, np.ndarray], names: tuple[str, ...]
                  ) -> np.ndarray:
    """Wrench on the base in its own axes, and torques of the joints.

    Args:
        pose: (7,) position, then quaternion w, x, y, z; twist: (6,) linear velocity in world axes,
            angular velocity in the body's; change: (6,) their derivatives.
    """
    data = mujoco.MjData(model)
    at = [model.joint(name).dofadr[0] for name in names]
    data.qpos[:7], data.qvel[:6], data.qacc[:6] = pose, twist, change
    data.qpos[np.array(at) + 1], data.qvel[at], data.qacc[at] = joints
    mujoco.mj_inverse(model, data)
    force = Rotation.from_quat(pose[[4, 5, 6, 3]]).inv().apply(data.qfrc_inverse[:3])
    return np.concatenate([force, data.qfrc_inverse[3:6], data.qfrc_inverse[at]])


@pytest.mark.parametrize("moves", [True, False])
def test_rows_are_those_of_mujoco(rng: np.random.Generator, moves: bool) -> None:
    """The motion of the base is differentiated numerically for MuJoCo, from its orientation."""
    urdf = random_tree(rng, 5, rooted=True)
    robot = robot_model(urdf, None, NO_TERMS, sensing=BaseSensing(moves, wrench=True))
    truth = free_mujoco(urdf)
    n, h = robot.coordinates, 1e-4
    assert robot.coordinates == (11 if moves else 5) and len(robot.output_names) == 11
    for _ in range(4):
        q, dq, ddq = rng.uniform(-1.0, 1.0, n), rng.normal(size=n), rng.normal(size=n)
        shown = np.hstack([np.zeros((3, 0 if moves else 6)), np.stack([q, dq, ddq])])

        def turned(s: float, shown: np.ndarray = shown) -> Rotation:
            angles = (shown[0] + s * shown[1] + 0.5 * s * s * shown[2])[3:6]
            return Rotation.from_euler("ZYX", angles[::-1])

        def omega(s: float) -> np.ndarray:
            step = turned(s - h).inv() * turned(s + h)
            return np.asarray(step.as_rotvec() / (2.0 * h))

        pose = np.concatenate([shown[0, :3], turned(0.0).as_quat()[[3, 0, 1, 2]]])
        want = mujoco_forces(
            truth, pose, np.concatenate([shown[1, :3], omega(0.0)]),
            np.concatenate([shown[2, :3], (omega(h) - omega(-h)) / (2.0 * h)]),
            (shown[0, 6:], shown[1, 6:], shown[2, 6:]), robot.joint_names)
        got = robot.regressor(q, dq, ddq)[0] @ robot.nominal
        np.testing.assert_allclose(got, want, atol=2e-5 * np.abs(want).max())


def test_what_is_not_measured_has_no_rows_and_no_parameters(rng: np.random.Generator) -> None:
    urdf = random_tree(rng, 3, rooted=True)
    every = robot_model(urdf, sensing=BaseSensing(True, wrench=True))
    q, dq, ddq = rng.uniform(-1.0, 1.0, (3, 2, 9))
    whole = every.regressor(q, dq, ddq)
    bodies = 10 * len(every.bodies)
    wrench = robot_model(urdf, terms=JointTerms(), sensing=BaseSensing(True, True, efforts=False))
    assert wrench.size == bodies + 6 and not wrench.terms.names
    np.testing.assert_array_equal(wrench.regressor(q, dq, ddq)[..., :bodies],
                                  whole[:, :6, :bodies])
    torque = robot_model(urdf, sensing=BaseSensing(True))
    np.testing.assert_array_equal(torque.regressor(q, dq, ddq), whole[:, 6:, :-6])
    assert every.has_zero.sum() == 6 and not torque.has_zero.any()
    for one in (every, wrench, torque):
        other = one.with_terms(one.terms).with_gravity((0.0, 0.0, 9.81))
        assert other.parameter_names == one.parameter_names
        assert other.regressor(q, dq, ddq).shape == one.regressor(q, dq, ddq).shape


def test_a_moving_base_tells_as_much_without_torques(rng: np.random.Generator) -> None:
    """Ayusawa, Venture, Nakamura 2014: the base's six rows hold all base parameters of bodies."""
    urdf = random_tree(rng, 4, rooted=True)
    count = {efforts: structural_base_parameters(robot_model(
        urdf, None, NO_TERMS, sensing=BaseSensing(True, True, efforts))).count
        for efforts in (False, True)}
    assert count[False] == count[True]
    fixed = structural_base_parameters(robot_model(
        urdf, None, NO_TERMS, sensing=BaseSensing(False, True, efforts=False)))
    assert 0 < fixed.count < count[False]


def test_orientations_become_angles_without_jumps() -> None:
    yaw = np.linspace(-4.0, 4.0, 50)
    given = Rotation.from_euler("ZYX", np.column_stack([yaw, 0.1 * yaw, -0.2 * yaw]))
    sign = np.where(np.arange(50) % 2, -3.0, 1.0)[:, None]
    got = base_coordinates(np.ones((50, 3)), sign * given.as_quat())
    np.testing.assert_allclose(got[:, 5] - got[0, 5], yaw - yaw[0], atol=1e-9)
    np.testing.assert_allclose(got[:, :4] - got[0, :4], np.column_stack(
        [np.zeros((50, 3)), -0.2 * (yaw - yaw[0])]), atol=1e-9)
    with pytest.raises(InvalidData, match="length zero"):
        base_coordinates(np.zeros((1, 3)), np.zeros((1, 4)))
    with pytest.raises(InvalidData, match="pitches by 85 deg"):
        base_coordinates(np.zeros((1, 3)), Rotation.from_euler("Y", [[85.0]], True).as_quat())
    with pytest.raises(InvalidModel, match="neither"):
        BaseSensing(True, wrench=False, efforts=False)
