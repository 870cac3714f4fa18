# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What each target would be told of a payload: units, order, frame, and what it cannot take."""

from __future__ import annotations

import shlex
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

from inertial_id_ros.errors import InertialIdError, InvalidData, InvalidSetting
from inertial_id_ros.estimate import IDENTIFIED, PRIOR_DOMINATED, UNOBSERVED
from inertial_id_ros.inertia import phi_from_body
from inertial_id_ros.ros.apply.gates import gates_of_payload
from inertial_id_ros.settings import Settings
from inertial_id_ros.targets.registry import load_target
from inertial_id_ros.targets.target import (
    ParameterCall,
    Seen,
    ServiceCall,
    TargetPayload,
    body_reading,
    call_from_json,
    closed_gates,
    difference,
    payload_of_report,
)

MASS, COM = 1.5, [0.02, -0.03, 0.11]
TENSOR = np.array([[0.012, 0.001, -0.002], [0.001, 0.014, 0.003], [-0.002, 0.003, 0.009]])
BIAS = np.array([3.0, -2.0, 1.0, 0.1, 0.2, -0.3])
SETTINGS = Settings().replace({"load.rated_payload": 3.0})


def payload(inertia=IDENTIFIED, **changes):
    made = TargetPayload("tool0", phi_from_body(MASS, COM, TENSOR), IDENTIFIED, IDENTIFIED,
                         inertia, 0.002, BIAS)
    return replace(made, **changes)


def states(*extra, mass=0.4):
    """A DynamicJointState of Universal Robots."""
    names = ["mass", "cog.x", "cog.y", "cog.z", *extra]
    return SimpleNamespace(joint_names=["payload"], interface_values=[SimpleNamespace(
        interface_names=names, values=[mass, 0.01, 0.02, 0.03, *([0.001] * len(extra))])])


