# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Constraints on bodies hold exactly for the bodies they describe; feasibility of base parameters:
published answers, certificates, and cvxpy's opinion."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import published_robots as paper
import pytest
from scipy.spatial.transform import Rotation

from inertial_id_ros.inertia import (
    is_consistent,
    phi_from_body,
    phi_from_pseudo_inertia,
    point_columns,
    pseudo_inertia,
)
from inertial_id_ros.robot.base_parameters import (
    check_feasibility,
    correct_to_feasible,
    fit_feasible,
)
from inertial_id_ros.robot.constraints import (
    Limits,
    consistent,
    link_limits,
    spatial_inertia,
)
from inertial_id_ros.robot.convex import depth, nearest_robot
from inertial_id_ros.robot.least_squares import make_reference

CENTER, HALF = np.array([0.1, -0.05, 0.2]), np.array([0.3, 0.2, 0.1])
BALL = make_reference(phi_from_body(1.0, CENTER, 0.01 * np.eye(3)), 1)
EGG = {"center": CENTER, "half_axes": HALF}


def allows(*expressions: cp.Expression) -> bool:
    """Whether the numbers of expressions without variables are in their cones."""
    return all(depth(np.asarray(each.value)) >= -1e-12 for each in expressions)


def known(phi: Any, like: np.ndarray = BALL.phi, **bounds: Any) -> list[cp.Expression]:
    """The limits of what is known of a link."""
    return link_limits(phi, "a", bounds, like)


def body(phi: np.ndarray) -> cp.Expression:
    """Parameters as an expression."""
    return cp.Constant(phi)


def distance(limits: Limits, phi: np.ndarray) -> float:
    """Distance, in units of the ball, from phi to the nearest allowed body."""
    found = nearest_robot(BALL.inverse, BALL.inverse @ phi, limits, BALL)
    return float(np.linalg.norm(BALL.inverse @ (found - phi)))


def bodies(rng: np.random.Generator, count: int) -> list[np.ndarray]:
    """Random parameter vectors, about half of which exist."""
    return [phi_from_body(rng.uniform(0.5, 2.0), rng.normal(size=3),
                          np.diag(rng.uniform(0.0, 1.0, 3))) for _ in range(count)]


def test_pseudo_inertia_asks_for_all_of_consistency_and_spatial_inertia_for_less(
        rng: np.random.Generator) -> None:
    verdicts = [(is_consistent(phi), *(allows(consistent(body(phi), BALL.phi, form, 0.0))
                                       for form in ("pseudo", "spatial")))
                for phi in bodies(rng, 60)]
    assert all(want == got for want, got, _ in verdicts)
    assert all(semi for _, _, semi in verdicts)  # all tensors about the centre are positive
    assert 10 < sum(want for want, _, _ in verdicts) < 50
    negative = phi_from_body(1.0, np.zeros(3), np.diag([1.0, 1.0, -0.1]))
    assert not allows(consistent(body(negative), BALL.phi, "spatial", 0.0))
    assert np.linalg.eigvalsh(spatial_inertia(negative))[0] < 0.0


def test_centres_of_mass_stay_in_boxes_and_ellipsoids(rng: np.random.Generator) -> None:
    for _ in range(200):
        com = CENTER + rng.uniform(-1.5, 1.5, 3) * HALF
        phi = body(phi_from_body(rng.uniform(0.1, 9.0), com, np.eye(3)))
        off = (com - CENTER) / HALF
        inside = allows(*known(phi, box=[CENTER - HALF, CENTER + HALF]))
        assert inside == (np.abs(off).max() <= 1.0)
        assert allows(*known(phi, com_ellipsoid=EGG)) == (off @ off <= 1.0)


def test_a_density_in_an_ellipsoid_is_one_of_points_in_it(rng: np.random.Generator) -> None:
    """Points in the ellipsoid pass; with a point so far out that no other density could make up for
    it, they do not."""
    for _ in range(20):
        directions = rng.normal(size=(6, 3))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        points = CENTER + HALF * directions
        phi = point_columns(points) @ rng.uniform(0.1, 1.0, 6)
        _, border = known(body(phi), ellipsoids=[EGG])
        assert abs(border.value) < 1e-9  # all on the border
        assert not allows(*known(body(phi + point_columns(CENTER + 1.1 * HALF)[:, 0]),
                                 ellipsoids=[EGG]))
    # The centre of mass of this one is inside all the same: eq. 22 is weaker than eq. 23.
    wide = body(phi_from_body(1.0, CENTER, np.eye(3)))
    assert allows(*known(wide, com_ellipsoid=EGG)) and not allows(*known(wide, ellipsoids=[EGG]))
    uniform = phi_from_pseudo_inertia(np.diag(np.r_[HALF**2 / 5.0, 0.0])) + point_columns(
        CENTER)[:, 0]
    _, border = known(body(uniform), ellipsoids=[EGG])
    assert border.value == pytest.approx(0.4)  # 1 - 3/5


