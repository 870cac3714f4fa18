# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Random cases for tests of estimators, and what they are judged by."""

from __future__ import annotations

import numpy as np
from problems import (
    box,
    compress,
    make_rows,
    motion,
)

from inertial_id_ros.estimators import create, cvxpy_statements
from inertial_id_ros.estimators.solvers.triangle_vector import smat
from inertial_id_ros.inertia import phi_from_points
from inertial_id_ros.settings import Settings

BOX = box()

CONSISTENT = ("lmi", "pmd", "uniform", "density")


def estimator(name, **settings):
    return create(Settings().replace({k.replace("__", "."): v for k, v in settings.items()}), name)


def sensor(problem):
    return cvxpy_statements.Sensor(problem.noise, problem.bias_sd, problem.bias_mean)


def smallest_eigenvalue(body, phi):
    """Smallest eigenvalue of J(phi) relative to J of the reference body of the same mass."""
    return float(np.linalg.eigvalsh(smat(body.from_phi @ phi))[0]) / float(phi[0])


def objective(marginal, phi):
    """Sum of squares of a marginal problem at phi (10,), with the biases that fit it best."""
    return float(np.sum((marginal.upper @ np.append(phi, -1.0)) ** 2))


def cost(rows, problem, weighting, solution):
    """Whitened sum of squares over all rows, with the bias prior."""
    total = 0.0
    for a, b, y in cvxpy_statements.residuals(rows, weighting):
        r = (a @ solution.phi + b @ solution.bias - y) / np.tile(problem.noise, len(y) // 6)
        total += r @ r
    if problem.has_bias:
        total += np.sum(((solution.bias - problem.bias_mean) / problem.bias_sd) ** 2)
    return total


def inside_box(rng, points):
    """phi of random point masses inside BOX; fewer than four: a singular body."""
    where = BOX.points[rng.choice(len(BOX.points), points)]
    return phi_from_points(where, rng.uniform(0.2, 2.0, points) / points)


def random_case(seed, samples=60):
    """Rows and problem: with and without bias states, fast and slow, full and singular bodies."""
    rng = np.random.default_rng(seed)
    phi = inside_box(rng, int(rng.choice([2, 3, 4, 20])))
    states = seed % 2 == 0
    bias = rng.normal(size=6) * np.repeat([2.0, 0.2], 3)
    rows = make_rows(rng, phi, motion(rng, samples, 3.0, 10 ** rng.uniform(-1.3, 0.5)), bias=bias)
    return rows, compress(rows, bias_sd=None if states else np.zeros(6),
                          bias_mean=None if states else bias)
