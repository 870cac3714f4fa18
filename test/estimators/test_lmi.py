# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`lmi`: the optimum of all rows under physical consistency."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest
from estimator_cases import (
    BOX,
    cost,
    estimator,
    inside_box,
    random_case,
    sensor,
    smallest_eigenvalue,
)
from problems import (
    compress,
    make_rows,
    motion,
)
from scipy.spatial.transform import Rotation

from inertial_id_ros.errors import InvalidShape
from inertial_id_ros.estimators import cvxpy_statements, lmi
from inertial_id_ros.estimators.reference_body import reference_body
from inertial_id_ros.estimators.solvers import dual_newton
from inertial_id_ros.estimators.solvers.triangle_vector import smat, svec
from inertial_id_ros.inertia import is_consistent, phi_from_points, pseudo_inertia, transform_phi


@pytest.mark.slow
def test_lmi_reaches_the_optimum_of_all_rows_in_two_hundred_random_problems():
    active = solved = 0
    for seed in range(210):
        rows, problem = random_case(seed)
        weighting = ("noise", "dynamism")[(seed // 2) % 2]
        support = ("none", "box", "ellipsoid")[seed % 3]
        bound = (0.0, 0.5)[seed % 7 == 0]
        shape = None if support == "none" else BOX
        got = estimator("lmi", estimator__weighting=weighting, lmi__support=support,
                        estimator__max_mass=bound).solve(problem, shape)
        assert is_consistent(got.phi)
        assert bound == 0.0 or got.phi[0] <= bound * (1.0 + 1e-12)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                want = cvxpy_statements.lmi(
                    rows, sensor(problem), weighting, reference_body(shape).unit_phi, 1e-6, shape,
                    support, bound)
        except cp.error.SolverError:  # the reference itself gave up
            continue
        solved += 1
        got_cost = cost(rows, problem, weighting, got)
        assert got_cost == pytest.approx(cost(rows, problem, weighting, want), rel=1e-6), seed
        active += smallest_eigenvalue(reference_body(shape), got.phi) < 2e-6
    assert solved >= 200 and active >= 50


def test_lmi_satisfies_the_optimality_conditions_of_the_semidefinite_program():
    epsilon = 1e-4
    for seed in range(30):
        rng = np.random.default_rng(seed)
        rows = make_rows(rng, inside_box(rng, 3), motion(rng, 200, 3.0, 1.0))
        problem = compress(rows)
        got = estimator("lmi", lmi__epsilon=epsilon).solve(problem, None)
        body = reference_body(None)
        marginal = problem.marginal("noise")
        # gradient = adjoint of the constraint at a dual matrix Z; then Z >= 0 and Z : slack = 0.
        margin = np.eye(10) - epsilon * np.outer(svec(np.eye(4)), np.eye(10)[9])
        residual = marginal.matrix @ got.phi - marginal.target
        gradient = (marginal.matrix @ body.to_phi).T @ residual
        dual = smat(np.linalg.solve(margin.T, gradient))
        slack = smat(margin @ body.from_phi @ got.phi)
        scale = max(1.0, np.linalg.norm(dual))
        assert np.linalg.eigvalsh(slack)[0] >= -1e-12
        assert np.linalg.eigvalsh(dual)[0] >= -1e-4 * scale
        assert abs(np.trace(dual @ slack)) <= 1e-5 * scale, seed


def test_lmi_returns_least_squares_when_that_is_consistent():
    rng = np.random.default_rng(5)
    rows = make_rows(rng, inside_box(rng, 20), motion(rng, 2000, 20.0, 2.0))
    problem = compress(rows)
    lmi, wls = (estimator(n).solve(problem, None) for n in ("lmi", "wls"))
    assert is_consistent(wls.phi)
    np.testing.assert_array_equal(lmi.phi, wls.phi)


def test_lmi_does_not_depend_on_the_axes_of_the_sensor():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        moving = motion(rng, 200, 3.0, 1.0)
        turn = Rotation.random(random_state=rng)
        rows = make_rows(rng, inside_box(rng, 3), moving)
        turned = make_rows(rng, np.zeros(10), tuple(turn.apply(v) for v in moving), noise=0.0)
        wrench = np.hstack([turn.apply(rows.wrench[:, :3]), turn.apply(rows.wrench[:, 3:])])
        turned = cvxpy_statements.Rows(turned.full, turned.static, wrench, rows.weight)
        here = estimator("lmi").solve(compress(rows), None)
        there = estimator("lmi").solve(compress(turned), None)
        want = transform_phi(here.phi, turn.as_matrix(), np.zeros(3))
        sd = np.sqrt(np.diag(np.linalg.inv(compress(turned).marginal("noise").information)))
        assert np.all(np.abs(there.phi - want) <= 1e-3 * sd + 1e-9)


def test_lmi_keeps_the_mass_where_the_shape_is():
    rng = np.random.default_rng(6)
    lower, upper = BOX.bounds
    for seed in range(20):
        rng = np.random.default_rng(seed)
        outside = phi_from_points(BOX.points[:20] + [0.0, 0.1, 0.0], np.full(20, 0.05))
        problem = compress(make_rows(rng, outside, motion(rng, 100, 1.0, 0.5)))
        got = estimator("lmi", lmi__support="box").solve(problem, BOX).phi
        com = got[1:4] / got[0]
        assert np.all(com >= lower - 1e-6) and np.all(com <= upper + 1e-6)
        got = estimator("lmi", lmi__support="ellipsoid").solve(problem, BOX).phi
        assert np.trace(pseudo_inertia(got) @ BOX.ellipsoid) >= -1e-6 * got[0]
        # which implies the centre-of-mass ellipsoid (eq. 22)
        point = np.r_[got[1:4] / got[0], 1.0]
        assert point @ BOX.ellipsoid @ point >= -1e-6
    with pytest.raises(InvalidShape, match=r"lmi\.support"):
        estimator("lmi", lmi__support="box").solve(problem, None)


def test_one_lmi_estimator_gives_the_same_answer_whatever_it_solved_before():
    problems = [random_case(seed)[1] for seed in range(12)]
    kept = estimator("lmi")
    for problem in [*problems, *problems[::-1]]:
        fresh = estimator("lmi").solve(problem, None).phi
        np.testing.assert_allclose(kept.solve(problem, None).phi, fresh,
                                   atol=1e-5 * np.abs(fresh).max())


def test_newton_on_the_dual_and_the_interior_point_solver_find_the_same(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """Each alone; cost of the whole problem, and how often Newton's method comes to an end."""
    found, cold, warm = 0, estimator("lmi"), estimator("lmi")
    steps = dual_newton.solve_by_dual
    for seed in range(60):
        rows, problem = random_case(seed)
        if is_consistent(problem.marginal("noise").unconstrained_fit[0]):
            continue
        ended = []

        def watched(*arguments: object, seen: list[bool] = ended) -> object:
            seen.append((answer := steps(*arguments)) is not None)
            return answer

        with monkeypatch.context() as patch:
            patch.setattr(lmi, "solve_by_dual", watched)
            by_newton = warm.solve(problem, None)
            again = warm.solve(problem, None)  # from its own answer
            patch.setattr(lmi, "solve_by_dual", lambda *arguments: None)
            by_clarabel = cold.solve(problem, None)
        costs = [cost(rows, problem, "noise", s) for s in (by_newton, again, by_clarabel)]
        np.testing.assert_allclose(costs, costs[0], rtol=1e-9)
        found += len(ended) > 0 and all(ended[-1:])
    assert found > 25
