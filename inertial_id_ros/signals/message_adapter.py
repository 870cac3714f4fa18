# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From the messages of ROS topics to the samples of an identifier, live and from recordings.

The topics that the identification reads, and which of them the settings ask for. A message is
anything with the fields of its type: rclpy, rosbags and `io.cdr` each make their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..io import messages
from ..io.messages import DynamicJointStates
from ..limits import MAX_JOINTS
from ..settings import Settings
from . import inbox


@dataclass(frozen=True, eq=False)
class InputTopic:
    """A topic that the identification reads.

    Attributes:
        setting: dotted name of the setting that names the topic.
        type: of its messages.
        content: what they carry, in words.
        depth: messages that may wait for the executor of a node.
        latched: whether its publishers give what they last published to who subscribes later.
        kind: under which the inbox takes its messages while they are serialised; None: it does not.
        required_by: setting to blame where the type of message is not installed.
    """

    setting: str
    type: str
    content: str
    depth: int
    latched: bool = False
    kind: int | None = None
    required_by: str = ""

    def name(self, settings: Settings) -> str:
        """The topic's name in the settings."""
        group, _, name = self.setting.partition(".")
        return str(getattr(getattr(settings, group), name))


WRENCH = InputTopic("wrench.topic", "geometry_msgs/msg/WrenchStamped", "wrench", 2000,
                    kind=inbox.WRENCH)
JOINT_STATES = InputTopic("joint_states.topic", "sensor_msgs/msg/JointState", "joint state", 2000,
                          kind=inbox.JOINT_STATE)
DYNAMIC_JOINT_STATES = InputTopic(
    "dynamic_joint_states.topic", "control_msgs/msg/DynamicJointState", "dynamic joint state", 2000,
    required_by="dynamic_joint_states.topic")
TRANSFORMS = InputTopic("tf.topic", "tf2_msgs/msg/TFMessage", "transform", 500,
                        kind=inbox.TRANSFORM)
STATIC_TRANSFORMS = InputTopic("tf.static_topic", "tf2_msgs/msg/TFMessage", "transform", 100,
                               latched=True, kind=inbox.STATIC_TRANSFORM)
ROBOT_DESCRIPTION = InputTopic("robot_description.topic", "std_msgs/msg/String",
                               "robot description", 1, latched=True)
REMOVED_PAYLOAD = InputTopic("precompensated.topic", "geometry_msgs/msg/InertiaStamped",
                             "removed payload", 10)
FRANKA_STATE = InputTopic("precompensated.topic", "franka_msgs/msg/FrankaRobotState",
                          "removed payload", 10, required_by="precompensated.source")
PAYLOAD_STATES = InputTopic("precompensated.topic", DYNAMIC_JOINT_STATES.type, "removed payload",
                            10, required_by="precompensated.source")
BASE_IMU = InputTopic("base_imu.topic", "sensor_msgs/msg/Imu", "base IMU", 2000)
PROGRAM = InputTopic("precompensated.program_topic", "std_msgs/msg/Bool", "program", 10)


def input_topics(settings: Settings) -> list[InputTopic]:
    """The topics that the identification reads with these settings."""
    if settings.dynamic_joint_states.topic:  # carries wrench and joint states
        topics = [DYNAMIC_JOINT_STATES]
    elif settings.load.source == "wrench":
        topics = [WRENCH, JOINT_STATES]
    else:
        topics = [JOINT_STATES]
    topics.append(TRANSFORMS)
    if settings.precompensated.source == "inertia":
        topics.append(REMOVED_PAYLOAD)
    if settings.precompensated.source == "franka":
        topics.append(FRANKA_STATE)
    if settings.precompensated.source == "dynamic_joint_states" and settings.precompensated.topic:
        topics.append(PAYLOAD_STATES)
    if settings.precompensated.program_topic:
        topics.append(PROGRAM)
    if settings.base_imu.topic:
        topics.append(BASE_IMU)
    topics.append(STATIC_TRANSFORMS)
    if not settings.robot_description.file:
        topics.append(ROBOT_DESCRIPTION)
    return topics


