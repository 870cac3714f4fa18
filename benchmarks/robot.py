# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Prints what `identify_robot` reaches, as Markdown tables.

    python -m benchmarks.robot [panda | ur10e | random ...]

Recordings are looked for in the folder that INERTIAL_ID_DATA names.
"""

import os

for _threads in ("OMP", "OPENBLAS", "MKL", "RAYON"):
    os.environ[f"{_threads}_NUM_THREADS"] = "1"

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "test")]

import numpy as np
from robots import data_sheet_ur10e, panda, random_tree

from inertial_id_ros.inertia import phi_from_body
from inertial_id_ros.io.inputs import JointStates
from inertial_id_ros.robot import METHODS, TERMS, RobotRequest
from inertial_id_ros.robot.identify import RobotResult, identify_described_robot
from inertial_id_ros.robot.model import COULOMB, VISCOUS, JointTerms, RobotModel

DATA = Path(os.environ.get("INERTIAL_ID_DATA", ROOT.parent / "shared" / "data"))
RATE, NOISE, ENCODER = 125.0, 0.03, 2e-5  # Hz; part of a joint's torque; rad
WRONG, LOAD = 0.2, 3.0  # of the masses described; kg on the last link
FADING = 0.01  # rad/s


def load(name: str, effort: str) -> JointStates:
    """A recording of the data folder, whose efforts have this name."""
    data = np.load(DATA / name)
    return JointStates(np.round(1e9 * data["t"]).astype(np.int64), (), data["q"], data[effort])


def row(name: str, result: RobotResult, seconds: float) -> str:
    """A row of a table."""
    held = result.validation
    return (f"| {name} | {100 * result.prediction.relative:.3f} | "
            f"{'' if held is None else f'{100 * held.relative:.3f}'} | "
            f"{int(result.consistent.sum())} of {len(result.consistent)} | {seconds:.1f} |")


HEADS = ["| | torque error, % | held back, % | links that can exist | s |", "|---|---|---|---|---|"]


def panda_table() -> list[str]:
    """Torques of a real Panda, whose description holds made-up bodies."""
    out = []
    for method in METHODS:
        start = time.process_time()
        result = identify_described_robot(
            panda(np.random.default_rng(0)), [load("panda_joint_torque/excitation.npz", "tau")],
            RobotRequest(method=method))
        out.append(row(method, result, time.process_time() - start))
    return [*HEADS, *out]


def ur10e_table() -> list[str]:
    """Motor currents of a real UR10e, described by its data sheet."""
    free, held = (load(f"ur10e_motor_current/{name}.npz", "current")
                  for name in ("unloaded", "loaded_2.805kg"))
    out, gains = [], []
    for name, request in (
            ("pair with 2.805 kg", RobotRequest(loaded=held, payload_mass=2.805)),
            ("gains of the controller", RobotRequest(gains=(11.7, 12.0, 9.8, 10.8, 9.9, 10.9)))):
        start = time.process_time()
        result = identify_described_robot(data_sheet_ur10e(), [free], request)
        out.append(row(name, result, time.process_time() - start))
        assert result.drives is not None
        gains.append(f"{name}: gains " + ", ".join(f"{g:.2f}" for g in result.drives.gain))
    return [*HEADS, *out, "", *gains]


def random_robot(seed: int, joints: int) -> tuple[RobotResult, np.ndarray]:
    """A random tree, described with errors and without its load, identified from 12 s; and its
    true base parameters."""
    rng = np.random.default_rng(seed)
    text = random_tree(rng, joints)
    model = RobotModel.from_urdf(text, JointTerms(coulomb_velocity=FADING))
    truth = model.nominal * np.append(np.repeat(
        rng.uniform(1.0 - WRONG, 1.0 + WRONG, joints), 10), np.ones(3 * joints))
    truth[model.body_slice(joints - 1)] += phi_from_body(
        LOAD, rng.uniform(-0.1, 0.1, 3), LOAD * 0.05**2 * np.diag([1.0, 1.3, 0.8]))
    t, w = np.arange(0.0, 12.0, 1.0 / RATE), np.arange(1, 7) * 2.0 * np.pi / 12.0
    a, b = rng.normal(size=(2, joints, 6)) / w
    sine, cosine = np.sin(t[:, None] * w), np.cos(t[:, None] * w)
    q, dq, ddq = (sine @ a.T + cosine @ b.T, cosine * w @ a.T - sine * w @ b.T,
                  -sine * w**2 @ a.T - cosine * w**2 @ b.T)
    dq, ddq = dq / np.abs(q).max(axis=0), ddq / np.abs(q).max(axis=0)
    q = q / np.abs(q).max(axis=0) + rng.uniform(-0.5, 0.5, joints)
    size = np.sqrt(np.mean((model.regressor(q, dq, ddq) @ truth)**2, axis=0))
    truth[model.term_indices(VISCOUS)] = 0.1 * size
    truth[model.term_indices(COULOMB)] = 0.08 * size
    effort = model.regressor(q, dq, ddq) @ truth + np.maximum(NOISE * size, 0.02) * rng.normal(
        size=q.shape)
    recorded = JointStates(np.round(1e9 * (1.0 + t)).astype(np.int64), model.joint_names,
                           q + ENCODER * rng.normal(size=q.shape), effort)
    result = identify_described_robot(text, [recorded], RobotRequest(
        terms=TERMS[:3], coulomb_velocity=FADING, align=False, hold_back=0.0))
    return result, result.fit.base.matrix @ truth


def random_table(runs: int = 30) -> list[str]:
    """Random robots of 2 to 30 joints."""
    inside, consistent = [], 0
    for seed in range(runs):
        joints = 30 if seed == 0 else int(np.random.default_rng(seed).integers(2, 30))
        result, truth = random_robot(seed, joints)
        beta, sigma = result.beta
        inside.append(np.abs(beta - truth) <= 1.96 * sigma)
        consistent += bool(result.consistent.all())
    return ["| | robots whose links can all exist | base parameters within 95 % intervals, % |",
            "|---|---|---|",
            f"| {runs} robots | {consistent} | {100 * np.concatenate(inside).mean():.1f} |"]


TABLES = {"panda": panda_table, "ur10e": ur10e_table, "random": random_table}


def main() -> int:
    """Print the tables that the arguments name."""
    for name in sys.argv[1:] or TABLES:
        print(f"### {name}\n", flush=True)
        print("\n".join(TABLES[name]()) + "\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
