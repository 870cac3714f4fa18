# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How the processes that stand in for drivers and controllers run and end."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from inertial_id_ros.ros import compat
from inertial_id_ros.ros.program import stop_flag


def serve(make: Callable[[Event], Node]) -> None:
    """Run a node until a signal, and end whatever the middleware does then: `rclpy.spin` once did
    not return in a minute.

    Args:
        make: makes it; gets what a signal sets.
    """
    stop = stop_flag()
    compat.init()
    executor, node = SingleThreadedExecutor(), make(stop)
    executor.add_node(node)
    print("ready", flush=True)
    compat.spin(executor, stop)
    node.destroy_node()  # or the others would hold its services for 20 s more
    rclpy.shutdown()
    compat.exit_process(0)
