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

from benchmarks.robot.reference.constraints import Box, box_reference, point_masses
from benchmarks.robot.reference.entropic_fit import identify_entropic
from benchmarks.robot.reference.null_space_prior import NullSpacePrior
from benchmarks.robot.robots import random_tree
from inertial_id_ros.inertia import is_consistent, pseudo_inertia
from inertial_id_ros.robot.base_parameters import (
    BaseParameters,
    fit_base_parameters,
    structural_base_parameters,
)
from inertial_id_ros.robot.compression import Compressed, compress_base
from inertial_id_ros.robot.consistent_fit import Identified, identify
from inertial_id_ros.robot.constraints import consistent_robot
from inertial_id_ros.robot.joint_terms import NO_TERMS
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.reference_robot import Reference, make_reference

JOINTS = 38
SAMPLES = 1500
NOISE = np.array([5.0, 5.0, 5.0, 2.0, 2.0, 1.0])  # N, N m: about the residuals of the paper
DESIGN_ERROR = 0.3  # of the masses of the design that serves as prior
METHODS = ("consistent", "mass points", "entropic")


class Run(NamedTuple):
    """One robot: its number of base parameters and links, and an answer of each method."""

    links: int
    base: int
    answers: dict[str, Answer]


class Answer(NamedTuple):
    """Force residual over that of least squares, consistent links, time [s]."""

    residual: float
    consistent: int
    seconds: float


def make(seed: int, joints: int = JOINTS, samples: int = SAMPLES
         ) -> tuple[RobotModel, BaseParameters, Compressed, Reference]:
    """A robot, its base parameters, a noisy recording, and a design with wrong masses."""
    rng = np.random.default_rng(seed)
    model = RobotModel.from_urdf(random_tree(rng, joints, rooted=True), NO_TERMS,
                                 floating_base=True)
    base = structural_base_parameters(model, base_rows=True)
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


def boxes_of(model: RobotModel, design: Reference) -> list[Box]:
    """A box about every body of the design: two radii of gyration to each side along the axes."""
    out = []
    for k in range(len(model.bodies)):
        pseudo = pseudo_inertia(design.phi[model.body_slice(k)])
        mass = float(pseudo[3, 3])
        center = pseudo[:3, 3] / mass
        half = 2.0 * np.sqrt(np.diag(pseudo)[:3] / mass - center**2)
        low, high = (center - half).tolist(), (center + half).tolist()
        out.append(Box((low[0], low[1], low[2]), (high[0], high[1], high[2]), mass, 0.5 * mass))
    return out


def solve(method: str, model: RobotModel, base: BaseParameters, data: Compressed,
          design: Reference) -> Identified:
    """The robot that a method finds."""
    if method == "entropic":
        return identify_entropic(data, base, model, design, 1.0, NOISE)
    if method == "mass points":
        boxes = boxes_of(model, design)
        points = [point_masses(model.size, model.body_slice(k), box.grid())
                  for k, box in enumerate(boxes)]
        return identify(data, base, points, NullSpacePrior(box_reference(model, boxes)),
                        NOISE)
    return identify(data, base, consistent_robot(model, like=design),
                    NullSpacePrior(design), NOISE)


def run(seed: int, joints: int = JOINTS, samples: int = SAMPLES) -> Run:
    """Every method on one robot."""
    model, base, data, design = make(seed, joints, samples)
    free = np.zeros(model.size)
    free[base.independent] = fit_base_parameters(data, base, NOISE).beta
    least = np.sqrt(np.sum(data.squares(free) / NOISE**2))
    answers = {}
    for method in METHODS:
        start = time.process_time()
        found = solve(method, model, base, data, design)
        seconds = time.process_time() - start
        consistent = sum(is_consistent(found.phi[model.body_slice(k)])
                         for k in range(len(model.bodies)))
        answers[method] = Answer(float(np.sqrt(np.sum(data.squares(found.phi) / NOISE**2)) / least),
                                 consistent, seconds)
    return Run(len(model.bodies), base.count, answers)


def table(runs: int = 20) -> list[str]:
    """Markdown rows over all runs."""
    results = [run(seed) for seed in range(runs)]
    lines = [f"{runs} random robots of {JOINTS} joints, {results[0].links} links, "
             f"{min(r.base for r in results)}-{max(r.base for r in results)} base parameters, "
             f"{SAMPLES} samples of six base-link rows, design masses wrong by "
             f"{100 * DESIGN_ERROR:.0f} %:", "",
             "| method | converged | links consistent | force residual / least squares, largest | "
             "median time, s |", "|---|---|---|---|---|"]
    for method in METHODS:
        answers = [r.answers[method] for r in results]
        good = sum(a.consistent for a in answers)
        lines.append(f"| {method} | {len(answers)} of {runs} | {good} of "
                     f"{sum(r.links for r in results)} | {max(a.residual for a in answers):.4f} | "
                     f"{np.median([a.seconds for a in answers]):.2f} |")
    return lines
