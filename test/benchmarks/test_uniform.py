# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The covariance of `uniform` against exact rational arithmetic, where floats lose an inverse."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from inertial_id_baselines.uniform import SHAPE_SD
from problems import box, compress, make_rows, motion

from inertial_id_ros.estimators import create
from inertial_id_ros.estimators.reference_body import LIKE_REFERENCE, ReferenceBodyCache
from inertial_id_ros.inertia import Array, is_consistent, report_from_phi
from inertial_id_ros.regression.problem import vague_information
from inertial_id_ros.settings import Settings


def _exact_inverse(matrix: list[list[Fraction]]) -> Array:
    """Inverse by Gauss-Jordan elimination without rounding."""
    size = len(matrix)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(size))] for i, row in enumerate(matrix)]
    for k in range(size):
        pivot = next(i for i in range(k, size) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(size):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return np.array([[float(value) for value in row[size:]] for row in rows])


def _exact_covariance(information: Array, shape_rows: Array) -> Array:
    """Inverse (10, 10) of what the data and rows (k, 10) about the shape say together."""
    known = [[Fraction(v) for v in row] for row in information.tolist()]
    rows = [[Fraction(v) for v in row] for row in shape_rows.tolist()]
    return _exact_inverse([[known[i][j] + sum(row[i] * row[j] for row in rows) for j in range(10)]
                           for i in range(10)])


@pytest.mark.parametrize("speed", [0.05, 1.0])
def test_covariances_are_those_of_exact_arithmetic(speed: float) -> None:
    shape = box()
    problem = compress(make_rows(np.random.default_rng(3), shape.uniform(1.4),
                                 motion(np.random.default_rng(3), 40, 1.0, speed)),
                       noise=np.repeat([0.5, 1.0], 3))
    solution = create(Settings().replace({
        "estimator.method": "uniform", "shape.error": 0.0})).solve(problem, shape)
    mass = solution.phi[0]
    rows = LIKE_REFERENCE @ ReferenceBodyCache().of(shape).from_phi / (SHAPE_SD * mass)
    before = vague_information(mass)
    for information, found in ((problem.marginal("noise").information + before,
                                solution.covariance),
                               (before, solution.prior_covariance)):
        expected = _exact_covariance(information, rows)
        sd = np.sqrt(np.diag(expected))
        np.testing.assert_allclose(found / np.outer(sd, sd), expected / np.outer(sd, sd),
                                   rtol=0.0, atol=1e-6)


def test_a_shape_that_may_be_wrong_follows_the_data() -> None:
    """Six centimetres off and a third too small: rich data give position and size all the same."""
    told, rng = box((0.15, 0.1, 0.08), (0.06, 0.0, 0.1)), np.random.default_rng(0)
    truth = box((0.2, 0.14, 0.11), (0.0, 0.0, 0.1)).uniform(1.4)
    problem = compress(make_rows(rng, truth, motion(rng, 2000, 20.0, 1.5)))
    solution = create(Settings(), "uniform").solve(problem, told)
    assert is_consistent(solution.phi)
    sd = np.sqrt(np.diag(solution.covariance))
    assert (np.abs(solution.phi - truth) < 4.0 * sd).all()
    assert np.abs(report_from_phi(solution.phi) - report_from_phi(truth))[:4].max() < 1e-3