class MessageAdapter:
    """Adds the samples of decoded messages to an identifier.

    Args:
        on_description: called with every robot description (its parsing takes time).
    """

    def __init__(self, identifier: inbox.Inbox, settings: Settings,
                 on_description: Callable[[str], None]) -> None:
        self._identifier, self._settings = identifier, settings
        self._on_description = on_description
        self._parts = DynamicJointStates(settings.dynamic_joint_states)
        self._program_runs = False
        self._add: dict[InputTopic, Callable[[Any], bool]] = {
            WRENCH: partial(self._pass_on, messages.WRENCH, identifier.add_wrench),
            JOINT_STATES: partial(self._pass_on, messages.JOINT_STATE, identifier.add_joint_state),
            TRANSFORMS: partial(self._pass_on, messages.TRANSFORMS, identifier.add_transform),
            STATIC_TRANSFORMS: partial(self._pass_on, messages.STATIC_TRANSFORMS,
                                       identifier.add_static_transform),
            DYNAMIC_JOINT_STATES: self._add_dynamic_joint_state,
            REMOVED_PAYLOAD: self._add_removed_payload,
            FRANKA_STATE: lambda message: self._add_removed_payload(message.inertia_load),
            PAYLOAD_STATES: self._add_stated_payload,
            PROGRAM: self._add_program_state,
            BASE_IMU: self._add_imu,
            ROBOT_DESCRIPTION: self._add_robot_description}

    def add(self, topic: InputTopic, message: Any) -> bool:
        """Add the samples of a message; False where it is too large and was dropped."""
        return self._add[topic](message)

    def wrench_of(self, message: Any) -> tuple[float, ...] | None:
        """The wrench (6,) [N, N m] of a dynamic joint state; None where it carries none."""
        return self._parts.split(message.joint_names, message.interface_values).wrench

    def payload_of(self, message: Any) -> tuple[float, ...] | None:
        """Mass, centre of mass and inertia (10,) of the payload in a dynamic joint state (see
        `io.messages`); None where it carries none."""
        return self._parts.split(message.joint_names, message.interface_values).payload

    def _pass_on(self, kind: messages.MessageKind, sink: messages.Sink, message: Any) -> bool:
        """Hand the samples of a message to a method of the identifier."""
        return kind.pass_on(message, sink, self._identifier.add_finding)

    def _add_dynamic_joint_state(self, message: Any) -> bool:
        """Add joint positions, wrench and removed payload, which one message carries."""
        identifier, names = self._identifier, message.joint_names
        if not messages.has_allowed_size("dynamic_joints", "dynamic joint state", len(names),
                                         MAX_JOINTS,
                                         identifier.add_finding):
            return False
        stamp = messages.stamp_ns(message.header.stamp)
        parts = self._parts.split(names, message.interface_values)
        if parts.names:
            identifier.add_joint_state(stamp, parts.names, parts.positions)
        removed = self._settings.precompensated
        if removed.source == "dynamic_joint_states" and not removed.topic:
            self._add_stated_payload(message)
        if parts.wrench is not None:
            # The message does not hold the frame of the wrench.
            identifier.add_wrench(stamp, self._settings.wrench.sensor_frame, parts.wrench[:3],
                                  parts.wrench[3:])
        else:
            known = ", ".join(str(n) for n in list(names)[:12]) or "nothing"
            identifier.add_finding(
                "sensor_missing", "error", "the dynamic joint states carry no force.x ... torque.z "
                f"of '{self._settings.dynamic_joint_states.sensor}' "
                f"(dynamic_joint_states.sensor); they carry: {known}")
        return True

    def _add_stated_payload(self, message: Any) -> bool:
        """Add what the driver removes from the wrench, out of a dynamic joint state."""
        payload = self.payload_of(message)
        if payload is not None:
            self._identifier.add_removed_payload("", payload[0], payload[1:4], payload[4:])
        return True

    def _add_removed_payload(self, message: Any) -> bool:
        """Add what the driver removes from the wrench, given as an InertiaStamped."""
        i = message.inertia
        self._identifier.add_removed_payload(
            message.header.frame_id, i.m, (i.com.x, i.com.y, i.com.z),
            (i.ixx, i.ixy, i.ixz, i.iyy, i.iyz, i.izz))
        return True

    def _add_program_state(self, message: Any) -> bool:
        """Add a zeroing when the robot's program starts: drivers zero the sensor then."""
        if message.data and not self._program_runs:
            self._identifier.add_zeroing("the robot's program started")
        self._program_runs = bool(message.data)
        return True

    def _add_imu(self, message: Any) -> bool:
        """Add a reading of the IMU on the robot's base."""
        force, omega = message.linear_acceleration, message.angular_velocity
        self._identifier.add_imu(
            messages.stamp_ns(message.header.stamp), message.header.frame_id,
            (force.x, force.y, force.z), (omega.x, omega.y, omega.z))
        return True

    def _add_robot_description(self, message: Any) -> bool:
        """Hand on the text of a robot description."""
        self._on_description(message.data)
        return True
