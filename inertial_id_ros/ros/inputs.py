"""The node's topics in. Callbacks run in the executor's thread and only append.

The topics that come at high rates are taken as they are serialised: making message objects of them
costs more than all the rest, and the worker decodes them faster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import InertiaStamped, WrenchStamped
from rclpy.exceptions import InvalidTopicNameException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String
from tf2_msgs.msg import TFMessage

from ..errors import InvalidModel, InvalidSetting
from ..identification.make_identifier import AnyIdentifier
from ..io.dynamic_joint_state import DynamicJointStates
from ..io.files import user_path
from ..io.messages import fits
from ..io.urdf import read_description
from ..limits import MAX_JOINTS
from ..settings import Settings
from ..signals import inbox
from .compat import optional_type
from .conversions import stamp_ns
from .diagnostics import TopicRate


def _stream(depth: int) -> QoSProfile:
    """Best effort matches reliable and best-effort publishers."""
    return QoSProfile(depth=depth, history=HistoryPolicy.KEEP_LAST,
                      reliability=ReliabilityPolicy.BEST_EFFORT)


def _latched(depth: int) -> QoSProfile:
    return QoSProfile(depth=depth, history=HistoryPolicy.KEEP_LAST,
                      reliability=ReliabilityPolicy.RELIABLE,
                      durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Inputs:
    """Subscriptions of a node that feed an identifier.

    Args:
        on_description: called with every robot description (its parsing takes time).

    Attributes:
        rates: messages by the name of the setting that names their topic.

    Raises:
        InvalidSetting: a topic name that is none, a type that is not installed, or a robot
            description file that cannot be used.
    """

    def __init__(self, node: Node, settings: Settings, identifier: AnyIdentifier,
                 on_description: Callable[[str], None]) -> None:
        self._node, self._settings, self._identifier = node, settings, identifier
        self._on_description = on_description
        self._dynamic = DynamicJointStates(settings.dynamic_joint_states)
        self._program_runs = False
        self.rates: dict[str, TopicRate] = {}
        self._subscribe_robot(settings)
        self._subscribe_driver(settings)
        self._subscribe_serialized("tf.topic", settings.tf.topic, TFMessage, inbox.TRANSFORM,
                                   _stream(500))
        self._subscribe_serialized("tf.static_topic", settings.tf.static_topic, TFMessage,
                                   inbox.STATIC_TRANSFORM, _latched(100))
        if settings.robot_description.file:
            self._use_file(settings.robot_description.file)
        else:
            self._subscribe("robot_description.topic", settings.robot_description.topic, String,
                            self._on_robot_description, _latched(1))

    def _subscribe_robot(self, settings: Settings) -> None:
        """Wrench and joints, in one topic or in two."""
        both = settings.dynamic_joint_states.topic
        if both:
            self._subscribe("dynamic_joint_states.topic", both,
                            optional_type("control_msgs", "DynamicJointState",
                                          "dynamic_joint_states.topic"),
                            self._on_dynamic_joint_state, _stream(2000))
            return
        if settings.load.source == "wrench":
            self._subscribe_serialized("wrench.topic", settings.wrench.topic, WrenchStamped,
                                       inbox.WRENCH, _stream(2000))
        self._subscribe_serialized("joint_states.topic", settings.joint_states.topic, JointState,
                                   inbox.JOINT_STATE, _stream(2000))

    def _subscribe_driver(self, settings: Settings) -> None:
        """What the driver tells about the wrench: the payload it removes, a program's start."""
        driver = settings.precompensated
        if driver.source == "inertia":
            self._subscribe("precompensated.topic", driver.topic, InertiaStamped,
                            self._on_removed_payload, _stream(10))
        if driver.source == "franka":
            self._subscribe("precompensated.topic", driver.topic,
                            optional_type("franka_msgs", "FrankaRobotState",
                                          "precompensated.source"),
                            lambda m: self._on_removed_payload(m.inertia_load), _stream(10))
        if driver.program_topic:
            self._subscribe("precompensated.program_topic", driver.program_topic, Bool,
                            self._on_program, _stream(10))

    def _use_file(self, name: str) -> None:
        try:
            self._identifier.set_robot_description(read_description(user_path(name)))
        except InvalidModel as error:
            raise InvalidSetting(f"robot_description.file is '{name}': {error}") from error

    def _subscribe_serialized(self, setting: str, topic: str, message_type: type, kind: int,
                              qos: QoSProfile) -> None:
        """Hand serialised messages to the identifier as what they are (`Intake.add_serialized`)."""
        add = self._identifier.add_serialized
        self._subscribe(setting, topic, message_type, lambda data: add(kind, data), qos, raw=True)

    def _subscribe(self, setting: str, topic: str, kind: type, callback: Callable[[Any], None],
                   qos: QoSProfile, raw: bool = False) -> None:
        rate = self.rates[setting.removesuffix(".topic")] = TopicRate()

        def count(message: Any) -> None:
            rate.count += 1
            callback(message)

        try:
            self._node.create_subscription(kind, topic, count, qos, raw=raw)
        except (InvalidTopicNameException, ValueError) as error:
            reason = " ".join(str(error).split())
            raise InvalidSetting(f"{setting} is '{topic}'; it must be a topic name: "
                                 f"{reason}") from error

    def _on_dynamic_joint_state(self, message: Any) -> None:
        size = len(message.joint_names)
        if size > MAX_JOINTS:
            self._identifier.add_finding(
                "dynamic_joint_state_too_large", "error", f"dynamic joint state messages with "
                f"{size} entries dropped; at most {MAX_JOINTS} are accepted")
            return
        self._dynamic.feed(message, stamp_ns(message.header.stamp),
                           self._settings.wrench.sensor_frame, self._identifier,
                           self._settings.precompensated.source == "dynamic_joint_states")

    def _on_removed_payload(self, message: InertiaStamped) -> None:
        i = message.inertia
        self._identifier.add_removed_payload(
            message.header.frame_id, i.m, (i.com.x, i.com.y, i.com.z),
            (i.ixx, i.ixy, i.ixz, i.iyy, i.iyz, i.izz))

    def _on_program(self, message: Bool) -> None:
        if message.data and not self._program_runs:
            self._identifier.add_zeroing("the robot's program started")
        self._program_runs = bool(message.data)

    def _on_robot_description(self, message: String) -> None:
        self._on_description(message.data)

    def _fits(self, what: str, size: int, limit: int) -> bool:
        return fits(self._identifier.add_finding, what, size, limit)
