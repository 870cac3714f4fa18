# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What each driver or controller is sent for a payload in a turned and shifted frame, against sums
over points; what it tells, is given back, and why it is not sent."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from robot_graph import BIAS, SHIFT, TURN, Graph, assert_close, body, in_sensor, load, matrix

from inertial_id_ros.errors import InvalidData, InvalidSetting
from inertial_id_ros.estimate import IDENTIFIED, PRIOR_DOMINATED, UNOBSERVED, Estimate
from inertial_id_ros.export import estimate_of
from inertial_id_ros.inertia import GROUPS, phi_from_body
from inertial_id_ros.model.tool import Tool
from inertial_id_ros.targets.target import Refused, Target, difference, values_of, with_tool

MASS, COM, SIX = body()
VECTOR, MILLIMETRES = dict(zip("xyz", COM, strict=True)), [1000.0 * x for x in COM]
MOMENTS = {f"in_{axis}": SIX[f"i{axis}{axis}"] for axis in "xyz"}
PAYLOAD = in_sensor().in_frame("tilted", TURN, SHIFT)
VAGUE = replace(PAYLOAD, verdict=(IDENTIFIED,) * 4 + (UNOBSERVED,) * 6)
SET_PAYLOAD, SET_LOAD = "/io_and_status_controller/set_payload", "/service_server/set_load"
UR_FIELDS = {"mass": "float", "center_of_gravity": "", **dict.fromkeys(SIX, "double")}
HAS = [1.5, 0.01, 0.02, 0.03, 0.4, 0.01, 0.02, 0.5, 0.03, 0.6]  # of a driver, in its order
KINDS = ["mass", "cog.x", "cog.y", "cog.z", *(f"inertia.{entry}" for entry in SIX)]
STATE, TOOLS = "franka_robot_state_broadcaster/robot_state", "dsr01/dsr_controller2/tool/"


def states(count: int = 10) -> Any:
    """A control_msgs/DynamicJointState with so many numbers of the payload."""
    return SimpleNamespace(joint_names=["arm_1", "payload"], interface_values=[
        SimpleNamespace(interface_names=["position"], values=[0.3]),
        SimpleNamespace(interface_names=KINDS[:count], values=HAS[:count])])


def ur(fields: dict[str, str], count: int = 10) -> Graph:
    return Graph({SET_PAYLOAD: fields}, {"dynamic_joint_states": states(count)})


def franka(mode: int = 1, mass: float = HAS[0], fields: tuple[str, ...] = ()) -> Graph:
    com = SimpleNamespace(**dict(zip("xyz", HAS[1:4], strict=True)))
    load_of = SimpleNamespace(m=mass, com=com, **dict(zip(SIX, HAS[4:], strict=True)))
    return Graph({SET_LOAD: dict.fromkeys(fields, "")}, {STATE: SimpleNamespace(
        robot_mode=mode, inertia_load=SimpleNamespace(inertia=load_of))})


def sent(name: str, graph: Graph, payload: Any = PAYLOAD, **settings: Any) -> dict[str, Any]:
    """The last request for a payload."""
    target = load(name, graph, **settings)
    target.send(target.plan(payload, target.read()).values)
    return graph.calls[-1][1]


FANUC = {"payload_schedule_id": 1, "mass": MASS, **{f"cg_{a}": x for a, x in VECTOR.items()}}
COMP = "fanuc_gpio_controller/set_payload_comp"


