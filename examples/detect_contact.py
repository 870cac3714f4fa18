# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Prints when something touches the payload, and when it lets go.

Run it beside the node:  python examples/detect_contact.py
Where an arm is simulated, push what it carries with 15 N, and let go:
    ros2 topic pub --once /simulate_cobot/push geometry_msgs/msg/Wrench "{force: {y: 15.0}}"
    ros2 topic pub --once /simulate_cobot/push geometry_msgs/msg/Wrench "{}"

The compensated wrench holds what touches the payload, and nothing of the payload itself. A robot
would stop in place of printing. What remains without contact grows with the acceleration: choose
the force accordingly (--ros-args -p force:=8.0).
"""

import math

import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data

TIME_CONSTANT = 0.01  # s of the low-pass, against the noise of single samples
RELEASE = 0.5  # of the force of a contact, below which it has ended


class ContactDetector(Node):
    """A low-pass and two thresholds, so that noise does not make one contact two."""

    def __init__(self) -> None:
        super().__init__("detect_contact")
        self._begin = self.declare_parameter("force", 5.0).value  # N
        self._force = [0.0, 0.0, 0.0]
        self._stamp = 0.0
        self._touched: bool | None = None  # not known before the first wrench
        self.create_subscription(WrenchStamped, "inertial_id_node/wrench_compensated",
                                 self._take, qos_profile_sensor_data)

    def _take(self, message: WrenchStamped) -> None:
        """Filter the force, and say whether the contact has begun or ended."""
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        share = -math.expm1(-max(0.0, stamp - self._stamp) / TIME_CONSTANT)  # 1 for the first
        self._stamp = stamp
        new = message.wrench.force
        self._force = [old + share * (x - old) for old, x in zip(
            self._force, (new.x, new.y, new.z), strict=True)]
        size = math.hypot(*self._force)
        touched = size > (RELEASE * self._begin if self._touched else self._begin)
        if touched != self._touched:
            self._touched = touched
            x, y, z = self._force
            print(f"contact: {size:.1f} N, ({x:.1f}, {y:.1f}, {z:.1f}) N in "
                  f"{message.header.frame_id}" if touched else "free", flush=True)


def main() -> None:
    """Run until interrupted."""
    rclpy.init()
    try:
        rclpy.spin(ContactDetector())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == "__main__":
    main()
