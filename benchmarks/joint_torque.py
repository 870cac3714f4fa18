# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Payloads of a simulated arm from its joint torques alone, relative to the unloaded arm.

MuJoCo gives the torques: its inverse dynamics of an arm whose bodies differ from those that the
description claims, with viscous and Coulomb friction in its joints, and noise.

    python benchmarks/joint_torque.py [--runs 3]
"""

from __future__ import annotations

import os

for _threads in ("OMP", "OPENBLAS", "MKL", "RAYON"):
    os.environ[f"{_threads}_NUM_THREADS"] = "1"

import argparse
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import mujoco
import numpy as np

from inertial_id_ros.api import Identifier
from inertial_id_ros.apps.excitation.fourier import FourierMotion, basis
from inertial_id_ros.apps.robot.robot_identification import find_coulomb_velocity, identify_robot
from inertial_id_ros.apps.simulation.description import SENSOR_FRAME, load_description
from inertial_id_ros.apps.simulation.motion import START_POSE, Motion
from inertial_id_ros.apps.simulation.payload import Part, Payload
from inertial_id_ros.errors import InertialIdError
from inertial_id_ros.estimate import Estimate
from inertial_id_ros.inertia import Array, report_from_phi
from inertial_id_ros.robot.joint_terms import JointTerms
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.recording import LOW_PASS, JointRecording
from inertial_id_ros.robot.robot_file import IdentifiedRobot, robot_model, save_robot
from inertial_id_ros.settings import Settings

BLOCK = (0.12, 0.08, 0.06)  # m
MASSES = (1.0, 2.0, 3.0)  # kg
METHODS = ("density", "lmi")
START_NS = 1_000_000_000_000
RATE = 250.0  # Hz
TORQUE_NOISE = np.array([0.5, 0.5, 0.5, 0.1, 0.1, 0.1])  # N m of one sample
ENCODER_NOISE = 2e-5  # rad
VISCOUS = np.array([6.0, 6.0, 5.0, 1.0, 1.0, 0.8])  # N m s/rad
COULOMB = np.array([3.0, 4.0, 3.0, 0.6, 0.6, 0.5])  # N m


class SimulatedTorques(NamedTuple):
    """Times [s], measured positions [rad] and torques [N m] of all joints."""

    t: Array
    q: Array
    effort: Array

    @property
    def recording(self) -> JointRecording:
        """As the identification reads it."""
        return JointRecording.from_seconds(self.t, self.q, self.effort)


def simulate(motion: Motion, duration: float, payload: Payload | None = None,
             seed: int = 0, noise: float = 1.0) -> SimulatedTorques:
    """Joint torques of a motion.

    Every body of the arm is up to 20 % heavier or lighter than described, and off its centre by up
    to a centimetre; the same arm for every seed, which is of the noise.
    """
    model = arm(payload)
    data = mujoco.MjData(model)
    t = np.arange(0.0, duration, 1.0 / RATE)
    q, dq, ddq = motion(t)
    effort = np.empty_like(q)
    for i in range(len(t)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[i], dq[i], ddq[i]
        mujoco.mj_inverse(model, data)
        effort[i] = data.qfrc_inverse
    rng = np.random.default_rng(seed)
    return SimulatedTorques(t, q + noise * ENCODER_NOISE * rng.normal(size=q.shape),
                            effort + noise * TORQUE_NOISE * rng.normal(size=q.shape))


def arm(payload: Payload | None, friction: bool = True) -> mujoco.MjModel:
    """The arm in MuJoCo, with or without friction in its joints."""
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
    if friction:
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
    x = np.random.default_rng(seed).normal(size=(6, 2 * harmonics - 2))
    functions = basis(duration, np.linspace(0.0, duration, 400), harmonics)[0]
    reach = np.abs(functions @ x.T).max(axis=0)
    return FourierMotion(duration, START_POSE, np.arange(6), size * x / reach[:, None])


def block(mass: float) -> Payload:
    """A box of a mass [kg], beside the sensor's axis and turned."""
    return Payload("block", (Part("box", BLOCK, mass / float(np.prod(BLOCK)), (0.06, -0.03, 0.09),
                                  (0.3, -0.2, 0.5)),))


def calibrate(duration: float) -> IdentifiedRobot:
    """The arm, identified without payload."""
    return identified_arm(simulate(wide_motion(duration, harmonics=round(0.6 * duration)),
                                   duration))


def identified_arm(free: SimulatedTorques) -> IdentifiedRobot:
    """The arm of a recording without payload."""
    def make_model(fading: float) -> RobotModel:
        return robot_model(load_description().urdf, None, JointTerms(coulomb_velocity=fading))

    model = make_model(find_coulomb_velocity(make_model, free.recording, LOW_PASS))
    return identify_robot(model, free.recording, LOW_PASS, held_back=0.0).robot


def identified(recorded: SimulatedTorques, robot_file: str, method: str) -> Estimate:
    """The payload of a recording; raises InertialIdError where there is none."""
    identifier = Identifier(Settings().replace({
        "load.robot": robot_file, "estimator.method": method,
        "wrench.sensor_frame": SENSOR_FRAME}))
    identifier.set_robot_description(load_description().urdf)
    stamps = START_NS + np.round(recorded.t * 1e9).astype(np.int64)
    identifier.add_joint_states(
        stamps, load_description().joint_names, recorded.q, recorded.effort)
    identifier.finish()
    outcome = identifier.solve()
    if not isinstance(outcome, Estimate):
        raise InertialIdError(outcome.reason)
    return outcome


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10, help="for each mass (default 10)")
    parser.add_argument("--duration", type=float, default=12.0, help="with payload, s (default 12)")
    parser.add_argument("--calibration", type=float, default=30.0, help="s (default 30)")
    options = parser.parse_args()
    with tempfile.NamedTemporaryFile(suffix=".robot") as file:
        save_robot(Path(file.name), calibrate(options.calibration))
        print(f"{options.calibration:g} s without payload, then {options.duration:g} s with it; "
              f"{RATE:g} Hz, torque noise 0.5 and 0.1 N m, {options.runs} runs of each mass\n")
        print("| payload, kg | method | mass error, %, rms (worst) | COM error, mm, rms (worst) | "
              "within 95 % intervals: mass, COM |")
        print("|---|---|---|---|---|")
        for mass in MASSES:
            truth = report_from_phi(block(mass).phi)
            recordings = [simulate(wide_motion(options.duration, seed=100 + k), options.duration,
                                   block(mass), 200 + k) for k in range(options.runs)]
            for method in METHODS:
                found = [identified(r, file.name, method) for r in recordings]
                gap = np.array([e.report - truth for e in found])[:, :4]
                inside = np.abs(gap) < 1.96 * np.array([e.sigma for e in found])[:, :4]
                error = 100.0 * np.abs(gap[:, 0]) / mass
                com = 1e3 * np.linalg.norm(gap[:, 1:], axis=1)
                print(f"| {mass:g} | {method} | {_rms(error):.2f} ({error.max():.2f}) | "
                      f"{_rms(com):.2f} ({com.max():.2f}) | {100 * inside[:, 0].mean():.0f} %, "
                      f"{100 * inside[:, 1:].mean():.0f} % |", flush=True)


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


if __name__ == "__main__":
    main()
