# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Listens to what the node listens to, and to what the robot's driver tells of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.action import get_action_names_and_types
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message

from ...apps.guide.at_rest import Controller, Driver, Seen
from ...apps.guide.received import Received
from ...findings import Finding
from ...io.files import user_path
from ...io.messages import DynamicJointStates
from ...kinematics.robot_description import read_description
from ...settings import Settings
from ...signals.message_adapter import (
    DYNAMIC_JOINT_STATES,
    FRANKA_STATE,
    JOINT_STATES,
    PAYLOAD_STATES,
    REMOVED_PAYLOAD,
    TRANSFORMS,
    WRENCH,
    InputTopic,
    input_topics,
)
from ...signals.precompensation import stated_mass
from ..apply.other_nodes import NoAnswer, ParameterClient
from ..compat import find_type, message_type
from ..diagnostics import WARNED
from ..planning_scene import SceneWatch
from ..streams import publishing_nodes, subscription_qos
from .guide_node import GuideNode

ACTION, ENDING = "control_msgs/action/FollowJointTrajectory", "/follow_joint_trajectory"
_CONTROLLER_STATE = "control_msgs/msg/JointTrajectoryControllerState"
_TIMEOUT = 2.0  # s for the parameters of a controller


class _Telling(NamedTuple):
    """A topic on which drivers tell whether the robot may move.

    Attributes:
        ending: of its name; type: of its messages.
        read: the part of `Driver` that a message tells, by name.
    """

    ending: str
    type: str
    read: Callable[[Any], dict[str, Any]]


# ur_dashboard_msgs/SafetyMode and RobotMode; franka_msgs/FrankaRobotState.robot_mode.
_SAFETY = {2: "", 1: "", 3: "protective stop", 4: "recovery mode", 5: "safeguard stop",
           6: "emergency stop of the system", 7: "emergency stop of the robot", 8: "violation",
           9: "fault", 11: "stop by the safety interface"}
_FRANKA = {4: "reflex: the robot has stopped itself", 5: "user stop", 6: "error recovery",
           0: "unknown mode"}
_TELLING = (
    _Telling("/protective_stop", "std_msgs/msg/Bool",
             lambda m: {"stopped": "protective stop" if m.data else ""}),
    _Telling("/robot_program_running", "std_msgs/msg/Bool", lambda m: {
        "stopped": "" if m.data else "the program on the robot does not run"}),
    _Telling("/safety_mode", "ur_dashboard_msgs/msg/SafetyMode", lambda m: {
        "stopped": _SAFETY.get(m.mode, f"safety mode {m.mode}")}),
    _Telling("/robot_state", "franka_msgs/msg/FrankaRobotState", lambda m: {
        "stopped": _FRANKA.get(m.robot_mode, "")}),
    _Telling("/speed_scaling", "std_msgs/msg/Float64", lambda m: {"speed": m.data / 100.0}),
)


