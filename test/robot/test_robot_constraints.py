# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Constraints on bodies hold exactly for the bodies they describe; feasibility of base parameters:
published answers, certificates, and cvxpy's opinion."""

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
)
from inertial_id_ros.robot.base_parameters import fit_feasible
from inertial_id_ros.robot.convex import (
    check_feasibility,
    consistent,
    depth,
    link_limits,
    nearest_robot,
)
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


def bodies(rng: np.random.Generator, count: int) -> list[np.ndarray]:
    """Random parameter vectors, about half of which exist."""
    return [phi_from_body(rng.uniform(0.5, 2.0), rng.normal(size=3),
                          np.diag(rng.uniform(0.0, 1.0, 3))) for _ in range(count)]


def test_pseudo_inertia_asks_for_all_of_consistency_and_spatial_inertia_for_less(
        rng: np.random.Generator) -> None:
    verdicts = [(is_consistent(phi), *(allows(consistent(cp.Constant(phi), BALL.phi, form, 0.0))
                                       for form in ("pseudo", "spatial")))
                for phi in bodies(rng, 60)]
    assert all(want == got for want, got, _ in verdicts)
    assert all(semi for _, _, semi in verdicts)  # all tensors about the centre are positive
    assert 10 < sum(want for want, _, _ in verdicts) < 50
    negative = phi_from_body(1.0, np.zeros(3), np.diag([1.0, 1.0, -0.1]))
    assert not allows(consistent(cp.Constant(negative), BALL.phi, "spatial", 0.0))


def test_centres_of_mass_stay_in_boxes_and_ellipsoids(rng: np.random.Generator) -> None:
    for _ in range(200):
        com = CENTER + rng.uniform(-1.5, 1.5, 3) * HALF
        phi = cp.Constant(phi_from_body(rng.uniform(0.1, 9.0), com, np.eye(3)))
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
        _, border = known(cp.Constant(phi), ellipsoids=[EGG])
        assert abs(border.value) < 1e-9  # all on the border
        assert not allows(*known(cp.Constant(phi + point_columns(CENTER + 1.1 * HALF)[:, 0]),
                                 ellipsoids=[EGG]))
    # The centre of mass of this one is inside all the same: eq. 22 is weaker than eq. 23.
    wide = cp.Constant(phi_from_body(1.0, CENTER, np.eye(3)))
    assert allows(*known(wide, com_ellipsoid=EGG)) and not allows(*known(wide, ellipsoids=[EGG]))
    uniform = phi_from_pseudo_inertia(np.diag(np.r_[HALF**2 / 5.0, 0.0])) + point_columns(
        CENTER)[:, 0]
    _, border = known(cp.Constant(uniform), ellipsoids=[EGG])
    assert border.value == pytest.approx(0.4)  # 1 - 3/5


def test_a_union_of_ellipsoids_has_the_optimum_of_points_that_fill_it(
        rng: np.random.Generator) -> None:
    """The objective falls towards no point of the union (first-order optimality)."""
    rpy, half = rng.uniform(-np.pi, np.pi, 3), np.sqrt([0.04, 0.01, 0.02])
    turned, other = Rotation.from_euler("xyz", rpy).as_matrix(), CENTER + [0.35, 0.1, 0.0]
    two = [EGG, {"center": other, "half_axes": half, "rpy": rpy}]
    # Points all over the borders, as extreme densities lie there, and within.
    ball = rng.normal(size=(4000, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    columns = point_columns(np.concatenate([
        center + part * (ball * axes) @ turn.T for center, axes, turn in (
            (CENTER, HALF, np.eye(3)), (other, half, turned)) for part in (1.0, 0.5)]))
    # Half a kilogram beyond the far end of either.
    ends = np.array([CENTER - [0.35, 0.0, 0.0], other + 0.25 * turned[:, 0]])
    for _ in range(3):
        wanted = 0.5 * point_columns(ends).sum(axis=1) + 0.1 * BALL.unit @ rng.normal(size=10)
        found, alone = (nearest_robot(
            BALL.inverse, BALL.inverse @ wanted,
            lambda phi, these=these: known(phi[0:10], ellipsoids=these), BALL)
            for these in (two, two[:1]))
        excess, more = (np.sum((BALL.inverse @ (phi - wanted))**2) for phi in (found, alone))
        assert 0.01 < excess < more / 1.5  # it binds
        slope = 2.0 * BALL.inverse.T @ BALL.inverse @ (found - wanted)
        fall = slope @ columns * found[0]
        assert -1e-5 * np.abs(fall).max() < fall.min() < 0.05 * np.abs(fall).max()
        assert abs(slope @ found) < 1e-5 * np.abs(fall).max()


def test_a_body_near_its_design_is_as_far_from_it_as_allowed() -> None:
    off = BALL.phi + BALL.unit @ np.eye(10)[4] * 0.3
    assert allows(*known(cp.Constant(off), near_design=0.31))
    assert not allows(*known(cp.Constant(off), near_design=0.29))
    near = nearest_robot(BALL.inverse, BALL.inverse @ off,
                         lambda phi: known(phi[0:10], near_design=0.1), BALL)
    assert np.linalg.norm(BALL.inverse @ (near - off)) == pytest.approx(0.2, rel=1e-5)


ROBOT = paper.three_links()
SPATIAL = paper.strict(ROBOT)


def test_the_second_vector_of_table_1_is_infeasible_with_a_proof_and_the_first_feasible(
        rng: np.random.Generator) -> None:
    (inside, witness, none, _), (outside, _, certificate, z) = (
        check_feasibility(ROBOT.base.matrix, beta, SPATIAL, ROBOT.scale)
        for beta in (paper.FEASIBLE, paper.INFEASIBLE))
    assert outside < 0.0 <= inside and none is None
    np.testing.assert_allclose(ROBOT.base.matrix @ witness, paper.FEASIBLE, atol=1e-9)
    assert all(depth(each.value) > 0.0 for each in SPATIAL(cp.Constant(witness)))
    # The multipliers are positive semidefinite, and with them the weighted sum of the constraints
    # is the same negative number whatever the null-space values are: no robot satisfies all.
    assert all(depth(each) > -1e-9 for each in z)
    assert certificate < -1e-4
    base = ROBOT.base

    def total(phi: np.ndarray) -> float:
        return sum(float(np.sum(each * limit.value)) for each, limit in zip(
            z, SPATIAL(cp.Constant(phi)), strict=True))

    for _ in range(10):
        phi = rng.normal(size=30)
        phi[base.independent] += paper.INFEASIBLE - base.matrix @ phi
        assert total(phi) == pytest.approx(certificate, rel=1e-3)
    assert total(ROBOT.scale.phi) > 0.0  # as for every robot that exists


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
    assert check_feasibility(arm.base.matrix, free, paper.wam_limits(arm, True), scale)[0] < 0.0
    assert np.linalg.norm(data.residual(found[0])) < np.linalg.norm(data.residual(found[1]))
    away = np.linalg.norm(tight - paper.WAM_CONSTRAINED)
    assert away < 0.01 * np.linalg.norm(paper.WAM_CONSTRAINED)
    assert away < 0.5 * np.linalg.norm(paper.WAM_OLS - paper.WAM_CONSTRAINED)
