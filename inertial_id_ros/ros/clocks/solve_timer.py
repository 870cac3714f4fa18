# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""When to ask for estimates."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

_PATIENCE = 1.5  # periods without a tick of a simulated clock, after which the steady clock serves


class SolveTimer:
    """Asks for estimates at a rate: of a simulated clock while it runs, else of the steady clock.

    The system clock serves for nothing here: set back by an hour, it would stop the estimates for
    that long. Nor may they end with a simulated clock that stops, since the payload may change.

    Args:
        rate: estimates a second; request: called in the executor's thread.
    """

    def __init__(self, node: Node, rate: float, request: Callable[[], None]) -> None:
        self._node, self._request = node, request
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timers: list[Any] = []
        self._simulated_tick = -float("inf")  # by the steady clock [s]
        self.set_rate(rate)

    def set_rate(self, rate: float) -> None:
        """Ask at another rate [Hz] from now on."""
        self.stop()
        self._period = 1.0 / rate
        self._timers = [
            self._node.create_timer(self._period, self._on_ros_time),
            self._node.create_timer(self._period, self._on_steady_time, clock=self._steady)]

    def stop(self) -> None:
        """Ask no more."""
        while self._timers:
            self._node.destroy_timer(self._timers.pop())

    def _on_ros_time(self) -> None:
        """A tick of the ROS clock, which counts where that is a simulated one."""
        if self._node.get_clock().ros_time_is_active:
            self._simulated_tick = time.monotonic()
            self._request()

    def _on_steady_time(self) -> None:
        """A tick of the steady clock, which counts where no other has come for a while."""
        if (not self._node.get_clock().ros_time_is_active
                or time.monotonic() - self._simulated_tick > _PATIENCE * self._period):
            self._request()
