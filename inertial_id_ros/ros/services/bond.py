# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A bond with a lifecycle manager, as that of nav2 asks for: a heartbeat while the node is active.

The manager takes its end for the end of the node, and stops the others that it manages.
"""

from __future__ import annotations

import uuid

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile

from ...findings import FindingLog
from ..compat import message_type

_TOPIC, _KEPT = "bond", 100
_MISSED = 40.0  # periods without a heartbeat, after which the bond is broken: 4 s of those of 0.1 s


class Bond:
    """Sends heartbeats from `start` to `stop`.

    Args:
        period: of the heartbeats [s]; 0: there is no bond.
        findings: gets `bond_off`, where the message of a bond is not installed.
    """

    def __init__(self, node: Node, period: float, findings: FindingLog) -> None:
        self._node, self._period = node, period
        self._timer = None
        self._publisher = None
        if period <= 0.0:
            return
        try:
            self._message = message_type("bond/msg/Status")
        except (ImportError, AttributeError):
            findings.set("bond_off", "info", "there is no bond with a lifecycle manager, because "
                         "the package 'bond' is not installed; set its bond_timeout to 0.0")
            return
        self._instance = str(uuid.uuid4())
        self._publisher = node.create_publisher(self._message, _TOPIC, QoSProfile(depth=_KEPT))

    def start(self) -> None:
        """Send heartbeats from now on."""
        if self._publisher is not None:
            self._timer = self._node.create_timer(
                self._period, lambda: self._beat(True), clock=Clock(
                    clock_type=ClockType.STEADY_TIME))

    def stop(self) -> None:
        """Break the bond on purpose."""
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None
            self._beat(False)

    def close(self) -> None:
        """Leave the topic."""
        self.stop()
        if self._publisher is not None:
            self._node.destroy_publisher(self._publisher)
            self._publisher = None

    def _beat(self, active: bool) -> None:
        message = self._message(
            id=self._node.get_name(), instance_id=self._instance, active=active,
            heartbeat_timeout=_MISSED * self._period, heartbeat_period=self._period)
        message.header.stamp = self._node.get_clock().now().to_msg()
        assert self._publisher is not None
        self._publisher.publish(message)
