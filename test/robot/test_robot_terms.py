# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Terms of the joints, and their choice by motion that was held out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robots import recording
from torque_arm import URDF, wide_motion

from inertial_id_ros.errors import InvalidModel
from inertial_id_ros.robot.model import (
    COULOMB,
    DRIVE,
    LOAD,
    VISCOUS,
    JointTerms,
    RobotModel,
    mean_sign,
)
from inertial_id_ros.robot.recording import RowFilter
from inertial_id_ros.robot.terms import FADINGS, TermChoice, choose_terms

USUAL = JointTerms(coulomb_velocity=0.003)


def test_friction_by_load_is_its_formula(rng: np.random.Generator) -> None:
    dq, load = rng.normal(size=(2, 20, 2))
    terms = JointTerms(False, False, False, load=True)
    np.testing.assert_allclose(terms.columns(dq, dq, load)[..., 0], np.sign(dq) * np.abs(load),
                               atol=1e-15)


def test_terms_of_another_robot_are_refused() -> None:
    with pytest.raises(InvalidModel):
        RobotModel.from_urdf(URDF, JointTerms(load=True, load_bodies=(1.0,)))
    for speed in (-1.0, np.nan):
        with pytest.raises(InvalidModel):
            JointTerms(coulomb_velocity=speed)


def chosen(terms: JointTerms, values: dict[str, float]) -> TermChoice:
    """The choice for an arm that has these terms, with the same value in each joint."""
    model = RobotModel.from_urdf(URDF, terms)
    phi = model.nominal
    if terms.load:
        model = model.with_terms(replace(terms, load_bodies=tuple(phi[:60])))
    for term, value in values.items():
        for j in range(6):
            phi[model.term_index(j, term)] = value
    t = np.arange(0.0, 30.0, 0.004)
    q, dq, ddq = wide_motion(30.0, harmonics=18)(t)
    effort = model.regressor(q, dq, ddq) @ phi
    effort += 0.02 * np.random.default_rng(1).normal(size=q.shape) * effort.std(axis=0)
    return choose_terms(RobotModel.from_urdf(URDF, USUAL), RowFilter(recording(t, q, effort)),
                        FADINGS, True)


def test_drives_and_friction_by_load_are_chosen_where_they_are() -> None:
    choice = chosen(replace(USUAL, drive_inertia=True, load=True, load_bodies=(1.0,) * 60),
                    {VISCOUS: 1.0, COULOMB: 1.0, DRIVE: 0.3, LOAD: 0.1})
    assert choice.terms.drive_inertia and choice.terms.load
    assert min(choice.gains.values()) > 10.0


def test_a_robot_without_them_gets_few_terms() -> None:
    choice = chosen(USUAL, {VISCOUS: 1.0, COULOMB: 1.0})
    assert choice.terms.names == USUAL.names and choice.terms.coulomb_velocity <= 0.01
    assert max(choice.gains.values()) < 10.0


@pytest.mark.parametrize("speed", (0.0, 0.01))
def test_the_sign_is_the_mean_over_the_time_of_a_bin(
        rng: np.random.Generator, speed: float) -> None:
    span, inside = 0.01, (np.arange(2000) + 0.5) / 2000 - 0.5
    dq, ddq = 0.01 * rng.normal(size=(50, 3)), rng.normal(size=(50, 3))
    ddq[:5], dq[5:8] = 0.0, 0.0
    every = dq + span * inside[:, None, None] * ddq
    sign = np.sign(every) if speed == 0.0 else np.tanh(every / speed)
    np.testing.assert_allclose(mean_sign(dq, ddq, speed, span), sign.mean(axis=0), atol=2e-3)
