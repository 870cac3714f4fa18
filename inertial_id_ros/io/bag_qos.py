# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The quality of service that written recordings state for their topics."""

from __future__ import annotations

from ..extras import optional_packages

with optional_packages("writing a recording"):
    from rosbags.interfaces import (
        Qos,
        QosDurability,
        QosHistory,
        QosLiveliness,
        QosReliability,
        QosTime,
    )


def bag_qos(latched: bool) -> Qos:
    """Reliable, kept for late subscribers where latched; times of 0 s mean no limit."""
    zero = QosTime(0, 0)
    durability = QosDurability.TRANSIENT_LOCAL if latched else QosDurability.VOLATILE
    return Qos(
        history=QosHistory.KEEP_LAST, depth=1 if latched else 10,
        reliability=QosReliability.RELIABLE, durability=durability, deadline=zero, lifespan=zero,
        liveliness=QosLiveliness.AUTOMATIC, liveliness_lease_duration=zero,
        avoid_ros_namespace_conventions=False)
