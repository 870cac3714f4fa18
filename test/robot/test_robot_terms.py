# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Terms of the joints, and their choice by motion that was held out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from torque_arm import URDF, wide_motion

from inertial_id_ros.apps.robot.term_choice import HeldOut, TermChoice, choose_terms
from inertial_id_ros.errors import InvalidModel
from inertial_id_ros.robot.base_parameters import structural_base_parameters
from inertial_id_ros.robot.joint_terms import (
    COULOMB,
    DRIVE,
    LOAD,
    VISCOUS,
    JointTerms,
    fading_sign,
    mean_sign,
)
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.recording import JointRecording

USUAL = JointTerms(coulomb_velocity=0.003)


def test_friction_by_load_is_its_formula(rng: np.random.Generator) -> None:
    dq, load = rng.normal(size=(2, 20, 2))
    terms = JointTerms(False, False, False, load=(True, False), load_bodies=(1.0,) * 20)
    found = terms.columns(dq, dq, load)[..., 0]
    np.testing.assert_allclose(found[:, 0], np.sign(dq[:, 0]) * np.abs(load[:, 0]), atol=1e-15)
    assert not found[:, 1].any()
    assert terms.has(0, LOAD) and not terms.has(1, LOAD)


def test_terms_of_another_robot_are_refused() -> None:
    for terms in (JointTerms(load=(True,), load_bodies=(1.0,) * 60),
                  JointTerms(load=(True,) * 6, load_bodies=(1.0,))):
        with pytest.raises(InvalidModel):
            RobotModel.from_urdf(URDF, terms)
    for wrong in ({"load": (True,)}, {"coulomb_velocity": -1.0}, {"coulomb_velocity": np.nan}):
        with pytest.raises(InvalidModel):
            JointTerms(**wrong)


def test_friction_by_load_has_base_parameters_of_its_own() -> None:
    plain = structural_base_parameters(RobotModel.from_urdf(URDF)).count
    loaded = RobotModel.from_urdf(URDF, JointTerms(load=(True,) * 5 + (False,),
                                                   load_bodies=(1.0,) * 60))
    assert structural_base_parameters(loaded).count == plain + 5


def test_held_out_errors_are_those_of_fits_to_the_other_parts(rng: np.random.Generator) -> None:
    """Against one dense fit for each part."""
    rows, part = rng.normal(size=(60, 3, 8)), np.arange(60) // 20
    counted, used = rng.random(60) < 0.8, [0, 1, 3, 5]
    errors, _ = HeldOut(rows, 2, part, counted).errors(used)
    for k in range(3):
        train, test = (rows[which].reshape(-1, 8) for which in (part != k, (part == k) & counted))
        prior = np.zeros((2, 4))
        prior[[0, 1], [0, 1]] = 1.0
        x = np.linalg.lstsq(np.concatenate([train[:, used], prior]),
                            np.concatenate([train[:, 7], np.zeros(2)]), rcond=None)[0]
        assert errors[k] == pytest.approx(np.sum((test[:, used] @ x - test[:, 7]) ** 2), rel=1e-6)


def chosen(terms: JointTerms, values: dict[str, float]) -> TermChoice:
    """The choice for an arm that has these terms, with the same value in each joint."""
    model = RobotModel.from_urdf(URDF, terms)
    phi = model.nominal
    if terms.load:
        model = model.with_terms(replace(terms, load_bodies=tuple(phi[:60])))
    for term, value in values.items():
        for j in range(6):
            phi[model.term_index(j, term)] = value * terms.has(j, term)
    t = np.arange(0.0, 30.0, 0.004)
    q, dq, ddq = wide_motion(30.0, harmonics=18)(t)
    effort = model.torque(phi, q, dq, ddq)
    effort += 0.02 * np.random.default_rng(1).normal(size=q.shape) * effort.std(axis=0)
    return choose_terms(RobotModel.from_urdf(URDF, USUAL),
                        JointRecording.from_seconds(t, q, effort), 0.4)


def test_drives_and_friction_by_load_are_chosen_where_they_are() -> None:
    load = (False, True, True, False, False, False)
    choice = chosen(replace(USUAL, drive_inertia=True, load=load, load_bodies=(1.0,) * 60),
                    {VISCOUS: 1.0, COULOMB: 1.0, DRIVE: 0.3, LOAD: 0.1})
    gains = {gain.term: gain for gain in choice.gains}
    assert choice.terms.drive_inertia and len(gains[DRIVE].joints) == 6
    assert choice.terms.load[1] and choice.terms.load[2] and sum(choice.terms.load) <= 3
    assert min(gain.nats for gain in choice.gains) > 10.0


def test_a_robot_without_them_gets_few_terms() -> None:
    choice = chosen(USUAL, {VISCOUS: 1.0, COULOMB: 1.0})
    assert sum(len(gain.joints) for gain in choice.gains if gain.term != DRIVE) <= 2
    assert len(choice.sentences()) >= 1


@pytest.mark.parametrize("speed", (0.0, 0.01))
def test_the_sign_is_the_mean_over_the_time_of_a_bin(
        rng: np.random.Generator, speed: float) -> None:
    span, inside = 0.01, (np.arange(2000) + 0.5) / 2000 - 0.5
    dq, ddq = 0.01 * rng.normal(size=(50, 3)), rng.normal(size=(50, 3))
    ddq[:5], dq[5:8] = 0.0, 0.0
    every = fading_sign((dq + span * inside[:, None, None] * ddq).reshape(-1, 3), speed)
    np.testing.assert_allclose(mean_sign(dq, ddq, speed, span),
                               every.reshape(len(inside), 50, 3).mean(axis=0), atol=2e-3)
