# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Curves of joint friction, and their choice by motion that was held out."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.robot import friction
from inertial_id_ros.apps.robot.term_choice import choose_terms, hold_out
from inertial_id_ros.errors import InvalidModel
from inertial_id_ros.robot.base_parameters import structural_base_parameters
from inertial_id_ros.robot.joint_terms import (
    CURVES,
    DRIVE,
    LOAD,
    SIGMOID,
    STRIBECK,
    FrictionCurve,
    JointTerms,
    fading_sign,
    mean_sign,
)
from inertial_id_ros.robot.model import RobotModel


def test_each_curve_is_its_formula(rng: np.random.Generator) -> None:
    dq, load = rng.normal(size=(20, 2)), rng.normal(size=(20, 2))
    for kind, truth in ((STRIBECK, np.sign(dq) * np.exp(-(dq / 0.5)**2)),
                        (SIGMOID, np.tanh(dq / 0.5)), (LOAD, np.sign(dq) * np.abs(load))):
        terms = JointTerms(False, False, False, curves=(FrictionCurve(kind, (0.5, 0.0)),),
                           load_bodies=(1.0,) * 20)
        found = terms.columns(dq, dq, load)[..., 0]
        np.testing.assert_allclose(found[:, 0], truth[:, 0], atol=1e-15)
        assert not found[:, 1].any()
        assert terms.has(0, kind) and not terms.has(1, kind)


def test_terms_of_another_robot_are_refused() -> None:
    text, _ = friction.make_joints("WAM", 0, False, 0.01)
    for terms in (JointTerms(coulomb_velocity=(0.1, 0.1)),
                  JointTerms(curves=(FrictionCurve(SIGMOID, (0.1,)),)),
                  JointTerms(curves=(FrictionCurve(LOAD, (1.0,) * 7),), load_bodies=(1.0,))):
        with pytest.raises(InvalidModel, match="the robot has 7 joints"):
            RobotModel.from_urdf(text, terms)
    for curve in (("bent", (1.0,)), (SIGMOID, (-1.0,)), (SIGMOID, (np.nan,))):
        with pytest.raises(InvalidModel):
            FrictionCurve(*curve)
    with pytest.raises(InvalidModel, match="stands twice"):
        JointTerms(curves=(FrictionCurve(SIGMOID, (1.0,)),) * 2)


def test_curves_are_base_parameters_of_their_own() -> None:
    text, _ = friction.make_joints("WAM", 0, False, 0.01)
    plain = structural_base_parameters(RobotModel.from_urdf(text)).count
    curves = tuple(FrictionCurve(kind, (0.05,) * 6 + (0.0,)) for kind in CURVES)
    bent = RobotModel.from_urdf(text, JointTerms(curves=curves, load_bodies=(1.0,) * 70))
    assert structural_base_parameters(bent).count == plain + 6 * len(CURVES)


def test_held_out_errors_are_those_of_fits_to_the_other_parts(rng: np.random.Generator) -> None:
    """Against one dense fit for each part, all columns of all joints together."""
    rows, joints, bodies, own = 90, 2, 3, 3
    regressor = rng.normal(size=(rows, joints, bodies))
    candidates = rng.normal(size=(rows, joints, own))
    torque = rng.normal(size=(rows, joints))
    part, test = np.arange(rows) // 30, rng.uniform(size=rows) < 0.8
    held = hold_out(regressor, candidates, torque, part, test, int(part.max()) + 1)
    used = ([0], [0, 2])
    expected = []
    wide = np.zeros((rows, joints, bodies + 3))
    wide[:, :, :bodies] = regressor
    wide[:, 0, bodies] = candidates[:, 0, 0]
    wide[:, 1, bodies + 1:] = candidates[:, 1, [0, 2]]
    prior = np.eye(bodies, bodies + 3)
    for k in range(3):
        x, y = wide[part != k].reshape(-1, bodies + 3), torque[part != k].ravel()
        phi = np.linalg.lstsq(np.vstack([x, prior]), np.append(y, np.zeros(bodies)))[0]
        mine = (part == k) & test
        expected.append(np.sum((wide[mine] @ phi - torque[mine])**2))
    for j in range(joints):
        np.testing.assert_allclose(held.joint(j, used).squares(used[j]), expected, rtol=1e-7)


@pytest.mark.slow
def test_stribeck_friction_and_drives_are_chosen_where_they_are() -> None:
    _, arm = friction.make_joints("Panda", 11, True, 0.01)
    choice = choose_terms(arm.model, arm.record(30.0, 11), 0.4)
    gains = {gain.term: gain for gain in choice.gains}
    assert gains[DRIVE].joints == gains[STRIBECK].joints == arm.model.joint_names
    assert sum(len(gains[k].joints) for k in (SIGMOID, LOAD)) <= 4
    curve = next(c for c in choice.terms.curves if c.kind == STRIBECK)
    assert (np.abs(np.log2(np.array(curve.speeds) / arm.speed)) < 1.0).all()
    assert any(text.startswith("Stribeck friction chosen for") for text in choice.sentences())


@pytest.mark.slow
def test_a_robot_without_them_gets_few_terms() -> None:
    _, arm = friction.make_joints("Panda", 12, False, 0.01)
    choice = choose_terms(arm.model, arm.record(30.0, 12), 0.4)
    assert sum(len(gain.joints) for gain in choice.gains if gain.term != DRIVE) <= 3
    assert any(text.startswith("not chosen: ") for text in choice.sentences())


@pytest.mark.parametrize("speed", (0.0, 0.01))
def test_the_sign_is_the_mean_over_the_time_of_a_bin(
        rng: np.random.Generator, speed: float) -> None:
    span, inside = 0.01, (np.arange(2000) + 0.5) / 2000 - 0.5
    dq, ddq = 0.01 * rng.normal(size=(50, 3)), rng.normal(size=(50, 3))
    ddq[:5], dq[5:8] = 0.0, 0.0
    every = fading_sign((dq + span * inside[:, None, None] * ddq).reshape(-1, 3), speed)
    np.testing.assert_allclose(mean_sign(dq, ddq, speed, span),
                               every.reshape(len(inside), 50, 3).mean(axis=0), atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", friction.ARMS)
def test_friction_that_falls_off_with_speed_costs_less_than_a_third_of_a_percent(kind: str) -> None:
    """On five other motions, most of them faster."""
    assert friction.run(kind, 4000, extra=True, noise=0.01)["chosen"] < 0.003
