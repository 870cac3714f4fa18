# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Solve times on compressed problems, beside the same problems stated in cvxpy on all rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks.robot.reference import cvxpy_statements
from benchmarks.robot.reference.constraints import (
    com_ellipsoid,
    ellipsoid_matrix,
    inside_ellipsoid,
)
from benchmarks.robot.reference.feasibility import fit_feasible
from benchmarks.robot.robots import Joint, Pose, arm_bodies, random_tree, urdf, wam
from inertial_id_ros.inertia import phi_from_body, pseudo_inertia
from inertial_id_ros.robot.base_parameters import BaseParameters, structural_base_parameters
from inertial_id_ros.robot.compression import Compressed, compress
from inertial_id_ros.robot.consistent_fit import Prior, identify
from inertial_id_ros.robot.constraints import Constraint, consistent_robot
from inertial_id_ros.robot.joint_terms import JointTerms
from inertial_id_ros.robot.model import RobotModel, Rotor
from inertial_id_ros.robot.reference_robot import Reference, description_reference

NOISE = 0.2  # of the standard deviation of each torque
GEAR = 10.6  # of the leg of Wensing et al. 2017
PRIOR_WEIGHT = 1e-4
REPEATS = 7


class Problem(NamedTuple):
    """A robot with a simulated recording, all of it in memory.

    Attributes:
        rows: (n, p), target: (n,), over the noise.
    """

    name: str
    published: str
    model: RobotModel
    data: Compressed
    noise: np.ndarray
    rows: np.ndarray
    target: np.ndarray
    constraints: list[Constraint]
    scale: Reference
    base: BaseParameters
    compression: float


class Time(NamedTuple):
    """Processor times [s] and how the sum of squares compares."""

    problem: Problem
    solved: float
    cvxpy: float
    difference: float


def leg(samples: int = 10_000) -> Problem:
    """Three links, three rotors, friction (Wensing et al. 2017, Section VI)."""
    rng = np.random.default_rng(0)
    axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 1.0, 0.0))
    joints = [Joint(k - 1, Pose(np.array([0.0, 0.06, -0.3 if k else 0.0])), axis=axis)
              for k, axis in enumerate(axes)]
    rotor = Rotor(GEAR, tuple(phi_from_body(0.3, np.zeros(3), 2e-4 * np.eye(3))))
    model = RobotModel.from_urdf(urdf(joints, arm_bodies(rng, 3, 2.0)),
                                 rotors={f"joint{k + 1}": rotor for k in range(3)})
    limits = consistent_robot(model)
    for k in range(len(model.bodies)):
        where = model.body_slice(k)
        pseudo = pseudo_inertia(model.nominal[where])
        center = pseudo[:3, 3] / pseudo[3, 3]
        shape = 9.0 * (pseudo[:3, :3] / pseudo[3, 3] - np.outer(center, center))
        limits += [com_ellipsoid(model.size, where, center, shape),
                   inside_ellipsoid(model.size, where, ellipsoid_matrix(center, shape))]
    return _problem("leg: 3 links, 3 rotors, prior", "1.67 s", model, limits, samples)


def arm(samples: int = 5_000) -> Problem:
    """Seven links with drives (Sousa and Cortesao 2014, the WAM)."""
    model = RobotModel.from_urdf(wam(np.random.default_rng(0)), JointTerms(drive_inertia=True))
    return _problem("7-link arm, FBPE", "2 s", model, consistent_robot(model), samples)


def chain(samples: int = 2_000) -> Problem:
    """Twenty links with drives."""
    model = RobotModel.from_urdf(random_tree(np.random.default_rng(0), 20, branch=0.0),
                                 JointTerms(drive_inertia=True))
    return _problem("20-link chain, FBPE", "15 s", model, consistent_robot(model), samples)


def _problem(name: str, published: str, model: RobotModel, limits: list[Constraint],
             samples: int) -> Problem:
    rng = np.random.default_rng(1)
    q = rng.uniform(-2.0, 2.0, (samples, model.nv))
    dq, ddq = rng.normal(size=(samples, model.nv)), 3.0 * rng.normal(size=(samples, model.nv))
    truth = model.nominal
    # Drives without inertia: about half of the unconstrained estimates are negative.
    for j in range(model.nv):
        for term, value in zip(model.terms.names, (1.0, 0.5, 0.1, 0.0), strict=False):
            truth[model.term_index(j, term)] = value
    rows = model.regressor(q, dq, ddq)
    torque = rows @ truth
    noise = NOISE * torque.std(axis=0)
    torque += noise * rng.normal(size=torque.shape)
    start = time.process_time()
    data = compress(model, q, dq, ddq, torque)
    seconds = time.process_time() - start
    return Problem(name, published, model, data, noise,
                   (rows / noise[:, None]).reshape(-1, model.size), (torque / noise).ravel(),
                   limits, description_reference(model), structural_base_parameters(model), seconds)


def solve(problem: Problem) -> np.ndarray:
    """The compressed problem: phi of the leg, and base columns of the others with zeros beside."""
    if problem.name.startswith("leg"):
        return identify(problem.data, problem.base, problem.constraints,
                        Prior(problem.scale, PRIOR_WEIGHT), problem.noise).phi
    phi = np.zeros(problem.model.size)
    phi[problem.base.independent] = fit_feasible(problem.data, problem.base, problem.constraints,
                                                 problem.scale, problem.noise).beta
    return phi


def all_rows(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Rows and target of the uncompressed problem, with those of the prior."""
    if not problem.name.startswith("leg"):
        return problem.rows, problem.target
    prior = np.sqrt(PRIOR_WEIGHT) * problem.scale.inverse
    return (np.concatenate([problem.rows, prior]),
            np.append(problem.target, prior @ problem.scale.phi))


def measure(problem: Problem, repeats: int = REPEATS) -> Time:
    """Median time of the compressed problem, one time of cvxpy."""
    solve(problem)
    times = [_seconds(lambda: solve(problem)) for _ in range(repeats)]
    rows, target = all_rows(problem)
    start = time.process_time()
    _, best = cvxpy_statements.least_squares(rows, target, problem.constraints, problem.scale)
    slow = time.process_time() - start
    got = float(np.sum((rows @ solve(problem) - target)**2))
    return Time(problem, float(np.median(times)), slow, got / best - 1.0)


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def table() -> list[str]:
    """Markdown rows."""
    lines = ["| problem | rows | parameters | base | compression, s | solve, s | "
             "cvxpy on all rows, s | ratio | difference of cost | published |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for make in (leg, arm, chain):
        problem, solved, slow, difference = measure(make())
        lines.append(f"| {problem.name} | {len(problem.rows)} | {problem.model.size} | "
                     f"{problem.base.count} | {problem.compression:.2f} | {solved:.3f} | "
                     f"{slow:.1f} | {slow / solved:.0f} | {difference:+.0e} | "
                     f"{problem.published} |")
    return lines