def test_a_union_of_ellipsoids_has_the_optimum_of_points_that_fill_it(
        rng: np.random.Generator) -> None:
    """Against many point masses in the union: no such sum is better, and none could improve on the
    answer, as the objective falls towards no point of the union (first-order optimality)."""
    rpy, half = rng.uniform(-np.pi, np.pi, 3), np.sqrt([0.04, 0.01, 0.02])
    turned, other = Rotation.from_euler("xyz", rpy).as_matrix(), CENTER + [0.35, 0.1, 0.0]
    two = [EGG, {"center": other, "half_axes": half, "rpy": rpy}]
    # Points all over the borders, as extreme densities lie there, and within.
    ball = rng.normal(size=(4000, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    points = np.concatenate([center + part * (ball * axes) @ turn.T for center, axes, turn in (
        (CENTER, HALF, np.eye(3)), (other, half, turned)) for part in (1.0, 0.5)])
    columns = point_columns(points)
    for _ in range(3):
        # Half a kilogram beyond the far end of either.
        ends = np.array([CENTER - [0.35, 0.0, 0.0], other + 0.25 * turned[:, 0]])
        wanted = 0.5 * point_columns(ends).sum(axis=1) + 0.1 * BALL.unit @ rng.normal(size=10)
        def nearest(*ellipsoids: Any, wanted: np.ndarray = wanted) -> np.ndarray:
            return nearest_robot(BALL.inverse, BALL.inverse @ wanted,
                                 lambda phi: known(phi[0:10], ellipsoids=ellipsoids), BALL)

        def excess(phi: np.ndarray, wanted: np.ndarray = wanted) -> float:
            return float(np.sum((BALL.inverse @ (phi - wanted))**2))

        found = nearest(*two)
        masses = cp.Variable(columns.shape[1], nonneg=True)
        best = cp.Problem(cp.Minimize(cp.sum_squares(
            BALL.inverse @ (columns @ masses - wanted)))).solve(solver="CLARABEL")
        assert excess(found) > 0.01  # it binds
        assert excess(found) <= best * (1.0 + 1e-6)
        assert best == pytest.approx(excess(found), rel=0.03)  # points are 1 to 3 cm apart
        slope = 2.0 * BALL.inverse.T @ BALL.inverse @ (found - wanted)
        fall = slope @ columns * found[0]
        assert fall.min() > -1e-5 * np.abs(fall).max()
        assert abs(slope @ found) < 1e-5 * np.abs(fall).max()
        assert excess(nearest(two[0])) > 1.5 * excess(found)


def test_a_body_near_its_design_is_as_far_from_it_as_allowed() -> None:
    off = BALL.phi + BALL.unit @ np.eye(10)[4] * 0.3
    assert allows(*known(body(off), near_design=0.31))
    assert not allows(*known(body(off), near_design=0.29))
    assert distance(lambda phi: known(phi[0:10], near_design=0.1), off
                    ) == pytest.approx(0.2, rel=1e-5)


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
    z = answer.multipliers
    assert not answer.feasible
    # The multipliers are positive semidefinite, and with them the weighted sum of the constraints
    # is the same negative number whatever the null-space values are: no robot satisfies all.
    assert all(depth(each) > -1e-9 for each in z)
    assert answer.certificate < -1e-4
    base = ROBOT.base

    def total(phi: np.ndarray) -> float:
        return sum(float(np.sum(each * limit.value)) for each, limit in zip(
            z, SPATIAL(cp.Constant(phi)), strict=True))

    for _ in range(10):
        phi = rng.normal(size=30)
        phi[base.independent] += paper.INFEASIBLE - base.matrix @ phi
        assert total(phi) == pytest.approx(answer.certificate, rel=1e-3)
    assert total(ROBOT.scale.phi) > 0.0  # as for every robot that exists


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


def test_the_published_estimates_of_the_wam() -> None:
    """Table 6: least squares are infeasible and corrected at the published distance; the estimate
    within boxes and mass is within them to its printed digits."""
    arm = paper.wam()
    scale, limits, tight = paper.wam_scale(arm), paper.wam_limits(arm), paper.wam_limits(arm, True)
    assert arm.base.matrix.shape == (69, 98)
    answer = check_feasibility(arm.base, paper.WAM_OLS, limits, scale)
    assert not answer.feasible and answer.certificate < 0.0
    assert min(map(depth, answer.multipliers)) > -1e-9
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
    columns = data.factor()[0][:, arm.base.independent]
    assert np.linalg.cond(columns) == pytest.approx(99.0, abs=2.0)  # Section 5.2.2
    assert not check_feasibility(arm.base, free, paper.wam_limits(arm, True), scale).feasible
    assert np.linalg.norm(data.residual(found[0])) < np.linalg.norm(data.residual(found[1]))
    away = np.linalg.norm(tight - paper.WAM_CONSTRAINED)
    assert away < 0.01 * np.linalg.norm(paper.WAM_CONSTRAINED)
    assert away < 0.5 * np.linalg.norm(paper.WAM_OLS - paper.WAM_CONSTRAINED)
