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
        latched: True if its publishers give what they last published to who subscribes later.
    """

    setting: str
    type: str
    content: str
    latched: bool = False

    def name(self, settings: Settings) -> str:
        """The topic's name in the settings."""
        group, _, name = self.setting.partition(".")
        return str(getattr(getattr(settings, group), name))


WRENCH = InputTopic("wrench.topic", "geometry_msgs/msg/WrenchStamped", "wrench")
JOINT_STATES = InputTopic("joint_states.topic", "sensor_msgs/msg/JointState", "joint state")
DYNAMIC_JOINT_STATES = InputTopic(
    "dynamic_joint_states.topic", "control_msgs/msg/DynamicJointState", "dynamic joint state")
TRANSFORMS = InputTopic("tf.topic", "tf2_msgs/msg/TFMessage", "transform")
STATIC_TRANSFORMS = InputTopic("tf.static_topic", "tf2_msgs/msg/TFMessage", "transform", True)
ROBOT_DESCRIPTION = InputTopic("robot_description.topic", "std_msgs/msg/String",
                               "robot description", True)
# The payload that the driver compensates, as it states it, by precompensated.source.
INERTIA_PAYLOAD, FRANKA_PAYLOAD, DYNAMIC_PAYLOAD = (
    InputTopic("precompensated.topic", kind, "compensated payload") for kind in (
        "geometry_msgs/msg/InertiaStamped", "franka_msgs/msg/FrankaRobotState",
        DYNAMIC_JOINT_STATES.type))
PAYLOADS = {"inertia": INERTIA_PAYLOAD, "franka": FRANKA_PAYLOAD,
            "dynamic_joint_states": DYNAMIC_PAYLOAD}


def input_topics(settings: Settings) -> list[InputTopic]:
    """The topics that the identification reads with these settings."""
    if settings.dynamic_joint_states.topic:  # carries wrench and joint states
        topics = [DYNAMIC_JOINT_STATES]
    else:
        topics = [WRENCH, JOINT_STATES] if settings.load.source == "wrench" else [JOINT_STATES]
    topics += [TRANSFORMS, STATIC_TRANSFORMS]
    if settings.precompensated.topic and settings.precompensated.source in PAYLOADS:
        topics.append(PAYLOADS[settings.precompensated.source])
    if not settings.robot_description.file:
        topics.append(ROBOT_DESCRIPTION)
    return topics
