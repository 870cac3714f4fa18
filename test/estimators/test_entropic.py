# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`entropic`: least squares with the prior of Lee, Wensing, Park 2020, against cvxpy and laws."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from problems import (
    NOISE,
    Data,
    Rows,
    box,
    compress,
    create,
    make_rows,
    motion,
    objective,
    residuals,
)

from inertial_id_ros.estimators import entropic
from inertial_id_ros.estimators.reference_body import regularise
from inertial_id_ros.inertia import Array, point_columns, pseudo_inertia
from inertial_id_ros.settings import Settings

SHAPE = box()


def body_in_the_box(rng: np.random.Generator, points: int = 6) -> Array:
    """phi (10,) of 1.2 kg in a few points within the shape."""
    where = rng.uniform(*SHAPE.bounds, (points, 3))
    return 1.2 * (point_columns(where) @ rng.dirichlet(np.ones(points)))


def divergence(phi: Array, prior: Array) -> float:
    """``tr(J0^-1 J) - log det(J0^-1 J)`` of two bodies (10,)."""
    ratio = np.linalg.solve(pseudo_inertia(prior), pseudo_inertia(phi))
    return float(np.trace(ratio) - np.linalg.slogdet(ratio)[1])


def least_by_cvxpy(rows: Rows, sensor: Data, weighting: str, prior_phi: Array, gamma: float
                   ) -> tuple[float, Array]:
    """Least value and phi (10,) of whitened squares of all rows, plus the divergence from a body.

    That is ``gamma (-log det Z + tr Z)`` with ``Z = L^-1 J(phi) L^-T``, ``L L' = J(prior_phi)``: in
    other units solvers fail, as J has entries of 1 and of 1e-4.
    """
    phi, bias = cp.Variable(10), cp.Variable(6)
    squares = [cp.sum_squares((bias - sensor.bias_mean) / sensor.bias_sd)]
    for a, b, y in residuals(rows, weighting):
        scale = 1.0 / np.tile(sensor.noise, len(y) // 6)
        squares.append(cp.sum_squares((scale[:, None] * a) @ phi + (scale[:, None] * b) @ bias
                                      - scale * y))
    unit = np.linalg.inv(np.linalg.cholesky(pseudo_inertia(prior_phi)))
    whitened = sum(phi[k] * (unit @ pseudo_inertia(e) @ unit.T) for k, e in enumerate(np.eye(10)))
    problem = cp.Problem(cp.Minimize(
        sum(squares) + gamma * (cp.trace(whitened) - cp.log_det(whitened))))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return float(problem.value), np.asarray(phi.value)


@pytest.mark.parametrize("gamma", [0.1, 8.0, 300.0])
@pytest.mark.parametrize("weighting", ["noise", "dynamism"])
def test_agrees_with_cvxpy_on_all_rows(rng: np.random.Generator, gamma: float, weighting: str,
                                       monkeypatch: pytest.MonkeyPatch) -> None:
    """The objective, with the prior about the body of the measured mass, is the one that the
    program stated with cvxpy on every row reaches."""
    rows = make_rows(rng, body_in_the_box(rng), motion(rng, 60, speed=0.7), bias=0.05)
    problem = compress(rows)
    marginal = problem.problems[weighting]
    mass = regularise(marginal, SHAPE).mass
    prior = mass * SHAPE.unit_phi
    wanted, best = least_by_cvxpy(rows, problem, weighting, prior, gamma)
    monkeypatch.setattr(entropic, "GAMMAS", (gamma,))
    settings = Settings().replace({"estimator.weighting": weighting})
    found = create(settings, "entropic").solve(problem, SHAPE)
    value = objective(marginal, found.phi) + gamma * divergence(found.phi, prior)
    assert value == pytest.approx(wanted, rel=1e-6)
    np.testing.assert_allclose(found.phi, best, rtol=1e-3, atol=1e-3 * found.phi[0] * 0.01)


def test_the_prior_is_half_the_hessian_of_the_regulariser(
        rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Second differences of ``gamma / 2 (-log det J)`` at the answer."""
    gamma = 3.0
    monkeypatch.setattr(entropic, "GAMMAS", (gamma,))
    noise = 100.0 * NOISE  # which leave the prior a part of the covariance
    problem = compress(make_rows(rng, body_in_the_box(rng), motion(rng, speed=2.0), noise), noise)
    settings = Settings().replace({"shape.error": 0.0})
    found = create(settings, "entropic").solve(problem, SHAPE)
    prior = np.linalg.inv(found.covariance) - problem.problems["noise"].information
    steps = np.linalg.cholesky(np.linalg.inv(prior))
    steps = steps @ np.linalg.qr(rng.normal(size=(10, 10)))[0]  # one standard deviation each

    def half(phi: Array) -> float:
        return -0.5 * gamma * float(np.linalg.slogdet(pseudo_inertia(phi))[1])

    h = 1e-3
    for step in steps.T:
        second = (half(found.phi + h * step) - 2.0 * half(found.phi)
                  + half(found.phi - h * step)) / h**2
        assert second == pytest.approx(1.0, rel=1e-3)
