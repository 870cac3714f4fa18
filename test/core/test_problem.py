# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The problem of the estimators against dense least squares on all rows."""

import numpy as np
import pytest
from problems import BIAS_SD, NOISE, make_rows, motion, random_phi

from inertial_id_ros.model.problem import Problem, blend, channel_triangles


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
def test_a_blend_is_dense_least_squares_of_both_models(seed):
    full, static, weight = random_rows(seed)
    parts = ((full, weight), (static, 1.0 - weight))
    check(blend(full, static, weight, NOISE, BIAS_SD), *dense_marginal(parts, BIAS_SD))


def test_one_model_without_known_bias_and_with():
    full, _, weight = random_rows(7)
    one = np.ones_like(weight)
    models = (channel_triangles(full, one),)
    check(Problem.from_models(models, NOISE, BIAS_SD), *dense_marginal([(full, one)], BIAS_SD))
    known = Problem.from_models(models, NOISE, np.zeros(6))
    check(known, *dense_marginal([(full, one)], np.full(6, 1e-9)))
    assert known.rows(1.0 / NOISE)[0].shape == (11, 11)


def test_an_estimate_comes_back():
    rng = np.random.default_rng(3)
    mean, root = rng.normal(size=10), rng.normal(size=(10, 10)) * 10.0 ** rng.uniform(-4, 2, 10)
    problem = Problem.from_estimate(mean, root.T @ root, 2.0)
    assert np.allclose(np.tril(problem.matrix, -1), 0.0)
    check(problem, mean, root.T @ root, 4.0)


def test_rows_with_a_prior_of_the_bias_give_the_marginal():
    full, static, weight = random_rows(11)
    problem = blend(full, static, weight, NOISE, BIAS_SD)
    rows = np.concatenate(problem.rows(1.0 / NOISE))
    upper = np.linalg.qr(rows, mode="r")[6:, 6:]
    assert np.allclose(np.abs(upper[:10, :10]), np.abs(problem.matrix), rtol=1e-6, atol=1e-7)
