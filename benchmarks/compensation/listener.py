# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Hears the wrench, the compensated one and the echoed one, and when each arrives.

Prints one JSON line at its end: by topic, the arrivals [ns, steady] by stamp [ns].
"""

import json
import struct
import sys
import time
from collections.abc import Callable

from geometry_msgs.msg import WrenchStamped
from rclpy.experimental import EventsExecutor
from rclpy.node import Node

from benchmarks.load.bare import ECHO
from inertial_id_ros.ros.program import spin, start_ros, stop_flag

TOPICS = ("wrench", "/inertial_id_node/wrench_compensated", ECHO)
_STAMP = struct.Struct("<iI")


def main() -> None:
    """Entry point; runs until SIGINT. Arguments: the topics to hear; none: all."""
    stop = stop_flag()
    start_ros(*sys.argv[:1], sys.argv[1:])
    node = Node("listener")
    arrivals: dict[str, list[tuple[bytes, int]]] = {topic: [] for topic in sys.argv[1:] or TOPICS}

    def note(topic: str) -> Callable[[bytes], None]:
        append, clock = arrivals[topic].append, time.monotonic_ns
        return lambda data: append((data[4:12], clock()))

    for topic in arrivals:
        node.create_subscription(WrenchStamped, topic, note(topic), 2000, raw=True)
    executor = EventsExecutor()
    executor.add_node(node)
    spin(executor, stop)
    print(json.dumps({topic: [(s * 10**9 + ns, at) for (s, ns), at in (
        (_STAMP.unpack(stamp), at) for stamp, at in heard)] for topic, heard in arrivals.items()}),
        flush=True)


if __name__ == "__main__":
    main()
