# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Stands between a simulated cobot and everybody else, and makes of its messages what faulty
set-ups make of them.

The cobot publishes below ``/driver``; what arrives there goes on to the usual names, through the
faults of the moment.
"""

from __future__ import annotations

import threading

import numpy as np
import rclpy
from control_msgs.msg import DynamicJointState, InterfaceValue
from geometry_msgs.msg import TransformStamped, WrenchStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from ros_process import LATCHED
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

REMAPPED = ("wrench", "joint_states", "/tf", "/tf_static", "robot_description",
            "dynamic_joint_states")
_SWAPPED = (0, 1, 2, 4, 3, 5)  # positions of two joints of the wrist, under each other's names
_TURN = Rotation.from_euler("z", 90, degrees=True).as_matrix()
_TILT = Rotation.from_euler("x", 15, degrees=True)


def remaps() -> list[str]:
    """ROS arguments of the cobot."""
    return [word for name in REMAPPED for word in ("-r", f"{name}:=/driver/{name.lstrip('/')}")]


class FaultyRelay:
    """The relay, in a thread of its own.

    Attributes:
        faults: of the moment; where there is none, everything goes on as it came.
    """

    def __init__(self, domain: int) -> None:
        self.faults: frozenset[str] = frozenset()
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain,
                   signal_handler_options=SignalHandlerOptions.NO)
        self.node = node = rclpy.create_node("driver", context=self.context)
        self.other = rclpy.create_node("other_driver", context=self.context)
        self._out = {
            "wrench": node.create_publisher(WrenchStamped, "/wrench", 100),
            "joint_states": node.create_publisher(JointState, "/joint_states", 100),
            "tf": node.create_publisher(TFMessage, "/tf", 100),
            "tf_static": node.create_publisher(TFMessage, "/tf_static", LATCHED),
            "robot_description": node.create_publisher(String, "/robot_description", LATCHED),
            "payload": node.create_publisher(DynamicJointState, "/dynamic_joint_states", 1)}
        self._second = None
        self._statics: TFMessage | None = None
        self._description: String | None = None
        self._frozen: WrenchStamped | None = None
        self._transforms = 0
        for kind, name, take, qos in (
                (WrenchStamped, "wrench", self._wrench, 100),
                (JointState, "joint_states", self._joint_states, 100),
                (TFMessage, "tf", self._tf, 100), (TFMessage, "tf_static", self._static, LATCHED),
                (String, "robot_description", self._describe, LATCHED)):
            node.create_subscription(kind, f"/driver/{name}", take, qos)
        node.create_timer(0.1, self._tell)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(node)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        while not self._ended.is_set():
            self._executor.spin_once(timeout_sec=0.1)

    def close(self) -> None:
        """Leave the graph."""
        self._ended.set()
        self._thread.join(5.0)
        for node in (self.node, self.other):
            node.destroy_node()
        rclpy.shutdown(context=self.context)

    def set(self, *faults: str) -> None:
        """Use other faults from now on; what is latched is published again."""
        self.faults, self._frozen = frozenset(faults), None
        if self._statics is not None:
            self._static(self._statics)
        if self._second is None and "two publishers" in faults:
            self._second = self.other.create_publisher(WrenchStamped, "/wrench", 100)
        elif self._second is not None and "two publishers" not in faults:
            self.other.destroy_publisher(self._second)
            self._second = None

    # ---- what goes on ----------------------------------------------------------------------------

    def _wrench(self, message: WrenchStamped) -> None:
        faults, force, torque = self.faults, message.wrench.force, message.wrench.torque
        if "sign" in faults:
            for part in (force, torque):
                part.x, part.y, part.z = -part.x, -part.y, -part.z
        if "frame turned" in faults:
            for part in (force, torque):
                part.x, part.y, part.z = (_TURN @ [part.x, part.y, part.z]).tolist()
        if "wrong link" in faults:
            message.header.frame_id = "forearm_link"
        if "wrong TCP" in faults:
            message.header.frame_id = "tool0"
        if "stale stamps" in faults:
            message.header.stamp.sec -= 3
        if "clock offset" in faults:
            _shift(message, 0.2)
        if "saturated" in faults:
            force.z = 128.0 + 0.05 * float(np.random.default_rng().normal())
        if "unplugged" in faults:
            self._frozen = self._frozen or message
            message.wrench = self._frozen.wrench
        self._out["wrench"].publish(message)
        if self._second is not None:
            self._second.publish(message)

    def _joint_states(self, message: JointState) -> None:
        if "slow TF" in self.faults:
            return
        if "joint order" in self.faults:
            message.position = [message.position[k] for k in _SWAPPED]
        self._out["joint_states"].publish(message)

    def _tf(self, message: TFMessage) -> None:
        self._transforms += 1
        if "slow TF" not in self.faults or self._transforms % 20 == 0:  # 5 Hz
            self._out["tf"].publish(message)

    def _static(self, message: TFMessage) -> None:
        self._statics = message
        out = TFMessage(transforms=list(message.transforms))
        if "tilted gravity" in self.faults:
            tilted = TransformStamped(header=out.transforms[0].header,
                                      child_frame_id=out.transforms[0].child_frame_id)
            q = tilted.transform.rotation
            q.x, q.y, q.z, q.w = _TILT.as_quat().tolist()
            out.transforms[0] = tilted
        if "wrong TCP" in self.faults:
            tcp = TransformStamped(child_frame_id="tool0_controller")
            tcp.header.frame_id, tcp.transform.translation.z = "tool0", 0.15
            out.transforms.append(tcp)
        self._out["tf_static"].publish(out)

    def _describe(self, message: String) -> None:
        self._description = message
        self._out["robot_description"].publish(message)

    def _tell(self) -> None:
        """What a driver tells of itself."""
        mass = 1.2 if "payload set" in self.faults else 0.0
        self._out["payload"].publish(DynamicJointState(
            joint_names=["payload"], interface_values=[InterfaceValue(
                interface_names=["mass", "cog.x", "cog.y", "cog.z"],
                values=[mass, 0.0, 0.0, 0.0])]))


def _shift(message: WrenchStamped, seconds: float) -> None:
    """Stamp a message later than it was measured."""
    stamp = message.header.stamp
    total = stamp.sec * 1_000_000_000 + stamp.nanosec + round(seconds * 1e9)
    stamp.sec, stamp.nanosec = divmod(total, 1_000_000_000)
