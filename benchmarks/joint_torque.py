# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Payloads of a simulated arm from its joint torques alone, relative to the unloaded arm.

MuJoCo gives the torques: its inverse dynamics of an arm whose bodies differ from those that the
description claims, with viscous and Coulomb friction in its joints, and noise.

    python benchmarks/joint_torque.py [--runs 3]
"""

import os

for _threads in ("OMP", "OPENBLAS", "MKL", "RAYON"):
    os.environ[f"{_threads}_NUM_THREADS"] = "1"

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "test")]

import numpy as np
from torque_arm import (
    FRAME,
    RATE,
    URDF,
    block,
    simulate,
    wide_motion,
)

from inertial_id_ros.api import Identifier
from inertial_id_ros.errors import InertialIdError
from inertial_id_ros.estimate import Estimate
from inertial_id_ros.inertia import Array, report_from_phi
from inertial_id_ros.io.inputs import JointStates
from inertial_id_ros.robot import TERMS, RobotRequest
from inertial_id_ros.robot.identify import identify_described_robot
from inertial_id_ros.robot.robot_file import IdentifiedRobot, save_robot
from inertial_id_ros.settings import Settings

MASSES = (1.0, 2.0, 3.0)  # kg
METHODS = ("density", "lmi")
CALIBRATION = 30.0  # s
START_NS = 1_000_000_000_000


def calibrate(duration: float) -> IdentifiedRobot:
    """The arm, identified without payload."""
    free = simulate(wide_motion(duration, harmonics=round(0.6 * duration)), duration)
    return identify_described_robot(URDF, [free], RobotRequest(
        terms=TERMS[:3], hold_back=0.0)).robot


def identified(recorded: JointStates, robot_file: str, method: str) -> Estimate:
    """The payload of a recording; raises InertialIdError where there is none."""
    identifier = Identifier(Settings().replace({
        "load.robot": robot_file, "estimator.method": method,
        "wrench.sensor_frame": FRAME}))
    identifier.set_robot_description(URDF)
    identifier.add_joint_states(START_NS + recorded.stamps, *recorded[1:4])
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
    options = parser.parse_args()
    with tempfile.NamedTemporaryFile(suffix=".robot") as file:
        save_robot(Path(file.name), calibrate(CALIBRATION))
        print(f"{CALIBRATION:g} s without payload, then {options.duration:g} s with it; "
              f"{RATE:g} Hz, torque noise 0.5 and 0.1 N m, {options.runs} runs of each mass\n")
        print("| payload, method | mass error, %, rms (worst) | COM error, mm, rms (worst) | "
              "within 95 % intervals: mass, COM |")
        print("|---|---|---|---|")
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
                print(f"| {mass:g} kg, {method} | {_rms(error):.2f} ({error.max():.2f}) | "
                      f"{_rms(com):.2f} ({com.max():.2f}) | {100 * inside[:, 0].mean():.0f} %, "
                      f"{100 * inside[:, 1:].mean():.0f} % |", flush=True)


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


if __name__ == "__main__":
    main()
