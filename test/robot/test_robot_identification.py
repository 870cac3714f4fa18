# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Constrained and regularised identification reach the optimum that cvxpy finds on all rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from benchmarks.robot.reference import cvxpy_statements
from benchmarks.robot.reference.base_rows import compress
from benchmarks.robot.reference.constraints import (
    mass_sum,
    robot_of_form,
)
from benchmarks.robot.reference.feasibility import fit_feasible
from benchmarks.robot.reference.null_space_prior import NullSpacePrior
from benchmarks.robot.robots import random_tree
from inertial_id_ros.errors import InvalidData
from inertial_id_ros.inertia import phi_from_body
from inertial_id_ros.robot.base_parameters import BaseParameters, structural_base_parameters
from inertial_id_ros.robot.consistent_fit import Prior, identify
from inertial_id_ros.robot.constraints import (
    Reference,
    consistent_robot,
    description_reference,
    make_reference,
)
from inertial_id_ros.robot.joint_terms import JointTerms
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.recording import Compressed

NOISE = 0.5


class Case(NamedTuple):
    """A robot and a noisy recording, whitened rows and targets of all samples."""

    model: RobotModel
    base: BaseParameters
    data: Compressed
    rows: np.ndarray
    target: np.ndarray
    design: Reference


def case(rng: np.random.Generator, joints: int = 4, samples: int = 60, drives: bool = True
         ) -> Case:
    """So little and so noisy data that the constraints bind."""
    model = RobotModel.from_urdf(random_tree(rng, joints), JointTerms(drive_inertia=drives))
    truth = model.nominal
    for j in range(joints):
        for term, value in zip(model.terms.names, (0.3, 0.2, 0.1, 0.02), strict=False):
            truth[model.term_index(j, term)] = value
    q, dq, ddq = rng.normal(size=(3, samples, joints))
    torque = model.torque(truth, q, dq, ddq) + NOISE * rng.normal(size=(samples, joints))
    rows = model.regressor(q, dq, ddq).reshape(-1, model.size) / NOISE
    return Case(model, structural_base_parameters(model), compress(model, q, dq, ddq, torque), rows,
                torque.ravel() / NOISE, description_reference(model))


def squares(c: Case, phi: np.ndarray) -> float:
    """Sum of squared residuals over the noise."""
    return float(np.sum((c.rows @ phi - c.target)**2))


@pytest.mark.parametrize("form", ["pseudo", "spatial"])
def test_feasible_base_parameters_are_the_constrained_optimum(
        rng: np.random.Generator, form: str) -> None:
    c = case(rng)
    bodies = [c.model.body_slice(k) for k in range(4)]
    constraints = [*robot_of_form(c.model, form), mass_sum(c.model.size, bodies, upper=15.0)]
    found = fit_feasible(c.data, c.base, constraints, c.design)
    phi = np.zeros(c.model.size)
    phi[c.base.independent] = found.beta
    _, best = cvxpy_statements.least_squares(c.rows, c.target, constraints, c.design)
    phi_free = np.zeros(c.model.size)
    phi_free[c.base.independent] = found.free.beta
    assert found.binding and squares(c, phi_free) < 0.99 * best
    assert squares(c, phi) == pytest.approx(best, rel=1e-6)
    assert found.relative_residual == pytest.approx(np.sqrt(best / np.sum(c.target**2)), rel=1e-6)


def test_ample_data_of_a_real_body_need_no_constraint(rng: np.random.Generator) -> None:
    model = RobotModel.from_urdf(random_tree(rng, 3))
    q, dq, ddq = rng.normal(size=(3, 400, 3))
    data = compress(model, q, dq, ddq, model.torque(model.nominal, q, dq, ddq)
                    + dq + np.sign(dq))
    base = structural_base_parameters(model)
    found = fit_feasible(data, base, consistent_robot(model), description_reference(model))
    np.testing.assert_allclose(found.beta, found.free.beta, atol=1e-5)
    inertial = base.independent < 30
    np.testing.assert_allclose(found.beta[inertial], (base.matrix @ model.nominal)[inertial],
                               atol=1e-5)


