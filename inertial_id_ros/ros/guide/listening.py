# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Subscriptions to what the node reads, and to what the robot's driver says of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from rclpy.action import get_action_names_and_types
from rclpy.qos import QoSProfile, ReliabilityPolicy, qos_profile_best_available

from ...apps.guide.checks import Controller, Driver, Snapshot
from ...apps.guide.received import Received
from ...io.decoding import interfaces_of, stated_payload
from ...io.files import user_path
from ...io.input_topics import JOINT_STATES, TRANSFORMS, WRENCH, InputTopic, input_topics
from ...motion.description import parse_urdf, read_description, root_link
from ...settings import Settings
from ..compat import find_type, message_type
from ..contract import LATCHED
from ..motion_execution import ACTION_TYPE, ENDING
from ..planning_scene import SceneWatch
from ..ros_client import NoAnswer
from ..streams import publishing_nodes
from .guide_node import GuideNode


class Source(NamedTuple):
    """A topic on which drivers say something of the robot.

    Attributes:
        ending: of its name; type: of its messages.
        read: the part of `Driver` that a message says, by name.
    """

    ending: str
    type: str
    read: Callable[[Any], dict[str, Any]]


# ur_dashboard_msgs/SafetyMode and RobotMode; franka_msgs/FrankaRobotState.robot_mode.
SAFETY = {2: "", 1: "", 3: "protective stop", 4: "recovery mode", 5: "safeguard stop",
          6: "emergency stop of the system", 7: "emergency stop of the robot", 8: "violation",
          9: "fault", 11: "stop by the safety interface"}
FRANKA = {4: "reflex: the robot has stopped itself", 5: "user stop", 6: "error recovery",
          0: "unknown mode"}
SOURCES = (
    Source("/protective_stop", "std_msgs/msg/Bool",
           lambda m: {"stopped": "protective stop" if m.data else ""}),
    Source("/robot_program_running", "std_msgs/msg/Bool", lambda m: {
        "stopped": "" if m.data else "the program on the robot does not run"}),
    Source("/safety_mode", "ur_dashboard_msgs/msg/SafetyMode", lambda m: {
        "stopped": SAFETY.get(m.mode, f"safety mode {m.mode}")}),
    Source("", "franka_msgs/msg/FrankaRobotState", lambda m: {
        "stopped": FRANKA.get(m.robot_mode, ""),
        "payload": float(m.inertia_load.inertia.m)}),
    Source("/speed_scaling", "std_msgs/msg/Float64", lambda m: {"speed": m.data / 100.0}),
    Source("", "control_msgs/msg/DynamicJointState", lambda m: _stated_mass(m)),
)


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
        self._heard: set[str] = set()
        self.scene = SceneWatch(guide.node, guide.client, lambda kind, name, keep: guide.subscribe(
            kind, name, keep, qos_profile_best_available))
        for topic in input_topics(settings):
            self._listen(topic)
        self.discover()

    def full_name(self, topic: str) -> str:
        """The full name of a topic of the node that identifies."""
        return topic if topic.startswith("/") else f"{self._namespace}/{topic}"

    @property
    def joint_states_topic(self) -> str:
        """Full name of the topic of the joint states."""
        return self.full_name(self._settings.joint_states.topic)

    def _listen(self, topic: InputTopic) -> None:
        """Keep the messages of an input."""
        self._guide.subscribe(
            message_type(topic.type, topic.required_by),
            self.full_name(topic.name(self._settings)),
            lambda data: self.received.add(topic, self._guide.now_ns(), bytes(data)),
            LATCHED if topic.latched else QoSProfile(
                depth=topic.depth, reliability=ReliabilityPolicy.BEST_EFFORT), raw=True)

    # ---- the driver ------------------------------------------------------------------------------

    def discover(self) -> None:
        """Subscribe to what drivers and planning scenes say, as far as it is there by now, and its
        type is installed."""
        self.scene.discover()
        for name, types in self._guide.node.get_topic_names_and_types():
            for source in SOURCES:
                if source.type in types and name.endswith(source.ending) and (
                        name not in self._heard and self._guide.node.count_publishers(name)):
                    self._heard.add(name)
                    self._hear(name, source)

    def _hear(self, name: str, source: Source) -> None:
        def keep(message: Any) -> None:
            self._said.setdefault(name, {}).update(source.read(message))

        if (kind := find_type(source.type)) is not None:
            self._guide.subscribe(kind, name, keep, qos_profile_best_available)

    def driver(self) -> Driver:
        """What the driver says of itself: the first stop of several sources."""
        said: dict[str, Any] = {}
        for part in list(self._said.values()):
            for name, value in list(part.items()):
                said[name] = said.get(name) or value
        return Driver(**said)

    def controllers(self, only: str = "") -> tuple[Controller, ...]:
        """The controllers that take trajectories, or the one of that name."""
        out = []
        for action, types in get_action_names_and_types(self._guide.node):
            name = action.removesuffix(ENDING)
            if ACTION_TYPE in types and name != action and (
                    not only or name.lstrip("/") == only.lstrip("/")):
                try:
                    joints = self._guide.client.parameters(name, ["joints"]).get("joints")
                except NoAnswer:
                    joints = None
                out.append(Controller(name, tuple(joints or ())))
        return tuple(out)

    # ---- all of it -------------------------------------------------------------------------------

    def snapshot(self, first_ns: int, last_ns: int, controller: str = "", may_move: bool = True
                 ) -> Snapshot:
        """What was received of the set-up between two times [ns]."""
        node, received, settings = self._guide.node, self.received, self._settings
        dynamic = settings.dynamic_joint_states.topic
        topics = {what: self.full_name(dynamic if dynamic and topic is not TRANSFORMS else
                                       topic.name(settings))
                  for what, topic in (("wrench", WRENCH), ("joints", JOINT_STATES),
                                      ("transforms", TRANSFORMS))}
        description = received.description
        if description:
            root = root_link(parse_urdf(description))
            self.scene.read(lambda frame: received.place_in_root(frame, root))
        wrenches = tuple(name for name, types in node.get_topic_names_and_types()
                         if WRENCH.type in types and node.count_publishers(name)
                         and not name.endswith("/wrench_compensated"))
        return Snapshot(
            (last_ns - first_ns) * 1e-9, received.wrench(first_ns, last_ns),
            received.joints(first_ns, last_ns), received.transforms(first_ns, last_ns),
            received.see(first_ns, last_ns), topics,
            {what: tuple(publishing_nodes(node, topics[what])) for what in ("wrench", "joints")},
            bool(description), bool(node.get_parameter("use_sim_time").value),
            self.controllers(controller) if may_move else (), wrenches, self.driver(),
            self.scene.scene)


def _stated_mass(message: Any) -> dict[str, Any]:
    """The mass of the payload that a control_msgs/DynamicJointState states, if it does."""
    values = interfaces_of(message)
    stated = [payload for name in message.joint_names if name.endswith("payload")
              and (payload := stated_payload(values, name)) is not None]
    return {"payload": float(stated[0][0])} if stated else {}
