# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From messages to samples: which topics are read, and what becomes of their messages."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import bags
import numpy as np
import pytest

from inertial_id_ros.findings import FindingLog
from inertial_id_ros.limits import MAX_JOINTS
from inertial_id_ros.settings import Settings
from inertial_id_ros.signals import inbox, message_adapter
from inertial_id_ros.signals.message_adapter import InputTopic, MessageAdapter

BOTH = {"dynamic_joint_states.topic": "/all", "wrench.sensor_frame": "tool0"}


class Samples(inbox.Inbox):
    """Keeps what is added, as calls of the handlers."""

    def __init__(self) -> None:
        super().__init__(FindingLog())

    def take_all(self) -> list[tuple[Any, ...]]:
        calls: list[tuple[Any, ...]] = []
        self._hand_over(self.waiting, {
            kind: lambda *sample, kind=kind: calls.append((kind, *sample)) for kind in range(11)})
        return calls


def taken(topic: InputTopic, *messages: Any, **changes: Any) -> list[tuple[Any, ...]]:
    """Samples of messages of one topic."""
    samples = Samples()
    adapter = MessageAdapter(samples, Settings().replace(changes), lambda urdf: None)
    for message in messages:
        adapter.add(topic, message)
    return samples.take_all()


@pytest.mark.parametrize(("changes", "settings"), [
    ({}, ["wrench.topic", "joint_states.topic", "tf.topic", "tf.static_topic",
          "robot_description.topic"]),
    (BOTH, ["dynamic_joint_states.topic", "tf.topic", "tf.static_topic",
            "robot_description.topic"]),
    ({"load.robot": "arm.robot", "wrench.sensor_frame": "tool0",
      "robot_description.file": "a.urdf"},
     ["joint_states.topic", "tf.topic", "tf.static_topic"]),
    ({"precompensated.source": "inertia", "precompensated.topic": "/payload",
      "precompensated.program_topic": "/program", "robot_description.file": "a.urdf"},
     ["wrench.topic", "joint_states.topic", "tf.topic", "precompensated.topic",
      "precompensated.program_topic", "tf.static_topic"]),
    ({"base_imu.topic": "/imu", "robot_description.file": "a.urdf"},
     ["wrench.topic", "joint_states.topic", "tf.topic", "base_imu.topic", "tf.static_topic"])])
def test_the_settings_say_which_topics_are_read(changes: dict[str, Any],
                                                settings: list[str]) -> None:
    topics = message_adapter.input_topics(Settings().replace(changes))
    assert [topic.setting for topic in topics] == settings


def inertia_message(mass: float) -> Any:
    kinds = bags.STORE.types
    vector = kinds["geometry_msgs/msg/Vector3"](0.1, 0.2, 0.3)
    return kinds["geometry_msgs/msg/InertiaStamped"](
        bags.header(1, "tool0"),
        kinds["geometry_msgs/msg/Inertia"](mass, vector, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0))


def test_a_removed_payload_is_the_same_from_every_driver() -> None:
    message = inertia_message(1.5)
    wanted = [(inbox.REMOVED_PAYLOAD, "tool0", (1.5, 0.1, 0.2, 0.3, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0))]
    assert taken(message_adapter.REMOVED_PAYLOAD, message) == wanted
    assert taken(message_adapter.FRANKA_STATE, SimpleNamespace(inertia_load=message)) == wanted


def test_the_sensor_is_zeroed_when_the_program_starts_and_at_no_other_time() -> None:
    running = [SimpleNamespace(data=data) for data in (False, True, True, False, True)]
    assert taken(message_adapter.PROGRAM, *running) == [
        (inbox.ZEROING, "the robot's program started")] * 2


def test_a_reading_of_the_base_imu_keeps_its_frame() -> None:
    message = SimpleNamespace(header=bags.header(7, "imu_link"),
                              linear_acceleration=SimpleNamespace(x=0.1, y=0.2, z=9.8),
                              angular_velocity=SimpleNamespace(x=1.0, y=2.0, z=3.0))
    assert taken(message_adapter.BASE_IMU, message) == [
        (inbox.IMU, 7, "imu_link", (0.1, 0.2, 9.8), (1.0, 2.0, 3.0))]


def dynamic_message(joints: int) -> Any:
    value = SimpleNamespace(interface_names=["position"], values=np.array([0.5]))
    return SimpleNamespace(header=bags.header(7, ""), joint_names=[f"j{k}" for k in range(joints)],
                           interface_values=[value] * joints)


def test_what_a_dynamic_joint_state_lacks_becomes_a_finding_and_the_rest_is_taken() -> None:
    samples = taken(message_adapter.DYNAMIC_JOINT_STATES, dynamic_message(2), **BOTH)
    assert samples[0] == (inbox.JOINT_STATE, 7, ("j0", "j1"), (0.5, 0.5), ())
    assert [sample[:2] for sample in samples[1:]] == [(inbox.FINDING, "sensor_missing")]


def test_a_message_that_is_too_large_is_dropped_and_reported() -> None:
    samples = Samples()
    adapter = MessageAdapter(samples, Settings().replace(BOTH), lambda urdf: None)
    assert not adapter.add(message_adapter.DYNAMIC_JOINT_STATES, dynamic_message(MAX_JOINTS + 1))
    assert [sample[:2] for sample in samples.take_all()] == [
        (inbox.FINDING, "message_too_large.dynamic_joints")]


def test_a_robot_description_goes_to_its_own_place() -> None:
    seen: list[str] = []
    samples = Samples()
    adapter = MessageAdapter(samples, Settings(), seen.append)
    adapter.add(message_adapter.ROBOT_DESCRIPTION, SimpleNamespace(data="<robot/>"))
    assert seen == ["<robot/>"] and not samples.take_all()
