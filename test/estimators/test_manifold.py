# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`manifold`: the optimum of `lmi`, on the road of Traversaro et al. 2016 over bodies."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from estimator_cases import objective, smallest_eigenvalue
from problems import compress, make_rows, motion, poses, random_phi
from reference import cvxpy_statements
from scipy.spatial.transform import Rotation

from inertial_id_ros.errors import NotEnoughData
from inertial_id_ros.estimators import create
from inertial_id_ros.estimators.manifold import Manifold
from inertial_id_ros.estimators.reference_body import reference_body, regularise
from inertial_id_ros.estimators.solvers import body_manifold
from inertial_id_ros.estimators.solvers.body_manifold import (
    Budget,
    LeastSquares,
    LocalProblem,
    Point,
    derivatives,
    expand_at,
    minimise,
)
from inertial_id_ros.estimators.solvers.interior_point import InteriorPath, smat, svec
from inertial_id_ros.inertia import (
    is_consistent,
    min_eigenvalue,
    phi_from_body,
    transform_matrix,
    transform_phi,
)
from inertial_id_ros.regression.problem import Marginal, Problem
from inertial_id_ros.settings import Settings

UNIT = reference_body(None).unit_phi


def varied(rng: np.random.Generator) -> Problem:
    """A recording of one to eight point masses: slow or fast, short or long, still or turning."""
    phi = random_phi(rng, points=int(rng.integers(1, 9)), size=10.0 ** rng.uniform(-2.0, -0.5),
                     offset=rng.uniform(0.0, 0.2))
    if rng.random() < 0.1:
        moving = poses(rng, int(rng.integers(1, 6)))
    else:
        moving = motion(rng, int(rng.integers(20, 400)), rng.uniform(0.5, 5.0),
                        10.0 ** rng.uniform(-1.0, 0.5))
    noise = np.repeat([0.1, 0.005], 3) * 10.0 ** rng.uniform(-1.0, 0.5)
    return compress(make_rows(rng, phi, moving, noise))


def active(rng: np.random.Generator, count: int) -> Iterator[Problem]:
    """Problems whose unconstrained optimum is no body."""
    wls = create(Settings(), "wls")
    while count:
        problem = varied(rng)
        if not is_consistent(wls.solve(problem, None).phi):
            count -= 1
            yield problem


def sum_of_squares(marginal: Marginal, phi: np.ndarray) -> float:
    """What both estimators minimise: the data, and the weak prior that fills what they leave."""
    data = regularise(marginal.matrix, marginal.target, reference_body(None))
    x = reference_body(None).from_phi @ phi
    return float(np.sum((data.matrix @ x - data.target) ** 2)) + marginal.upper[-1, -1] ** 2


def small_fit(rng: np.random.Generator, columns: int = 10) -> LeastSquares:
    """A well-scaled random problem whose unconstrained optimum is indefinite."""
    matrix = rng.normal(size=(columns, 10))
    indefinite = np.diag([-1.0, 0.5, 1.0, 2.0]) + 0.1 * np.ones((4, 4))
    return LeastSquares(smat(matrix), matrix @ svec(indefinite), 1e-6, np.inf)


@pytest.mark.slow
def test_reaches_the_lmi_optimum_where_the_constraint_is_active(rng: np.random.Generator) -> None:
    """On 200 problems the objective is at most 1e-6 (relative) above the one that `lmi` finds."""
    lmi, manifold = create(Settings(), "lmi"), create(Settings(), "manifold")
    for problem in active(rng, 200):
        marginal = problem.marginal("noise")
        wanted = sum_of_squares(marginal, lmi.solve(problem, None).phi)
        found = manifold.solve(problem, None).phi
        assert sum_of_squares(marginal, found) <= wanted * (1.0 + 1e-6)
        # Not below the optimum either: that would mean less than the margin.
        assert smallest_eigenvalue(reference_body(None), found) >= 0.99e-6


