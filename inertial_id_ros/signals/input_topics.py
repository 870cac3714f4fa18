# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The topics that the identification reads, and which of them the settings ask for."""

from __future__ import annotations

from dataclasses import dataclass

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
