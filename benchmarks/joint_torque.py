"""Payloads of a simulated arm from its joint torques alone, relative to the unloaded arm.

MuJoCo gives the torques: its inverse dynamics of an arm whose bodies differ from those that the
description claims, with viscous and Coulomb friction in its joints, and noise.

    python benchmarks/joint_torque.py [--runs 3]
"""

from __future__ import annotations

import os

for _threads in ("OMP", "OPENBLAS", "MKL", "RAYON"):
    os.environ[f"{_threads}_NUM_THREADS"] = "1"

import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import mujoco
import numpy as np

from inertial_id_ros.excitation.fourier import Basis, FourierMotion
from inertial_id_ros.inertia import Array
from inertial_id_ros.robot.recording import JointRecording
from inertial_id_ros.simulation.description import SENSOR_FRAME, load_description
from inertial_id_ros.simulation.motion import START_POSE, Motion
from inertial_id_ros.simulation.payload import Payload

RATE = 250.0  # Hz
TORQUE_NOISE = np.array([0.5, 0.5, 0.5, 0.1, 0.1, 0.1])  # N m of one sample
ENCODER_NOISE = 2e-5  # rad
VISCOUS = np.array([6.0, 6.0, 5.0, 1.0, 1.0, 0.8])  # N m s/rad
COULOMB = np.array([3.0, 4.0, 3.0, 0.6, 0.6, 0.5])  # N m


class SimulatedTorques(NamedTuple):
    """A recording, and the arm that made it: bodies' mass factors."""

    t: Array
    q: Array
    effort: Array

    @property
    def recording(self) -> JointRecording:
        """As the identification reads it."""
        return JointRecording.from_seconds(self.t, self.q, self.effort)


def simulate(motion: Motion, duration: float, payload: Payload | None = None,
             seed: int = 0) -> SimulatedTorques:
    """Joint torques of a motion.

    Every body of the arm is up to 20 % heavier or lighter than described, and off its centre by up
    to a centimetre; the same arm for every seed, which is of the noise.
    """
    model = _arm(payload)
    data = mujoco.MjData(model)
    t = np.arange(0.0, duration, 1.0 / RATE)
    q, dq, ddq = motion(t)
    effort = np.empty_like(q)
    for i in range(len(t)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[i], dq[i], ddq[i]
        mujoco.mj_inverse(model, data)
        effort[i] = data.qfrc_inverse
    rng = np.random.default_rng(seed)
    return SimulatedTorques(t, q + ENCODER_NOISE * rng.normal(size=q.shape),
                            effort + TORQUE_NOISE * rng.normal(size=q.shape))


def _arm(payload: Payload | None) -> mujoco.MjModel:
    spec = mujoco.MjSpec.from_string(load_description().urdf)
    spec.compiler.fusestatic = False
    spec.compiler.discardvisual = True
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    if payload is not None:
        carried = payload.inertia_com
        body = spec.body(SENSOR_FRAME).add_body(name="payload")
        body.mass, body.ipos = payload.mass, payload.com
        body.fullinertia = [carried[0, 0], carried[1, 1], carried[2, 2],
                            carried[0, 1], carried[0, 2], carried[1, 2]]
        body.explicitinertial = True
    model = spec.compile()
    model.dof_damping[:], model.dof_frictionloss[:] = VISCOUS, COULOMB
    # MuJoCo's friction is soft: with its usual constants it never saturates in a light joint.
    model.opt.timestep = 1e-6
    model.dof_solref[:] = 2e-6, 1.0
    rng = np.random.default_rng(7)
    for k in range(model.nbody):
        if model.body_weldid[k] != 0 and model.body(k).name != "payload":
            factor = rng.uniform(0.8, 1.2)
            model.body_mass[k] *= factor
            model.body_inertia[k] *= factor
            model.body_ipos[k] += rng.uniform(-0.01, 0.01, 3)
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def wide_motion(duration: float, seed: int = 0, harmonics: int = 8, size: float = 0.8
                ) -> FourierMotion:
    """A random Fourier motion of all joints, up to `size` [rad] from the start pose."""
    basis = Basis(duration, harmonics)
    x = np.random.default_rng(seed).normal(size=(6, basis.size))
    reach = np.abs(basis.at(np.linspace(0.0, duration, 400))[0] @ x.T).max(axis=0)
    return FourierMotion(basis, START_POSE, np.arange(6), size * x / reach[:, None])
