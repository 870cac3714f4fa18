# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Every estimator and weighting, from samples to the payload; rows that a blend is made of."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from problems import motion_from_arrays
from synthetic import BODY, RICH, URDF, PointMasses, Scene, recording, settings

from inertial_id_ros.errors import InvalidSetting
from inertial_id_ros.estimate import Estimate
from inertial_id_ros.estimators import create
from inertial_id_ros.explain.explain import Explanation, explain
from inertial_id_ros.identify.beliefs import Basis, Beliefs
from inertial_id_ros.identify.identifier import make_identifier
from inertial_id_ros.identify.solving import plain_rows, solve
from inertial_id_ros.inertia import phi_from_points, pseudo_inertia
from inertial_id_ros.io.sample_blocks import JointStates, Wrenches
from inertial_id_ros.model.history import History
from inertial_id_ros.model.tool import Tool
from inertial_id_ros.settings import ESTIMATORS, Settings

FRAME = "tool0"
# Slow, as the gravity-only model of a blend takes all accelerations for errors.
SLOW = Scene(motion=replace(RICH, frequency=RICH.frequency / 4.0))
SHAPE = {"shape__type": "box", "shape__size": [0.5, 0.5, 0.5], "shape__center": [0.0, 0.0, 0.1]}


def identify(body: PointMasses = BODY, tool: Tool | None = None, **changes: object) -> Estimate:
    made = make_identifier(settings(**{**SHAPE, **changes}))
    made.set_robot_description(URDF)
    made.set_tool(tool)
    recording(20.0, SLOW, body).outcomes(made)
    found = made.solve()
    assert isinstance(found, Estimate), found
    return found


BODIES = ("pmd", "lmi", "manifold", "entropic")  # wls of a blend may be no body


@pytest.mark.parametrize(("method", "weighting"), [
    *((method, "noise") for method in ESTIMATORS), *((method, "dynamism") for method in BODIES)])
def test_every_method_and_weighting_finds_the_payload(method: str, weighting: str) -> None:
    found = identify(estimator__method=method, estimator__weighting=weighting)
    assert found.report[0] == pytest.approx(BODY.report[0], rel=0.01)
    np.testing.assert_allclose(found.report[1:4], BODY.report[1:4], atol=0.003)
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
    assert found.report[0] == pytest.approx(BODY.report[0], rel=0.01)


@pytest.mark.parametrize("method", ["pmd", "lmi", "density"])
def test_an_object_is_found_beside_a_tool(method: str) -> None:
    tool = Tool(FRAME, 0.4 * phi_from_points(BODY.points, BODY.masses), 1e-8 * np.eye(10), 0)
    weighting = "noise" if method == "density" else "dynamism"
    found = identify(tool=tool, estimator__method=method, estimator__weighting=weighting)
    assert found.tool_apart
    assert found.report[0] == pytest.approx(0.6 * BODY.report[0], rel=0.01)


def explanation() -> tuple[Explanation, Settings]:
    used, history = settings(), History()
    by_type = {type(samples): samples for samples in recording().batches()}
    joints, wrenches = by_type[JointStates], by_type[Wrenches]
    assert isinstance(joints, JointStates) and isinstance(wrenches, Wrenches)
    history.append(motion_from_arrays(URDF, FRAME, joints.names, joints.stamps, joints.positions),
                   wrenches.stamps, used.wrench.sign * wrenches.rows)
    sheet = Beliefs().sheet(used, 0)
    return explain(history.window(history.end, 30.0), sheet, None), used


def test_a_blend_is_the_dense_statement_of_both_models() -> None:
    """As in cvxpy: least squares of all rows, the bias free with its prior, over bodies."""
    explained, used = explanation()
    used = used.replace({"estimator.method": "lmi", "estimator.weighting": "dynamism"})
    found, _ = solve(explained, Basis(used, Beliefs(), create(used)))
    rows = plain_rows(explained.best, used.estimator.dynamism_c1)
    phi, bias = cp.Variable(10), cp.Variable(6)
    cost = cp.sum_squares(bias / rows.bias_sd)
    for model, weight in ((rows.full, rows.weight), (rows.static, 1.0 - rows.weight)):
        for c in range(6):
            left = model[:, c, :10] @ phi + bias[c] - model[:, c, 10]
            cost += cp.sum_squares(cp.multiply(weight / rows.noise[c], left))
    body = sum(phi[k] * pseudo_inertia(unit) for k, unit in enumerate(np.eye(10)))
    cp.Problem(cp.Minimize(cost), [body >> 0]).solve(solver=cp.CLARABEL)
    assert found is not None
    np.testing.assert_allclose(found, phi.value, atol=2e-4)