EXPORTED = tuple(f"inertia.{e}" for e in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
UR = "io_and_status_controller/set_payload"
OLD = {"mass": "float", "center_of_gravity": "geometry_msgs/Vector3"}
NEW = {**OLD, **{e: "double" for e in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")}}
ROLLING = {"payload": "geometry_msgs/Inertia", "transition_time": "double"}


@pytest.mark.parametrize(("fields", "message", "sends", "why"), [
    (NEW, states(*EXPORTED), True, None),
    (NEW, states(), False, "this driver would drop it"),
    (NEW, None, False, "this driver would drop it"),
    (OLD, states(*EXPORTED), False, "no field for it"),
    (ROLLING, states(*EXPORTED), True, None)])
def test_universal_robots_get_an_inertia_only_where_the_driver_tells_one(fields, message, sends,
                                                                         why):
    """The field alone does not tell: ur_msgs had it before the driver read it."""
    plan = load_target("universal_robots").plan(payload(), SETTINGS, Seen(
        fields={UR: fields}, message=message))
    (call,) = plan.calls
    sent = call.fields.get("payload", call.fields)
    if fields is ROLLING:
        mass, com = sent["m"], sent["com"]
    else:
        mass, com = sent["mass"], sent["center_of_gravity"]
    assert mass == MASS and com == pytest.approx(dict(zip("xyz", COM, strict=True)))
    assert {k: v for k, v in sent.items() if k.startswith("i")} == pytest.approx(
        {"ixx": 0.012, "ixy": 0.001, "ixz": -0.002, "iyy": 0.014, "iyz": 0.003, "izz": 0.009}
        if sends else {})
    assert (why is None) == (plan.left_out == ()) and all(why in text for text in plan.left_out)
    assert (plan.undo is None) == (message is None)


def test_an_unobserved_inertia_is_left_out_or_said_to_be_the_priors():
    unknown = payload(UNOBSERVED)
    (ur,) = load_target("universal_robots").plan(unknown, SETTINGS, Seen(
        fields={UR: NEW}, message=states(*EXPORTED))).calls
    assert "ixx" not in ur.fields
    franka = load_target("franka").plan(unknown, SETTINGS, Seen())
    assert len(franka.calls[0].fields["load_inertia"]) == 9 and not franka.left_out
    assert "sent though not measured: the inertia" in franka.notes[0]
    value = SETTINGS.replace({"apply.service": "/fanuc_gpio_controller/set_payload_value"})
    (fanuc,) = load_target("fanuc").plan(unknown, value, Seen()).calls
    assert fanuc.fields["use_in"] is False and "in_x" not in fanuc.fields
    comp = load_target("fanuc").plan(unknown, SETTINGS, Seen())
    assert comp.calls[0].fields["in_x"] == pytest.approx(0.012)
    assert "sent though not measured: the moments of inertia" in comp.notes[-1]


def test_franka_takes_either_form_of_its_request():
    numbers = load_target("franka").plan(payload(), SETTINGS, Seen()).calls[0].fields
    np.testing.assert_allclose(np.reshape(numbers["load_inertia"], (3, 3), order="F"), TENSOR)
    message = load_target("franka").plan(payload(), SETTINGS, Seen(fields={
        "service_server/set_load": {"load_inertia": "geometry_msgs/InertiaStamped"}}))
    sent = message.calls[0].fields["load_inertia"]
    assert sent["header"] == {"frame_id": "tool0"} and sent["inertia"]["m"] == MASS
    assert sent["inertia"]["iyz"] == pytest.approx(0.003)


@pytest.mark.parametrize(("mode", "closed"), [
    (1, ""), (2, "robot_mode is 2"), (None, "is silent")])
def test_franka_is_asked_only_while_it_is_idle(mode, closed):
    inertia = SimpleNamespace(m=0.0, com=SimpleNamespace(x=0.0, y=0.0, z=0.0), ixx=0.0, ixy=0.0,
                              ixz=0.0, iyy=0.0, iyz=0.0, izz=0.0)
    message = None if mode is None else SimpleNamespace(
        robot_mode=mode, inertia_load=SimpleNamespace(inertia=inertia))
    sentences = closed_gates(load_target("franka").ready(
        SETTINGS, Seen(message=message)))
    assert bool(sentences) == bool(closed) and all(closed in s for s in sentences)


def test_millimetres_and_names_of_the_others():
    (xarm,) = load_target("xarm").plan(payload(), SETTINGS, Seen()).calls
    assert xarm.fields["weight"] == MASS
    assert xarm.fields["center_of_gravity"] == pytest.approx([20.0, -30.0, 110.0])
    (dobot,) = load_target("dobot").plan(payload(), SETTINGS, Seen()).calls
    assert dobot.fields == pytest.approx({"load": MASS, "x": 20.0, "y": -30.0, "z": 110.0})
    doosan = load_target("doosan")
    for before, name in (("gripper", "inertial_id"), ("inertial_id", "inertial_id_2")):
        plan = doosan.plan(payload(), SETTINGS, Seen(answer=SimpleNamespace(info=before)))
        delete, create, choose = plan.calls
        assert delete.may_fail and {c.fields["name"] for c in plan.calls} == {name}
        assert create.fields["cog"] == pytest.approx([20.0, -30.0, 110.0])
        assert create.fields["inertia"] == [0.0] * 6 and "inertia" in plan.left_out[0]
        assert plan.undo[0].fields == {"name": before} and plan.undo[0].service == choose.service
    assert doosan.plan(payload(), SETTINGS, Seen()).undo is None
    assert any("contradict each other" in note for note in plan.notes)


@pytest.mark.parametrize(("name", "frame"), [
    ("doosan", "left_link_6"), ("fanuc", "left_fanuc_flange"), ("dobot", "left_Link6")])
def test_an_arm_with_a_prefix_is_told_in_the_frame_of_the_setting(name, frame):
    target = load_target(name)
    settings = SETTINGS.replace({"apply.frame": frame})
    assert target.placement(settings, Seen()).frame == frame
    assert target.placement(SETTINGS, Seen()).frame == frame.removeprefix("left_")



# ---- ros2_control --------------------------------------------------------------------------------

def weight_torque(position, rotation, weight):
    """Torque about the sensor's origin that admittance_rule_impl.hpp removes, in the world."""
    return np.cross(rotation.apply(position), [0.0, 0.0, -weight])


def test_the_admittance_controller_removes_the_weight_that_the_sensor_feels():
    """By the formula of the controller, for orientations of sensor and frame at random."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        sensor, frame = Rotation.random(2, random_state=rng)  # in the world
        turned = payload().turned("cog", (frame.inv() * sensor).as_matrix())
        (call,) = load_target("admittance_controller").plan(turned, SETTINGS, Seen(parameters={
            "gravity_compensation.CoG.pos": [0.0, 0.0, 0.0],
            "gravity_compensation.CoG.force": 0.0})).calls
        weight = call.values["gravity_compensation.CoG.force"]
        assert weight == pytest.approx(9.81 * MASS)
        np.testing.assert_allclose(
            weight_torque(call.values["gravity_compensation.CoG.pos"], frame, weight),
            np.cross(sensor.apply(COM), [0.0, 0.0, -9.81 * MASS]), atol=1e-12)


def test_the_offsets_bring_what_is_published_to_zero_without_load():
    """(raw + offset) multiplier is the bias before, and zero afterwards."""
    axes = [f"{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz"]
    offsets, gains = np.arange(6.0) / 10.0, np.array([1.0, 2.0, -1.0, 0.5, 1.0, 3.0])
    seen = Seen(parameters={**{f"offset.{a}": x for a, x in zip(axes, offsets, strict=True)},
                            **{f"multiplier.{a}": x for a, x in zip(axes, gains, strict=True)}})
    settings = SETTINGS.replace({"wrench.topic": "/ft/wrench"})
    target = load_target("force_torque_sensor_broadcaster")
    assert target.sources(settings).node == "/ft"
    (call,) = target.plan(payload(), settings, seen).calls
    raw = BIAS / gains - offsets
    now = np.array([call.values[f"offset.{a}"] for a in axes])
    np.testing.assert_allclose((raw + now) * gains, 0.0, atol=1e-12)


@pytest.mark.parametrize(("parameters", "read_only", "words"), [
    ({}, (), "has no parameter 'gravity_compensation.CoG.pos'"),
    ({"gravity_compensation.CoG.pos": [0.0] * 3, "gravity_compensation.CoG.force": 0.0},
     ("gravity_compensation.CoG.force",), "'gravity_compensation.CoG.force' of node "
     "'admittance_controller' is read-only")])
def test_a_parameter_that_cannot_be_set_is_named_with_its_node(parameters, read_only, words):
    with pytest.raises(InvalidData, match=words):
        load_target("admittance_controller").plan(payload(), SETTINGS, Seen(
            parameters=parameters, read_only=frozenset(read_only)))


@pytest.mark.parametrize(("change", "words"), [
    ({"wrench.convention": "on_environment"}, "expects +m g"),
    ({"wrench.topic": "/ft/wrench_filtered"}, "identify from the broadcaster's own wrench")])
def test_the_gravity_filter_is_not_fed_where_it_would_count_twice(change, words):
    target = load_target("gravity_compensation")
    assert not closed_gates(target.ready(SETTINGS, Seen()))
    assert any(words in text for text in closed_gates(
        target.ready(SETTINGS.replace(change), Seen())))


def test_a_saved_bias_is_no_offset():
    with pytest.raises(InvalidData, match="does not tell the bias"):
        load_target("force_torque_sensor_broadcaster").plan(
            payload(bias=None), SETTINGS.replace({"apply.service": "ft"}), Seen())


# ---- gates, readings, calls ----------------------------------------------------------------------

@pytest.mark.parametrize(("change", "settings", "words"), [
    ({}, {}, ""),
    ({"mass_verdict": UNOBSERVED}, {}, "the mass is unobserved"),
    ({"com_verdict": UNOBSERVED, "com_width": 0.013}, {},
     "the centre of mass is unobserved (± 13 mm, where ± 12 mm may be sent)"),
    ({"com_verdict": UNOBSERVED, "com_width": 0.0115}, {}, ""),  # 116 mm away
    ({"com_verdict": UNOBSERVED, "com_width": np.inf}, {}, "the centre of mass is unobserved: the"),
    ({"mass_verdict": PRIOR_DOMINATED, "inertia_verdict": UNOBSERVED}, {}, ""),
    ({}, {"load.rated_payload": 1.4}, "the mass is 1.5 kg; load.rated_payload allows 1.4 kg"),
    ({}, {"load.rated_payload": 0.0}, "set load.rated_payload"),
    ({"phi": phi_from_body(MASS, np.array([1.01, 0.0, 0.0]), TENSOR)}, {}, "farther than 1 m")])
def test_a_payload_passes_only_if_it_is_known_and_inside_of_the_limits(change, settings, words):
    closed = closed_gates(gates_of_payload(payload(**change), SETTINGS.replace(settings),
                                           load_target("universal_robots"), ""))
    assert bool(closed) == bool(words) and all(words in text for text in closed), closed


def test_what_a_robot_tells_is_compared_as_closely_as_the_driver_does():
    sent = body_reading(MASS, COM, TENSOR)
    assert difference(sent, body_reading(MASS + 9e-4, [x + 9e-5 for x in COM], TENSOR + 9e-5)) == ""
    assert "mass is 1.502 kg, and 1.5 was sent" in difference(
        sent, body_reading(MASS + 2e-3, COM, TENSOR))
    assert "com is" in difference(sent, body_reading(MASS, [0.02, -0.03, 0.1102], TENSOR))
    assert "inertia is not told" in difference(sent, body_reading(MASS, COM, None))
    assert "nan" in difference(sent, body_reading(float("nan"), COM, TENSOR))


def test_the_lines_for_a_shell_say_the_same_as_the_calls():
    call = ServiceCall("/a/b", "x/srv/Y", {"m": 1e-7, "name": "a 'b'", "use": True, "n": 3,
                                           "com": {"x": -0.25}, "six": [1.0, 2.5e-9]})
    words = shlex.split(call.commands[0])
    assert words[:5] == ["ros2", "service", "call", "/a/b", "x/srv/Y"]
    assert yaml.safe_load(words[5]) == call.fields
    first, second = ParameterCall("/n", {"a.b": 1e-6, "c": [0.1, 2.0]}).commands
    assert shlex.split(first) == ["ros2", "param", "set", "/n", "a.b", "0.000001"]
    assert yaml.safe_load(shlex.split(second)[5]) == [0.1, 2.0]
    for made in (call, ParameterCall("/n", {"a": 1.0})):
        assert call_from_json(made.to_json()) == made


def test_a_saved_estimate_without_what_is_told_is_refused():
    report = {"frame_id": "ft", "mass": MASS, "com": COM, "inertia_com": TENSOR.tolist(),
              "covariance": np.diag(np.square(np.arange(10.0))).tolist(), "doubted": "",
              "verdict": ["identified"] * 4 + ["unobserved"] * 6, "bias": BIAS.tolist(),
              "tool_apart": True}
    made, tool_apart = payload_of_report(report)
    assert tool_apart and made.mass == MASS and made.com == pytest.approx(COM)
    assert not made.inertia_is_known and made.com_verdict is IDENTIFIED
    assert made.com_width == pytest.approx(6.0)
    assert payload_of_report({**report, "doubted": "contact"})[0].com_width == np.inf
    for name, value in (("covariance", [1.0]), ("verdict", ["good"] * 10), ("mass", -1.0),
                        ("com", [1.0]), ("frame_id", 3),
                        ("inertia_com", [[1.0, 0, 0], [0, 1, 0], [0, 0, 9.0]])):
        with pytest.raises(InertialIdError):
            payload_of_report({**report, name: value})


# ---- finding targets -----------------------------------------------------------------------------

@pytest.mark.parametrize(("name", "words"), [("", "apply.target is empty; name one of: admittance"),
                                             ("kuka", "there is no target 'kuka'; there are:")])
def test_an_unknown_target_is_answered_with_all_there_are(name, words):
    with pytest.raises(InvalidSetting, match=words):
        load_target(name)
