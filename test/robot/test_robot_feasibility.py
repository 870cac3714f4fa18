# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Feasibility of base parameters: published answers, certificates, and cvxpy's opinion."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from benchmarks.robot.published import (
    CORRECTED,
    DISTANCE,
    FEASIBLE,
    INFEASIBLE,
    STRICT,
    three_links,
    wam_answers,
)
from benchmarks.robot.reference.constraints import BODY_FORMS, mass_sum
from benchmarks.robot.reference.feasibility import (
    check_certificate,
    check_feasibility,
    correct_to_feasible,
)
from inertial_id_ros.inertia import pseudo_inertia
from inertial_id_ros.robot.constraints import Constraint, make_reference, stack_constraints


def bodies_of(form: str, epsilon: float = STRICT) -> list[Constraint]:
    """Consistency of the three links."""
    robot = three_links()
    return [BODY_FORMS[form](30, where, epsilon) for where in robot.bodies]


def test_the_first_vector_of_table_1_is_feasible() -> None:
    robot = three_links()
    answer = check_feasibility(robot.base, FEASIBLE, bodies_of("spatial"), robot.scale)
    assert answer.feasible and answer.certificate is None
    np.testing.assert_allclose(robot.base.matrix @ answer.witness, FEASIBLE, atol=1e-9)
    for where in robot.bodies:
        m, h = answer.witness[where][0], answer.witness[where][1:4]
        tensor = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])
        about_com = answer.witness[where][4:][tensor] - (h @ h * np.eye(3) - np.outer(h, h)) / m
        assert m > 0.0 and np.linalg.eigvalsh(about_com)[0] > 0.0


def test_the_second_vector_of_table_1_is_infeasible_with_a_proof(
        rng: np.random.Generator) -> None:
    robot = three_links()
    constraints = bodies_of("spatial")
    answer = check_feasibility(robot.base, INFEASIBLE, constraints, robot.scale)
    assert not answer.feasible and answer.certificate is not None
    # The multipliers are positive semidefinite, and with them the weighted sum of the constraints
    # is the same negative number whatever the null-space values are: no robot satisfies all.
    z = answer.certificate
    stacked = stack_constraints(constraints, 30)
    assert z.depth > -1e-9
    assert z.value < -1e-4
    sums = [check_certificate(z, robot.base, INFEASIBLE, constraints, rng.normal(size=30))
            for _ in range(20)]
    np.testing.assert_allclose(sums, z.value, rtol=1e-3)
    inside = stacked.offset + stacked.matrix @ robot.scale.phi
    assert z.multipliers @ inside > 0.0  # as for every robot that exists


def test_the_second_vector_is_corrected_as_published() -> None:
    robot = three_links()
    constraints = bodies_of("spatial")
    found = correct_to_feasible(robot.base, INFEASIBLE, constraints, robot.scale)
    assert found.distance == pytest.approx(DISTANCE, abs=0.5e-5)  # printed to three digits
    np.testing.assert_allclose(found.beta, CORRECTED, atol=5e-6)
    assert check_feasibility(robot.base, found.beta, constraints, robot.scale).margin > -1e-7


def test_a_feasible_vector_is_its_own_correction() -> None:
    robot = three_links()
    found = correct_to_feasible(robot.base, FEASIBLE, bodies_of("spatial"), robot.scale)
    np.testing.assert_allclose(found.beta, FEASIBLE, atol=1e-8)


@pytest.mark.parametrize("form", ["spatial", "pseudo"])
def test_the_gap_covers_what_another_scale_of_the_problem_finds(
        rng: np.random.Generator, form: str) -> None:
    """The same correction, solved in units of lighter and heavier robots: every answer is possible,
    and none is further above the best of them than its gap says."""
    robot, constraints = three_links(), bodies_of(form)
    for _ in range(3):
        beta = INFEASIBLE + 0.3 * rng.normal(size=len(INFEASIBLE))
        found = [correct_to_feasible(robot.base, beta, constraints,
                                     make_reference(scale * robot.scale.phi, 3))
                 for scale in (0.1, 0.3, 1.0, 3.0, 10.0)]
        stacked = stack_constraints(constraints, 30)
        assert all(stacked.margins(f.witness).min() > -STRICT for f in found)  # bodies exist
        squares = np.array([f.distance**2 for f in found])
        gaps = np.array([f.gap for f in found])
        assert np.all(squares - squares.min() <= gaps)
        assert np.all(gaps < 1e-2 * squares)


def test_full_consistency_refuses_even_the_first_vector_and_cvxpy_agrees() -> None:
    """The published vector needs a body whose principal moments break the triangle inequality."""
    robot = three_links()
    constraints = bodies_of("pseudo", 0.0)
    answer = check_feasibility(robot.base, FEASIBLE, constraints, robot.scale)
    assert not answer.feasible
    phi, margin = cp.Variable(30), cp.Variable()
    of_phi = np.stack([pseudo_inertia(e).ravel() for e in np.eye(10)], axis=1)
    blocks = [cp.reshape(of_phi @ phi[where], (4, 4), order="C") for where in robot.bodies]
    unit = np.diag([0.5, 0.5, 0.5, 1.0])  # pseudo-inertia of the bodies of the scale
    problem = cp.Problem(cp.Maximize(margin), [
        robot.base.matrix @ phi == FEASIBLE, margin <= 1.0,
        *(block - margin * unit >> 0 for block in blocks)])
    problem.solve(solver="CLARABEL")
    assert float(margin.value) < 0.0
    assert answer.margin == pytest.approx(float(margin.value), rel=1e-3)


def test_the_published_estimate_of_the_wam_is_infeasible_with_a_proof() -> None:
    answers = wam_answers(200)
    # Without drives, whose inertia is plainly negative, the links alone do not exist either.
    for answer in (answers.drives, answers.links):
        assert not answer.feasible and answer.certificate is not None
        z = answer.certificate
        assert z.depth > -1e-9 and z.value < 0.0 and z.leak < 1e-3 * abs(z.value)
    assert answers.indefinite == 0.0


def test_limits_beside_consistency_can_make_a_vector_infeasible() -> None:
    robot = three_links()
    constraints = bodies_of("spatial")
    ample = [*constraints, mass_sum(30, robot.bodies, 0.0, 1000.0)]
    tight = [*constraints, mass_sum(30, robot.bodies, 0.0, 3.0)]
    assert check_feasibility(robot.base, FEASIBLE, ample, robot.scale).feasible
    answer = check_feasibility(robot.base, FEASIBLE, tight, robot.scale)
    assert not answer.feasible and answer.certificate is not None
