# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Wrench, joints and configured payload under one stamp."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bags
import numpy as np
import pytest
from rosbags.typesys import get_types_from_msg
from synthetic import RICH, START, Scene, identifier, payload, stamps, texts

from inertial_id_ros.apps.bag.identify_bag import main
from inertial_id_ros.errors import InvalidSetting
from inertial_id_ros.estimate import Estimate
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.io.messages import DEFINITIONS, DynamicJointStates
from inertial_id_ros.settings import DynamicJointStatesSettings, Settings
from inertial_id_ros.signals.message_adapter import DYNAMIC_JOINT_STATES, MessageAdapter

AXES = ("x", "y", "z")
SENSOR = [f"{part}.{axis}" for part in ("force", "torque") for axis in AXES]
DYNAMIC = "control_msgs/msg/DynamicJointState"
for _name, _text in DEFINITIONS.items():
    if _name not in bags.STORE.types:
        bags.STORE.register(get_types_from_msg(_text, _name))


@dataclass
class Value:
    interface_names: list[str]
    values: list[float]


@dataclass
class Message:
    joint_names: list[str]
    interface_values: list[Value]
    header: Any = field(default_factory=lambda: bags.header(START, ""))


def message(joints: dict[str, float], wrench: Any, **more: Value) -> Message:
    """As joint_state_broadcaster makes it: every joint and sensor with its interfaces."""
    names = ["tcp_fts_sensor", *joints, *more]
    values = [Value(list(SENSOR), [float(x) for x in wrench]),
              *(Value(["velocity", "position", "effort"], [0.1, q, float("nan")])
                for q in joints.values()), *more.values()]
    return Message(names, values)


def splitter(**changes: str) -> DynamicJointStates:
    return DynamicJointStates(DynamicJointStatesSettings(topic="/dynamic_joint_states", **changes))


def adapter(made: Identifier) -> MessageAdapter:
    return MessageAdapter(made, made.settings, made.set_robot_description)


