# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The estimators against cvxpy on all rows, closed forms and optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from problems import (
    BOX,
    CONSISTENT,
    NOISE,
    compress,
    estimator,
    inside_box,
    make_rows,
    motion,
    poses,
    random_case,
    random_phi,
)

from inertial_id_ros.errors import InvalidShape, NotEnoughData
from inertial_id_ros.inertia import is_consistent, min_eigenvalue
from inertial_id_ros.model.problem import Problem
from inertial_id_ros.settings import ESTIMATORS


@pytest.mark.parametrize("weighting", ["noise", "dynamism"])
def test_wls_is_the_least_squares_solution_of_all_rows(weighting):
    for seed in range(24):
        problem, _ = random_case(seed, samples=100)
        got = estimator("wls", estimator__weighting=weighting).solve(problem, None)
        upper = problem.squares(weighting)
        best = upper[10, 10] ** 2
        assert problem.problems[weighting].residual ** 2 == pytest.approx(best, rel=1e-8)
        assert np.sum((upper @ np.r_[got.phi, -1.0]) ** 2) <= best * (1.0 + 1e-6)
        # The weak prior moves an observed parameter by a tiny part of its standard deviation.
        want = np.linalg.solve(upper[:10, :10], upper[:10, 10])
        sigma = np.linalg.norm(np.linalg.inv(upper[:10, :10]), axis=1)
        known = sigma < np.abs(want)
        assert np.all(np.abs(got.phi - want)[known] <= 1e-3 * sigma[known])
        np.testing.assert_allclose(np.sqrt(np.diag(got.covariance))[known], sigma[known], rtol=1e-3)


@pytest.mark.parametrize("is_known", [True, False])
def test_ols_is_unweighted_least_squares_with_a_known_or_a_free_bias(is_known):
    rng = np.random.default_rng(3)
    mean = rng.normal(size=6)
    rows = make_rows(rng, random_phi(rng), motion(rng, 300, 5.0, 2.0), bias=mean)
    data = compress(rows, bias_mean=mean, bias_sd=np.zeros(6) if is_known else None)
    got = estimator("ols").solve(data, None)
    columns = rows.full if is_known else np.concatenate(
        [rows.full, np.tile(np.eye(6), (len(rows.full), 1, 1))], axis=2)
    want = np.linalg.lstsq(columns.reshape(-1, columns.shape[2]), (rows.wrench - mean).ravel(),
                           rcond=None)[0][:10]
    np.testing.assert_allclose(got.phi, want, rtol=1e-5, atol=1e-7)
    with pytest.raises(NotEnoughData, match="rows"):
        estimator("ols").made.solve(Problem(np.eye(10), np.ones(10)), None)


@pytest.mark.slow
@pytest.mark.parametrize("name", (*CONSISTENT, "wls"))
def test_whatever_the_data_there_is_a_body_or_a_reason(name):
    """Partly outside of the shape; still, about one axis, a sample or two, hardly moving, noisy."""
    answers, t = 0, np.linspace(0.0, 3.0, 200)[:, None] * [0.0, 0.0, 2.0]
    down = np.tile([0.0, 0.0, -9.81], (200, 1))
    for seed in range(48):
        rng = np.random.default_rng(seed)
        phi = random_phi(rng, points=int(rng.choice([1, 2, 8])), offset=0.3)
        moving = (poses(rng, 1), poses(rng, 3), poses(rng, 1, 1), motion(rng, 2),
                  (-down, np.cos(t) * [0, 0, 1], -2.0 * np.sin(t), down),
                  motion(rng, 60, 2.0, 10.0 ** rng.uniform(-1.3, 0.5)))[seed % 6]
        rows = make_rows(rng, phi, moving, NOISE * rng.choice([1.0, 20.0]))
        data = compress(rows, bias_sd=np.zeros(6) if seed % 4 < 2 else None)
        weighting = "dynamism" if seed % 3 == 0 and name != "density" else "noise"
        try:
            got = estimator(name, estimator__weighting=weighting).solve(data, BOX)
        except NotEnoughData:
            continue
        answers += 1
        assert np.isfinite(got.phi).all()
        if name in CONSISTENT:
            assert is_consistent(got.phi) and min_eigenvalue(got.phi) > 0.0
        sd = np.sqrt(np.diag(got.covariance))
        assert np.linalg.eigvalsh(got.covariance / np.outer(sd, sd))[0] > -1e-12
    assert answers > 24


@pytest.mark.parametrize("name", ESTIMATORS)
def test_without_a_sample_there_is_no_answer(name):
    for value in (0.0, np.nan):
        rows = np.full((6, 12, 12), value)
        problem = Problem(np.full((10, 10), value), np.full(10, value), models=(rows,))
        with pytest.raises(NotEnoughData):
            estimator(name).made.solve(problem, BOX)


@pytest.mark.parametrize("name", CONSISTENT)
def test_the_wrong_sign_gives_a_reason_and_no_body(name):
    rng = np.random.default_rng(10)
    for moving, bias_sd in ((motion(rng, 200), None), (poses(rng, 6), np.zeros(6))):
        rows = make_rows(rng, -inside_box(rng, 20), moving)
        with pytest.raises(NotEnoughData, match="opposite sign"):
            estimator(name).solve(compress(rows, bias_sd=bias_sd), BOX)


@pytest.mark.parametrize("name", ["entropic", "pmd"])
def test_estimators_that_need_a_shape_say_so(name):
    problem, _ = random_case(0)
    with pytest.raises(InvalidShape, match=name):
        estimator(name).solve(problem, None)
