# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The command's own node: its executor runs in a thread, so that the session can wait for answers
one after the other."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import rclpy

from .. import compat
from ..motion_execution import MotionExecution
from ..ros_client import RosClient

POLL = 0.02  # s
LATEST = 60.0  # s after a session for which a controller may answer late


class Stopped(Exception):
    """The user wants to end."""


class GuideNode:
    """A node with a thread of its own; a context manager that leaves the graph.

    Args:
        stop: set when the user wants to end.

    Attributes:
        node: of rclpy; client: of other nodes.
        unsettled: motions whose goal the controller has neither rejected nor ended. Until this node
            leaves, and up to `LATEST` after that, a goal that is accepted late is cancelled.
    """

    def __init__(self, stop: threading.Event) -> None:
        self.stop = stop
        self.node = rclpy.create_node(f"identify_payload_{os.getpid()}",
                                      start_parameter_services=False, enable_rosout=False)
        self.client = RosClient(self.node)
        self.unsettled: list[MotionExecution] = []
        executor = compat.make_executor()
        executor.add_node(self.node)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=compat.spin, args=(executor, self._ended),
                                        name="executor", daemon=True)

    def __enter__(self) -> GuideNode:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        end = time.monotonic() + LATEST
        for execution in self.unsettled:
            while not execution.is_settled and time.monotonic() < end:
                time.sleep(POLL)  # also after a stop
            execution.close()
        self._ended.set()
        self._thread.join(2.0)
        self.node.destroy_node()

    def now_ns(self) -> int:
        """The time by the clock of ROS [ns]."""
        return int(self.node.get_clock().now().nanoseconds)

    def wait(self, seconds: float) -> None:
        """Let time pass (raises Stopped)."""
        self.wait_until(lambda: False, seconds)

    def wait_until(self, condition: Callable[[], Any], seconds: float) -> bool:
        """Wait for a condition; True if it holds within this time [s] (raises Stopped)."""
        end = time.monotonic() + seconds
        while not condition():
            if self.stop.is_set():
                raise Stopped
            if time.monotonic() >= end:
                return False
            self.stop.wait(POLL)
        return True
