# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Messages wait in order and within a bound, and become samples, transforms, payload and text."""

from __future__ import annotations

import cdr_messages
import pytest
from cdr_messages import STORE
from test_decoding import STAMP, dynamic

from inertial_id_ros.io import inbox as tested
from inertial_id_ros.io.inbox import Inbox, decode
from inertial_id_ros.io.input_topics import (
    DYNAMIC_JOINT_STATES,
    DYNAMIC_PAYLOAD,
    FRANKA_PAYLOAD,
    INERTIA_PAYLOAD,
    JOINT_STATES,
    ROBOT_DESCRIPTION,
    STATIC_TRANSFORMS,
    TRANSFORMS,
    WRENCH,
    InputTopic,
    input_topics,
)
from inertial_id_ros.io.sample_blocks import Edges, JointStates, Wrenches
from inertial_id_ros.settings import Settings

STATES = {"j": {"position": 1.0},
          "payload": {"mass": 1.5, "cog.x": 0.1, "cog.y": 0.2, "cog.z": 0.3}}
PAYLOAD = [1.5, 0.1, 0.2, 0.3, *[0.0] * 6]
OWN = {"precompensated.source": "dynamic_joint_states"}


def text(said: str) -> bytes:
    kind = "std_msgs/msg/String"
    return bytes(STORE.serialize_cdr(STORE.types[kind](said), kind))


def test_messages_are_taken_once_and_in_order() -> None:
    box = Inbox([WRENCH, JOINT_STATES, TRANSFORMS])
    assert box.take() == {}
    for k in range(3):
        box.add(WRENCH, bytes([k]))
        box.add(JOINT_STATES, bytes([10 + k]))
    assert box.take() == {WRENCH: [b"\0", b"\1", b"\2"], JOINT_STATES: [b"\n", b"\x0b", b"\x0c"]}
    box.add(WRENCH, b"\3")
    assert box.take() == {WRENCH: [b"\3"]} and box.take() == {}
    assert [box.received[t].count for t in (WRENCH, JOINT_STATES, TRANSFORMS)] == [4, 3, 0]
    assert box.received[WRENCH].arrived >= box.received[TRANSFORMS].arrived and box.lost == 0


def test_a_full_box_loses_and_counts_what_comes_until_it_is_emptied(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tested, "MOST", 10)
    box = Inbox([WRENCH, JOINT_STATES])
    for topic in (WRENCH, JOINT_STATES, WRENCH, JOINT_STATES):
        box.add(topic, b"12345678")  # the third finds more than ten bytes
    assert box.lost == 2 and box.received[WRENCH].count == 2
    assert box.take() == {WRENCH: [b"12345678"], JOINT_STATES: [b"12345678"]}
    box.add(WRENCH, b"9")
    assert box.take() == {WRENCH: [b"9"]} and box.lost == 2


def test_each_topic_becomes_what_it_holds() -> None:
    edge = (STAMP, "a", "b", (1.0, 2.0, 3.0), (0.0, 0.0, 0.0, 1.0))
    got = decode({
        WRENCH: [cdr_messages.wrench(STAMP, "f", (1, 2, 3), (4, 5, 6))],
        JOINT_STATES: [cdr_messages.joint_state(STAMP, "j", [0.5])],
        TRANSFORMS: [cdr_messages.transforms([edge])],
        STATIC_TRANSFORMS: [cdr_messages.transforms([(0, "b", "c", *edge[3:])])],
        ROBOT_DESCRIPTION: [text("<old/>"), text("<robot/>")],
        FRANKA_PAYLOAD: [b"1", b"2"]}, Settings())
    wrench, joints, moving = got.samples
    assert isinstance(wrench, Wrenches) and wrench.rows.tolist() == [[1, 2, 3, 4, 5, 6]]
    assert isinstance(joints, JointStates) and joints.positions.tolist() == [[0.5]]
    assert isinstance(moving, Edges) and (moving.parent, moving.child) == ("a", "b")
    (fixed,) = got.fixed
    assert fixed.child == "c" and fixed.rows.tolist() == [[1, 2, 3, 0, 0, 0, 1]]
    assert got.description == "<robot/>" and got.others == {FRANKA_PAYLOAD: b"2"}
    assert got.payload is None and not got.damaged


@pytest.mark.parametrize(("topic", "settings", "payload", "blocks"), [
    (DYNAMIC_JOINT_STATES, {}, None, 1), (DYNAMIC_JOINT_STATES, OWN, PAYLOAD, 1),
    (DYNAMIC_JOINT_STATES, {**OWN, "precompensated.topic": "/other"}, None, 1),
    (DYNAMIC_PAYLOAD, {**OWN, "precompensated.topic": "/other"}, PAYLOAD, 0)])
def test_the_payload_is_read_where_the_settings_say(
        topic: InputTopic, settings: dict[str, str], payload: list[float] | None, blocks: int
        ) -> None:
    settings = {**settings, "dynamic_joint_states.topic": "/states",
                "wrench.sensor_frame": "tool0"}
    got = decode({topic: [dynamic(STAMP, STATES)]}, Settings().replace(settings))
    assert (None if got.payload is None else got.payload.tolist()) == payload
    assert len(got.samples) == blocks


@pytest.mark.parametrize(("settings", "topics"), [
    ({}, [WRENCH, JOINT_STATES]),
    ({"load.robot": "robot.json", "wrench.sensor_frame": "f"}, [JOINT_STATES]),
    ({"dynamic_joint_states.topic": "/states", "wrench.sensor_frame": "f"}, [DYNAMIC_JOINT_STATES]),
    ({"precompensated.source": "inertia", "precompensated.topic": "/p"},
     [WRENCH, JOINT_STATES, INERTIA_PAYLOAD])])
def test_the_settings_name_the_topics_that_are_read(
        settings: dict[str, str], topics: list[InputTopic]) -> None:
    made = Settings().replace(settings)
    always = {TRANSFORMS, STATIC_TRANSFORMS, ROBOT_DESCRIPTION}
    got = input_topics(made)
    assert set(got) == always | set(topics) and len(got) == len(set(got))
    assert [topic.name(made) for topic in got if topic is TRANSFORMS] == ["/tf"]
    of_file = made.replace({"robot_description.file": "a.urdf"})
    assert set(input_topics(of_file)) == set(got) - {ROBOT_DESCRIPTION}
