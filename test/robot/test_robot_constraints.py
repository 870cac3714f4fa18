# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Constraints on bodies hold exactly for the bodies they describe."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.robot.reference.constraints import (
    mass_sum,
    spatial_body,
    spatial_inertia,
)
from benchmarks.robot.robots import random_tree
from inertial_id_ros.errors import InvalidData
from inertial_id_ros.inertia import is_consistent, phi_from_body
from inertial_id_ros.robot.constrained_least_squares import (
    InfeasibleProblem,
    constrained_least_squares,
)
from inertial_id_ros.robot.constraints import (
    Constraint,
    consistent_body,
    consistent_robot,
    make_reference,
    nonnegative_terms,
    stack_constraints,
)
from inertial_id_ros.robot.joint_terms import JointTerms
from inertial_id_ros.robot.model import RobotModel

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


def test_the_sum_of_masses_stays_within_its_limits() -> None:
    at = phi_from_body(2.0, CENTER, 0.01 * np.eye(3))
    two = np.concatenate([at, at])
    assert allows(mass_sum(20, [HERE, slice(10, 20)], 3.9, 4.1), two)
    assert not allows(mass_sum(20, [HERE, slice(10, 20)], upper=3.9), two)
    assert not allows(mass_sum(20, [HERE, slice(10, 20)], 4.1), two)


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


def test_contradictions_and_nonsense_are_refused() -> None:
    both = [mass_sum(10, [HERE], 2.0, 3.0), mass_sum(10, [HERE], 0.0, 1.0)]
    with pytest.raises(InfeasibleProblem, match="no parameters satisfy"):
        constrained_least_squares(BALL.inverse, BALL.inverse @ BALL.phi, both, BALL)
    with pytest.raises(InvalidData, match="bounded by 2 kg from below"):
        mass_sum(10, [HERE], 2.0, 1.0)
    with pytest.raises(InvalidData, match="not consistent"):
        make_reference(np.zeros(10), 1)
