# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`manifold`: the optimum of `lmi`, by steps over bodies (Traversaro et al. 2016)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from estimator_cases import create, objective, smallest_eigenvalue
from problems import Data, compress, make_rows, motion, poses, random_phi
from reference import cvxpy_statements
from scipy.spatial.transform import Rotation

from inertial_id_ros.estimators.manifold import Manifold
from inertial_id_ros.estimators.reference_body import reference_body, regularise
from inertial_id_ros.inertia import (
    is_consistent,
    transform_matrix,
    transform_phi,
)
from inertial_id_ros.linalg import triangle
from inertial_id_ros.model.problem import Problem
from inertial_id_ros.settings import Settings

UNIT = reference_body(None).unit_phi


def varied(rng: np.random.Generator) -> Data:
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


def active(rng: np.random.Generator, count: int) -> Iterator[Data]:
    """Problems whose unconstrained optimum is no body."""
    wls = create(Settings(), "wls")
    while count:
        problem = varied(rng)
        if not is_consistent(wls.solve(problem, None).phi):
            count -= 1
            yield problem


def sum_of_squares(marginal: Problem, phi: np.ndarray) -> float:
    """What both estimators minimise: the data, and the weak prior that fills what they leave."""
    data = regularise(marginal, None)
    x = reference_body(None).from_phi @ phi
    return float(np.sum((data.matrix @ x - data.target) ** 2)) + marginal.residual ** 2


@pytest.mark.slow
def test_reaches_the_lmi_optimum_where_the_constraint_is_active(rng: np.random.Generator) -> None:
    """On 200 problems the objective is at most 1e-6 (relative) above the one that `lmi` finds."""
    lmi, manifold = create(Settings(), "lmi"), create(Settings(), "manifold")
    for problem in active(rng, 200):
        marginal = problem.problems["noise"]
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
        value = objective(problem.problems[weighting], found.phi)
        assert value == pytest.approx(wanted.objective, rel=1e-5)


def test_the_answer_moves_with_the_sensor_frame(rng: np.random.Generator) -> None:
    """Data turned into other sensor axes give the turned body: no axis is special."""
    turn = Rotation.random(random_state=rng).as_matrix()
    carry = transform_matrix(turn, np.zeros(3))
    manifold = Manifold(Settings())
    for data in active(rng, 5):
        problem = data.problems["noise"]
        upper = triangle(np.column_stack([problem.matrix @ np.linalg.inv(carry), problem.target]))
        moved = Problem(upper[:-1, :-1], upper[:-1, -1], problem.residual)
        phi, turned = (manifold.solve(each, None).phi for each in (problem, moved))
        fits = sum_of_squares(problem, transform_phi(turned, turn.T, np.zeros(3)))
        assert fits == pytest.approx(sum_of_squares(problem, phi), rel=1e-7)


def test_respects_the_largest_mass(rng: np.random.Generator) -> None:
    """With a bound below the true mass the answer is that of `lmi` with the same bound."""
    settings = Settings().replace({"estimator.max_mass": 0.5})
    for _ in range(10):
        problem = compress(make_rows(rng, 1.5 * random_phi(rng), motion(rng, 100, speed=0.5)))
        marginal = problem.problems["noise"]
        wanted = create(settings, "lmi").solve(problem, None).phi
        found = create(settings, "manifold").solve(problem, None).phi
        assert found[0] <= 0.5 * (1.0 + 1e-9)
        assert sum_of_squares(marginal, found) <= sum_of_squares(marginal, wanted) * (1.0 + 1e-6)