class Listening:
    """Subscriptions to all inputs of a node, and to what tells of the driver.

    Args:
        node_name: full name of the node that identifies; settings: its settings.

    Attributes:
        received: the messages of the last minute.
        judgements: how many times the node has told its findings.
        scene: the planning scene, as far as others publish it.
    """

    def __init__(self, guide: GuideNode, node_name: str, settings: Settings) -> None:
        self._guide, self._node_name, self._settings = guide, node_name, settings
        self._namespace = node_name.rsplit("/", 1)[0]
        self.received = Received(settings, _decoders())
        self._findings: dict[str, tuple[Finding, ...]] = {}  # by the name of the status
        self.judgements = 0
        self._told: dict[str, dict[str, Any]] = {}  # of the driver, by topic
        self._payload: dict[str, float] = {}  # stated masses, by topic
        self._heard: set[str] = set()
        self._states = DynamicJointStates(settings.dynamic_joint_states)
        self.scene = SceneWatch(guide.node, guide.asking, lambda kind, name, take: guide.subscribe(
            kind, name, take, self._qos(name)))
        for topic in input_topics(settings):
            self._listen(topic)
        if settings.robot_description.file:
            self.received.urdf = read_description(user_path(settings.robot_description.file))
        guide.subscribe(DiagnosticArray, "/diagnostics", self._take_diagnostics, 10)
        self.look_for_driver()

    def full_name(self, topic: str) -> str:
        """The full name of a topic of the node that identifies."""
        return topic if topic.startswith("/") else f"{self._namespace}/{topic}"

    @property
    def joint_states_topic(self) -> str:
        """Full name of the topic of the joint states."""
        return self.full_name(self._settings.joint_states.topic)

    def _listen(self, topic: InputTopic) -> None:
        """Keep the messages of an input."""
        kind = message_type(topic.type, topic.required_by)
        name = self.full_name(topic.name(self._settings))

        def take(data: bytes) -> None:
            self.received.add(topic, self._guide.now_ns(), bytes(data))

        self._guide.subscribe(kind, name, take, subscription_qos(topic), raw=True)
        if topic is REMOVED_PAYLOAD:
            self._guide.subscribe(kind, name, lambda m: self._payload.update(
                {name: float(m.inertia.m)}), subscription_qos(topic))

    # ---- the driver ------------------------------------------------------------------------------

    def look_for_driver(self) -> None:
        """Subscribe to what tells of the driver and its surroundings, as far as it is there by now.
        """
        self.scene.look()
        for name, types in self._guide.node.get_topic_names_and_types():
            for telling in _TELLING:
                if telling.type in types and name.endswith(telling.ending):
                    self._hear(name, telling.type, telling.read)
            for kind in (PAYLOAD_STATES, FRANKA_STATE):
                if kind.type in types:
                    self._hear_payload(name, kind)

    def _hear(self, name: str, kind: str, read: Callable[[Any], dict[str, Any]]) -> None:
        """Keep what a topic tells of the driver, if its type is installed."""
        if name in self._heard or not self._guide.node.count_publishers(name):
            return
        self._heard.add(name)
        message_class = find_type(kind)
        if message_class is None:
            return
        self._guide.subscribe(message_class, name,
                              lambda m: self._told.update({name: read(m)}), self._qos(name))

    def _qos(self, name: str) -> QoSProfile:
        """What the publishers of a topic offer: its last message, where it is latched."""
        offered = [info.qos_profile for info in
                   self._guide.node.get_publishers_info_by_topic(name)]
        latched = all(qos.durability == DurabilityPolicy.TRANSIENT_LOCAL for qos in offered)
        return QoSProfile(
            depth=10, reliability=min((qos.reliability for qos in offered),
                                      key=lambda r: r == ReliabilityPolicy.RELIABLE),
            durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE)

    def _hear_payload(self, name: str, kind: InputTopic) -> None:
        """Subscribe once to a topic on which the driver states its payload, if its type is
        installed, and keep the mass that it states."""
        key = f"payload of {name}"
        if key in self._heard:
            return
        self._heard.add(key)
        message_class = find_type(kind.type)
        if message_class is None:
            return

        def take(message: Any) -> None:
            if kind is FRANKA_STATE or self._states.split(
                    message.joint_names, message.interface_values).payload is not None:
                self._payload[name] = stated_mass(kind, message, self._states)

        self._guide.subscribe(message_class, name, take, subscription_qos(kind))

    def driver(self) -> Driver:
        """What the driver tells of itself."""
        told: dict[str, Any] = {}
        for part in self._told.values():
            for name, value in part.items():
                told[name] = value if not told.get(name) else told[name]
        payload = max(self._payload.values(), default=None)
        return Driver(payload, told.get("stopped"), told.get("speed"))

    def controllers(self, only: str = "") -> tuple[Controller, ...]:
        """The controllers that take trajectories, or the one of that name."""
        wanted = [name for name in self.controller_names()
                  if not only or name.lstrip("/") == only.lstrip("/")]
        return tuple(self._controller(name) for name in wanted)

    def controller_names(self) -> list[str]:
        """Names of the controllers that take trajectories."""
        return [name.removesuffix(ENDING) for name, types in
                get_action_names_and_types(self._guide.node)
                if ACTION in types and name.endswith(ENDING)]

    def _controller(self, name: str) -> Controller:
        """What a controller tells of itself: by its state, or by its parameter `joints`."""
        for topic in (f"{name}/controller_state", f"{name}/state"):
            if find_type(_CONTROLLER_STATE) is None or not self._guide.node.count_publishers(topic):
                continue
            messages = self._guide.asking.listen(_CONTROLLER_STATE, topic, 1.0, bool)
            if messages:
                state = messages[-1]
                seen = getattr(state, "feedback", None) or state.actual  # Humble: actual
                return Controller(name, tuple(state.joint_names), tuple(seen.positions))
        try:
            told = ParameterClient(self._guide.asking, name, _TIMEOUT).read(["joints"])
        except NoAnswer:
            told = {}
        return Controller(name, tuple(told.get("joints") or ()))

    # ---- the node --------------------------------------------------------------------------------

    def _take_diagnostics(self, message: DiagnosticArray) -> None:
        """Keep the findings of the node."""
        for status in message.status:
            owner, _, part = status.name.partition(": ")
            if "/" + owner.lstrip("/") == self._node_name and part:
                self._findings[part] = findings_of(status)
                self.judgements += 1

    def has_judged(self, times: int) -> bool:
        """Whether the node has told its findings that often."""
        return self.judgements >= times

    def findings(self) -> tuple[Finding, ...]:
        """The findings of the node, as it told them last."""
        return tuple(f for part in self._findings.values() for f in part)

    def see(self, first_ns: int, last_ns: int, controller: str = "", may_move: bool = True
            ) -> Seen:
        """What was seen of the set-up between two times [ns]."""
        node, received, settings = self._guide.node, self.received, self._settings

        def named(topic: InputTopic) -> tuple[str, tuple[str, ...]]:
            dynamic = settings.dynamic_joint_states.topic
            name = self.full_name(
                dynamic if dynamic and topic in (WRENCH, JOINT_STATES) else topic.name(settings))
            return name, tuple(publishing_nodes(node, name))

        chain, beyond, missing = received.chain(first_ns, last_ns)
        self.scene.read(lambda frame: received.place_in_root(frame, first_ns, last_ns))
        own = f"{self._node_name}/"
        wrenches = tuple(
            name for name, types in node.get_topic_names_and_types()
            if WRENCH.type in types and not name.startswith(own) and node.count_publishers(name))
        return Seen(
            (last_ns - first_ns) * 1e-9,
            received.wrench(*named(WRENCH), first_ns, last_ns),
            received.joints(*named(JOINT_STATES), first_ns, last_ns),
            received.transforms(*named(TRANSFORMS), first_ns, last_ns),
            chain, beyond, missing, bool(received.description),
            bool(node.get_parameter("use_sim_time").value), self.findings(),
            self.controllers(controller) if may_move else (), wrenches, self.driver(),
            self.scene.scene)


def findings_of(status: DiagnosticStatus) -> tuple[Finding, ...]:
    """The findings that a status of the node holds."""
    values = {pair.key: pair.value for pair in status.values}
    warned = {name for name in values.get(WARNED, "").split(", ") if name}
    return tuple(Finding(name, "warning" if name in warned else "info", text)
                 for name, text in values.items()
                 if name.replace(".", "_").isidentifier() and name != WARNED)


def _decoders() -> dict[str, Callable[[bytes], Any]]:
    """Decoders of the types that `io.cdr` does not read, as far as they are installed."""
    out: dict[str, Callable[[bytes], Any]] = {}
    kind = find_type(DYNAMIC_JOINT_STATES.type)
    if kind is None:
        return out

    def decode(data: bytes) -> Any:
        try:
            return deserialize_message(data, kind)
        except Exception as error:  # of the middleware, by what is wrong
            raise ValueError(str(error)) from error

    out[DYNAMIC_JOINT_STATES.type] = decode
    return out
