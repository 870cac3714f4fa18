# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""An arm without a wrist sensor: its robot file, and recordings of it with a payload."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from bags import JOINTS, START, STORE, Stream, header, text_stream, write_bag

from benchmarks.joint_torque import SimulatedTorques, block, simulate, wide_motion
from inertial_id_ros.apps.robot.robot_identification import identify_robot
from inertial_id_ros.apps.simulation.description import SENSOR_FRAME, load_description
from inertial_id_ros.robot.joint_terms import JointTerms
from inertial_id_ros.robot.robot_file import robot_model, save_robot

URDF = load_description().urdf
NAMES = load_description().joint_names
FRAME = SENSOR_FRAME
CALIBRATION = 15.0  # s


def write_robot(path: Path) -> Path:
    """The file of the arm, identified without payload."""
    free = simulate(wide_motion(CALIBRATION, harmonics=10), CALIBRATION)
    model = robot_model(URDF, None, JointTerms(coulomb_velocity=0.003))
    save_robot(path, identify_robot(model, free.recording, 0.4, held_back=0.0).robot)
    return path


def loaded(mass: float, seed: int, duration: float = 12.0) -> SimulatedTorques:
    """A motion other than that of the calibration, with a block."""
    return simulate(wide_motion(duration, seed=seed + 5), duration, block(mass), seed + 50)


def joint_states(recorded: SimulatedTorques) -> Iterator[tuple[int, list[float], list[float]]]:
    """Stamp [ns], positions and efforts of every sample."""
    for t, q, effort in zip(*recorded, strict=True):
        yield START + round(float(t) * 1e9), q.tolist(), effort.tolist()


def bag(path: Path, recorded: SimulatedTorques, efforts: bool = True) -> Path:
    """Joint states and robot description; no wrench."""
    nothing = np.empty(0)
    samples = [(stamp, STORE.types[JOINTS](
        header=header(stamp, ""), name=list(NAMES), position=np.array(q), velocity=nothing,
        effort=np.array(effort) if efforts else nothing))
        for stamp, q, effort in joint_states(recorded)]
    return write_bag(path, [Stream("/joint_states", JOINTS, samples),
                            text_stream("/robot_description", URDF)])
