# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The estimators against cvxpy on all rows, closed forms and optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from problems import (
    BIAS_SD,
    BOX,
    CONSISTENT,
    NOISE,
    compress,
    cost,
    estimator,
    inside_box,
    make_rows,
    motion,
    poses,
    random_case,
    random_phi,
    residuals,
)

from inertial_id_ros.errors import InvalidShape, NotEnoughData
from inertial_id_ros.inertia import is_consistent, min_eigenvalue
from inertial_id_ros.model.problem import Problem, blend, channel_triangles
from inertial_id_ros.settings import ESTIMATORS


@pytest.mark.parametrize("weighting", ["noise", "dynamism"])
def test_wls_is_the_least_squares_solution_of_all_rows(weighting):
    for seed in range(12):
        rows, problem = random_case(2 * seed, samples=100)
        got = estimator("wls", estimator__weighting=weighting).solve(problem, None)
        stacks = [np.hstack([a, b, y[:, None]]) / np.tile(NOISE, len(y) // 6)[:, None]
                  for a, b, y in residuals(rows, weighting)]
        stacks.append(np.hstack([np.zeros((6, 10)), np.diag(1 / BIAS_SD), np.zeros((6, 1))]))
        all_rows = np.vstack(stacks)
        want = np.linalg.lstsq(all_rows[:, :-1], all_rows[:, -1], rcond=None)[0]
        best = np.sum((all_rows[:, :-1] @ want - all_rows[:, -1]) ** 2)
        assert cost(rows, problem, weighting, got.phi) <= best * (1.0 + 1e-6)
        # The weak prior moves an observed parameter by a tiny part of its standard deviation.
        sigma = np.sqrt(np.diag(np.linalg.inv(all_rows[:, :-1].T @ all_rows[:, :-1])))[:10]
        known = sigma < np.abs(want[:10])
        assert np.all(np.abs(got.phi - want[:10])[known] <= 1e-3 * sigma[known])


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


def random_rows(seed):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, random_phi(rng), motion(rng, 200), bias=rng.normal(size=6) * BIAS_SD / 5)
    y = rows.wrench[:, :, None]
    return (np.concatenate([rows.full, y], 2), np.concatenate([rows.static, y], 2), rows.weight)


def dense_marginal(parts, bias_sd):
    """Mean, covariance of phi and sum of squares left, by normal equations on all rows."""
    eye = np.eye(6)
    blocks = [np.concatenate([rows[:, c, :10], np.tile(eye[c], (len(rows), 1)),
                              rows[:, c, 10:]], 1) * (w / NOISE[c])[:, None]
              for rows, w in parts for c in range(6)]
    prior = np.hstack([np.zeros((6, 10)), np.diag(1.0 / bias_sd), np.zeros((6, 1))])
    a = np.concatenate([*blocks, prior])
    covariance = np.linalg.inv(a[:, :-1].T @ a[:, :-1])
    x = covariance @ (a[:, :-1].T @ a[:, -1])
    return x[:10], covariance[:10, :10], np.sum((a[:, :-1] @ x - a[:, -1]) ** 2)


def check(problem, mean, covariance, squares):
    assert np.allclose(np.linalg.solve(problem.matrix, problem.target), mean, rtol=1e-6, atol=1e-9)
    assert np.allclose(np.linalg.inv(problem.matrix.T @ problem.matrix), covariance, rtol=1e-6,
                       atol=1e-8 * covariance.max())
    assert problem.residual ** 2 == pytest.approx(squares, rel=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_a_problem_is_dense_least_squares_of_its_models(seed):
    full, static, weight = random_rows(seed)
    blended, one = blend(full, static, weight, NOISE, BIAS_SD), np.ones_like(weight)
    check(blended, *dense_marginal(((full, weight), (static, 1.0 - weight)), BIAS_SD))
    upper = np.linalg.qr(np.concatenate(blended.rows(1.0 / NOISE)), mode="r")[6:, 6:]
    assert np.allclose(np.abs(upper[:10, :10]), np.abs(blended.matrix), rtol=1e-6, atol=1e-7)
    models = (channel_triangles(full, one),)
    check(Problem.from_models(models, NOISE, BIAS_SD), *dense_marginal([(full, one)], BIAS_SD))
    known = Problem.from_models(models, NOISE, np.zeros(6))
    check(known, *dense_marginal([(full, one)], np.full(6, 1e-9)))
    assert known.rows(1.0 / NOISE)[0].shape == (11, 11)


@pytest.mark.parametrize("name", ["entropic", "pmd"])
def test_estimators_that_need_a_shape_say_so(name):
    _, problem = random_case(0)
    with pytest.raises(InvalidShape, match=name):
        estimator(name).solve(problem, None)
