# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the node promises about ``~/inertial_parameters`` (docs/contract.md), as numbers."""

from __future__ import annotations

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy

TOPIC = "/inertial_id_node/inertial_parameters"
# s of steady time without anything new after which an estimate is stale, so that a second holds
# with the delay of the watchdog.
STALE_AFTER = 0.8
PERIODS = 1.5  # of estimator.rate that an estimate may be old, where that is longer
HEARTBEAT = 0.8  # s after which the last outcome is published again
LOOK = 0.05  # s between two looks at the time
LONGEST_GAP = HEARTBEAT + LOOK  # s between two messages at most, and what a busy machine adds
# s of silence after which a subscriber that asked for it is told: a busy machine keeps it, too.
DEADLINE = LEASE = 1.5
# Late joiners get the last message, and none waits behind others.
LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE,
                     durability=DurabilityPolicy.TRANSIENT_LOCAL)


def published_qos() -> QoSProfile:
    """What the publisher offers: late joiners get the last message, and whoever requests a deadline
    or a lease of liveliness no shorter than these is told of a node that dies or hangs.

    Liveliness is asserted by publishing: a process that lives and does not publish is not alive.
    Subscribers that request none of this are compatible.
    """
    return QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE,
                      durability=DurabilityPolicy.TRANSIENT_LOCAL,
                      deadline=Duration(seconds=DEADLINE),
                      liveliness=LivelinessPolicy.MANUAL_BY_TOPIC,
                      liveliness_lease_duration=Duration(seconds=LEASE))
