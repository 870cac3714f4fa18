# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the node promises about ``~/inertial_parameters``: name and quality of service."""

from __future__ import annotations

from typing import Any

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy

TOPIC = "/inertial_id_node/inertial_parameters"
# s of silence after which a subscriber that asked for it is told: a busy machine keeps it, too.
DEADLINE = LEASE = 1.5


def latched(depth: int = 1, **more: Any) -> QoSProfile:
    """Late joiners get the last messages."""
    return QoSProfile(depth=depth, reliability=ReliabilityPolicy.RELIABLE,
                      durability=DurabilityPolicy.TRANSIENT_LOCAL, **more)


LATCHED = latched()


def published_qos() -> QoSProfile:
    """What the publisher offers: late joiners get the last message, and whoever requests a deadline
    or a lease of liveliness no shorter than these is told of a node that dies or hangs.

    Liveliness is asserted by publishing: a process that lives and does not publish is not alive.
    Subscribers that request none of this are compatible.
    """
    return latched(deadline=Duration(seconds=DEADLINE),
                   liveliness=LivelinessPolicy.MANUAL_BY_TOPIC,
                   liveliness_lease_duration=Duration(seconds=LEASE))
