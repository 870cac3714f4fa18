# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The payload as it is sent to a target, and the parameters of ros2_control that take it: what is
set, what is given back, and refusals."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from robot_graph import BIAS, SHIFT, TURN, Graph, assert_close, body, in_sensor, load

from inertial_id_ros.errors import InvalidData, InvalidSetting
from inertial_id_ros.estimate import IDENTIFIED, PRIOR_DOMINATED, UNOBSERVED, Estimate
from inertial_id_ros.inertia import GROUPS, phi_from_body
from inertial_id_ros.model.tool import Tool
from inertial_id_ros.targets.target import Target, payload_of, payload_of_tool

AXES = [f"{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz"]
TURNED = in_sensor().placed("tilted", TURN, np.zeros(3))
MASS, COM, _ = body(TURN, np.zeros(3))
FILTER = "sensor_filter_chain.filter1.params."
POSITION, FORCE = "gravity_compensation.CoG.pos", "gravity_compensation.CoG.force"
FRAME, LIVE = "gravity_compensation.frame.id", "enable_parameter_update_without_reactivation"
HELD: dict[str, dict[str, Any]] = {
    "force_torque_sensor_broadcaster": {**{f"offset.{a}": 0.5 for a in AXES},
                                        **{f"multiplier.{a}": 2.0 for a in AXES}},
    "gravity_compensation": {f"{FILTER}tool.mass": 0.0, f"{FILTER}tool.CoG": [0.0] * 3,
                             f"{FILTER}sensor_frame": "tilted"},
    "admittance_controller": {POSITION: [0.0] * 3, FORCE: 1.0, FRAME: "tilted", LIVE: True}}
NAMES = list(HELD)


def made(name: str, leave: str = "", change: dict[str, Any] | None = None, **settings: Any
         ) -> tuple[Target, Graph]:
    held = {key: value for key, value in (HELD[name] | (change or {})).items() if key != leave}
    graph = Graph(**held)
    return load(name, graph, **{"wrench__topic": "/fts/wrench", "wrench__convention": "on_sensor",
                                **settings}), graph


@pytest.mark.parametrize(("name", "node", "values"), [
    # It publishes (raw + offset) multiplier: a reading of -bias / multiplier more shows zero.
    ("force_torque_sensor_broadcaster", "/fts",
     {f"offset.{a}": 0.5 - bias / 2.0 for a, bias in zip(AXES, BIAS.tolist(), strict=True)}),
    ("gravity_compensation", "/fts", {f"{FILTER}tool.mass": MASS, f"{FILTER}tool.CoG": COM}),
    ("admittance_controller", "/admittance_controller", {POSITION: COM, FORCE: 9.81 * MASS})])
def test_a_node_is_told_the_payload_about_the_sensor_and_given_back_what_it_had(
        name: str, node: str, values: dict[str, Any]) -> None:
    target, graph = made(name)
    before = target.read()
    plan = target.plan(TURNED, before)
    assert_close(plan.values, values)
    assert plan.left_out and not plan.notes
    target.send(plan.values)
    assert graph.calls[0][0] == node
    assert_close({key: target.read()[key] for key in values}, values)
    undo = target.undo_of(before, plan.values)
    assert undo == {key: HELD[name][key] for key in values}
    assert not target.undo_of({}, plan.values)


def test_a_wrench_of_no_broadcaster_names_no_node() -> None:
    for name in NAMES[:2]:
        with pytest.raises(InvalidSetting):
            made(name, wrench__topic="/wrench")[0].read()


@pytest.mark.parametrize("name", NAMES[1:])
def test_the_axes_are_those_of_the_frame_that_the_node_or_the_user_names(name: str) -> None:
    def frame(**changes: Any) -> str:
        target = made(name, **changes)[0]
        assert target.axes_only
        return target.frame(target.read())

    assert frame() == "tilted" and frame(apply__frame="tool0") == "tool0"
    key = FRAME if name == "admittance_controller" else f"{FILTER}sensor_frame"
    for changes in ({"leave": key}, {"change": {key: ""}}):
        with pytest.raises(InvalidData, match=key.rpartition(".")[2]):
            frame(**changes)


def plan(target: Target, payload: Any = TURNED) -> Any:
    return target.plan(payload, target.read())


