"""The estimators against cvxpy on all rows, closed forms and optimality conditions."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest
from problems import (
    BIAS_SD,
    NOISE,
    box,
    compress,
    make_rows,
    motion,
    poses,
    random_phi,
)
from scipy.optimize import nnls
from scipy.spatial.transform import Rotation

from inertial_id_ros.errors import InvalidShape, NotEnoughData, UnknownEstimator
from inertial_id_ros.estimators import Problem, create, names, reference
from inertial_id_ros.estimators.base import COLUMNS
from inertial_id_ros.estimators.nonnegative import nonnegative_least_squares
from inertial_id_ros.estimators.reference_body import reference_body
from inertial_id_ros.estimators.semidefinite import LeastDistance, smat, svec
from inertial_id_ros.estimators.weak_prior import regularise
from inertial_id_ros.inertia import (
    is_consistent,
    phi_from_points,
    point_columns,
    pseudo_inertia,
    transform_phi,
)
from inertial_id_ros.settings import Settings

BOX = box()
CONSISTENT = ("lmi", "pmd", "uniform", "density")


def estimator(name, **settings):
    return create(Settings().replace({k.replace("__", "."): v for k, v in settings.items()}), name)


def sensor(problem):
    return reference.Sensor(problem.noise, problem.bias_sd, problem.bias_mean)


def cost(rows, problem, weighting, solution):
    """Whitened sum of squares over all rows, with the bias prior."""
    total = 0.0
    for a, b, y in reference.residuals(rows, weighting):
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


def test_every_estimator_of_the_settings_is_registered():
    assert set(names()) >= {"ols", "wls", "uniform", "pmd", "lmi", "density"}
    with pytest.raises(UnknownEstimator, match="nonsense"):
        estimator("nonsense")


def test_the_triangle_vector_keeps_inner_products_and_matches_the_solver():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 4, 4))
    a, b = a + a.T, b + b.T
    assert svec(a) @ svec(b) == pytest.approx(np.trace(a @ b))
    np.testing.assert_allclose(smat(svec(a)), a)
    # The nearest positive semidefinite matrix has the negative eigenvalues cut off.
    values, vectors = np.linalg.eigh(a)
    nearest = LeastDistance(0, 10).solve(svec(a), np.eye(10))
    np.testing.assert_allclose(smat(svec(a) + nearest.z),
                               vectors * np.maximum(values, 0.0) @ vectors.T, atol=1e-6)


def test_in_its_own_coordinates_the_reference_body_is_the_unit():
    for shape in (None, BOX):
        body = reference_body(shape)
        np.testing.assert_allclose(smat(body.from_phi @ body.unit_phi), np.eye(4), atol=1e-12)
        np.testing.assert_allclose(body.to_phi @ body.from_phi, np.eye(10), atol=1e-12)


def test_nonnegative_least_squares_agrees_with_lawson_hanson():
    rng = np.random.default_rng(1)
    for _ in range(100):
        columns = rng.normal(size=(10, 40)) * 10 ** rng.uniform(-2, 2, (10, 1))
        target = columns @ np.maximum(rng.normal(size=40), 0.0) + rng.normal(size=10)
        mu = 10 ** rng.uniform(-6, 3)
        masses, residual = nonnegative_least_squares(columns, target, mu)
        want, _ = nnls(np.vstack([columns, np.sqrt(mu) * np.eye(40)]), np.r_[target, np.zeros(40)])

        def value(m, columns=columns, target=target, mu=mu):
            return np.sum((columns @ m - target) ** 2) + mu * m @ m

        assert masses.min() >= 0.0
        assert value(masses) <= value(want) * (1.0 + 1e-9) + 1e-12
        np.testing.assert_allclose(residual, target - columns @ masses,
                                   atol=1e-7 * np.linalg.norm(target))


@pytest.mark.parametrize("weighting", ["noise", "dynamism"])
def test_wls_is_the_least_squares_solution_of_all_rows(weighting):
    for seed in range(12):
        rows, problem = random_case(2 * seed, samples=100)
        got = estimator("wls", estimator__weighting=weighting).solve(problem, None)
        stacks = [np.hstack([a, b, y[:, None]]) / np.tile(NOISE, len(y) // 6)[:, None]
                  for a, b, y in reference.residuals(rows, weighting)]
        stacks.append(np.hstack([np.zeros((6, 10)), np.diag(1 / BIAS_SD), np.zeros((6, 1))]))
        all_rows = np.vstack(stacks)
        want = np.linalg.lstsq(all_rows[:, :-1], all_rows[:, -1], rcond=None)[0]
        best = np.sum((all_rows[:, :-1] @ want - all_rows[:, -1]) ** 2)
        assert cost(rows, problem, weighting, got) <= best * (1.0 + 1e-6)
        # The weak prior moves an observed parameter by a tiny part of its standard deviation.
        sigma = np.sqrt(np.diag(np.linalg.inv(all_rows[:, :-1].T @ all_rows[:, :-1])))[:10]
        known = sigma < np.abs(want[:10])
        assert np.all(np.abs(got.phi - want[:10])[known] <= 1e-3 * sigma[known])


def test_ols_is_unweighted_least_squares_with_known_biases():
    rng = np.random.default_rng(3)
    mean = rng.normal(size=6)
    rows = make_rows(rng, random_phi(rng), motion(rng, 300, 5.0, 2.0), bias=mean)
    got = estimator("ols").solve(compress(rows, bias_mean=mean), None)
    want = np.linalg.lstsq(rows.full.reshape(-1, 10), (rows.wrench - mean).ravel(), rcond=None)[0]
    np.testing.assert_allclose(got.phi, want, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(got.bias, mean)


def test_uniform_measures_the_mass_of_a_body_whose_centre_is_not_the_shapes():
    """A load at one end of the box must not pull the mass through the torque."""
    rng = np.random.default_rng(8)
    lower, upper = BOX.bounds
    phi = phi_from_points(lower + (upper - lower) * rng.uniform([0, 0, 0], [1, 1, 0.2], (20, 3)),
                          np.full(20, 1.3 / 20))
    got = estimator("uniform").solve(compress(make_rows(rng, phi, motion(rng, 500))), BOX)
    assert got.phi[0] == pytest.approx(1.3, rel=5e-3)


def test_uniform_measures_the_mass_of_an_evenly_filled_shape():
    rng = np.random.default_rng(4)
    rows = make_rows(rng, BOX.uniform(1.3), motion(rng, 500), bias=np.full(6, 0.1))
    got = estimator("uniform").solve(compress(rows), BOX)
    assert got.phi[0] == pytest.approx(1.3, rel=2e-3)
    np.testing.assert_allclose(got.phi, BOX.uniform(got.phi[0]))
    np.testing.assert_allclose(got.bias, 0.1, atol=0.05)
    # One-parameter fit with free biases: no other multiple of the shape costs less.
    problem = compress(rows)
    marginal = problem.marginal("noise")
    for factor in (0.999, 1.001):
        assert marginal.objective(got.phi) < marginal.objective(factor * got.phi)


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
                want = reference.lmi(rows, sensor(problem), weighting,
                                     reference_body(shape).unit_phi, 1e-6, shape, support, bound)
        except cp.error.SolverError:  # the reference itself gave up
            continue
        solved += 1
        got_cost = cost(rows, problem, weighting, got)
        assert got_cost == pytest.approx(cost(rows, problem, weighting, want), rel=1e-6), seed
        active += reference_body(shape).smallest_eigenvalue(got.phi) < 2e-6
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
        turned = reference.Rows(turned.full, turned.static, wrench, rows.weight)
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
                want = reference.pmd(rows, sensor(problem), weighting, points, weight, whiten, form)
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
             for a, b, y in reference.residuals(rows, weighting)]
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


@pytest.mark.parametrize("name", CONSISTENT)
def test_a_thin_sheet_is_still_a_body(name):
    rng = np.random.default_rng(14)
    sheet = box((0.6, 0.6, 0.0005), (0.0, 0.0, 0.1))
    for points in (1, 3, 20):
        where = sheet.surface[rng.choice(len(sheet.surface), points)] * [1.0, 1.0, 0.0]
        phi = phi_from_points(where + [0.0, 0.0, 0.1], np.full(points, 1.0 / points))
        rows = make_rows(rng, phi, motion(rng, 200, 3.0, 1.0))
        assert is_consistent(estimator(name).solve(compress(rows), sheet).phi)


@pytest.mark.parametrize("name", ["ols", "wls", "uniform", "pmd", "lmi"])
@pytest.mark.parametrize("case", ["one pose", "three poses", "one axis", "one sample"])
def test_degenerate_data_give_a_physical_answer_or_a_reason(name, case):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        phi = inside_box(rng, 10)
        if case == "one axis":
            t = np.linspace(0.0, 3.0, 200)[:, None]
            axis = np.array([[0.0, 0.0, 1.0]])
            down = np.tile([0.0, 0.0, -9.81], (200, 1))
            moving = (-down, np.cos(2 * t) * axis, -2 * np.sin(2 * t) * axis, down)
        else:
            moving = poses(rng, {"one pose": 1, "three poses": 3, "one sample": 1}[case],
                           1 if case == "one sample" else 200)
        rows = make_rows(rng, phi, moving)
        for bias_sd in (None, np.zeros(6)):
            problem = compress(rows, bias_sd=bias_sd)
            for weighting in ("noise", "dynamism"):
                got = estimator(name, estimator__weighting=weighting).solve(problem, BOX)
                assert np.isfinite(got.phi).all() and np.isfinite(got.prior_information).all()
                if name in CONSISTENT:
                    assert is_consistent(got.phi)
                if bias_sd is not None and name in ("wls", "lmi") and case != "one sample":
                    assert got.phi[0] == pytest.approx(phi[0], rel=0.02)
                information = problem.marginal(weighting).information + got.prior_information
                scale = np.sqrt(np.diag(information))
                assert np.linalg.eigvalsh(information / np.outer(scale, scale))[0] > 0.0


@pytest.mark.parametrize("name", ["ols", "wls", "uniform", "pmd", "lmi", "density"])
def test_without_a_sample_there_is_no_answer(name):
    empty = np.zeros((6 * COLUMNS, COLUMNS))
    problem = Problem(empty, empty, empty, NOISE, BIAS_SD, np.zeros(6), 0)
    with pytest.raises(NotEnoughData):
        estimator(name).solve(problem, BOX)
    broken = np.full((6 * COLUMNS, COLUMNS), np.nan)
    with pytest.raises(NotEnoughData):
        estimator(name).solve(Problem(broken, broken, broken, NOISE, BIAS_SD, np.zeros(6), 9), BOX)


@pytest.mark.parametrize("name", CONSISTENT)
def test_the_wrong_sign_gives_a_reason_and_no_body(name):
    rng = np.random.default_rng(10)
    rows = make_rows(rng, -inside_box(rng, 20), motion(rng, 200))
    with pytest.raises(NotEnoughData, match="convention"):
        estimator(name).solve(compress(rows), BOX)


@pytest.mark.parametrize("name", CONSISTENT)
def test_no_load_gives_a_physical_answer_or_a_reason(name):
    answers = reasons = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        problem = compress(make_rows(rng, np.zeros(10), motion(rng, 200)))
        try:
            got = estimator(name).solve(problem, BOX)
        except NotEnoughData:
            reasons += 1
        else:
            answers += 1
            assert is_consistent(got.phi) and got.phi[0] < 0.05
    assert answers + reasons == 20


@pytest.mark.parametrize("name", ["uniform", "pmd"])
def test_estimators_that_need_a_shape_say_so(name):
    _, problem = random_case(0)
    with pytest.raises(InvalidShape, match=name):
        estimator(name).solve(problem, None)


def test_the_weak_prior_fills_only_what_the_data_leave_open():
    rng = np.random.default_rng(11)
    phi = inside_box(rng, 20)
    problem = compress(make_rows(rng, phi, poses(rng, 12, 600)), bias_sd=np.zeros(6))
    marginal = problem.marginal("noise")
    # Still poses measure mass and first moment, here with four columns alone.
    four = np.linalg.lstsq(marginal.matrix[:, :4], marginal.target, rcond=None)[0]
    for shape in (None, BOX):
        body = reference_body(shape)
        data = regularise(marginal.matrix, marginal.target, body)
        got = body.to_phi @ data.optimum
        np.testing.assert_allclose(got[:4], four, rtol=1e-6, atol=1e-6 * four[0] * 0.05)
        # The rest is the reference body moved to the measured centre.
        com = got[1:4] / got[0]
        second = pseudo_inertia(got)[:3, :3] / got[0] - np.outer(com, com)
        unit = pseudo_inertia(body.unit_phi)
        want = unit[:3, :3] - np.outer(unit[:3, 3], unit[:3, 3])
        np.testing.assert_allclose(second, want, atol=2e-3 * np.trace(want))


def test_the_prior_information_makes_the_covariance_finite_and_marks_what_is_open():
    rng = np.random.default_rng(12)
    problem = compress(make_rows(rng, inside_box(rng, 20), poses(rng, 12, 600)))
    got = estimator("lmi").solve(problem, None)
    data = problem.marginal("noise").information
    covariance = np.linalg.inv(data + got.prior_information)
    assert np.sqrt(covariance[0, 0]) < 0.05
    share = 1.0 - np.diag(covariance @ got.prior_information)
    assert np.all(share[:4] > 0.99) and np.all(share[4:] < 0.01)


def test_settings_choose_what_the_estimator_does():
    rng = np.random.default_rng(13)
    problem = compress(make_rows(rng, inside_box(rng, 20), motion(rng, 200, 2.0, 1.0)))
    heavy = estimator("lmi").solve(problem, BOX).phi[0]
    light = estimator("lmi", estimator__max_mass=0.5 * heavy).solve(problem, BOX).phi[0]
    assert light == pytest.approx(0.5 * heavy, rel=1e-6)
    margins = [reference_body(None).smallest_eigenvalue(
        estimator("lmi", lmi__epsilon=e).solve(
            compress(make_rows(np.random.default_rng(1), inside_box(rng, 2),
                               motion(rng, 200, 2.0, 1.0))), None).phi) for e in (1e-6, 1e-2)]
    assert margins[0] < 1e-4 and margins[1] >= 1e-2 * (1.0 - 1e-6)
