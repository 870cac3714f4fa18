# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Robots whose joints have more than viscous and Coulomb friction: torques of other motions, with
the terms that are always there and with those that `identify_robot` chooses."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.robot.descriptions import (
    HELD_BACK,
    data_sheet_ur10e,
    describe,
    make_robot,
    wide_motion,
)
from benchmarks.robot.recordings import PAYLOAD, load_ur10e
from inertial_id_ros.apps.robot.recording_files import NamedRecording
from inertial_id_ros.apps.robot.robot_identification import (
    Prediction,
    RobotResult,
    identify_described_robot,
    predict,
)
from inertial_id_ros.inertia import Array
from inertial_id_ros.robot.base_parameters import structural_base_parameters
from inertial_id_ros.robot.constraints import consistent_robot
from inertial_id_ros.robot.feasibility import fit_feasible
from inertial_id_ros.robot.joint_terms import COULOMB, DRIVE, STRIBECK, JointTerms
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.recording import JointRecording, filter_recording
from inertial_id_ros.robot.reference import description_reference

ARMS = ("UR10e", "Panda", "WAM")
RATE, ENCODER = 250.0, 2e-5  # Hz; rad
DURATION = 60.0  # s
OTHERS = 5  # motions, 10 s each
STRIBECK_SHARE = 0.6  # of the Coulomb friction
DRIVES = (0.15, 0.45)  # kg m^2


class Joints(NamedTuple):
    """True torques of an arm: bodies and usual friction by the model, the rest by these.

    Attributes:
        model, phi: with viscous and Coulomb friction (a step), no offset.
        stribeck: (joints,) [N m]; speed: (joints,) at which it falls off [rad/s].
        drive: (joints,) [kg m^2]; noise: (joints,) of a sample's torque [N m].
    """

    model: RobotModel
    phi: Array
    stribeck: Array
    speed: Array
    drive: Array
    noise: Array

    def record(self, duration: float, seed: int, noise: float = 1.0) -> JointRecording:
        """A recording of a motion of that seed."""
        t = np.arange(0.0, duration, 1.0 / RATE)
        q, dq, ddq = wide_motion(self.model.nv, duration, seed)(t)
        rng = np.random.default_rng(seed + 10_000)
        torque = (self.model.torque(self.phi, q, dq, ddq) + self.drive * ddq
                  + self.stribeck * np.sign(dq) * np.exp(-(dq / self.speed)**2))
        return JointRecording.from_seconds(
            t, q + noise * ENCODER * rng.normal(size=q.shape),
            torque + noise * self.noise * rng.normal(size=q.shape))


def make_joints(kind: str, seed: int, extra: bool, noise: float) -> tuple[str, Joints]:
    """An arm's description, and what it is like; `extra`: with Stribeck friction and drives.

    Args:
        noise: part of a joint's torque.
    """
    rng = np.random.default_rng(seed)
    text = describe(kind, rng)
    made = make_robot(text, rng)
    model = RobotModel.from_urdf(text, JointTerms())
    joints = len(model.joint_names)
    coulomb = np.array([made.truth[made.model.term_index(j, COULOMB)] for j in range(joints)])
    phi = made.truth.copy()
    on = float(extra)
    return text, Joints(model, phi, on * STRIBECK_SHARE * coulomb, rng.uniform(0.03, 0.15, joints),
                        on * rng.uniform(*DRIVES, joints), np.maximum(noise * made.torque, 0.01))


def error_on(result: RobotResult, recordings: list[JointRecording]) -> float:
    """Relative torque error of all recordings together."""
    found = [predict(filter_recording(result.model, r), result.identified.phi) for r in recordings]
    return float(np.sqrt(sum(np.sum(p.error**2) for p in found)
                         / sum(np.sum(p.torque**2) for p in found)))


def run(kind: str, seed: int, extra: bool, noise: float) -> dict[str, float | bool]:
    """Errors on other motions, with usual and with chosen terms, and what was chosen."""
    text, arm = make_joints(kind, seed, extra, noise)
    names = arm.model.joint_names
    recording = arm.record(DURATION, seed)
    named = NamedRecording(names, recording.stamps, recording.q, recording.effort)
    others = [arm.record(10.0, seed + 500 + 7 * k, noise=0.0) for k in range(OTHERS)]
    usual, chosen = (identify_described_robot(text, named, aligned=False, held_back=0.0,
                                              choose=choose) for choose in (False, True))
    kinds = {g.term: len(g.joints) for g in chosen.choice.gains} if chosen.choice else {}
    return {"usual": error_on(usual, others), "chosen": error_on(chosen, others),
            "drive": kinds[DRIVE] > 0, "stribeck": kinds[STRIBECK] / len(names),
            "other": sum(n for k, n in kinds.items() if k not in (DRIVE, STRIBECK)) / len(names)}


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


def simulated_table(runs: int = 4, first_seed: int = 2000) -> list[str]:
    """Markdown rows of simulated arms."""
    lines = ["| arm | friction and drives | torque noise | runs | usual terms, other motions, % | "
             "chosen terms, % (worst) | drive inertia chosen | joints with Stribeck friction | "
             "other terms per joint |", "|---" * 9 + "|"]
    for kind in ARMS:
        for extra, noise in ((True, 0.01), (True, 0.03), (False, 0.01)):
            found = [run(kind, seed, extra, noise) for seed in range(first_seed, first_seed + runs)]
            mean = {k: float(np.mean([f[k] for f in found])) for k in found[0]}
            rms = {k: 100.0 * float(np.sqrt(np.mean([f[k]**2 for f in found])))
                   for k in ("usual", "chosen")}
            lines.append(
                f"| {kind} | {'Stribeck, drives' if extra else 'viscous, Coulomb'} | "
                f"{noise:.0%} | {runs} | {rms['usual']:.2f} | {rms['chosen']:.2f} "
                f"({100.0 * max(f['chosen'] for f in found):.2f}) | "
                f"{mean['drive'] * runs:.0f} of {runs} | {mean['stribeck']:.0%} | "
                f"{mean['other']:.2f} |")
    return lines


def measured_table(folder: Path) -> list[str]:
    """Markdown rows of the real UR10e, joint by joint, on all rows held back."""
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


def table(folder: Path) -> list[str]:
    """Markdown rows: simulated arms, then the real UR10e."""
    return [*simulated_table(), "", *measured_table(folder)]
