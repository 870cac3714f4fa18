# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Robots of mass points: base-link rows, boxes, and a prior that leaves the data alone."""

import numpy as np
import pinocchio as pin
import pytest
from robots import random_tree, unfiltered
from scipy.optimize import lsq_linear

from inertial_id_ros.inertia import is_consistent, phi_from_body, point_columns
from inertial_id_ros.robot.base_parameters import (
    find_base_parameters,
    fit_base_parameters,
    structural_base_parameters,
)
from inertial_id_ros.robot.convex import (
    STABILITY,
    box_points,
    box_reference,
    fit_mass_points,
    nearest_robot,
    null_space_prior,
    robot_limits,
    uniform_box,
)
from inertial_id_ros.robot.least_squares import make_reference
from inertial_id_ros.robot.model import BASE_SIZE, BODY_TERMS, NO_TERMS, RobotModel
from inertial_id_ros.robot.recording import Rows

BOX = np.array([[-0.1, -0.2, 0.0], [0.3, 0.2, 0.4]])
FREE = pin.JointModelFreeFlyer()
BODY = phi_from_body(2.0, np.array([0.1, 0.0, 0.2]), np.diag([0.03, 0.03, 0.04]))


def test_base_rows_of_a_free_robot_tell_all_that_all_rows_tell(rng: np.random.Generator) -> None:
    """Ayusawa, Venture, Nakamura 2009: base-link dynamics lose no inertial parameter."""
    model = RobotModel(pin.buildModelFromXML(random_tree(rng, 5, rooted=True), FREE), NO_TERMS)
    q, dq, ddq = rng.normal(size=(3, 60, model.nv))
    rows = model.regressor(q, dq, ddq)[:, :BASE_SIZE]
    part = find_base_parameters(rows.reshape(-1, model.size), model.parameter_names)
    whole = structural_base_parameters(model)
    assert len(part.matrix) == len(whole.matrix) < model.size
    both = np.concatenate([part.matrix, whole.matrix])  # the same subspace of combinations
    assert np.linalg.matrix_rank(both, rtol=1e-8) == len(part.matrix)


def test_standard_deviations_of_a_box_are_the_bounds_of_the_paper() -> None:
    """Eqs 17-22 about the middle of the box, half lengths 0.2 m, the mass known to half of it."""
    about = make_reference(BODY, 1)
    spread = box_reference([BOX], about).inverse @ np.eye(10)[:, 0]
    assert spread[0] == pytest.approx(1.0 / 1.0)  # of 2 kg, known to 1 kg
    centred = np.array([[-0.2] * 3, [0.2] * 3])
    body = phi_from_body(2.0, np.zeros(3), np.diag([0.03, 0.03, 0.04]))
    np.testing.assert_allclose(
        np.diag(box_reference([centred], make_reference(body, 1)).unit),
        [1.0, *[3.0 * 0.2] * 3, 0.24 - 0.03, 0.12, 0.12, 0.24 - 0.03, 0.12, 0.24 - 0.04])


def test_one_body_is_the_optimum_of_bounded_least_squares(rng: np.random.Generator) -> None:
    """Against scipy's active sets, on data that ask for mass outside the box."""
    scale = box_reference([BOX], make_reference(BODY, 1))
    truth = phi_from_body(2.0, np.array([0.45, 0.0, 0.2]), np.diag([0.03, 0.03, 0.04]))
    rows = rng.normal(size=(40, 10)) @ np.linalg.inv(scale.unit) * 30.0
    target = rows @ truth + rng.normal(size=40)
    limits = robot_limits([f"{term}(a)" for term in BODY_TERMS], make_reference(BODY, 1))
    found = fit_mass_points(rows, target, limits, [BOX], scale)
    points = box_points(BOX)
    columns, size = point_columns(points), 2.0 / len(points)
    prior, wanted = null_space_prior(rows, scale)
    assert len(points) == 27 and len(prior) == 0  # the data know everything
    expected = np.linalg.pinv(columns * size) @ scale.phi
    best = lsq_linear(np.concatenate([rows @ columns * size, np.sqrt(STABILITY) * np.eye(27)]),
                      np.concatenate([target, np.sqrt(STABILITY) * expected]), (0.0, np.inf),
                      tol=1e-14)
    np.testing.assert_allclose(found, columns @ (size * best.x), atol=1e-4)
    assert is_consistent(found)
    com = found[1:4] / found[0]
    assert np.all(com >= BOX[0]) and np.all(com <= BOX[1])