def test_a_prior_everywhere_is_the_regularised_optimum(rng: np.random.Generator) -> None:
    c = case(rng, drives=False)
    bodies = [c.model.body_slice(k) for k in range(len(c.model.bodies))]
    constraints = [*consistent_robot(c.model), mass_sum(c.model.size, bodies, upper=15.0)]
    prior = Prior(c.design, 0.01)
    found = identify(c.data, c.base, constraints, prior, np.full(4, NOISE))
    rows = np.concatenate([c.rows, 0.1 * c.design.inverse])
    target = np.append(c.target, 0.1 * c.design.inverse @ c.design.phi)
    _, best = cvxpy_statements.least_squares(rows, target, constraints, c.design)
    assert float(np.sum((rows @ found.phi - target)**2)) == pytest.approx(best, rel=1e-6)
    assert found.consistent(len(c.model.bodies)).all()


def test_a_null_space_prior_leaves_the_residual_to_the_data(rng: np.random.Generator) -> None:
    """Ayusawa and Nakamura 2010, eq. 32: without active limits, base parameters of least squares
    and everything else from the design."""
    model = RobotModel.from_urdf(random_tree(rng, 3))
    q, dq, ddq = rng.normal(size=(3, 500, 3))
    torque = model.torque(model.nominal, q, dq, ddq) + dq + 0.1 * rng.normal(size=(500, 3))
    data, base = compress(model, q, dq, ddq, torque), structural_base_parameters(model)
    design = model.nominal
    design[:30] *= np.repeat([1.3, 0.8, 1.1], 10)
    ref = make_reference(design, 3)
    found = identify(data, base, [], NullSpacePrior(ref, 1.0, excited=1e6), np.full(3, 0.1))
    free = fit_feasible(data, base, [], ref, np.full(3, 0.1)).free
    np.testing.assert_allclose(base.matrix @ found.phi, free.beta, atol=1e-7)
    null, _ = np.linalg.qr(ref.inverse @ base.null_space)
    np.testing.assert_allclose(null.T @ ref.inverse @ (found.phi - ref.phi), 0.0, atol=1e-7)
    pulled = identify(data, base, [], Prior(ref, 1e4), np.full(3, 0.1))
    assert data.relative_error(pulled.phi) > 1.05 * data.relative_error(found.phi)


def test_what_torques_cannot_tell_is_the_prior_and_said_to_be(rng: np.random.Generator) -> None:
    c = case(rng, samples=400)
    first = c.model.body_slice("link1")
    expected = c.design.phi.copy()
    expected[first] = phi_from_body(2.0, np.zeros(3), 0.02 * np.eye(3))
    found = identify(c.data, c.base, [], Prior(make_reference(expected, 4), 1.0), np.full(4, NOISE))
    # The mass of the first link moves no joint; in a ball about the joint nothing else tells it.
    assert found.data_share[first][0] == pytest.approx(0.0, abs=1e-9)
    assert found.phi[first][0] == pytest.approx(2.0)
    assert found.sigma[first][0] == pytest.approx(2.0)
    assert found.data_share[first][1:4].min() > 0.1
    assert found.data_share[c.model.term_index(1, "viscous")] > 0.9
    assert np.all((found.data_share >= 0.0) & (found.data_share <= 1.0))


def test_standard_deviations_cover_the_truth(rng: np.random.Generator) -> None:
    """The truth is drawn from the prior, which is what its standard deviations are about."""
    inside = []
    for _ in range(25):
        model = RobotModel.from_urdf(random_tree(rng, 3))
        ref = description_reference(model)
        truth = ref.phi + 0.1 * ref.unit @ rng.normal(size=model.size)
        q, dq, ddq = rng.normal(size=(3, 100, 3))
        torque = model.torque(truth, q, dq, ddq) + NOISE * rng.normal(size=(100, 3))
        found = identify(compress(model, q, dq, ddq, torque), structural_base_parameters(model), [],
                         Prior(ref, 100.0), np.full(3, NOISE))
        inside.append(np.abs(found.phi - truth) < 1.96 * found.sigma)
    assert 0.92 < np.mean(inside) < 0.98


def test_a_prior_that_says_nothing_sensible_is_refused(rng: np.random.Generator) -> None:
    ref = description_reference(RobotModel.from_urdf(random_tree(rng, 1)))
    with pytest.raises(InvalidData, match="weight of the prior is 0"):
        Prior(ref, 0.0)
