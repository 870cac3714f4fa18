# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A description is trusted as far as the data do not contradict it, body by body."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from robots import compress, random_tree

from inertial_id_ros.inertia import Array, phi_from_body
from inertial_id_ros.robot.base_parameters import structural_base_parameters
from inertial_id_ros.robot.consistent_fit import (
    FACTORS,
    Described,
    doubt_description,
    identify_described,
    term_sizes,
)
from inertial_id_ros.robot.constraints import consistent_robot
from inertial_id_ros.robot.feasibility import fit_feasible
from inertial_id_ros.robot.least_squares import Compressed
from inertial_id_ros.robot.model import JointTerms, RobotModel
from inertial_id_ros.robot.reference import Reference, description_reference

NOISE = 0.5


class Case(NamedTuple):
    """A robot of a description, and what it measured."""

    model: RobotModel
    data: Compressed
    rows: Array
    target: Array
    design: Reference

    @property
    def doubt(self):  # noqa: ANN201
        """What the data say of the description."""
        return doubt_description(self.rows, self.target, self.design, self.spread,
                                 len(self.model.bodies))

    @property
    def spread(self) -> Array:
        """Standard deviations, in units of the description."""
        first = 10 * len(self.model.bodies)
        return np.append(np.ones(first), term_sizes(self.data, first))


def case(rng: np.random.Generator, change: dict[int, Array] | None = None, joints: int = 4,
         samples: int = 400, terms: JointTerms | None = None, drive: float = 0.0) -> Case:
    """Torques of the described robot, some bodies of which were changed by phi (10,)."""
    model = RobotModel.from_urdf(random_tree(rng, joints, branch=0.0),
                                 terms or JointTerms())
    truth = model.nominal
    for body, added in (change or {}).items():
        truth[model.body_slice(body)] += added
    q, dq, ddq = rng.normal(size=(3, samples, joints))
    torque = (model.regressor(q, dq, ddq) @ truth + 0.3 * dq + 0.2 * np.sign(dq) + drive * ddq
              + NOISE * rng.normal(size=(samples, joints)))
    data = compress(model, q, dq, ddq, torque)
    factor = data.stack(np.full(joints, NOISE))
    return Case(model, data, factor[:, :-1], factor[:, -1], description_reference(model))


def identified(c: Case) -> Described:
    return identify_described(c.data, consistent_robot(c.model, like=c.design), c.design,
                              len(c.model.bodies), np.full(c.model.nv, NOISE),
                              structural_base_parameters(c.model).count)


LOAD = phi_from_body(30.0, np.array([0.1, -0.2, 0.15]), 0.2 * np.eye(3))


@pytest.mark.parametrize("body", [1, 2, 3])
def test_the_body_with_an_undescribed_load_is_named(rng: np.random.Generator, body: int) -> None:
    doubt = case(rng, {body: LOAD}).doubt
    assert doubt.contradicted[body] and doubt.factors.argmax() == body
    assert not doubt.contradicted[body + 1:].any()


def test_a_factor_is_where_the_data_are_most_likely(rng: np.random.Generator) -> None:
    """The density of the data themselves, for all factors of the loaded body, the others kept."""
    c = case(rng, {3: LOAD})
    factors = c.doubt.factors
    rest = c.target - c.rows @ c.design.phi

    def log_density(factor: float) -> float:
        sizes = np.append(np.repeat(np.append(factors[:3], factor), 10), c.spread[40:])
        across = c.rows @ c.design.unit * sizes
        covariance = np.eye(len(rest)) + across @ across.T
        return -0.5 * float(np.linalg.slogdet(covariance)[1]
                            + rest @ np.linalg.solve(covariance, rest))

    best = FACTORS[int(np.argmax([log_density(f) for f in FACTORS]))]
    assert factors[3] == best > 4.0


def test_bodies_as_described_are_not_said_to_differ(rng: np.random.Generator) -> None:
    told = [case(rng).doubt for _ in range(40)]
    assert np.mean([d.differs for d in told]) < 0.02
    assert np.mean([d.factors > 1.0 for d in told]) < 0.02


def test_a_load_that_is_not_described_does_not_cost_accuracy(rng: np.random.Generator) -> None:
    """The sum of squares stays that of the best feasible robot, but for what noise explains."""
    c = case(rng, {3: LOAD})
    base = structural_base_parameters(c.model)
    phi = fit_feasible(c.data, base, consistent_robot(c.model, like=c.design), c.design)
    found = identified(c)
    squares = [float(np.sum((c.rows @ p - c.target)**2)) for p in (found.phi, phi)]
    assert 0.0 < squares[0] - squares[1] < 0.2 * base.count
    assert found.eased == 1.0
    where = c.model.body_slice(3)
    assert found.phi[where][0] == pytest.approx(30.0 + c.model.nominal[where][0], rel=.2)


def test_a_model_that_lacks_drive_inertia_trusts_the_description_less(
        rng: np.random.Generator) -> None:
    """Links would have to carry it: so that it costs little, the pull is eased."""
    lacks = case(rng, terms=JointTerms(), drive=2.0)
    found = identified(lacks)
    assert found.eased < 1.0 or (found.doubt.factors > 1.0).any()
    has = case(rng, terms=JointTerms(drive_inertia=True), drive=2.0)
    assert identified(has).eased == 1.0 and (has.doubt.factors == 1.0).all()