@pytest.mark.parametrize(("name", "graph", "settings", "request_"), [
    ("universal_robots", ur(UR_FIELDS), {}, {"mass": MASS, "center_of_gravity": VECTOR, **SIX}),
    ("universal_robots", ur({"payload": "geometry_msgs/Inertia"}), {},
     {"payload": {"m": MASS, "com": VECTOR, **SIX}}),
    ("franka", franka(fields=("mass", "load_inertia")), {},
     {"mass": MASS, "center_of_mass": COM, "load_inertia": matrix(SIX).T.ravel()}),
    ("franka", franka(fields=("load_inertia",)), {"apply__frame": "tilted"},
     {"load_inertia": {"header": {"frame_id": "tilted"},
                       "inertia": {"m": MASS, "com": VECTOR, **SIX}}}),
    ("xarm", Graph(), {}, {"weight": MASS, "center_of_gravity": MILLIMETRES}),
    ("dobot", Graph(), {}, {"load": MASS, **dict(zip("xyz", MILLIMETRES, strict=True))}),
    ("fanuc", Graph(), {}, {**FANUC, **MOMENTS}),
    ("fanuc", Graph(), {"apply__tool": "7"}, {**FANUC, "payload_schedule_id": 7, **MOMENTS}),
], ids=["ur", "ur-inertia", "franka", "franka-stamped", "xarm", "dobot", "fanuc", "fanuc-7"])
def test_a_driver_is_sent_the_payload_in_its_units_order_and_frame(
        name: str, graph: Graph, settings: dict[str, Any], request_: dict[str, Any]) -> None:
    assert_close(sent(name, graph, **settings), request_)
    assert len(graph.calls) == 1


@pytest.mark.parametrize(("graph", "payload"), [
    (ur({"mass": "float", "center_of_gravity": ""}), PAYLOAD),  # ur_msgs up to 2.5
    (ur(UR_FIELDS, 4), PAYLOAD), (ur(UR_FIELDS), VAGUE)])  # it would be dropped; is unknown
def test_universal_robots_are_sent_no_inertia_that_is_unknown_or_would_be_dropped(
        graph: Graph, payload: Any) -> None:
    assert_close(sent("universal_robots", graph, payload), {
        "mass": MASS, "center_of_gravity": VECTOR})
    target = load("universal_robots", graph)
    assert len(target.plan(payload, target.read()).left_out) == 1


@pytest.mark.parametrize(("new", "old", "count"), [
    (True, None, 10), (True, 4, 10), (False, 10, 10), (False, 4, 4), (False, None, 0)],
    ids=["lyrical", "both", "joint-states", "without-inertia", "neither"])
def test_universal_robots_are_read_back_from_whichever_broadcaster_runs(
        new: bool, old: int | None, count: int) -> None:
    """The inertia is sent only where it is read back; with neither, mass and centre are sent."""
    keys = [f"payload/{kind}" for kind in reversed(KINDS)]
    parts = {"state_interfaces_broadcaster/names": SimpleNamespace(keys=keys),
             "state_interfaces_broadcaster/values": SimpleNamespace(values=HAS[::-1])}
    graph = Graph({SET_PAYLOAD: UR_FIELDS}, {
        **(parts if new else {}), **({"dynamic_joint_states": states(old)} if old else {})})
    target = load("universal_robots", graph)
    has = {"mass": HAS[0], "com": HAS[1:4], "inertia": HAS[4:]}
    before = target.read()
    assert_close(before, dict(list(has.items())[:{10: 3, 4: 2, 0: 0}[count]]))
    target.send(target.plan(PAYLOAD, before).values)
    assert ("ixx" in graph.calls[-1][1]) == (count == 10)


def test_franka_is_read_back_and_refuses_unless_it_is_known_to_be_idle() -> None:
    idle, silent = load("franka", franka()), load("franka")
    assert_close(idle.read(), {"mass": HAS[0], "com": HAS[1:4], "inertia": HAS[4:]})
    assert not load("franka", franka(mass=np.inf)).read() and not silent.read()
    assert not list(idle.refusals())
    assert len(list(silent.refusals())) == len(list(load("franka", franka(2)).refusals())) == 1
    assert not idle.plan(PAYLOAD, {}).notes and idle.plan(VAGUE, {}).notes
    idle.send(idle.undo_of(idle.read(), {}))
    assert_close(idle.robot.calls[-1][1], {  # type: ignore[attr-defined]
        "mass": HAS[0], "center_of_mass": HAS[1:4],
        "load_inertia": matrix(dict(zip(SIX, HAS[4:], strict=True))).ravel()})


