# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Robots whose description is right, and robots with a load that it lacks; random robots.

Relative torque errors beside those of the best feasible base parameters (FBPE), which need no
description: on the part of the recording that was held back, and on another motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.robot.recordings import PAYLOAD, load_ur10e
from benchmarks.robot.robots import (
    UR10E_A,
    UR10E_ALPHA,
    UR10E_D,
    Body,
    panda,
    random_tree,
    standard_dh,
    ur10e,
    urdf,
    wam,
)
from inertial_id_ros.apps.excitation.fourier import FourierMotion, basis
from inertial_id_ros.apps.robot.robot_identification import identify_robot, predict
from inertial_id_ros.inertia import Array, body_from_phi, phi_from_body
from inertial_id_ros.robot.base_parameters import structural_base_parameters
from inertial_id_ros.robot.constraints import consistent_robot
from inertial_id_ros.robot.feasibility import fit_feasible
from inertial_id_ros.robot.joint_terms import JointTerms
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.recording import LOW_PASS, JointRecording, filter_recording
from inertial_id_ros.robot.reference import description_reference

ROBOTS = ("UR10e", "Panda", "WAM", "tree of 8")
LOADS = ("none", "1 kg", "4 kg")
RATE, NOISE, ENCODER = 125.0, 0.03, 2e-5  # Hz; part of a joint's torque; rad
FADING = 0.01  # rad/s
WRONG = 0.2  # of the masses described
HELD_BACK = 0.3
FBPE, NEW = "FBPE", "identify_robot"


class Simulated(NamedTuple):
    """A described robot, its true parameters and typical torques (joints,) [N m]."""

    model: RobotModel
    truth: Array
    torque: Array


def describe(kind: str, rng: np.random.Generator) -> str:
    """Description of one of `ROBOTS`."""
    makers = {"UR10e": ur10e, "Panda": panda, "WAM": wam,
              "tree of 8": lambda r: random_tree(r, 8)}
    return makers[kind](rng)


def make_robot(text: str, rng: np.random.Generator, load: float = 0.0,
               wrong: float = WRONG) -> Simulated:
    """The robot whose description is wrong by some, with a load [kg] on its last link."""
    model = RobotModel.from_urdf(text, JointTerms(coulomb_velocity=FADING))
    truth = model.nominal
    for k in range(len(model.bodies)):
        body = body_from_phi(truth[model.body_slice(k)])
        factor = rng.uniform(1.0 - wrong, 1.0 + wrong)
        truth[model.body_slice(k)] = phi_from_body(
            factor * body.mass, body.com + 0.05 * wrong * rng.uniform(-1.0, 1.0, 3),
            factor * body.inertia_com)
    if load > 0.0:
        truth[model.body_slice(len(model.bodies) - 1)] += phi_from_body(
            load, rng.uniform(-0.1, 0.1, 3), load * 0.05**2 * np.diag([1.0, 1.3, 0.8]))
    motion = wide_motion(model.nv, 10.0, 5)
    size = np.sqrt(np.mean(model.torque(truth, *motion(np.arange(0.0, 10.0, 0.1)))**2, axis=0))
    for j in range(model.nv):
        for term, part in (("viscous", 0.1), ("coulomb", 0.08)):
            truth[model.term_index(j, term)] = part * size[j] * rng.uniform(0.5, 1.5)
    return Simulated(model, truth, size)


def wide_motion(joints: int, duration: float, seed: int) -> FourierMotion:
    """A random Fourier motion of all joints, up to 1 rad about a random pose."""
    rng = np.random.default_rng(seed)
    harmonics = max(4, round(0.4 * duration))
    x = rng.normal(size=(joints, 2 * harmonics - 2))
    functions = basis(duration, np.linspace(0.0, duration, 400), harmonics)[0]
    reach = np.abs(functions @ x.T).max(axis=0)
    return FourierMotion(duration, rng.uniform(-0.5, 0.5, joints), np.arange(joints),
                         x / reach[:, None])


def record(robot: Simulated, duration: float, seed: int, noise: float = 1.0) -> JointRecording:
    """A recording of a motion of that seed."""
    t = np.arange(0.0, duration, 1.0 / RATE)
    q, dq, ddq = wide_motion(robot.model.nv, duration, seed)(t)
    rng = np.random.default_rng(seed + 10_000)
    torque = robot.model.torque(robot.truth, q, dq, ddq)
    sd = np.maximum(NOISE * robot.torque, 0.02)
    return JointRecording.from_seconds(t, q + noise * ENCODER * rng.normal(size=q.shape),
                                       torque + noise * sd * rng.normal(size=q.shape))


def errors(model: RobotModel, recording: JointRecording, other: JointRecording | None = None
           ) -> dict[str, Array]:
    """Relative torque errors of every method on the part held back and on another motion (2,)."""
    first, rest = recording.split(1.0 - HELD_BACK)
    tests = [filter_recording(model, part) for part in (rest, other) if part is not None]
    found = identify_robot(model, first, LOW_PASS, aligned=False, held_back=0.0)
    data, noise = filter_recording(model, first).compress(), found.robot.noise
    base, scale = structural_base_parameters(model), description_reference(model)
    limits = consistent_robot(model, like=scale)
    phi = np.zeros(model.size)
    phi[base.independent] = fit_feasible(data, base, limits, scale, noise).beta
    robots = {FBPE: phi, NEW: found.identified.phi}
    return {name: np.array([predict(rows, p).relative for rows in tests])
            for name, p in robots.items()}