def test_the_prior_acts_in_the_null_space_alone(rng: np.random.Generator) -> None:
    """Eq. 32: base parameters are those of least squares, and all else is the prior's; with mass
    points, as near to it as they can."""
    model = RobotModel.from_urdf(random_tree(rng, 3))
    q, dq, ddq = rng.normal(size=(3, 500, 3))
    torque = model.regressor(q, dq, ddq) @ model.nominal + dq + np.sign(dq) \
        + 0.1 * rng.normal(size=(500, 3))
    data, base = unfiltered(model, q, dq, ddq, torque), structural_base_parameters(model)
    design = model.nominal
    design[:30] *= np.repeat([1.3, 0.8, 1.1], 10)
    slices = [model.body_slice(k) for k in range(3)]
    boxes = [uniform_box(model.nominal[where]) for where in slices]
    scale = box_reference(boxes, make_reference(design, 3).scaled(10.0))
    rows, target = data.factor(0.1)
    prior, wanted = null_space_prior(rows, scale)
    np.testing.assert_allclose(prior @ scale.unit @ np.linalg.pinv(base.matrix @ scale.unit), 0.0,
                               atol=1e-6)  # nothing of it on base parameters
    assert len(prior) == model.size - len(base.matrix)
    free = fit_base_parameters(data, base)
    plain = nearest_robot(np.concatenate([rows, prior]), np.append(target, wanted),
                          lambda _: [], scale)
    np.testing.assert_allclose(base.matrix @ plain, free, atol=1e-7)
    np.testing.assert_allclose(prior @ (plain - scale.phi), 0.0, atol=1e-7)
    found = fit_mass_points(rows, target, lambda _: [], boxes, scale)
    own = rows[:, base.independent]
    sigma = np.sqrt(np.diag(np.linalg.inv(own.T @ own)))
    assert np.all(np.abs(base.matrix @ found - free) < 0.1 * sigma + 1e-6)


@pytest.mark.slow
def test_a_tree_of_30_joints_from_the_rows_of_its_floating_base_alone() -> None:
    """As Section V: in the air, with a design whose masses are 30 % wrong, all links can exist, lie
    in their boxes, and cost hardly any force residual (up to 40 % in the paper)."""
    rng, noise = np.random.default_rng(0), np.array([5.0, 5.0, 5.0, 2.0, 2.0, 1.0])  # N, N m
    model = RobotModel(pin.buildModelFromXML(random_tree(rng, 30, rooted=True), FREE), NO_TERMS)
    q, dq, ddq = rng.normal(size=(3, 600, model.nv))
    columns = model.regressor(q, 0.7 * dq, 2.0 * ddq)[:, :BASE_SIZE]
    force = columns @ model.nominal + noise * rng.normal(size=(600, 6))
    rows, target = Rows(model, np.arange(600), columns, force).factor(noise)
    design = make_reference(model.nominal * np.repeat(np.exp(0.3 * rng.normal(size=31)), 10), 31)
    slices = [model.body_slice(k) for k in range(31)]
    boxes = [uniform_box(model.nominal[where]) for where in slices]
    phi = fit_mass_points(rows, target, robot_limits(model.parameter_names, design), boxes,
                          box_reference(boxes, design))
    assert all(is_consistent(phi[where]) for where in slices)
    misfits = [np.linalg.norm(rows @ p - target) for p in (
        phi, np.linalg.lstsq(rows, target, rcond=1e-9)[0])]
    assert misfits[0] < 1.01 * misfits[1]
