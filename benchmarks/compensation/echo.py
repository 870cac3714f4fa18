# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A node that publishes each wrench again as it is: the least that any node in Python needs."""

from __future__ import annotations

import sys

from geometry_msgs.msg import WrenchStamped
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from inertial_id_ros.ros.program import spin, start_ros, stop_flag

TOPIC = "echoed_wrench"


def main() -> None:
    """Entry point; runs until SIGINT."""
    stop, executor = stop_flag(), EventsExecutor()
    start_ros(*sys.argv[:1], sys.argv[1:])
    node = Node("echo")
    publisher = node.create_publisher(WrenchStamped, TOPIC, 100)
    qos = QoSProfile(depth=2000, reliability=ReliabilityPolicy.BEST_EFFORT)
    node.create_subscription(WrenchStamped, "wrench", publisher.publish, qos, raw=True)
    executor.add_node(node)
    spin(executor, stop)


if __name__ == "__main__":
    main()