def measured_ur10e(folder: Path) -> list[str]:
    """Rows of the real UR10e, whose description is the data sheet's."""
    pair = [np.load(folder / "ur10e_motor_current" / f"{name}.npz")
            for name in ("unloaded", f"loaded_{PAYLOAD}kg")]
    gain = load_ur10e(folder).makers_gain
    lines = []
    for drives in (False, True):
        model = RobotModel.from_urdf(data_sheet_ur10e(), JointTerms(
            drive_inertia=drives, coulomb_velocity=FADING))
        for load, data in zip(("none", f"{PAYLOAD} kg"), pair, strict=True):
            e = errors(model, JointRecording.from_seconds(data["t"], data["q"],
                                                          data["current"] * gain))
            lines.append(f"| UR10e, real{', with drive inertia' if drives else ''} | {load} | 1 | "
                         f"{100 * e[FBPE][0]:.2f} | {e[NEW][0] / e[FBPE][0]:.3f} | | |")
    return lines


def data_sheet_ur10e() -> str:
    """A UR10e with masses and centres of mass of its data sheet; moments of inertia estimated."""
    joints, ends = standard_dh(UR10E_ALPHA, UR10E_A, UR10E_D)
    masses = (7.369, 13.051, 3.989, 2.1, 1.98, 0.615)
    centres = ([0.021, 0.0, 0.027], [0.38, 0.0, 0.158], [0.24, 0.0, 0.068], [0.0, 0.007, 0.018],
               [0.0, 0.007, 0.018], [0.0, 0.0, -0.026])
    moments = ([0.0315, 0.0219, 0.0315], [0.0367, 0.4218, 0.4218], [0.0112, 0.1111, 0.1111],
               [0.0051] * 3, [0.0051] * 3, [0.0005] * 3)
    bodies = []
    for end, mass, centre, moment in zip(ends, masses, centres, moments, strict=True):
        turn = end.rotation.as_matrix()
        bodies.append(Body(mass, end.translation + turn @ centre, turn @ np.diag(moment) @ turn.T))
    return urdf(joints, bodies)


def table(folder: Path, runs: int = 6, first_seed: int = 1000) -> list[str]:
    """Markdown rows: simulated robots, then the real one."""
    lines = ["| robot | load | runs | FBPE, held back, % | identify_robot / FBPE (worst) | "
             "FBPE, other motion, % | identify_robot / FBPE |", "|---" * 7 + "|"]
    for kind in ROBOTS:
        for load in LOADS:
            found = []
            for seed in range(first_seed, first_seed + runs):
                rng = np.random.default_rng(seed)
                robot = make_robot(describe(kind, rng), rng, float(load.split()[0])
                                   if load != "none" else 0.0)
                found.append(errors(robot.model, record(robot, 30.0, seed),
                                    record(robot, 10.0, seed + 500, noise=0.0)))
            lines.append(f"| {kind} | {load} | {runs} | " + " | ".join(
                _cells(found, 0, True) + _cells(found, 1, False)) + " |")
    return lines + measured_ur10e(folder)


def _cells(found: Sequence[dict[str, Array]], which: int, worst: bool) -> list[str]:
    """Root mean square error of FBPE in percent, and the other's in multiples of it."""
    e = {name: np.array([run[name][which] for run in found]) for name in (FBPE, NEW)}
    rms = {name: float(np.sqrt(np.mean(values**2))) for name, values in e.items()}
    return [f"{100 * rms[FBPE]:.2f}", f"{rms[NEW] / rms[FBPE]:.3f}"
            + (f" ({np.max(e[NEW] / e[FBPE]):.2f})" if worst else "")]


# Random robots.


class RandomRun(NamedTuple):
    """A random robot: its joints, whether all bodies exist, and how many of the base parameters
    are within their intervals."""

    joints: int
    consistent: bool
    inside: int
    count: int


def random_run(seed: int, most: int = 30) -> RandomRun:
    """A random tree of 2 to `most` joints, described with errors, a load on its last link in every
    other one, identified from 12 s."""
    rng = np.random.default_rng(seed)
    joints = int(rng.integers(2, most + 1))
    robot = make_robot(random_tree(rng, joints), rng, 3.0 * (seed % 2))
    result = identify_robot(robot.model, record(robot, 12.0, seed), LOW_PASS, aligned=False,
                            held_back=0.0)
    inside = np.abs(result.beta - result.base.matrix @ robot.truth) <= 1.96 * result.beta_sigma
    return RandomRun(joints, bool(result.consistent.all()), int(inside.sum()), len(inside))


def random_table(runs: int = 100, first_seed: int = 0) -> list[str]:
    """Markdown rows."""
    found = [random_run(seed) for seed in range(first_seed, first_seed + runs)]
    shares = [100.0 * r.inside / r.count for r in found]
    return ["| robots | joints | all bodies consistent | base parameters within 95 % intervals | "
            "by robot, 10th to 90th percentile |", "|---|---|---|---|---|",
            f"| {runs} | {min(r.joints for r in found)}-{max(r.joints for r in found)} | "
            f"{sum(r.consistent for r in found)} | "
            f"{100.0 * sum(r.inside for r in found) / sum(r.count for r in found):.1f} % of "
            f"{sum(r.count for r in found)} | {np.percentile(shares, 10):.0f} to "
            f"{np.percentile(shares, 90):.0f} % |"]
