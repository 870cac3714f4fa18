# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A random robot of 38 joints without ground: base-link rows only, every run a new robot.

Ayusawa and Nakamura 2010 identify a 38-joint humanoid from the six rows of its base link, which no
joint torque enters; a quadratic program with nonlinear constraints did not converge for them, and
mass points cost up to 40 % of force residual.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from benchmarks.robot.reference.base_rows import base_row_parameters
from benchmarks.robot.robots import random_tree
from inertial_id_ros.inertia import is_consistent
from inertial_id_ros.robot.base_parameters import (
    BaseParameters,
    fit_base_parameters,
)
from inertial_id_ros.robot.constraints import consistent_robot
from inertial_id_ros.robot.factors import Compressed
from inertial_id_ros.robot.joint_terms import NO_TERMS
from inertial_id_ros.robot.mass_points import (
    box_reference,
    compress_base,
    fit_mass_points,
    uniform_box,
)
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.reference import Reference, make_reference

JOINTS = 38
SAMPLES = 1500
NOISE = np.array([5.0, 5.0, 5.0, 2.0, 2.0, 1.0])  # N, N m: about the residuals of the paper
DESIGN_ERROR = 0.3  # of the masses of the design that serves as prior


class Answer(NamedTuple):
    """A robot's number of base parameters and links, and what was found.

    Attributes:
        residual: of the force, over that of least squares.
        consistent: links that can exist; seconds: of processor time.
    """

    links: int
    base: int
    residual: float
    consistent: int
    seconds: float


def make(seed: int, joints: int = JOINTS, samples: int = SAMPLES
         ) -> tuple[RobotModel, BaseParameters, Compressed, Reference]:
    """A robot, its base parameters, a noisy recording, and a design with wrong masses."""
    rng = np.random.default_rng(seed)
    model = RobotModel.from_urdf(random_tree(rng, joints, rooted=True), NO_TERMS,
                                 floating_base=True)
    base = base_row_parameters(model)
    q = rng.uniform(-1.5, 1.5, (samples, 7 + joints))
    q[:, 3:7] = rng.normal(size=(samples, 4)) * 0.3 + np.array([0.0, 0.0, 0.0, 1.0])
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    dq = 0.7 * rng.normal(size=(samples, model.nv))
    ddq = 2.0 * rng.normal(size=(samples, model.nv))
    force = model.torque(model.nominal, q, dq, ddq)[:, :6] + NOISE * rng.normal(size=(samples, 6))
    design = model.nominal
    for k in range(len(model.bodies)):
        design[model.body_slice(k)] *= np.exp(DESIGN_ERROR * rng.normal())
    return model, base, compress_base(model, q, dq, ddq, force), make_reference(design,
                                                                                len(model.bodies))


def run(seed: int, joints: int = JOINTS, samples: int = SAMPLES) -> Answer:
    """One robot of mass points in the boxes of its links."""
    model, base, data, design = make(seed, joints, samples)
    free = np.zeros(model.size)
    free[base.independent] = fit_base_parameters(data, base, NOISE).beta
    least = np.sqrt(np.sum(data.squares(free) / NOISE**2))
    start = time.process_time()
    slices = [model.body_slice(k) for k in range(len(model.bodies))]
    boxes = [uniform_box(model.nominal[where]) for where in slices]
    factor = data.stack(NOISE)
    phi = fit_mass_points(factor[:, :-1], factor[:, -1], consistent_robot(model, design), boxes,
                          box_reference(boxes, design))
    return Answer(len(model.bodies), base.count,
                  float(np.sqrt(np.sum(data.squares(phi) / NOISE**2)) / least),
                  sum(is_consistent(phi[where]) for where in slices), time.process_time() - start)


def table(runs: int = 20) -> list[str]:
    """Markdown rows over all runs."""
    found = [run(seed) for seed in range(runs)]
    return [f"{runs} random robots of {JOINTS} joints, {found[0].links} links, "
            f"{min(r.base for r in found)}-{max(r.base for r in found)} base parameters, "
            f"{SAMPLES} samples of six base-link rows, design masses wrong by "
            f"{100 * DESIGN_ERROR:.0f} %:", "",
            "| links consistent | force residual / least squares, largest | median time, s |",
            "|---|---|---|",
            f"| {sum(r.consistent for r in found)} of {sum(r.links for r in found)} | "
            f"{max(r.residual for r in found):.4f} | {np.median([r.seconds for r in found]):.2f} |"]
