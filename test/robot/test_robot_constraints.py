# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Constraints on bodies hold exactly for the bodies they describe."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.robot.reference.constraints import (
    Box,
    box_reference,
    com_box,
    com_ellipsoid,
    ellipsoid_matrix,
    inside_ellipsoid,
    inside_union,
    mass_bounds,
    mass_sum,
    near_design,
    point_masses,
    spatial_body,
    spatial_inertia,
)
from benchmarks.robot.robots import random_tree
from inertial_id_ros.errors import InvalidData
from inertial_id_ros.inertia import is_consistent, phi_from_body, phi_from_points
from inertial_id_ros.robot.constrained_least_squares import (
    InfeasibleProblem,
    constrained_least_squares,
)
from inertial_id_ros.robot.constraints import (
    Constraint,
    consistent_body,
    consistent_robot,
    nonnegative_terms,
    stack_constraints,
)
from inertial_id_ros.robot.joint_terms import JointTerms
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.reference_robot import make_reference

HERE = slice(0, 10)
CENTER, HALF = np.array([0.1, -0.05, 0.2]), np.array([0.3, 0.2, 0.1])
BALL = make_reference(phi_from_body(1.0, CENTER, 0.01 * np.eye(3)), 1)


def allows(constraint: Constraint, phi: np.ndarray) -> bool:
    """Whether one body satisfies a constraint without variables of its own."""
    return bool(stack_constraints([constraint], len(phi)).margins(phi).min() >= -1e-12)


def reachable(constraints: list[Constraint], phi: np.ndarray) -> float:
    """Distance, relative to the reference, from phi to the nearest allowed body."""
    found = constrained_least_squares(BALL.inverse, BALL.inverse @ phi, constraints, BALL)
    return float(np.sqrt(max(found.excess, 0.0)))


def bodies(rng: np.random.Generator, count: int) -> list[np.ndarray]:
    """Random parameter vectors, about half of which exist."""
    out = []
    for _ in range(count):
        moments = rng.uniform(0.0, 1.0, 3)
        out.append(phi_from_body(rng.uniform(0.5, 2.0), rng.normal(size=3), np.diag(moments)))
    return out


def test_pseudo_inertia_asks_for_all_of_consistency_and_spatial_inertia_for_less(
        rng: np.random.Generator) -> None:
    full, half = consistent_body(10, HERE), spatial_body(10, HERE)
    verdicts = [(is_consistent(phi), allows(full, phi), allows(half, phi))
                for phi in bodies(rng, 60)]
    assert all(want == got for want, got, _ in verdicts)
    assert all(semi for _, _, semi in verdicts)  # all tensors about the centre are positive
    assert 10 < sum(want for want, _, _ in verdicts) < 50
    negative = phi_from_body(1.0, np.zeros(3), np.diag([1.0, 1.0, -0.1]))
    assert not allows(half, negative) and np.linalg.eigvalsh(spatial_inertia(negative))[0] < 0.0


def test_margins_are_in_units_of_a_body_like_it() -> None:
    body = phi_from_body(2.0, CENTER, np.diag([1e-3, 1e-3, 1e-4]))
    assert allows(consistent_body(10, HERE, epsilon=0.99, like=body), 3.0 * body)
    assert not allows(consistent_body(10, HERE, epsilon=1.01, like=body), 3.0 * body)
    assert not allows(consistent_body(10, HERE, epsilon=1e-3), body)


def test_mass_and_its_sum_and_the_centre_stay_within_their_limits() -> None:
    at = phi_from_body(2.0, CENTER, 0.01 * np.eye(3))
    assert allows(mass_bounds(10, HERE, 1.9, 2.1), at)
    assert not allows(mass_bounds(10, HERE, 2.1, 3.0), at)
    assert not allows(mass_bounds(10, HERE, 0.0, 1.9), at)
    two = np.concatenate([at, at])
    assert allows(mass_sum(20, [HERE, slice(10, 20)], 3.9, 4.1), two)
    assert not allows(mass_sum(20, [HERE, slice(10, 20)], upper=3.9), two)
    box = com_box(10, HERE, CENTER - HALF, CENTER + HALF)
    ellipsoid = com_ellipsoid(10, HERE, CENTER, np.diag(HALF**2))
    for reach, inside in ((0.99, True), (1.01, False)):
        for axis in range(3):
            moved = phi_from_body(2.0, CENTER + reach * HALF * np.eye(3)[axis], 0.01 * np.eye(3))
            assert allows(box, moved) is inside
            assert allows(ellipsoid, moved) is inside
    corner = phi_from_body(2.0, CENTER + 0.99 * HALF, 0.01 * np.eye(3))
    assert allows(box, corner) and not allows(ellipsoid, corner)


def test_mass_within_an_ellipsoid_is_told_from_mass_beyond_it(rng: np.random.Generator) -> None:
    """Wensing et al. 2017, Theorem 4: four point masses inside are enough, one outside is not."""
    q = ellipsoid_matrix(CENTER, np.diag(HALF**2))
    on_axis = np.append(CENTER + [HALF[0], 0.0, 0.0], 1.0)
    assert on_axis @ q @ on_axis == pytest.approx(0.0, abs=1e-12)
    limit = inside_ellipsoid(10, HERE, q)
    directions = rng.normal(size=(20, 4, 3))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    for four in directions:
        masses = rng.uniform(0.1, 1.0, 4)
        assert allows(limit, phi_from_points(CENTER + 0.999 * four * HALF, masses))
        assert not allows(limit, phi_from_points(CENTER + 1.001 * four * HALF, masses))