@pytest.mark.parametrize("present", ["gripper", "inertial_id"])
def test_doosan_makes_a_tool_beside_the_present_one_and_chooses_that_again(present: str) -> None:
    graph = Graph()
    target = load("doosan", graph)
    assert not target.read() and not target.confirms
    graph.kinds = {f"/{TOOLS}get_current_tool": ""}
    graph.answers[f"{TOOLS}get_current_tool"] = SimpleNamespace(info=present)
    graph.answers[f"{TOOLS}config_delete_tool"] = SimpleNamespace(success=False)  # there was none
    before = target.read()
    assert before == {"name": present}
    graph.calls.clear()
    plan = target.plan(PAYLOAD, before)
    target.send(plan.values)
    name = "inertial_id_2" if present == "inertial_id" else "inertial_id"
    assert [call.rpartition("/")[2] for call, _ in graph.calls] == [
        "config_delete_tool", "config_create_tool", "set_current_tool"]
    assert_close(graph.calls[1][1], {"name": name, "weight": MASS, "cog": MILLIMETRES,
                                     "inertia": [0.0] * 6})
    assert graph.calls[2][1] == {"name": name}
    assert {f"{TOOLS}{k}" for k in ("config_create_tool", "set_current_tool")} == set(
        target.services())
    graph.calls.clear()
    target.send(target.undo_of(before, plan.values))
    assert graph.calls == [(f"dsr_msgs2/srv/SetCurrentTool {TOOLS}set_current_tool",
                            {"name": present})]


def test_fanuc_sends_moments_with_a_note_where_they_are_vague() -> None:
    assert_close(sent("fanuc", Graph(), VAGUE), {**FANUC, **MOMENTS})
    target = load("fanuc")
    assert len(target.plan(VAGUE, {}).notes) == 1 + len(target.plan(PAYLOAD, {}).notes)
    for tool in ("0", "101", "left"):
        with pytest.raises(InvalidSetting):
            sent("fanuc", Graph(), apply__tool=tool)


@pytest.mark.parametrize(("name", "service", "answer"), [
    ("universal_robots", SET_PAYLOAD[1:], {"success": False}),
    ("franka", SET_LOAD[1:], {"success": False, "error": "not now"}),
    ("xarm", "xarm/set_tcp_load", {"ret": 1, "message": "not now"}),
    ("dobot", "dobot_bringup_ros2/srv/SetPayload", {"res": 1}),
    ("doosan", f"{TOOLS}config_create_tool", {"success": False}),
    ("fanuc", COMP, {"result": 1}), ("fanuc", COMP, {})])
def test_an_answer_that_is_no_success_is_a_refusal_with_its_reason(
        name: str, service: str, answer: dict[str, Any]) -> None:
    graph = Graph()
    graph.answers[service] = SimpleNamespace(**answer)
    with pytest.raises(Refused) as caught:
        sent(name, graph)
    assert ("not now" in str(caught.value)) == ("not now" in answer.values())


def test_what_is_read_back_is_compared_within_the_digits_that_a_target_keeps() -> None:
    has = values_of(PAYLOAD.report, inertia=True)
    assert difference(has, {name: np.float32(value).tolist() for name, value in has.items()}) == ""
    for name in has:
        assert difference(has, {k: v for k, v in has.items() if k != name})
        off = np.asarray(has[name]) * 1.01 + 0.002
        assert difference(has, {**has, name: off.tolist()})
    assert difference(has, {**has, "com": COM[:2]})


@pytest.mark.parametrize(("name", "mass"), [
    ("ur3", 3.0), ("ur5", 5.0), ("UR5e", 5.0), ("ur10", 10.0), ("ur10e", 10.0), ("", 0.0),
    ("ur", 0.0), ("ur30", 0.0), ("ur5e_cell", 0.0), ("left_ur5e", 0.0), ("fr3", 0.0)])
def test_a_model_is_rated_by_its_whole_name_unless_the_user_rates_it(
        name: str, mass: float) -> None:
    urdf = f'<robot name="{name}"/>'
    assert load("universal_robots").mass_limit(urdf)[0] == mass
    assert load("universal_robots", load__rated_payload=4.0).mass_limit(urdf)[0] == 4.0
    assert load("franka").mass_limit(urdf)[0] == load("universal_robots").mass_limit("")[0] == 0.0


