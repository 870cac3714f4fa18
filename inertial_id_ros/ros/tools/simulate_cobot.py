# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Node ``simulate_cobot``: a simulated cobot that publishes what a driver would publish.

Its topics are those of `apps.simulation.write`. A wrench published on ``~/push`` acts on the
payload, in the axes and about the origin of the sensor, until the next one comes. With
``--motion commanded`` it also offers what a driver does (`cobot_driver`).
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import Wrench
from rclpy.duration import Duration
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node

from ...apps.simulation.cobot import SimulatedCobot
from ...apps.simulation.settings import CobotSettings, parse
from ...apps.simulation.write import TOPICS, Messages, latched_messages, sample_messages
from ...cli import Parser, exit_status, run_program
from ...errors import InvalidSetting
from .. import program
from ..conversions import LATCHED
from ..program import ignore_signals, start_ros, stop_flag, without_ros_arguments
from .cobot_driver import CobotDriver

_NAME = "simulate_cobot"
_DEPTH = 100  # samples kept for a receiver on a machine that is busy for a moment
# Samples are computed this far ahead: enough to share the cost of a call, and so little that the
# computation (under 1 ms at 500 Hz) fits between two publications.
_AHEAD = 0.1  # s
_AHEAD_COMMANDED = 0.02  # s, where what comes next depends on what the arm is told
_MAX_LAG = 0.5  # s behind schedule after which time is left out rather than sent in a burst


class SimulateCobotNode(Node):
    """Publishes a simulated cobot in real time (raises InvalidSetting: no such payload)."""

    def __init__(self, settings: CobotSettings) -> None:
        super().__init__(_NAME)
        if self.get_parameter("use_sim_time").value:
            raise InvalidSetting("use_sim_time is true; the simulated cobot runs on the wall clock")
        self.cobot = SimulatedCobot(settings)
        self._publishers_by_topic = {
            topic: self.create_publisher(program.message_type(kind), topic,
                                         LATCHED if latched else _DEPTH)
            for topic, (kind, latched) in TOPICS.items()}
        self._driver = None if self.cobot.commanded is None else CobotDriver(self, self.cobot)
        self._push = np.zeros(6)  # of what touches the payload, with the sign of the readings
        self.create_subscription(Wrench, "~/push", self._take_push, 1)

    def _take_push(self, message: Wrench) -> None:
        sign = 1.0 if self.cobot.settings.convention == "on_sensor" else -1.0
        f, t = message.force, message.torque
        self._push = sign * np.array([f.x, f.y, f.z, t.x, t.y, t.z])

    def run(self, stop: threading.Event) -> None:
        """Publish what is latched, then each sample when it is due, until stopped."""
        start = time.monotonic()
        stamp = self.get_clock().now().nanoseconds  # of sample 0
        self._publish(latched_messages(self.cobot, stamp), start, stamp, stop)
        settings, payload = self.cobot.settings, self.cobot.payload
        self.get_logger().info(f"{settings.motion} with payload '{payload.name}' "
                               f"({payload.mass:.3f} kg) at {settings.rate:g} Hz")
        total = round(settings.duration * settings.rate) or sys.maxsize
        number, ahead = 0, _AHEAD if self._driver is None else _AHEAD_COMMANDED
        while not stop.is_set() and number < total:
            late = time.monotonic() - start - number / settings.rate
            if late > _MAX_LAG:
                start, stamp = start + late, stamp + round(late * 1e9)
                self.get_logger().warning("behind schedule; the arm stood still meanwhile")
            count = min(max(1, round(ahead * settings.rate)), total - number)
            block = self.cobot.samples(number, count)
            if self._driver is not None:
                self._driver.watch(self._push)
            self._publish(sample_messages(self.cobot, block._replace(
                wrench=block.wrench + self._push), stamp), start, stamp, stop)
            number += count
        for topic in ("joint_states", "wrench"):
            self._publishers_by_topic[topic].wait_for_all_acked(Duration(seconds=1))

    def _publish(self, messages: Messages, start: float, first: int, stop: threading.Event) -> None:
        """Publish each message when its stamp is due; stamps are times of the schedule, not of
        publication, which jitters.

        Args:
            start: steady time [s] of the stamp `first` [ns].
        """
        for stamp, topic, data in messages:
            due = start + 1e-9 * (stamp - first)
            if stop.wait(max(due - time.monotonic(), 0.0)):
                return
            self._publishers_by_topic[topic].publish(data)


def main(args: Sequence[str] | None = None) -> int:
    """Runs the node; returns the exit status (2: a setting is not allowed)."""
    arguments = list(sys.argv[1:] if args is None else args)
    return exit_status(lambda: _run(arguments))


def _run(arguments: list[str]) -> int:
    settings, _ = parse(Parser(prog=_NAME, description="A simulated cobot with a wrist sensor."),
                        without_ros_arguments(_NAME, arguments))
    stop, ended = stop_flag(), threading.Event()
    start_ros(_NAME, arguments)
    executor = MultiThreadedExecutor(4)
    spinning = threading.Thread(target=program.spin, args=(executor, ended), name="executor")
    try:
        node = SimulateCobotNode(settings)
        executor.add_node(node)
        spinning.start()
        node.run(stop)
    finally:
        ended.set()
        if spinning.is_alive():
            spinning.join()
        program.shutdown()
        executor.shutdown()
        ignore_signals()
    return 0


if __name__ == "__main__":
    raise SystemExit(run_program("simulate_cobot"))
