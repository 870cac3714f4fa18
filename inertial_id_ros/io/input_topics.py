# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The topics that the identification reads, live and from recordings."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import Settings


@dataclass(frozen=True, eq=False)
class InputTopic:
    """A topic that the identification reads.

    Attributes:
        setting: dotted name of the setting that names the topic.
        type: of its messages; content: what they carry, in words.
        depth: messages that may wait for the executor of a node.
        latched: True if its publishers give what they last published to who subscribes later.
        required_by: setting to blame where the type of message is not installed.
    """

    setting: str
    type: str
    content: str
    depth: int
    latched: bool = False
    required_by: str = ""

    def name(self, settings: Settings) -> str:
        """The topic's name in the settings."""
        group, _, name = self.setting.partition(".")
        return str(getattr(getattr(settings, group), name))


WRENCH = InputTopic("wrench.topic", "geometry_msgs/msg/WrenchStamped", "wrench", 2000)
JOINT_STATES = InputTopic("joint_states.topic", "sensor_msgs/msg/JointState", "joint state", 2000)
DYNAMIC_JOINT_STATES = InputTopic(
    "dynamic_joint_states.topic", "control_msgs/msg/DynamicJointState", "dynamic joint state", 2000,
    required_by="dynamic_joint_states.topic")
TRANSFORMS = InputTopic("tf.topic", "tf2_msgs/msg/TFMessage", "transform", 500)
STATIC_TRANSFORMS = InputTopic("tf.static_topic", "tf2_msgs/msg/TFMessage", "transform", 100,
                               latched=True)
ROBOT_DESCRIPTION = InputTopic("robot_description.topic", "std_msgs/msg/String",
                               "robot description", 1, latched=True)
# The payload that the driver compensates, as it states it.
INERTIA_PAYLOAD = InputTopic("precompensated.topic", "geometry_msgs/msg/InertiaStamped",
                             "compensated payload", 10)
FRANKA_PAYLOAD = InputTopic("precompensated.topic", "franka_msgs/msg/FrankaRobotState",
                            "compensated payload", 10, required_by="precompensated.source")
DYNAMIC_PAYLOAD = InputTopic("precompensated.topic", DYNAMIC_JOINT_STATES.type,
                             "compensated payload", 10, required_by="precompensated.source")
PAYLOADS = {"inertia": INERTIA_PAYLOAD, "franka": FRANKA_PAYLOAD,
            "dynamic_joint_states": DYNAMIC_PAYLOAD}


def input_topics(settings: Settings) -> list[InputTopic]:
    """The topics that the identification reads with these settings."""
    if settings.dynamic_joint_states.topic:  # carries wrench and joint states
        topics = [DYNAMIC_JOINT_STATES]
    elif settings.load.source == "wrench":
        topics = [WRENCH, JOINT_STATES]
    else:
        topics = [JOINT_STATES]
    topics += [TRANSFORMS, STATIC_TRANSFORMS]
    payload = PAYLOADS.get(settings.precompensated.source)
    if payload is not None and settings.precompensated.topic:
        topics.append(payload)
    if not settings.robot_description.file:
        topics.append(ROBOT_DESCRIPTION)
    return topics
