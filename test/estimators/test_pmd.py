# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`pmd`: the optimum over point masses of all rows."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest
from estimator_cases import BOX, estimator, inside_box, random_case, sensor
from problems import (
    NOISE,
    compress,
    make_rows,
    motion,
)
from scipy.optimize import nnls

from inertial_id_ros.estimators import cvxpy_statements
from inertial_id_ros.estimators.reference_body import reference_body
from inertial_id_ros.inertia import is_consistent, phi_from_points, point_columns


@pytest.mark.slow
@pytest.mark.parametrize("form", ["norm", "squared"])
def test_pmd_reaches_the_optimum_of_all_rows(form):
    points = BOX.spread(24)
    kept: dict = {}
    solved = 0
    for seed in range(32):
        rows, problem = random_case(seed, samples=40)
        weighting = ("noise", "dynamism")[(seed // 2) % 2]
        whiten = (True, False)[(seed // 4) % 2]
        weight = (0.1, 1.0, 1e-2)[seed % 3]
        key = (weighting, whiten, weight)
        if key not in kept:  # later problems start from earlier ones: no difference may remain
            kept[key] = estimator("pmd", pmd__form=form, estimator__weighting=weighting,
                                  pmd__whiten=whiten, pmd__regularization=weight, pmd__points=24)
        got = kept[key].solve(problem, BOX)
        assert is_consistent(got.phi)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                want = cvxpy_statements.pmd(
                    rows, sensor(problem), weighting, points, weight, whiten, form)
        except cp.error.SolverError:
            continue
        solved += 1
        value = pmd_value(rows, problem, points, got, weighting, whiten, weight, form)
        assert value == pytest.approx(want.objective, rel=1e-6), seed
    assert solved >= 29


def pmd_value(rows, problem, points, solution, weighting, whiten, weight, form):
    """Objective of the published problem on all rows, least over the masses that make phi."""
    unit = NOISE[0] / problem.noise if whiten else np.ones(6)
    parts = [(np.tile(unit, len(y) // 6) * (a @ solution.phi + b @ solution.bias - y))
             for a, b, y in cvxpy_statements.residuals(rows, weighting)]
    if problem.has_bias:
        prior = unit * problem.noise * (solution.bias - problem.bias_mean) / problem.bias_sd
        parts[0] = np.r_[parts[0], prior]
    # least |m| with P m = phi and m >= 0
    strong = 1e5
    matrix = np.vstack([strong * reference_body(BOX).from_phi @ point_columns(points),
                        np.eye(len(points))])
    masses, _ = nnls(matrix, np.r_[strong * reference_body(BOX).from_phi @ solution.phi,
                                   np.zeros(len(points))])
    power = 1 if form == "norm" else 2
    return (sum(np.linalg.norm(p) ** power for p in parts)
            + weight * np.linalg.norm(masses) ** power)


def test_pmd_whitening_keeps_the_unit_of_the_regulariser():
    rng = np.random.default_rng(8)
    rows = make_rows(rng, inside_box(rng, 20), motion(rng, 100))
    same = np.full(6, 0.1)  # force and torque alike: whitening changes nothing
    got = [estimator("pmd", pmd__whiten=w).solve(compress(rows, noise=same, bias_sd=np.zeros(6)),
                                                 BOX).phi for w in (True, False)]
    np.testing.assert_allclose(got[0], got[1], rtol=1e-6)
    other = compress(rows, noise=NOISE, bias_sd=np.zeros(6))
    got = [estimator("pmd", pmd__whiten=w).solve(other, BOX).phi for w in (True, False)]
    assert np.abs(got[0] - got[1]).max() > 1e-6


def test_pmd_with_a_single_active_point_still_has_extent():
    rng = np.random.default_rng(9)
    corner = BOX.spread(8)[3]
    rows = make_rows(rng, phi_from_points(corner[None], [0.8]), motion(rng, 200, 5.0, 2.0),
                     noise=NOISE * 1e-3)
    got = estimator("pmd", pmd__regularization=1e-4, pmd__points=8).solve(compress(rows), BOX)
    assert is_consistent(got.phi)
    np.testing.assert_allclose(got.phi[:4], phi_from_points(corner[None], [0.8])[:4], rtol=1e-3)