@pytest.mark.parametrize("weighting", ["noise", "dynamism"])
def test_agrees_with_cvxpy_on_all_rows(rng: np.random.Generator, weighting: str) -> None:
    """The objective is that of the semidefinite program stated with cvxpy on every row."""
    manifold = create(Settings().replace({"estimator.weighting": weighting}), "manifold")
    for _ in range(3):
        rows = make_rows(rng, random_phi(rng, points=3), motion(rng, 60, speed=0.5))
        problem = compress(rows)
        wanted = cvxpy_statements.lmi(rows, problem, weighting, UNIT, 1e-6)
        found = manifold.solve(problem, None)
        value = objective(problem.marginal(weighting), found.phi)
        assert value == pytest.approx(wanted.objective, rel=1e-5)


def test_is_wls_where_that_is_a_body(rng: np.random.Generator) -> None:
    """With much motion and little noise the constraint is idle, and the answer is that of `wls`."""
    rows = make_rows(rng, random_phi(rng), motion(rng, speed=3.0), noise=1e-3)
    wls = create(Settings(), "wls").solve(compress(rows), None).phi
    manifold = create(Settings(), "manifold").solve(compress(rows), None).phi
    np.testing.assert_allclose(manifold, wls, rtol=1e-9, atol=1e-12)


def test_every_iterate_is_a_body(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
                                 ) -> None:
    """However few iterations are allowed, the answer has a positive definite pseudo-inertia, and
    more iterations never fit worse."""
    for problem in active(rng, 10):
        marginal = problem.marginal("noise")
        before = np.inf
        for limit in range(1, 12):
            monkeypatch.setattr("inertial_id_ros.estimators.manifold.MAX_STEPS", limit)
            phi = create(Settings(), "manifold").solve(problem, None).phi
            assert min_eigenvalue(phi) > 0.0
            assert is_consistent(phi)
            now = sum_of_squares(marginal, phi)
            assert now <= before * (1.0 + 1e-9)
            before = now


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Point]:
    """The iterates of all searches so far."""
    points: list[Point] = []

    def watched(fit: LeastSquares, point: Point) -> LocalProblem:
        points.append(point)
        return expand_at(fit, point)

    monkeypatch.setattr(body_manifold, "expand_at", watched)
    return points


def test_a_few_steps_suffice(rng: np.random.Generator, seen: list[Point]) -> None:
    """With the curvature of the chart in the model, ten steps are enough in most cases."""
    counts = []
    for _ in range(50):
        seen.clear()
        start = Point(1.0, np.zeros(3), np.eye(3), np.ones(3))
        minimise(small_fit(rng), start, Budget(50))
        counts.append(len(seen))
    assert np.median(counts) <= 10


def test_every_iterate_lies_on_the_manifold(rng: np.random.Generator, seen: list[Point]) -> None:
    """Mass positive, moments not negative, axes a rotation (up to handedness): at every iterate."""
    for _ in range(20):
        start = Point(1.0, np.zeros(3), np.eye(3), np.ones(3))
        minimise(small_fit(rng), start, Budget(50))
    assert len(seen) > 60
    for point in seen:
        assert point.mass > 0.0
        assert np.all(point.moments >= 0.0)
        np.testing.assert_allclose(point.axes @ point.axes.T, np.eye(3), atol=1e-9)


def test_the_certificate_bounds_the_distance_to_the_optimum(rng: np.random.Generator) -> None:
    """At random bodies, with and without extent, the objective exceeds the optimum by at most the
    proven gap; at the optimum the gap is nil."""
    for _ in range(20):
        fit = small_fit(rng)
        path = InteriorPath(fit.tensor, fit.target, np.eye(4))
        while path.gap > 1e-10 and path.advance():
            pass
        lowest = fit.objective(Point.of(path.point))
        for zeros in range(4):
            moments = np.sort(rng.uniform(0.1, 2.0, 3))
            moments[:zeros] = 0.0
            point = Point(rng.uniform(0.5, 2.0), rng.normal(size=3),
                          Rotation.random(random_state=rng).as_matrix(), moments, zeros)
            local = expand_at(fit, point)
            assert local.objective - lowest <= local.gap * (1.0 + 1e-6) + 1e-9
            assert local.objective == pytest.approx(fit.objective(point))


