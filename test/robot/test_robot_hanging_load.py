# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Gains of the drives with a known mass that hangs from a cord, which swings as a pendulum does."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from benchmarks.joint_torque import RATE, SimulatedTorques, arm, simulate, wide_motion
from inertial_id_ros.apps.excitation.optimise import FourierMotion
from inertial_id_ros.apps.simulation.description import load_description
from inertial_id_ros.inertia import phi_from_body
from inertial_id_ros.robot.drive_gains import Gains, gains_from_payload
from inertial_id_ros.robot.joint_terms import JointTerms
from inertial_id_ros.robot.recording import JointRecording, filter_recording
from inertial_id_ros.robot.robot_file import robot_model

GAIN = np.array([11.0, 12.0, 10.0, 9.0, 10.5, 11.5])
MASS, CORD, DAMPING = 3.0, 0.25, 1.0  # kg, m, 1/s of the swing
HOOK = np.array([0.02, 0.05, 0.12])  # in the last body that moves, m
GRAVITY = np.array([0.0, 0.0, -9.81])
DURATION, STEPS = 40.0, 8  # s; steps of the pendulum for one sample


def swing_force(hook: np.ndarray, step: float) -> np.ndarray:
    """Force (n, 3) on a hook at places (n, 3), of a mass on a cord: tension by the constraint."""
    speed = np.gradient(hook, step, axis=0)
    change = np.gradient(speed, step, axis=0)
    r, v = np.array([0.0, 0.0, -CORD]), np.zeros(3)  # of the mass against the hook
    out = np.empty_like(hook)
    for i, a in enumerate(change):
        tension = MASS * (r @ (GRAVITY - a) + v @ v) / CORD
        v = v + step * (GRAVITY - a - tension / MASS * r / CORD - DAMPING * v)
        r = r + step * v
        r *= CORD / np.linalg.norm(r)
        v -= (v @ r) * r / CORD**2
        out[i] = tension * r / CORD
    return out


def with_hanging_load(motion: FourierMotion, seed: int) -> SimulatedTorques:
    """Torques of the arm with the load, noise and friction included."""
    free = simulate(motion, DURATION, seed=seed)
    model = arm(None)
    data = mujoco.MjData(model)
    last = int(model.jnt_bodyid[-1])
    fine = np.arange(0.0, len(free.t) * STEPS) / (RATE * STEPS)
    places = []
    for q in motion(fine)[0]:
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        places.append(data.xpos[last] + data.xmat[last].reshape(3, 3) @ HOOK)
    pull = swing_force(np.array(places), 1.0 / (RATE * STEPS))[::STEPS]
    effort, jacobian = free.effort.copy(), np.zeros((3, model.nv))
    for i, q in enumerate(motion(free.t)[0]):
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_jac(model, data, jacobian, None, places[i * STEPS], last)
        effort[i] -= jacobian.T @ pull[i]
    return free._replace(effort=effort)


def found_gains(hangs: bool, free: SimulatedTorques, held: SimulatedTorques) -> Gains:
    """Gains from currents without and with the load."""
    model = robot_model(load_description().urdf, None,
                        JointTerms(drive_inertia=True, coulomb_velocity=0.01))
    pair = [JointRecording.from_seconds(r.t, r.q, r.effort / GAIN) for r in (free, held)]
    rows = [filter_recording(model, recording) for recording in pair]
    return gains_from_payload(model, rows[0], rows[1], MASS, hangs)


@pytest.mark.slow
def test_a_mass_on_a_cord_tells_gains_and_the_place_of_its_hook() -> None:
    free = simulate(wide_motion(DURATION, 1, 24), DURATION, seed=1)
    held = with_hanging_load(wide_motion(DURATION, 2, 16), 2)
    hung, fixed = (found_gains(hangs, free, held) for hangs in (True, False))
    assert (np.abs(hung.gain - GAIN) < 4.0 * hung.sigma).all()
    np.testing.assert_allclose(hung.gain[1:], GAIN[1:], rtol=0.05)  # the first axis is vertical
    np.testing.assert_allclose(hung.payload[1:4] / MASS, HOOK, atol=0.003)
    # Nothing turns with the link; taken as fixed, the load seems to.
    truth = phi_from_body(MASS, HOOK, np.zeros((3, 3)))
    errors = [np.linalg.norm((g.payload - truth)[4:]) for g in (hung, fixed)]
    assert errors[0] < 0.5 * errors[1]
    assert hung.payload[0] == MASS and hung.payload_sigma[0] == 0.0
