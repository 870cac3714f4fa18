# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""``~/wrench_compensated_smoothed``: means of 10 ms with the motion before and after them."""

from __future__ import annotations

from geometry_msgs.msg import WrenchStamped

from ...identification.compensated_wrenches import CompensatedWrenches
from ..conversions import time_message, wrench_message
from ..services.lifecycle import ManagedNode

_DEPTH = 100  # messages for a subscriber that is late


class SmoothedTopic:
    """Publishes the wrenches that the identifier has compensated; from any thread."""

    def __init__(self, node: ManagedNode) -> None:
        self._publisher = node.create_lifecycle_publisher(
            WrenchStamped, "~/wrench_compensated_smoothed", _DEPTH)

    @property
    def is_subscribed(self) -> bool:
        """Whether anybody subscribes."""
        return bool(self._publisher.get_subscription_count() > 0)

    def publish(self, wrenches: CompensatedWrenches) -> None:
        """Publish wrenches without bias and payload, one message for each stamp."""
        if not len(wrenches.stamps_ns) or not self.is_subscribed:
            return
        message = WrenchStamped()
        message.header.frame_id = wrenches.frame_id
        for stamp, wrench in zip(wrenches.stamps_ns.tolist(), wrenches.wrench.tolist(),
                                 strict=True):
            message.header.stamp = time_message(stamp)
            message.wrench = wrench_message(wrench)
            self._publisher.publish(message)
