# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Every estimator and weighting, from samples to the payload; rows that a blend is made of;
intervals and verdicts."""

from dataclasses import replace
from functools import cache

import cvxpy as cp
import numpy as np
import pytest
from problems import motion_from_arrays
from scenes import BODY, FRAME, URDF, outcomes, record, settings
from scipy.stats import truncnorm

from inertial_id_ros.errors import InvalidData, InvalidSetting
from inertial_id_ros.estimate import IDENTIFIED, PRIOR_DOMINATED, Estimate, judge, limits
from inertial_id_ros.estimators import create
from inertial_id_ros.explain.explain import explain
from inertial_id_ros.identify.beliefs import Basis, Beliefs
from inertial_id_ros.identify.estimate import widened
from inertial_id_ros.identify.identifier import Identifier
from inertial_id_ros.identify.solving import plain_rows, solve
from inertial_id_ros.inertia import phi_from_body, pseudo_inertia, report_from_phi, report_jacobian
from inertial_id_ros.io.inputs import JointStates, Wrenches
from inertial_id_ros.model.history import History
from inertial_id_ros.model.tool import Tool
from inertial_id_ros.settings import ESTIMATORS, Settings

SHAPE = {"shape__type": "box", "shape__size": [0.5, 0.5, 0.5], "shape__center": [0.0, 0.0, 0.1]}


@cache
def moved_slowly() -> Identifier:
    """What has seen a slow motion, as the gravity-only model of a blend takes all accelerations for
    errors."""
    made = Identifier(settings(**SHAPE, estimator__rate=0.5))
    made.set_robot_description(URDF)
    outcomes(made, record(20.0, rate=100.0, size=0.6, harmonics=3))
    return made


def identify(tool: Tool | None = None, **changes: object) -> Estimate:
    made = moved_slowly()
    made.set_settings(settings(**{**SHAPE, "estimator__rate": 0.5, **changes}))
    made.believe(replace(made.beliefs, tool=tool))
    found = made.solve()
    assert isinstance(found, Estimate), found
    return found


BODIES = ("pmd", "lmi", "manifold", "entropic")  # wls of a blend may be no body


@pytest.mark.parametrize(("method", "weighting"), [
    *((method, "noise") for method in ESTIMATORS), *((method, "dynamism") for method in BODIES)])
def test_every_method_and_weighting_finds_the_payload(method: str, weighting: str) -> None:
    found = identify(estimator__method=method, estimator__weighting=weighting)
    assert found.report[0] == pytest.approx(BODY.report()[0], rel=0.01)
    np.testing.assert_allclose(found.report[1:4], BODY.report()[1:4], atol=0.003)
    assert found.method == method and found.weighting == weighting


@pytest.mark.parametrize("method", ["density", "ols"])
def test_methods_that_need_every_row_at_its_noise_refuse_a_blend(method: str) -> None:
    with pytest.raises(InvalidSetting):
        create(settings(estimator__method=method, estimator__weighting="dynamism"))


@pytest.mark.parametrize(("method", "changes"), [
    ("pmd", {"pmd__form": "squared"}), ("lmi", {"lmi__support": "box"}),
    ("lmi", {"lmi__support": "ellipsoid"}), ("lmi", {"lmi__support": "ellipsoids"})])
def test_forms_and_supports_blend_both_models(method: str, changes: dict[str, str]) -> None:
    found = identify(estimator__method=method, estimator__weighting="dynamism", **changes)
    assert found.report[0] == pytest.approx(BODY.report()[0], rel=0.01)


@pytest.mark.parametrize("method", ["pmd", "lmi", "density"])
def test_an_object_is_found_beside_a_tool(method: str) -> None:
    tool = Tool(FRAME, 0.4 * BODY.phi(), 1e-8 * np.eye(10), 0)
    weighting = "noise" if method == "density" else "dynamism"
    found = identify(tool=tool, estimator__method=method, estimator__weighting=weighting)
    assert found.tool_apart
    assert found.report[0] == pytest.approx(0.6 * BODY.report()[0], rel=0.01)


def test_a_shape_that_the_estimator_needs_stays() -> None:
    made = Identifier(settings(**SHAPE, estimator__method="entropic"))
    with pytest.raises(InvalidData):
        made.believe(replace(made.beliefs, shape=None))
    assert made.beliefs.shape is not None


@pytest.mark.parametrize("method", ["lmi", "pmd"])
def test_a_shape_that_cannot_hold_the_payload_is_named_and_what_follows_doubted(method: str
                                                                                ) -> None:
    elsewhere = {"shape__size": [0.2, 0.2, 0.2], "shape__center": [0.3, 0.0, 0.1]}
    made = Identifier(settings(**SHAPE | elsewhere, estimator__method=method, lmi__support="box"))
    made.set_robot_description(URDF)
    outcomes(made, record(noise=1.0))
    found = made.solve()
    assert "shape_contradicted" in {finding.kind for finding in made.findings()}
    assert isinstance(found, Estimate) and not any(found.verdict)
    assert (np.abs(found.report - BODY.report()) < 3.0 * found.sigma)[:4].all()


def test_a_blend_is_the_dense_statement_of_both_models() -> None:
    """As in cvxpy: least squares of all rows, the bias free with its prior, over bodies."""
    history, used = History(), settings(estimator__method="lmi", estimator__weighting="dynamism")
    ((_, (joints, wrenches)),) = record()
    assert isinstance(joints, JointStates) and isinstance(wrenches, Wrenches)
    history.append(motion_from_arrays(joints.stamps, joints.positions),
                   wrenches.stamps, used.wrench.sign * wrenches.rows)
    explained = explain(history.window(history.end, 30.0), Beliefs().sheet(used, 0), None)
    found, *_ = solve(explained, Basis(used, Beliefs()))
    full, static, full_share, noise, bias_sd = plain_rows(explained.best, np.zeros(10))
    phi, bias = cp.Variable(10), cp.Variable(6)
    cost = cp.sum_squares(bias / bias_sd)
    for model, weight in ((full, full_share), (static, 1.0 - full_share)):
        for c in range(6):
            left = model[:, c, :10] @ phi + bias[c] - model[:, c, 10]
            cost += cp.sum_squares(cp.multiply(weight / noise[c], left))
    body = sum(phi[k] * pseudo_inertia(unit) for k, unit in enumerate(np.eye(10)))
    cp.Problem(cp.Minimize(cost), [body >> 0]).solve(solver=cp.CLARABEL)
    assert found is not None
    np.testing.assert_allclose(found, phi.value, atol=2e-4)


# ---- intervals and verdicts ----------------------------------------------------------------------

@pytest.mark.parametrize("mass", [-0.1, 0.0, 0.05, 0.15])
def test_a_mass_that_is_hardly_known_is_as_wide_as_the_data_leave_it(mass: float) -> None:
    phi, sd = np.r_[0.04, np.full(9, 0.001)], 0.1
    wide = widened(phi, 1e-6 * np.eye(10), mass, sd)
    assert wide[0, 0] == pytest.approx(truncnorm.var(-mass / sd, np.inf, mass, sd), rel=1e-6)
    known = widened(phi, 1e-6 * np.eye(10), 0.25, sd)
    np.testing.assert_array_equal(known, 1e-6 * np.eye(10))


def test_transforms_without_translation_give_no_cause_for_what_accelerations_do() -> None:
    """The sensor is moved about, and transforms tell how it turns alone."""
    ((_, samples),) = record(
        10.0, rate=100.0, seed=1, noise=1.0, by_poses=True, joints=lambda s: s._replace(
            rows=np.hstack([np.full((len(s.rows), 3), 0.3), s.rows[:, 3:]])))
    made = Identifier(Settings())
    made.add_arrays(samples)
    outcome = made.solve()
    names = {finding.kind for finding in made.findings()}
    assert "translation_constant" in names
    assert not {"cable", "base_moves", "constant_force", "payload_walks"} & names
    if outcome.valid:
        assert abs(outcome.report[0] - BODY.report()[0]) < 3.0 * outcome.sigma[0]
        assert not any(outcome.verdict[1:])


PHI = phi_from_body(2.0, np.array([0.01, 0.02, 0.1]), 0.01 * np.eye(3))


def covariance(mass: float, com: float, inertia: float) -> np.ndarray:
    """Covariance of phi for these standard deviations of the report."""
    back = np.linalg.inv(report_jacobian(PHI))
    sd = np.r_[mass, 3 * [com], 6 * [inertia]]
    return np.asarray(back * sd**2 @ back.T)


def test_limits_are_those_that_the_page_states() -> None:
    report = report_from_phi(PHI)
    np.testing.assert_allclose(limits(report, np.zeros(10)),
                               np.r_[0.1, 3 * [0.05 * np.linalg.norm(report[1:4])], 6 * [0.002]])


@pytest.mark.parametrize(("mass", "com", "inertia", "known"), [
    (0.01, 1e-3, 1e-4, (True, True, True)), (0.06, 1e-3, 1e-4, (False, True, True)),
    (0.01, 4e-3, 1e-4, (True, False, True)), (0.01, 1e-3, 2e-3, (True, True, False))])
def test_an_interval_within_its_limit_is_known(mass: float, com: float, inertia: float,
                                               known: tuple[bool, ...]) -> None:
    found = judge(PHI, *2 * [covariance(mass, com, inertia)])[1]
    assert tuple(found[k] == IDENTIFIED for k in (0, 1, 4)) == known


def test_what_the_prior_knows_is_not_identified() -> None:
    narrow = covariance(0.01, 1e-3, 1e-4)
    share, verdict = judge(PHI, narrow, 3.0 * narrow)
    assert set(verdict) == {PRIOR_DOMINATED}
    np.testing.assert_allclose(share, 1.0 / 3.0)
