# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A real robot whose joints have more than viscous and Coulomb friction: held-back torques with the
terms that are always there, and with those that `identify_robot` chooses."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.robot.descriptions import HELD_BACK, data_sheet_ur10e
from benchmarks.robot.recordings import PAYLOAD, load_ur10e
from inertial_id_ros.apps.robot.recording_files import NamedRecording
from inertial_id_ros.apps.robot.robot_identification import (
    Prediction,
    identify_described_robot,
    predict,
)
from inertial_id_ros.robot.base_parameters import structural_base_parameters
from inertial_id_ros.robot.constraints import consistent_robot
from inertial_id_ros.robot.feasibility import fit_feasible
from inertial_id_ros.robot.joint_terms import JointTerms
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.recording import JointRecording, filter_recording
from inertial_id_ros.robot.reference import description_reference


def published(model: RobotModel, first: JointRecording, rest: JointRecording,
              ordinary: bool = True) -> Prediction:
    """Prediction of the part held back by the best feasible base parameters (Sousa and Cortesao
    2014, FBPE-OLS): viscous and Coulomb friction, offset, drive inertia."""
    data, base = filter_recording(model, first).compress(), structural_base_parameters(model)
    scale = description_reference(model)
    noise = None if ordinary else np.sqrt(data.squares(np.zeros(data.size)) / data.counts)
    found = fit_feasible(data, base, consistent_robot(model, like=scale), scale, noise)
    phi = np.zeros(model.size)
    phi[base.independent] = found.beta
    return predict(filter_recording(model, rest), phi)


def table(folder: Path) -> list[str]:
    """Markdown rows of the UR10e, joint by joint, on all rows held back."""
    lines = ["| recording | method | all | " + " | ".join(f"joint {j}" for j in range(1, 7))
             + " |", "|---" * 9 + "|"]
    gain = load_ur10e(folder).makers_gain
    for name in ("unloaded", f"loaded_{PAYLOAD}kg"):
        data = np.load(folder / "ur10e_motor_current" / f"{name}.npz")
        whole = JointRecording.from_seconds(data["t"], data["q"], data["current"] * gain)
        first, rest = whole.split(1.0 - HELD_BACK)
        text = data_sheet_ur10e()
        found = {}
        for drives in (False, True):
            model = RobotModel.from_urdf(text, JointTerms(drive_inertia=drives))
            found[f"FBPE-OLS{', drive inertia' if drives else ''}"] = published(model, first, rest)
            found[f"FBPE{', drive inertia' if drives else ''}"] = published(
                model, first, rest, ordinary=False)
        names = RobotModel.from_urdf(text).joint_names
        for choose, method in ((False, "usual terms"), (True, "chosen terms")):
            made = identify_described_robot(
                text, NamedRecording(names, first.stamps, first.q, first.effort),
                aligned=False, held_back=0.0, choose=choose)
            found[method] = predict(filter_recording(made.model, rest), made.identified.phi)
        lines += [f"| {name} | {method} | {100.0 * p.relative:.2f} | "
                  + " | ".join(f"{100.0 * e:.1f}" for e in p.error / p.torque) + " |"
                  for method, p in found.items()]
    return lines
