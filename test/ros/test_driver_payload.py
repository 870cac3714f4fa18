# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The configured payload, read from the messages of drivers whose packages are not at hand."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from geometry_msgs.msg import InertiaStamped  # noqa: E402
from synthetic import identifier, payload, recording, texts  # noqa: E402

from inertial_id_ros.errors import InvalidSetting  # noqa: E402
from inertial_id_ros.estimate import Estimate  # noqa: E402
from inertial_id_ros.findings import FindingLog  # noqa: E402
from inertial_id_ros.inertia import body_from_phi, phi_from_points  # noqa: E402
from inertial_id_ros.ros import inputs  # noqa: E402
from inertial_id_ros.ros.inputs import Inputs  # noqa: E402
from inertial_id_ros.ros.publisher_watch import PayloadWatch  # noqa: E402

TOPIC = "/franka_robot_state_broadcaster/robot_state"
FRANKA = {"precompensated__source": "franka", "precompensated__topic": TOPIC,
          "precompensated__frame": "tool0"}
TRUE, LOAD = payload(3, 1.4), payload(5, 0.6)


class Topics:
    """Stands for a node: the callback of each topic that is subscribed to."""

    def __init__(self):
        self.callbacks, self.kinds = {}, {}

    def create_subscription(self, kind, topic, callback, qos, **_):
        self.callbacks[topic], self.kinds[topic] = callback, kind


NOTHING_KEPT = SimpleNamespace(recorder=lambda topic, name: None)  # of what comes in
UNCOMPENSATED = SimpleNamespace(taps={}, live=None)


@pytest.fixture()
def franka_msgs(monkeypatch):
    """A package with the one type that is read, as a duck of franka_msgs/FrankaRobotState."""
    package, messages = ModuleType("franka_msgs"), ModuleType("franka_msgs.msg")
    messages.FrankaRobotState = type("FrankaRobotState", (), {})
    package.msg = messages
    monkeypatch.setitem(sys.modules, "franka_msgs", package)
    monkeypatch.setitem(sys.modules, "franka_msgs.msg", messages)
    return messages


def inertia_of(body, frame):
    """Message of a body in the sensor frame, said to be in a frame."""
    r = body_from_phi(phi_from_points(body.points, body.masses))
    message = InertiaStamped()
    message.header.frame_id, i = frame, message.inertia
    i.m, (i.com.x, i.com.y, i.com.z) = float(r.mass), map(float, r.com)
    (i.ixx, i.ixy, i.ixz), (_, i.iyy, i.iyz), (_, _, i.izz) = r.inertia_com.tolist()
    return message


def robot_state(load, total):
    """As franka_robot_state_broadcaster labels it: inertia_load in a frame that it is not in."""
    return SimpleNamespace(inertia_load=inertia_of(load, "fr3_link6"),
                           inertia_ee=inertia_of(payload(7, 0.7), "fr3_hand_tcp"),
                           inertia_total=inertia_of(total, "fr3_hand_tcp"))


def test_the_load_of_franka_is_read_from_its_robot_state(franka_msgs, monkeypatch):
    made, node = identifier(**FRANKA), Topics()
    monkeypatch.setattr(inputs, "deserialize_message", lambda message, kind: message)
    Inputs(node, made.settings, made, lambda urdf: None, lambda late: 0, NOTHING_KEPT,
           UNCOMPENSATED)
    assert node.kinds[TOPIC] is franka_msgs.FrankaRobotState
    node.callbacks[TOPIC](robot_state(LOAD, TRUE))
    recording(body=TRUE, without=LOAD).feed(made, 0.1)
    outcome = made.solve()
    assert isinstance(outcome, Estimate), outcome
    np.testing.assert_allclose(outcome.report[0], TRUE.report[0], atol=1e-3)
    np.testing.assert_allclose(outcome.report[1:4], TRUE.report[1:4], atol=1e-4)
    assert "0.600 kg" in texts(made)["removed_payload"]
    node.callbacks[TOPIC](robot_state(payload(9, 1.0), TRUE))
    made.advance()
    assert "changed from 0.600 to 1.000 kg" in texts(made)["reset"]


def test_without_its_package_the_source_is_refused_in_words(monkeypatch):
    monkeypatch.setitem(sys.modules, "franka_msgs", None)
    made = identifier(**FRANKA)
    with pytest.raises(InvalidSetting, match="FrankaRobotState, which is not installed"):
        Inputs(Topics(), made.settings, made, lambda urdf: None, lambda late: 0, NOTHING_KEPT,
               UNCOMPENSATED)


class Graph(Topics):
    """A node that also sees which topics there are."""

    def __init__(self, topics):
        super().__init__()
        self._topics = topics

    def get_topic_names_and_types(self):
        return self._topics

    def create_subscription(self, kind, topic, callback, qos, **_):
        super().create_subscription(kind, topic, callback, qos)
        return topic

    def destroy_subscription(self, topic):
        del self.callbacks[topic]


def test_a_load_that_nobody_asked_to_add_is_named_until_somebody_does(franka_msgs):
    findings, node = FindingLog(), Graph([
        ("/tf", ["tf2_msgs/msg/TFMessage"]), (TOPIC, ["franka_msgs/msg/FrankaRobotState"])])
    watch, settings = PayloadWatch(node, findings), identifier().settings
    watch.check(settings)
    assert list(node.callbacks) == [TOPIC] and not findings.all()
    node.callbacks[TOPIC](robot_state(LOAD, TRUE))
    watch.check(settings)
    (found,) = findings.all()
    assert found.level == "warning" and "0.600 kg is configured" in found.text
    assert f"precompensated.source=franka and precompensated.topic={TOPIC}" in found.text
    assert not node.callbacks  # it has said all
    for said in ({"precompensated__mass": 0.6}, {"precompensated__source": "none"}):
        watch.check(identifier(**said).settings)
        assert not findings.all()


def test_a_driver_that_states_no_load_is_left_alone(franka_msgs):
    findings, node = FindingLog(), Graph([(TOPIC, ["franka_msgs/msg/FrankaRobotState"])])
    watch, settings = PayloadWatch(node, findings), identifier().settings
    for _ in range(3):
        watch.check(settings)
        for _ in range(20):
            for take in list(node.callbacks.values()):
                take(SimpleNamespace(inertia_load=InertiaStamped()))
    assert not node.callbacks and not findings.all()


def test_topics_of_types_that_are_not_installed_do_no_harm(monkeypatch):
    monkeypatch.setitem(sys.modules, "franka_msgs", None)
    node = Graph([(TOPIC, ["franka_msgs/msg/FrankaRobotState"])])
    PayloadWatch(node, FindingLog()).check(identifier().settings)
    assert not node.callbacks
