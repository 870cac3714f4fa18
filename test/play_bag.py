# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Plays a recording once with /clock: ``python play_bag.py BAG``.

So does ``ros2 bag play --clock``, which not every ROS of the tests has.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path

import rclpy
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.time import Time
from rosbags.rosbag2 import Reader
from rosgraph_msgs.msg import Clock

from inertial_id_ros.ros.program import message_type

SETTLE = 0.5  # s from the first subscriber to the others of the same node
CLOCK_PERIOD = 0.01  # s


def publishers_of(node: Node, recording: Reader) -> dict[str, Publisher]:
    """A publisher of each topic whose type is installed; of latched ones it keeps all messages."""
    made = {}
    for c in recording.connections:
        latched = any(q.durability.name == "TRANSIENT_LOCAL" for q in c.ext.offered_qos_profiles)
        qos = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL
                         if latched else DurabilityPolicy.VOLATILE)
        with suppress(ImportError, AttributeError, ValueError):  # a type that is not installed
            made[c.topic] = node.create_publisher(message_type(c.msgtype), c.topic, qos)
    return made


def play(recording: Reader, publishers: dict[str, Publisher], clock: Publisher) -> None:
    """Publish all messages at their times; the clock is never ahead of the next one."""
    while not any(p.get_subscription_count() for p in publishers.values()):
        time.sleep(CLOCK_PERIOD)
    time.sleep(SETTLE)
    began, next_clock = time.monotonic(), 0.0
    for connection, log_time, data in recording.messages():
        due = began + 1e-9 * (log_time - recording.start_time)
        while (now := time.monotonic()) < due or now >= next_clock:
            if now >= next_clock:
                recorded = recording.start_time + int(1e9 * (now - began))
                clock.publish(Clock(clock=Time(nanoseconds=min(recorded, log_time)).to_msg()))
                next_clock = now + CLOCK_PERIOD
            else:
                time.sleep(min(due, next_clock) - now)
        if connection.topic in publishers:
            publishers[connection.topic].publish(data)
    for publisher in publishers.values():
        publisher.wait_for_all_acked(Duration(seconds=1.0))


if __name__ == "__main__":
    rclpy.init()
    player = Node("play_bag")
    with Reader(Path(sys.argv[1])) as bag:
        play(bag, publishers_of(player, bag), player.create_publisher(Clock, "/clock", 10))
    rclpy.shutdown()
