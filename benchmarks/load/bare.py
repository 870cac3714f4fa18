# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A bare subscriber with empty callbacks: the same topics, quality of service and executor; `echo`:
one that publishes each wrench again as it is, the least that any node in Python needs."""

import json
import sys

from geometry_msgs.msg import WrenchStamped
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from inertial_id_ros.ros.program import spin, start_ros, stop_flag

ECHO = "echoed_wrench"


def main() -> None:
    """Entry point; runs until SIGINT, then prints how many messages came on each topic."""
    stop, is_echo = stop_flag(), "echo" in sys.argv
    start_ros(*sys.argv[:1], sys.argv[1:])
    node = Node("echo" if is_echo else "bare")
    counts = [0, 0, 0]

    def count(which: int) -> object:
        def callback(_: object) -> None:
            counts[which] += 1
        return callback

    qos = QoSProfile(depth=2000, reliability=ReliabilityPolicy.BEST_EFFORT)
    if is_echo:
        publisher = node.create_publisher(WrenchStamped, ECHO, 100)
        node.create_subscription(WrenchStamped, "wrench", publisher.publish, qos, raw=True)
    for k, (kind, topic) in enumerate([] if is_echo else [
            (WrenchStamped, "wrench"), (JointState, "joint_states"), (TFMessage, "/tf")]):
        node.create_subscription(kind, topic, count(k), qos)
    executor = EventsExecutor()
    executor.add_node(node)
    spin(executor, stop)
    print(json.dumps(counts), flush=True)


if __name__ == "__main__":
    main()