def test_every_part_is_found_by_its_name() -> None:
    got = message({"a": 1.0, "b": -2.0}, range(6),
                  payload=Value(["cog.y", "mass", "cog.x", "cog.z"], [0.2, 1.5, 0.1, 0.3]),
                  gpio=Value(["digital_output_0"], [1.0]))
    parts = splitter().split(got.joint_names, got.interface_values)
    assert parts.wrench == (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
    assert parts.names == ("a", "b") and parts.positions == (1.0, -2.0)
    assert parts.payload == (1.5, 0.1, 0.2, 0.3, *[0.0] * 6)


@pytest.mark.parametrize(("sensor", "payload"), [
    ("tcp_fts_sensor", "payload"), ("left_tcp_fts_sensor", "left_payload"), ("wrist", "payload")])
def test_the_payload_has_the_prefix_of_the_sensor(sensor: str, payload: str) -> None:
    got = message({"a": 1.0}, range(6), **{payload: Value(
        ["mass", "cog.x", "cog.y", "cog.z"], [1.5, 0.1, 0.2, 0.3])})
    told = splitter(sensor=sensor).split(got.joint_names, got.interface_values).payload
    assert told is not None and told[:4] == (1.5, 0.1, 0.2, 0.3)


def test_the_inertia_of_the_payload_is_read_where_the_driver_tells_it() -> None:
    names = ["ixx", "iyy", "izz", "ixy", "ixz", "iyz"]  # in the order of Universal Robots
    told = Value(["mass", "cog.x", "cog.y", "cog.z", *(f"inertia.{n}" for n in names)],
                 [1.5, 0.1, 0.2, 0.3, 11.0, 22.0, 33.0, 12.0, 13.0, 23.0])
    got = message({"a": 1.0}, range(6), payload=told)
    parts = splitter().split(got.joint_names, got.interface_values)
    assert parts.payload == (1.5, 0.1, 0.2, 0.3, 11.0, 12.0, 13.0, 22.0, 23.0, 33.0)


def test_another_order_in_a_later_message_is_followed() -> None:
    made = splitter()
    first = message({"a": 1.0, "b": 2.0}, range(6))
    made.split(first.joint_names, first.interface_values)
    second = Message(["b", "tcp_fts_sensor", "a"],
                     [Value(["position"], [4.0]), Value(SENSOR[::-1], [5.0, 4, 3, 2, 1, 0]),
                      Value(["velocity", "position"], [9.0, 3.0])])
    parts = made.split(second.joint_names, second.interface_values)
    assert parts.wrench == (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
    assert dict(zip(parts.names, parts.positions, strict=True)) == {"b": 4.0, "a": 3.0}


@pytest.mark.parametrize("broken", [
    Message([], []), Message(["a"], []), Message([], [Value(["position"], [1.0])]),
    Message(["tcp_fts_sensor"], [Value(SENSOR, [1.0, 2.0])]),
    Message(["tcp_fts_sensor"], [Value(SENSOR[:5], [1.0] * 5)]),
    Message(["a"], [Value(["position", "velocity"], [])])])
def test_lists_of_different_lengths_give_nothing_and_no_error(broken: Message) -> None:
    parts = splitter().split(broken.joint_names, broken.interface_values)
    assert parts.wrench is None and parts.payload is None and not parts.names


def test_a_missing_sensor_is_named_with_what_is_there() -> None:
    made = identifier(dynamic_joint_states__topic="/all", dynamic_joint_states__sensor="left_fts",
                      wrench__sensor_frame="tool0")
    adapter(made).add(DYNAMIC_JOINT_STATES, message({"a": 1.0}, range(6)))
    made.advance()
    assert "'left_fts'" in texts(made)["sensor_missing"]
    assert "tcp_fts_sensor, a" in texts(made)["sensor_missing"]


def test_the_pipeline_identifies_from_it_with_the_payload_that_the_driver_removes() -> None:
    """The driver removes a point mass, whose inertia about itself is zero, as it exports none."""
    from synthetic import PointMasses
    true, removed = payload(), PointMasses(np.array([[0.02, -0.01, 0.06]]), np.array([0.5]))
    scene, t = Scene(), stamps(6.0, 200.0)
    wrench = -(scene.load(t, true) - scene.load(t, removed))
    made = identifier(dynamic_joint_states__topic="/dynamic_joint_states",
                      wrench__sensor_frame="tool0",
                      precompensated__source="dynamic_joint_states")
    into = adapter(made)
    joints = ("turn", "lift", "slide", "bend", "roll")
    for stamp, q, w in zip(t, RICH.positions(t), wrench, strict=True):
        got = message(dict(zip(joints, q.tolist(), strict=True)), w, payload=Value(
            ["mass", "cog.x", "cog.y", "cog.z"], [0.5, 0.02, -0.01, 0.06]))
        got.header = bags.header(START + round(stamp * 1e9), "")
        into.add(DYNAMIC_JOINT_STATES, got)
    made.advance()
    outcome = made.solve()
    assert isinstance(outcome, Estimate), outcome
    np.testing.assert_allclose(outcome.report[0], true.report[0], atol=1e-3)
    np.testing.assert_allclose(outcome.report[1:4], true.report[1:4], atol=1e-4)


def test_the_frame_of_the_wrench_must_be_set() -> None:
    with pytest.raises(InvalidSetting, match="wrench.sensor_frame"):
        Settings().replace({"dynamic_joint_states.topic": "/dynamic_joint_states"})


# ---- recordings ----------------------------------------------------------------------------------


def dynamic_bag(path: Path, storage: Any) -> Path:
    """A recording of wrench and joints in one topic."""
    body, duration = bags.Payload(), 5.0
    wrenches = bags.wrench_stream(duration, body)
    kind, value = bags.STORE.types[DYNAMIC], bags.STORE.types["control_msgs/msg/InterfaceValue"]
    rows = []
    for (stamp, w), (_, j) in zip(wrenches.samples, bags.joint_stream(duration).samples,
                                  strict=True):
        f, t = w.wrench.force, w.wrench.torque
        rows.append((stamp, kind(
            header=bags.header(stamp, "base"), joint_names=["tcp_fts_sensor", *j.name],
            interface_values=[
                value(interface_names=SENSOR, values=np.array([f.x, f.y, f.z, t.x, t.y, t.z])),
                *(value(interface_names=["position"], values=np.array([q]))
                  for q in j.position)])))
    return bags.write_bag(path, [bags.Stream("/dynamic_joint_states", DYNAMIC, rows),
                                 bags.text_stream("/robot_description", bags.URDF)], storage)


@pytest.mark.slow
@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_a_recording_of_it_is_identified(tmp_path: Path, storage: str,
                                         capsys: pytest.CaptureFixture[str]) -> None:
    bag = dynamic_bag(tmp_path / "bag", storage)
    status = main([str(bag), "--set", "dynamic_joint_states.topic=/dynamic_joint_states",
                   "--sensor-frame", "sensor", "--json", str(tmp_path / "out.json"),
                   "--report", str(tmp_path)])
    assert status == 0, capsys.readouterr()
    result = json.loads((tmp_path / "out.json").read_text())
    truth = bags.Payload()
    assert result["mass"] == pytest.approx(truth.mass, rel=0.01)
    np.testing.assert_allclose(result["com"], truth.com, atol=2e-3)


def test_a_topic_that_is_not_there_is_named(tmp_path: Path,
                                            capsys: pytest.CaptureFixture[str]) -> None:
    bag = bags.tf_bag(tmp_path / "bag", duration=0.5)
    assert main([str(bag), "--set", "dynamic_joint_states.topic=/dynamic", "--sensor-frame",
                 "sensor"]) == 2
    assert "/dynamic is not in the recording" in capsys.readouterr().err
