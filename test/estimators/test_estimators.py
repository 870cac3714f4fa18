# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The estimators against least squares and their statements in cvxpy on all rows; with
``lmi.support: ellipsoids`` all mass is in a union of ellipsoids (Wensing et al. 2017, Corollary 2),
against point masses that fill it."""

import cvxpy as cp
import numpy as np
import problems
import pytest
from problems import BOX, compress, estimator, inside_box, make_rows, motion, poses
from scipy.optimize import nnls

from inertial_id_ros.errors import InvalidData, NotEnoughData
from inertial_id_ros.estimators import entropic, pmd
from inertial_id_ros.estimators.reference_body import (
    MARGIN,
    MASS,
    WEAK_PRIOR_SD,
    reference_body,
    regularise,
    smat,
)
from inertial_id_ros.geometry.shape import join_shapes, shape_from_primitive
from inertial_id_ros.inertia import is_consistent, min_eigenvalue, point_columns, pseudo_inertia
from inertial_id_ros.model.problem import Problem
from inertial_id_ros.settings import ESTIMATORS


@pytest.mark.parametrize("weighting", ["noise", "dynamism"])
def test_wls_is_the_least_squares_solution_of_all_rows(weighting):
    for seed in range(24):
        problem, _ = problems.random_case(seed, samples=100)
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
    rows = make_rows(rng, problems.random_phi(rng), motion(rng, 300, 5.0, 2.0), bias=mean)
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
@pytest.mark.parametrize("name", (*problems.CONSISTENT, "wls"))
def test_whatever_the_data_there_is_a_body_or_a_reason(name):
    """Partly outside of the shape; still, about one axis, a sample or two, hardly moving, noisy."""
    answers, t = 0, np.linspace(0.0, 3.0, 200)[:, None] * [0.0, 0.0, 2.0]
    down = np.tile([0.0, 0.0, -9.81], (200, 1))
    for seed in range(48):
        rng = np.random.default_rng(seed)
        phi = problems.random_phi(rng, points=int(rng.choice([1, 2, 8])), offset=0.3)
        moving = (poses(rng, 1), poses(rng, 3), poses(rng, 1, 1), motion(rng, 2),
                  (-down, np.cos(t) * [0, 0, 1], -2.0 * np.sin(t), down),
                  motion(rng, 60, 2.0, 10.0 ** rng.uniform(-1.3, 0.5)))[seed % 6]
        rows = make_rows(rng, phi, moving, problems.NOISE * rng.choice([1.0, 20.0]))
        data = compress(rows, bias_sd=np.zeros(6) if seed % 4 < 2 else None)
        weighting = "dynamism" if seed % 3 == 0 and name != "density" else "noise"
        try:
            got = estimator(name, estimator__weighting=weighting).solve(data, BOX)
        except NotEnoughData:
            continue
        answers += 1
        assert np.isfinite(got.phi).all()
        if name in problems.CONSISTENT:
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


@pytest.mark.parametrize("name", problems.CONSISTENT)
def test_the_wrong_sign_gives_a_reason_and_no_body(name):
    rng = np.random.default_rng(10)
    for moving, bias_sd in ((motion(rng, 200), None), (poses(rng, 6), np.zeros(6))):
        rows = make_rows(rng, -inside_box(rng, 20), moving)
        with pytest.raises(NotEnoughData):
            estimator(name).solve(compress(rows, bias_sd=bias_sd), BOX)


@pytest.mark.parametrize("name", ["entropic", "pmd"])
def test_estimators_that_need_a_shape_say_so(name):
    problem, _ = problems.random_case(0)
    with pytest.raises(InvalidData, match=name):
        estimator(name).solve(problem, None)


# ---- optima -----------------------------------------------------------------------------------


def constraints(body, shape, support):
    """Rows (k, 10) of ``rows @ x >= 0`` in the coordinates of a reference body."""
    if support == "ellipsoid":
        return np.array([[np.trace(pseudo_inertia(e) @ shape.ellipsoid) for e in body.to_phi.T]])
    if support == "box":
        mass, center = body.to_phi[0], body.to_phi[1:4]
        lower, upper = (np.outer(bound, mass) for bound in shape.bounds)
        return np.concatenate([center - lower, upper - center])
    return np.empty((0, 10))


@pytest.mark.slow
@pytest.mark.parametrize(("make", "methods"), [
    (problems.random_case, ("lmi", "manifold")), (problems.hard_case, ("lmi",))])
def test_no_body_is_better_than_that_of_lmi_and_manifold(make, methods):
    """In a hundred problems each; also where constraints of the shape hold."""
    solved, active, linear = 0, 0, 0
    for seed in range(100):
        problem, shape = make(seed)
        weighting = ("noise", "dynamism")[(seed // 2) % 2]
        support = ("none", "box", "ellipsoid")[seed % 3]
        told = None if support == "none" and seed % 4 else shape
        try:
            found = [estimator(method, estimator__weighting=weighting, lmi__support=support).solve(
                problem, told).phi for method in (methods if support == "none" else ("lmi",))]
        except NotEnoughData:
            continue
        solved += 1
        body, data = reference_body(told), regularise(problem.problems[weighting], told)
        limits = constraints(body, told, support)
        whole = problem.squares(weighting)
        prior = np.column_stack([np.eye(10), data.compact])[:MASS] / (
            WEAK_PRIOR_SD * data.mass_scale)
        whole[:, :10] = whole[:, :10] @ body.to_phi
        upper = np.linalg.qr(np.vstack([whole, prior]), mode="r")
        x = cp.Variable(10)  # over the mass scale
        margin = sum((row @ x) * smat(e) for row, e in zip(MARGIN, np.eye(10), strict=True))
        best = problems.least(cp.sum_squares(data.mass_scale * upper[:, :10] @ x - upper[:, 10]),
                              [margin >> 0, limits @ x >= 0])
        for phi in found:
            x = body.from_phi @ phi
            least_margin, slack = np.linalg.eigvalsh(smat(MARGIN @ x))[0], limits @ x
            assert is_consistent(phi)
            assert least_margin >= -1e-9 * x[MASS] and np.all(slack >= -1e-9 * x[MASS]), seed
            value = np.sum((upper @ np.r_[x, -1.0])**2)
            assert abs(value - best) <= 1e-6 * (1.0 + value), (seed, value, best)
            active += least_margin < 1e-6 * x[MASS]
            linear += bool(np.any(slack < 1e-6 * x[MASS]))
    assert solved >= 96 and active >= 33 * len(methods) and linear >= 6, (solved, active, linear)


@pytest.mark.slow
@pytest.mark.parametrize("make", [problems.random_case, problems.hard_case])
@pytest.mark.parametrize("form", ["norm", "squared"])
def test_pmd_reaches_the_optimum_over_point_masses(form, make, monkeypatch):
    """In 50 problems each, to a hundredth of the noise."""
    solved = 0
    monkeypatch.setattr(pmd, "POINTS", 24)
    for seed in range(50):
        problem, shape = make(seed)
        weighting = ("noise", "dynamism")[(seed // 2) % 2]
        weight = (0.1, 1.0, 1e-2)[seed % 3]
        monkeypatch.setattr(pmd, "LAMBDA", weight)
        try:
            phi = estimator("pmd", pmd__form=form, estimator__weighting=weighting).solve(
                problem, shape).phi
        except NotEnoughData:
            continue
        solved += 1
        measure = cp.norm if form == "norm" else cp.sum_squares
        columns, masses = point_columns(shape.spread(24)), phi[0] * cp.Variable(24, nonneg=True)
        bias = cp.Variable(6 if problem.has_bias else 0)
        unit = problem.noise[:3].mean()
        problems.least(weight * measure(masses) + sum(
            measure(f[:, :-11] @ bias + f[:, -11:-1] @ columns @ masses - f[:, -1])
            for f in problem.factors(weighting, unit)))
        # A body of few points gets a millionth of its mass elsewhere, which a precise sensor sees.
        best = reference_body(shape).make_consistent(columns @ masses.value)
        assert is_consistent(phi)
        assert np.linalg.norm(problem.problems[weighting].matrix @ (phi - best)) < 0.01, seed
    assert solved >= 46


@pytest.mark.slow
def test_lmi_in_a_union_is_the_optimum_of_point_masses_that_fill_it(rng) -> None:
    """From inside: point masses never fit better, but nearly as well. One ellipsoid alone fits
    worse."""
    parts = [shape_from_primitive("sphere", [0.05], problems.pose_at([-0.1, 0.0, 0.1])),
             shape_from_primitive("box", [0.04, 0.1, 0.06], problems.pose_at([0.08, 0.02, 0.1]))]
    union, made = join_shapes(parts), estimator("lmi", lmi__support="ellipsoids")
    points = []
    for form in union.ellipsoids:  # on and in each ``[x; 1]' Q [x; 1] >= 0``
        center = np.linalg.solve(-form[:3, :3], form[:3, 3])
        size = form[3, 3] - center @ form[:3, :3] @ center
        root = np.linalg.cholesky(np.linalg.inv(-form[:3, :3]) * size)
        ball = rng.normal(size=(5000, 3))
        ball /= np.linalg.norm(ball, axis=1)[:, None]
        points += [ball @ root.T + center, 0.5 * ball @ root.T + center]
    columns = point_columns(np.concatenate(points))
    for _ in range(3):  # bodies partly outside of both
        places = rng.uniform(-0.15, 0.15, (3, 3)) + [0.0, 0.0, 0.1]
        phi = point_columns(places) @ np.full(3, 0.4)
        problem = compress(make_rows(rng, phi, motion(rng, 300)))
        matrix, target = problem.problems["noise"].matrix, problem.problems["noise"].target
        found, *alone = (made.solve(problem, shape).phi for shape in (union, *parts))
        misfits = [np.linalg.norm(matrix @ phi - target) for phi in (found, *alone)]
        assert is_consistent(found) and min(misfits[1:]) >= misfits[0] * (1.0 - 1e-6)
        best = nnls(matrix @ columns, target, maxiter=20_000)[1]
        assert -1e-4 < best / misfits[0] - 1.0 < 5e-3


@pytest.mark.parametrize("gamma", [0.1, 8.0, 300.0])
@pytest.mark.parametrize("weighting", ["noise", "dynamism"])
def test_entropic_is_the_optimum_with_its_divergence_from_the_shape(
        rng, gamma, weighting, monkeypatch) -> None:
    """Lee, Wensing, Park 2020: ``gamma (tr Z - log det Z)``, ``Z = L^-1 J(phi) L^-T``, about the
    body ``J = L L'`` of the measured mass; in other units solvers fail."""
    problem = compress(make_rows(rng, inside_box(rng, 6), motion(rng, 60, speed=0.7), bias=0.05))
    prior = regularise(problem.problems[weighting], BOX).mass * BOX.unit_phi
    unit = np.linalg.inv(np.linalg.cholesky(pseudo_inertia(prior)))
    phi = cp.Variable(10)
    Z = sum(phi[k] * (unit @ pseudo_inertia(e) @ unit.T) for k, e in enumerate(np.eye(10)))
    upper = problem.squares(weighting)
    wanted = problems.least(cp.sum_squares(upper[:, :10] @ phi - upper[:, 10])
                            + gamma * (cp.trace(Z) - cp.log_det(Z)))
    best = phi.value
    monkeypatch.setattr(entropic, "GAMMAS", (gamma,))
    phi.value = estimator("entropic", estimator__weighting=weighting).solve(problem, BOX).phi
    value = np.sum((upper @ np.r_[phi.value, -1.0])**2) + gamma * (
        np.trace(Z.value) - np.linalg.slogdet(Z.value)[1])
    assert value == pytest.approx(wanted, rel=1e-6)
    np.testing.assert_allclose(phi.value, best, rtol=1e-3, atol=1e-5 * best[0])


def test_the_prior_of_entropic_is_half_the_hessian_of_the_regulariser(rng, monkeypatch) -> None:
    """Second differences of ``gamma / 2 (-log det J)`` at the answer."""
    gamma, h = 3.0, 1e-3
    monkeypatch.setattr(entropic, "GAMMAS", (gamma,))
    noise = 100.0 * problems.NOISE  # which leave the prior a part of the covariance
    problem = compress(make_rows(rng, inside_box(rng, 6), motion(rng, speed=2.0), noise), noise)
    found = estimator("entropic", shape__error=0.0).solve(problem, BOX)
    prior = np.linalg.inv(found.covariance) - (root := problem.problems["noise"].matrix).T @ root
    steps = np.linalg.cholesky(np.linalg.inv(prior))
    steps = steps @ np.linalg.qr(rng.normal(size=(10, 10)))[0]  # one standard deviation each
    for step in h * steps.T:
        before, at, after = (-0.5 * gamma * np.linalg.slogdet(pseudo_inertia(found.phi + d))[1]
                             for d in (-step, 0.0 * step, step))
        assert (before - 2.0 * at + after) / h**2 == pytest.approx(1.0, rel=1e-3)