def test_the_interior_path_alone_reaches_the_optimum(rng: np.random.Generator,
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the steps over bodies are cut off early, the interior path leads to the optimum."""
    lmi, manifold = create(Settings(), "lmi"), create(Settings(), "manifold")
    monkeypatch.setattr("inertial_id_ros.estimators.solvers.body_manifold.PATIENCE", 2)
    for problem in active(rng, 20):
        marginal = problem.marginal("noise")
        wanted = sum_of_squares(marginal, lmi.solve(problem, None).phi)
        found = manifold.solve(problem, None).phi
        assert sum_of_squares(marginal, found) <= wanted * (1.0 + 1e-6)


def test_a_stationary_point_that_is_not_the_optimum_is_left() -> None:
    """A point mass at the best place is stationary for mass and centre, but not the optimum: the
    solve goes on to a body with extent, where coinciding moments give no direction to turn."""
    wanted = np.diag([1.0, 1.0, 1.0, 1.0])
    fit = LeastSquares(smat(np.eye(10)), svec(wanted), 1e-6, np.inf)
    point = Point(1.0, np.zeros(3), np.eye(3), np.zeros(3), 3)
    gradient = derivatives(fit, point)[2]
    assert np.all(np.abs(gradient[3]) < 1e-12)  # stationary in mass and centre
    found = minimise(fit, point, Budget(50))
    np.testing.assert_allclose(found.pseudo, wanted, atol=1e-5)


def test_the_gradient_is_the_derivative(rng: np.random.Generator) -> None:
    """The gradient in the frame of a body agrees with finite differences."""
    fit = small_fit(rng)
    point = Point(1.3, rng.normal(size=3), Rotation.random(random_state=rng).as_matrix(),
                  np.array([0.0, 0.4, 1.0]), 1)
    gradient = derivatives(fit, point)[2]
    direction = smat(rng.normal(size=10))
    frame = point.frame

    def along(t: float) -> float:
        moved = point.pseudo + t * frame @ direction @ frame.T
        return float(np.sum((svec(fit.tensor) @ svec(moved) - fit.target) ** 2))

    slope = (along(1e-5) - along(-1e-5)) / 2e-5
    assert slope == pytest.approx(float(np.sum(gradient * direction)), rel=1e-6)


def test_the_answer_moves_with_the_sensor_frame(rng: np.random.Generator) -> None:
    """Data turned into other sensor axes give the turned body: no axis is special."""
    turn = Rotation.random(random_state=rng).as_matrix()
    carry = transform_matrix(turn, np.zeros(3))
    manifold = Manifold(Settings())
    for problem in active(rng, 5):
        marginal = problem.marginal("noise")
        upper = marginal.upper.copy()
        upper[:, :10] = upper[:, :10] @ np.linalg.inv(carry)
        moved = Marginal(np.linalg.qr(upper, mode="r"), marginal.state_rows)
        phi = manifold.solve_marginal(marginal, None).phi
        turned = manifold.solve_marginal(moved, None).phi
        fits = sum_of_squares(marginal, transform_phi(turned, turn.T, np.zeros(3)))
        assert fits == pytest.approx(sum_of_squares(marginal, phi), rel=1e-7)


def test_respects_the_largest_mass(rng: np.random.Generator) -> None:
    """With a bound below the true mass the answer is that of `lmi` with the same bound."""
    settings = Settings().replace({"estimator.max_mass": 0.5})
    for _ in range(10):
        problem = compress(make_rows(rng, 1.5 * random_phi(rng), motion(rng, 100, speed=0.5)))
        marginal = problem.marginal("noise")
        wanted = create(settings, "lmi").solve(problem, None).phi
        found = create(settings, "manifold").solve(problem, None).phi
        assert found[0] <= 0.5 * (1.0 + 1e-9)
        assert sum_of_squares(marginal, found) <= sum_of_squares(marginal, wanted) * (1.0 + 1e-6)


def test_says_when_no_positive_mass_fits(rng: np.random.Generator) -> None:
    """Still poses with a wrench of the wrong sign have no body that fits, as for `lmi`."""
    phi = -phi_from_body(1.0, np.zeros(3), 1e-3 * np.eye(3))
    problem = compress(make_rows(rng, phi, poses(rng, 6)), bias_sd=np.zeros(6))
    for name in ("lmi", "manifold"):
        with pytest.raises(NotEnoughData, match="opposite sign"):
            create(Settings(), name).solve(problem, None)
