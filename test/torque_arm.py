# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The simulated arm by its joint torques alone, with friction: its robot file, its recordings."""

import re
from pathlib import Path

import mujoco
import numpy as np
from bags import JOINTS, START, Topic, messages_of, text_stream, write_bag
from scenes import FRAME as FRAME
from scenes import NAMES as NAMES
from scenes import NOTHING, URDF, Motion, wide_motion

from inertial_id_ros.apps.simulation.cobot import Scenario
from inertial_id_ros.apps.simulation.payload import Part, Payload
from inertial_id_ros.io.inputs import JointStates
from inertial_id_ros.robot import TERMS, RobotRequest
from inertial_id_ros.robot.identify import RobotResult, identify_described_robot
from inertial_id_ros.robot.robot_file import save_robot

CALIBRATION = 15.0  # s
BLOCK = (0.12, 0.08, 0.06)  # m
RATE = 250.0  # Hz
TORQUE_NOISE = np.array([0.5, 0.5, 0.5, 0.1, 0.1, 0.1])  # N m of one sample
ENCODER_NOISE = 2e-5  # rad
VISCOUS = np.array([6.0, 6.0, 5.0, 1.0, 1.0, 0.8])  # N m s/rad
COULOMB = np.array([3.0, 4.0, 3.0, 0.6, 0.6, 0.5])  # N m
_terms = zip(VISCOUS, COULOMB, strict=True)
ARM = re.sub("(?=<limit )", lambda _: '<dynamics damping="{}" friction="{}"/>'.format(
    *next(_terms)), URDF)


def simulate(motion: Motion, duration: float, payload: Payload | None = None,
             seed: int = 0, noise: float = 1.0) -> JointStates:
    """Joint torques of a motion, whose stamps begin at zero.

    Every body of the arm is up to 20 % heavier or lighter than described, and off its centre by up
    to a centimetre; the same arm for every seed, which is of the noise.
    """
    cobot = Scenario(payload=payload or NOTHING, motion=motion, arm=ARM, rate=RATE,
                     encoder_noise=0.0, effort_noise=(0.0,))
    model, rng = cobot.engine.model, np.random.default_rng(7)
    for k in range(model.nbody):
        if model.body_weldid[k] != 0 and model.body(k).name != "payload":
            factor = rng.uniform(0.8, 1.2)
            model.body_mass[k] *= factor
            model.body_inertia[k] *= factor
            model.body_ipos[k] += rng.uniform(-0.01, 0.01, 3)
    mujoco.mj_setConst(model, mujoco.MjData(model))
    made, rng = cobot.record(duration, begin=0).joints, np.random.default_rng(seed)
    return made._replace(
        positions=made.positions + noise * ENCODER_NOISE * rng.normal(size=made.positions.shape),
        efforts=made.efforts + noise * TORQUE_NOISE * rng.normal(size=made.positions.shape))


def block(mass: float) -> Payload:
    """A box of a mass [kg], beside the sensor's axis and turned."""
    return Payload("block", (Part("box", BLOCK, mass / float(np.prod(BLOCK)), (0.06, -0.03, 0.09),
                                  (0.3, -0.2, 0.5)),))


def write_robot(path: Path, seed: int = 0) -> Path:
    """The file of the arm, identified without payload."""
    free = simulate(wide_motion(CALIBRATION, seed, harmonics=10), CALIBRATION, seed=seed)
    save_robot(path, identify_arm(free).robot)
    return path


def identify_arm(free: JointStates, fading: float = 0.003, align: bool = True,
                 hold_back: float = 0.0) -> RobotResult:
    """The arm with the usual terms of its joints, which fade below a speed [rad/s]."""
    return identify_described_robot(URDF, [free], RobotRequest(
        terms=TERMS[:3], coulomb_velocity=fading, align=align, hold_back=hold_back))


def loaded(mass: float, seed: int, duration: float = 12.0) -> JointStates:
    """A motion other than that of the calibration, with a block, from `START` on."""
    made = simulate(wide_motion(duration, seed=seed + 5), duration, block(mass), seed + 50)
    return made._replace(stamps=START + made.stamps)


def save_table(path: Path, states: JointStates) -> Path:
    """Positions and efforts as an NPZ file."""
    np.savez(path, t=1e-9 * states.stamps, q=states.positions, effort=states.efforts,
             names=np.array(states.names))
    return path


def bag(path: Path, recorded: JointStates, efforts: bool = True) -> Path:
    """Joint states and robot description; no wrench."""
    states = recorded if efforts else recorded._replace(efforts=None)
    return write_bag(path, [Topic("/joint_states", JOINTS, messages_of([states])),
                            text_stream("/robot_description", URDF)])