# ---- controllers, which take parameters ----

AXES = [f"{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz"]
TURNED = in_sensor().in_frame("tilted", TURN, np.zeros(3))
WEIGHED, CENTER, _ = body(TURN, np.zeros(3))
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
    ("gravity_compensation", "/fts", {f"{FILTER}tool.mass": WEIGHED, f"{FILTER}tool.CoG": CENTER}),
    ("admittance_controller", "/admittance_controller", {POSITION: CENTER, FORCE: 9.81 * WEIGHED})])
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
        plan(target, in_sensor(np.full(6, np.nan)))


def test_what_a_filter_would_remove_wrongly_or_twice_is_refused() -> None:
    for name in NAMES:
        assert not list(made(name)[0].refusals())
        turned = list(made(name, wrench__convention="on_environment")[0].refusals())
        assert len(turned) == (name != NAMES[0])
    assert len(list(made(NAMES[1], wrench__topic="/fts/wrench_filtered")[0].refusals())) == 1


PHI, SD = in_sensor().phi, np.r_[0.02, np.full(3, 0.003), np.full(6, 1e-5)]  # of phi
PARTLY = in_sensor(phi_covariance=np.diag(SD**2), tool_apart=True, verdict=(
    IDENTIFIED, IDENTIFIED, PRIOR_DOMINATED, *(IDENTIFIED,) * 6, UNOBSERVED))


def known(payload: Estimate) -> list[str]:
    return [name for name in GROUPS if payload.is_known(name)]


@pytest.mark.parametrize("doubted", ["", "the wrench froze"])
def test_the_payload_is_that_of_the_report(doubted: str) -> None:
    report = json.loads(json.dumps(replace(PARTLY, doubted=doubted).to_json()))
    payload = estimate_of(report)
    assert not np.isfinite(payload.bias).any() and known(payload) == ["mass", "com"]
    assert payload.doubted == doubted and payload.tool_apart
    np.testing.assert_allclose(payload.phi, PHI, atol=1e-12)
    np.testing.assert_allclose(payload.sigma, PARTLY.sigma, rtol=1e-6)


def test_a_tool_is_added_or_sent_alone_as_far_as_it_is_known() -> None:
    def sent(sd: np.ndarray) -> Estimate:
        empty = in_sensor(phi=1e-6 * PHI, phi_covariance=np.diag(SD**2), tool_apart=True)
        return with_tool(empty, Tool("sensor", PHI, np.diag(sd**2), 0))

    light = phi_from_body(0.5, np.array([0.0, 0.0, 0.05]), 1e-3 * np.eye(3))
    both = with_tool(PARTLY, Tool("sensor", light, np.diag(SD**2), 0))
    assert both.phi[0] == pytest.approx(PHI[0] + 0.5) and not both.tool_apart
    assert_close(both.body.com, (PHI[1:4] + [0.0, 0.0, 0.025]) / (PHI[0] + 0.5))
    np.testing.assert_allclose(both.phi_covariance, 2.0 * np.diag(SD**2))
    alone = sent(SD)
    assert known(alone) == list(GROUPS) and alone.bias is BIAS
    np.testing.assert_allclose(alone.sigma, PARTLY.sigma)
    for k, name in ((0, "mass"), (2, "com"), (9, "inertia")):
        assert name not in known(sent(np.where(np.arange(10) == k, 0.5, SD)))


def test_one_filter_in_the_chain_is_needed_and_a_broadcaster_that_the_wrench_names() -> None:
    other = {"sensor_filter_chain.filter2.params.tool.mass": 0.0}
    for target in (made(NAMES[1], change=other)[0], load(NAMES[1], wrench__topic="/fts/wrench")):
        with pytest.raises(InvalidData):
            plan(target)
    for name in NAMES[:2]:
        with pytest.raises(InvalidSetting):
            made(name, wrench__topic="/wrench")[0].read()