@pytest.mark.parametrize("name", NAMES)
def test_a_parameter_that_is_missing_is_named(name: str) -> None:
    for key in plan(made(name)[0]).values:
        with pytest.raises(InvalidData, match=key.rpartition(".")[2]):
            plan(made(name, leave=key)[0])


def test_the_broadcaster_needs_a_bias_and_a_gain_and_has_defaults() -> None:
    target = made(NAMES[0], change=dict.fromkeys(HELD[NAMES[0]]))[0]  # none was ever set
    values = plan(target).values
    assert_close(values, {f"offset.{a}": -bias for a, bias in zip(AXES, BIAS, strict=True)})
    assert not target.undo_of(target.read(), values)
    with pytest.raises(InvalidData):
        plan(made(NAMES[0], change={"multiplier.torque.z": 0.0})[0])
    with pytest.raises(InvalidData):
        plan(target, in_sensor(None))


def test_one_filter_in_the_chain_is_needed() -> None:
    other = {"sensor_filter_chain.filter2.params.tool.mass": 0.0}
    for target in (made(NAMES[1], change=other)[0], load(NAMES[1], wrench__topic="/fts/wrench")):
        with pytest.raises(InvalidData):
            plan(target)


def test_what_a_filter_would_remove_wrongly_or_twice_is_refused() -> None:
    for name in NAMES:
        assert not list(made(name)[0].refusals())
        turned = list(made(name, wrench__convention="on_environment")[0].refusals())
        assert len(turned) == (name != NAMES[0])
    assert len(list(made(NAMES[1], wrench__topic="/fts/wrench_filtered")[0].refusals())) == 1


def test_a_controller_that_reads_its_parameters_when_it_is_activated_is_noted() -> None:
    assert len(plan(made(NAMES[2], change={LIVE: False})[0]).notes) == 1
    assert not plan(made(NAMES[2], leave=LIVE)[0]).notes


PHI = phi_from_body(*in_sensor().body)
SD = np.r_[0.02, np.full(3, 0.003), np.full(6, 1e-5)]  # of phi
# Of a quotient: relative variances add.
WIDTH = 2.0 * math.sqrt(max(0.003**2 + (x * 0.02)**2 for x in in_sensor().body.com)) / PHI[0]


def test_a_payload_in_another_frame_is_that_of_the_points() -> None:
    placed = in_sensor().placed("tilted", TURN, SHIFT)
    assert_close(placed.body.com, body()[1])
    assert placed.describe().endswith("mm in 'tilted'")


def estimate(doubted: str = "") -> Estimate:
    return Estimate(
        5, "sensor", PHI, np.diag(SD**2), BIAS, "lmi", "none", np.ones(10),
        (IDENTIFIED, IDENTIFIED, PRIOR_DOMINATED, *(IDENTIFIED,) * 6, UNOBSERVED), np.zeros(6),
        np.zeros(6), np.zeros(6), 500, 5.0, 10.0, 1e-4, 0.01, tool_apart=True, doubted=doubted)


@pytest.mark.parametrize("doubted", ["", "the wrench froze"])
def test_the_payload_is_that_of_the_report(doubted: str) -> None:
    payload = payload_of(json.loads(json.dumps(estimate(doubted).to_json())), BIAS)
    assert payload.bias is BIAS and payload.known == {"mass", "com"}
    np.testing.assert_allclose(phi_from_body(*payload.body), PHI, atol=1e-12)
    assert payload.com_width == pytest.approx(math.inf if doubted else WIDTH, rel=1e-6)


def test_a_tool_is_added_or_sent_alone_as_far_as_it_is_known() -> None:
    def sent(sd: np.ndarray) -> object:
        return payload_of_tool(Tool("sensor", PHI, np.diag(sd**2), 0), BIAS)

    light = phi_from_body(0.5, np.array([0.0, 0.0, 0.05]), 1e-3 * np.eye(3))
    both = payload_of(estimate().to_json(), None, Tool("sensor", light, np.eye(10), 0)).body
    assert both.mass == pytest.approx(in_sensor().body.mass + 0.5)
    assert_close(both.com, (PHI[1:4] + [0.0, 0.0, 0.025]) / (PHI[0] + 0.5))
    alone = sent(SD)
    assert alone.known == set(GROUPS) and alone.bias is BIAS
    assert alone.com_width == pytest.approx(WIDTH)
    for k, name in ((0, "mass"), (2, "com"), (9, "inertia")):
        assert name not in sent(np.where(np.arange(10) == k, 0.5, SD)).known
