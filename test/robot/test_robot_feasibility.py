# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Feasibility of base parameters: published answers, certificates, and cvxpy's opinion."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import published_robots as paper
import pytest

from inertial_id_ros.inertia import pseudo_inertia
from inertial_id_ros.robot.constraints import mass_between
from inertial_id_ros.robot.feasibility import (
    check_feasibility,
    correct_to_feasible,
    fit_feasible,
)

ROBOT = paper.three_links()
SPATIAL = paper.strict(ROBOT, "spatial")


def test_the_first_vector_of_table_1_is_feasible() -> None:
    answer = check_feasibility(ROBOT.base, paper.FEASIBLE, SPATIAL, ROBOT.scale)
    assert answer.feasible and answer.certificate is None
    np.testing.assert_allclose(ROBOT.base.matrix @ answer.witness, paper.FEASIBLE, atol=1e-9)
    for where in ROBOT.bodies:
        m, h = answer.witness[where][0], answer.witness[where][1:4]
        tensor = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])
        about_com = answer.witness[where][4:][tensor] - (h @ h * np.eye(3) - np.outer(h, h)) / m
        assert m > 0.0 and np.linalg.eigvalsh(about_com)[0] > 0.0


def test_the_second_vector_of_table_1_is_infeasible_with_a_proof(
        rng: np.random.Generator) -> None:
    answer = check_feasibility(ROBOT.base, paper.INFEASIBLE, SPATIAL, ROBOT.scale)
    z = answer.certificate
    assert not answer.feasible and z is not None
    # The multipliers are positive semidefinite, and with them the weighted sum of the constraints
    # is the same negative number whatever the null-space values are: no robot satisfies all.
    assert all(np.linalg.eigvalsh(each)[0] > -1e-9 for each in z.multipliers)
    assert z.value < -1e-4 and z.leak < 1e-6 * abs(z.value)
    base = ROBOT.base

    def total(phi: np.ndarray) -> float:
        return sum(float(np.sum(each * limit.value)) for each, limit in zip(
            z.multipliers, SPATIAL(cp.Constant(phi)), strict=True))

    for _ in range(10):
        phi = rng.normal(size=30)
        phi[base.independent] = paper.INFEASIBLE - base.coupling @ phi[base.dependent]
        assert total(phi) == pytest.approx(z.value, rel=1e-3)
    assert total(ROBOT.scale.phi) > 0.0  # as for every robot that exists


def test_the_second_vector_is_corrected_as_published() -> None:
    found = ROBOT.base.matrix @ correct_to_feasible(ROBOT.base, paper.INFEASIBLE, SPATIAL,
                                                    ROBOT.scale)
    distance = np.linalg.norm(found - paper.INFEASIBLE)
    assert distance == pytest.approx(paper.DISTANCE, abs=0.5e-5)  # printed to three digits
    np.testing.assert_allclose(found, paper.CORRECTED, atol=5e-6)
    assert check_feasibility(ROBOT.base, found, SPATIAL, ROBOT.scale).margin > -1e-6


def test_full_consistency_refuses_even_the_first_vector_and_a_plain_statement_agrees() -> None:
    """The published vector needs a body whose principal moments break the triangle inequality."""
    answer = check_feasibility(ROBOT.base, paper.FEASIBLE, paper.strict(ROBOT, "pseudo", 0.0),
                               ROBOT.scale)
    assert not answer.feasible
    phi, margin = cp.Variable(30), cp.Variable()
    of_phi = np.stack([pseudo_inertia(e).ravel() for e in np.eye(10)], axis=1)
    problem = cp.Problem(cp.Maximize(margin), [
        ROBOT.base.matrix @ phi == paper.FEASIBLE, margin <= 1.0,
        *(cp.reshape(of_phi @ phi[where], (4, 4), order="C") - margin * np.eye(4) >> 0
          for where in ROBOT.bodies)])
    problem.solve(solver="CLARABEL")
    assert float(margin.value) < 0.0
    assert answer.margin == pytest.approx(float(margin.value), rel=1e-3)


def test_limits_beside_consistency_can_make_a_vector_infeasible() -> None:
    masses = [where.start for where in ROBOT.bodies]
    for most, feasible in ((1000.0, True), (3.0, False)):
        answer = check_feasibility(
            ROBOT.base, paper.FEASIBLE,
            lambda phi, m=most: [*SPATIAL(phi), mass_between(phi[masses], upper=m)], ROBOT.scale)
        assert answer.feasible == feasible and (answer.certificate is None) == feasible


def test_the_published_estimates_of_the_wam() -> None:
    """Table 6: least squares are infeasible and corrected at the published distance; the estimate
    within boxes and mass is within them to its printed digits."""
    arm = paper.wam()
    scale, limits, tight = paper.wam_scale(arm), paper.wam_limits(arm), paper.wam_limits(arm, True)
    assert (len(arm.base.names), arm.base.count) == (98, 69)
    answer = check_feasibility(arm.base, paper.WAM_OLS, limits, scale)
    z = answer.certificate
    assert not answer.feasible and z is not None
    assert z.depth > -1e-9 and z.value < 0.0 and z.leak < 1e-3 * abs(z.value)
    # Without drives, whose inertia is plainly negative, the links alone do not exist either.
    assert not check_feasibility(arm.base, paper.WAM_OLS, lambda phi: limits(phi)[:7],
                                 scale).feasible
    corrected = correct_to_feasible(arm.base, paper.WAM_OLS, limits, scale)
    distance = np.linalg.norm(arm.base.matrix @ corrected - paper.WAM_OLS)
    assert distance == pytest.approx(paper.WAM_DISTANCE, rel=1e-3)  # of four digits
    assert paper.indefinite(arm, corrected, 200) == 0.0
    rounded = correct_to_feasible(arm.base, paper.WAM_CONSTRAINED, tight, scale)
    assert np.linalg.norm(arm.base.matrix @ rounded - paper.WAM_CONSTRAINED) < 1e-5


def test_the_wam_on_its_published_trajectory() -> None:
    """FBPE-OLS from the commanded motion of Table 5 and the torques of the published least squares:
    the recorded motion is not published, so that the answers are near each other, not equal."""
    arm = paper.wam()
    scale, data = paper.wam_scale(arm), paper.wam_motion(arm, 0.05)
    found = [fit_feasible(data, arm.base, paper.wam_limits(arm, constrained), scale)
             for constrained in (False, True)]
    free, tight = (arm.base.matrix @ phi for phi in found)
    rows = data.stack()[:, arm.base.independent]
    assert np.linalg.cond(rows) == pytest.approx(99.0, abs=2.0)  # Section 5.2.2
    assert not check_feasibility(arm.base, free, paper.wam_limits(arm, True), scale).feasible
    assert data.squares(found[0]).sum() < data.squares(found[1]).sum()
    away = np.linalg.norm(tight - paper.WAM_CONSTRAINED)
    assert away < 0.01 * np.linalg.norm(paper.WAM_CONSTRAINED)
    assert away < 0.5 * np.linalg.norm(paper.WAM_OLS - paper.WAM_CONSTRAINED)
