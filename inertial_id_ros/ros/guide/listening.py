# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Subscriptions to what the node reads, and to what the robot's driver says of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.qos import qos_profile_best_available

from ...apps.guide.checks import Driver, Snapshot
from ...apps.guide.received import Received, kinematics_of, place_in_root
from ...io.decoding import interfaces_of, stated_payload
from ...io.files import user_path
from ...io.input_topics import (
    DYNAMIC_JOINT_STATES,
    JOINT_STATES,
    WRENCH,
    InputTopic,
    input_topics,
)
from ...motion.description import read_description
from ...settings import Settings
from ..motion_execution import find_controllers
from ..planning_scene import TYPE as SCENE
from ..planning_scene import SceneWatch
from ..program import find_type, message_type
from ..streams import publishing_nodes, subscription_qos
from .node_link import GuideNode

# ur_dashboard_msgs/SafetyMode and RobotMode; franka_msgs/FrankaRobotState.robot_mode.
SAFETY = {2: "", 1: "", 3: "protective stop", 4: "recovery mode", 5: "safeguard stop",
          6: "emergency stop of the system", 7: "emergency stop of the robot", 8: "violation",
          9: "fault", 11: "stop by the safety interface"}
FRANKA = {4: "reflex: the robot has stopped itself", 5: "user stop", 6: "error recovery",
          0: "unknown mode"}
# Topics on which drivers say something of the robot: type of their messages, ending of their names,
# and the part of `Driver` that a message says, by name; None: nothing.
Source = tuple[str, str, Callable[[Any], dict[str, Any] | None]]
SOURCES: tuple[Source, ...] = (
    ("std_msgs/msg/Bool", "/protective_stop",
     lambda m: {"stopped": "protective stop" if m.data else ""}),
    ("std_msgs/msg/Bool", "/robot_program_running",
     lambda m: {"stopped": "" if m.data else "the program on the robot does not run"}),
    ("ur_dashboard_msgs/msg/SafetyMode", "/safety_mode",
     lambda m: {"stopped": SAFETY.get(m.mode, f"safety mode {m.mode}")}),
    ("franka_msgs/msg/FrankaRobotState", "",
     lambda m: {"stopped": FRANKA.get(m.robot_mode, ""),
                "payload": float(m.inertia_load.inertia.m)}),
    ("std_msgs/msg/Float64", "/speed_scaling", lambda m: {"speed": m.data / 100.0}),
    ("control_msgs/msg/DynamicJointState", "", lambda m: _stated_mass(m)))


class Listening:
    """Subscriptions to all inputs of a node, and to what drivers say.

    Args:
        node_name: full name of the node that identifies; settings: its settings.

    Attributes:
        received: the messages of the last minute; scene: the planning scene, where one is
            published.
    """

    def __init__(self, guide: GuideNode, node_name: str, settings: Settings) -> None:
        self._guide, self._settings = guide, settings
        self._namespace = node_name.rsplit("/", 1)[0]
        file = settings.robot_description.file
        self.received = Received(settings, read_description(user_path(file)) if file else "")
        self._said: dict[str, dict[str, Any]] = {}  # by the driver, by topic
        self.scene = SceneWatch(guide.node, guide.client)
        for topic in input_topics(settings):
            self._listen(topic)
        self.discover()

    def _full_name(self, topic: InputTopic) -> str:
        """The full name of a topic of the node that identifies."""
        name = topic.name(self._settings)
        return name if name.startswith("/") else f"{self._namespace}/{name}"

    @property
    def joint_states_topic(self) -> str:
        """Full name of the topic of the joint states."""
        return self._full_name(JOINT_STATES)

    def _listen(self, topic: InputTopic) -> None:
        """Keep the messages of an input."""
        self._guide.node.create_subscription(
            message_type(topic.type, topic.setting), self._full_name(topic),
            lambda data: self.received.add(topic, self._guide.now_ns(), bytes(data)),
            subscription_qos(topic), raw=True)

    # ---- the driver ------------------------------------------------------------------------------

    def discover(self) -> None:
        """Subscribe to what drivers and planning scenes say, as far as it is there by now, and its
        type is installed."""
        scenes: Source = SCENE, "", self.scene.take
        for name, types in self._guide.node.get_topic_names_and_types():
            for type_name, ending, read in (*SOURCES, scenes):
                if (type_name in types and name.endswith(ending) and name not in self._said
                        and self._guide.node.count_publishers(name)
                        and (kind := find_type(type_name)) is not None):
                    said = self._said[name] = {}
                    self._guide.node.create_subscription(
                        kind, name, lambda message, said=said, read=read:
                        said.update(read(message) or {}), qos_profile_best_available)

    def driver(self) -> Driver:
        """What the driver says of itself: the first stop of several sources."""
        out: dict[str, Any] = {}
        for said in list(self._said.values()):
            out.update({name: out.get(name) or value for name, value in list(said.items())})
        return Driver(**out)

    # ---- all of it -------------------------------------------------------------------------------

    def snapshot(self, first_ns: int, last_ns: int, controller: str = "", may_move: bool = True
                 ) -> Snapshot:
        """What was received of the set-up between two times [ns]."""
        node, received, settings = self._guide.node, self.received, self._settings
        if received.description:
            now = received.streams()
            self.scene.read(lambda frame: place_in_root(now, frame))
        both = DYNAMIC_JOINT_STATES if settings.dynamic_joint_states.topic else None
        topics = {"wrench": self._full_name(both or WRENCH),
                  "joints": self._full_name(both or JOINT_STATES)}
        return Snapshot(
            (last_ns - first_ns) * 1e-9, received.wrench(first_ns, last_ns),
            received.joints(first_ns, last_ns), topics,
            **kinematics_of(received.streams(first_ns, last_ns)),
            publishers={what: tuple(publishing_nodes(node, name)) for what, name in topics.items()},
            controllers=find_controllers(node, self._guide.client, controller) if may_move else {},
            wrench_topics=tuple(name for name, types in node.get_topic_names_and_types()
                                if WRENCH.type in types and node.count_publishers(name)
                                and not name.endswith("/wrench_compensated")),
            driver=self.driver(), scene=self.scene.scene)


def _stated_mass(message: Any) -> dict[str, Any]:
    """The mass of the payload that a control_msgs/DynamicJointState states, if it does."""
    values = interfaces_of(message)
    stated = [payload for name in message.joint_names if name.endswith("payload")
              and (payload := stated_payload(values, name)) is not None]
    return {"payload": float(stated[0][0])} if stated else {}
