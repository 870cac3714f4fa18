# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Random cases for tests of estimators, and what they are judged by."""

from __future__ import annotations

import numpy as np
from problems import (
    NOISE,
    box,
    compress,
    make_rows,
    motion,
    poses,
    residuals,
)

from inertial_id_ros import estimators
from inertial_id_ros.estimators.reference_body import smat
from inertial_id_ros.inertia import phi_from_points
from inertial_id_ros.settings import Settings

BOX = box()

CONSISTENT = ("lmi", "pmd", "density", "entropic", "manifold")


class Asked:
    """An estimator that is given the problem of its weighting."""

    def __init__(self, settings, name):
        self._weighting, self.made = settings.estimator.weighting, estimators.create(
            settings.replace({"estimator.method": name} if name else {}))

    def solve(self, data, shape):
        return self.made.solve(data.problems[self._weighting], shape)


def create(settings, name=None):
    return Asked(settings, name)


def estimator(name, **settings):
    return create(Settings().replace({k.replace("__", "."): v for k, v in settings.items()}), name)


def smallest_eigenvalue(body, phi):
    """Smallest eigenvalue of J(phi) relative to J of the reference body of the same mass."""
    return float(np.linalg.eigvalsh(smat(body.from_phi @ phi))[0]) / float(phi[0])


def objective(problem, phi):
    """Sum of squares of a problem at phi (10,), with the biases that fit it best."""
    return float(np.sum((problem.matrix @ phi - problem.target) ** 2) + problem.residual ** 2)


def cost(rows, data, weighting, phi):
    """Whitened sum of squares over all rows, with the bias prior, at the best bias."""
    total, bias = 0.0, data.bias(phi, weighting)
    for a, b, y in residuals(rows, weighting):
        r = (a @ phi + b @ bias - y) / np.tile(data.noise, len(y) // 6)
        total += r @ r
    if data.has_bias:
        total += np.sum(((bias - data.bias_mean) / data.bias_sd) ** 2)
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


def hard_case(seed):
    """Rows, problem and shape: thin and large boxes, grams and tens of kilograms, precise and poor
    sensors, still poses and fast motion, loads that lie partly beside the shape."""
    rng = np.random.default_rng(seed)
    size = 0.3 * 10.0 ** rng.uniform(-2.0, 0.0, 3)
    if seed % 7 == 3:
        size[rng.integers(3)] = 1e-3
    center = rng.normal(size=3) * 0.1
    count = int(rng.choice([1, 2, 3, 4, 20]))
    where = center + rng.uniform(-0.5, 0.5, (count, 3)) * size * (1.6, 1.0, 1.0)[seed % 3]
    phi = phi_from_points(where, 10.0 ** rng.uniform(-1.5, 1.5) * rng.dirichlet(np.ones(count)))
    noise = NOISE * 10.0 ** rng.uniform(-1.5, 1.0)
    samples = int(rng.choice([20, 100, 600]))
    moving = (motion(rng, samples, 3.0, 10.0 ** rng.uniform(-1.5, 0.7)) if seed % 5 else
              poses(rng, int(rng.integers(2, 8)), samples))
    bias = rng.normal(size=6) * np.repeat([2.0, 0.2], 3)
    rows = make_rows(rng, phi, moving, noise, bias=bias)
    states = seed % 2 == 0
    return rows, compress(rows, noise, None if states else np.zeros(6),
                          None if states else bias), box(tuple(size), tuple(center))


def stacked(rows, problem, weighting, scale):
    """All rows ``[B (6, or none if known) | A (10) | y]`` of each model, channels times a scale
    (6,); the first with the prior of the biases."""
    out = []
    for a, b, y in residuals(rows, weighting):
        weights = np.tile(scale, len(y) // 6)[:, None]
        known = np.zeros(6) if problem.has_bias else problem.bias_mean
        columns = [b, a] if problem.has_bias else [a]
        out.append(np.hstack([*columns, (y - b @ known)[:, None]]) * weights)
    if problem.has_bias:
        prior = np.hstack([np.eye(6), np.zeros((6, 10)), problem.bias_mean[:, None]])
        out[0] = np.vstack([out[0], prior * (scale * problem.noise / problem.bias_sd)[:, None]])
    return out