def test_a_union_of_ellipsoids_holds_what_neither_holds_alone(rng: np.random.Generator) -> None:
    centers = [CENTER, CENTER + np.array([0.8, 0.0, 0.0])]
    ellipsoids = [ellipsoid_matrix(c, np.diag(HALF**2)) for c in centers]
    directions = rng.normal(size=(2, 6, 3))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    points = np.concatenate([c + 0.9 * d * HALF for c, d in zip(centers, directions, strict=True)])
    dumbbell = phi_from_points(points, rng.uniform(0.5, 1.0, 12))
    assert not any(allows(inside_ellipsoid(10, HERE, q), dumbbell) for q in ellipsoids)
    union = [inside_union(10, HERE, ellipsoids)]
    assert reachable(union, dumbbell) < 1e-4
    between = phi_from_body(1.0, CENTER + np.array([0.4, 0.0, 0.0]), 1e-6 * np.eye(3))
    assert reachable(union, between) > 0.05


def test_point_masses_reach_what_their_points_can_and_nothing_else(
        rng: np.random.Generator) -> None:
    points = CENTER + HALF * rng.uniform(-1, 1, (30, 3))
    body = [point_masses(10, HERE, points)]
    assert reachable(body, phi_from_points(points, rng.uniform(0.0, 1.0, 30))) < 1e-4
    assert reachable(body, phi_from_body(1.0, CENTER + 2.0 * HALF, 0.01 * np.eye(3))) > 0.1


def test_a_body_stays_near_its_design() -> None:
    design = phi_from_body(1.0, CENTER, 0.02 * np.eye(3))
    wanted = 3.0 * design
    near = near_design(10, HERE, design, 0.5, BALL.inverse)
    found = constrained_least_squares(BALL.inverse, BALL.inverse @ wanted, [near], BALL)
    step = BALL.inverse @ (found.phi - design)
    toward = BALL.inverse @ (wanted - design)
    np.testing.assert_allclose(step, 0.5 * toward / np.linalg.norm(toward), atol=1e-6)


def test_friction_and_drives_are_not_negative_but_offsets_may_be(rng: np.random.Generator) -> None:
    model = RobotModel.from_urdf(random_tree(rng, 2), JointTerms(drive_inertia=True))
    limit, = nonnegative_terms(model)
    phi = model.nominal
    phi[model.term_index(1, "offset")] = -1.0
    assert allows(limit, phi)
    for term in ("viscous", "coulomb", "drive_inertia"):
        worse = phi.copy()
        worse[model.term_index(1, term)] = -1e-6
        assert not allows(limit, worse)
    assert allows(consistent_robot(model)[0], model.nominal)


def test_a_box_prior_is_what_its_bounds_allow(rng: np.random.Generator) -> None:
    """Bodies of point masses in the box are within the bounds of eqs 19-21, the prior between."""
    box = Box((-0.1, -0.2, 0.0), (0.3, 0.1, 0.4), 2.0, 0.5)
    model = RobotModel.from_urdf(random_tree(rng, 1))
    prior = box_reference(model, [box])
    points = np.array(box.lower) + rng.uniform(size=(200, 20, 3)) * 2.0 * box.half
    for some in points:
        masses = rng.dirichlet(np.ones(20)) * rng.uniform(1.5, 2.5)
        off = prior.inverse[:10, :10] @ (phi_from_points(some, masses) - prior.phi[:10])
        assert np.abs(off).max() <= 1.0
    assert len(box.grid()) == 27
    np.testing.assert_allclose(box.grid()[[0, -1]], [box.lower, box.upper])
    np.testing.assert_allclose(prior.phi[1:4] / prior.phi[0], box.center)


def test_contradictions_and_nonsense_are_refused() -> None:
    both = [mass_bounds(10, HERE, 2.0, 3.0), mass_bounds(10, HERE, 0.0, 1.0)]
    with pytest.raises(InfeasibleProblem, match="no parameters satisfy"):
        constrained_least_squares(BALL.inverse, BALL.inverse @ BALL.phi, both, BALL)
    with pytest.raises(InvalidData, match="bounded by 2 kg from below"):
        mass_bounds(10, HERE, 2.0, 1.0)
    with pytest.raises(InvalidData, match="must be below"):
        com_box(10, HERE, [0.0, 0.0, 1.0], [1.0, 1.0, 0.0])
    with pytest.raises(InvalidData, match="at least one"):
        inside_union(10, HERE, [])
    with pytest.raises(InvalidData, match="must be positive"):
        near_design(10, HERE, BALL.phi, 0.0)
    with pytest.raises(InvalidData, match="no volume"):
        Box((0.0, 0.0, 0.0), (1.0, 0.0, 1.0), 1.0, 0.1)
    with pytest.raises(InvalidData, match="both must be positive"):
        Box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), -1.0, 0.1)
    with pytest.raises(InvalidData, match="not consistent"):
        make_reference(np.zeros(10), 1)
