# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""``~/compensation_state``: which load the compensated wrench is without."""

from __future__ import annotations

import time

from geometry_msgs.msg import Inertia
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from inertial_id_ros.msg import CompensationState

from ...identification.compensation.live_compensation import Status
from ...inertia import Array, body_from_phi
from ..conversions import NAN, inertia_message, time_message, vector
from ..services.lifecycle import ManagedNode

_LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE,
                      durability=DurabilityPolicy.TRANSIENT_LOCAL)
_PERIOD = 1.0  # s between two messages when nothing changes


class StateTopic:
    """Publishes what is removed, when that changes and once a second; from any thread."""

    def __init__(self, node: ManagedNode) -> None:
        self._publisher = node.create_lifecycle_publisher(
            CompensationState, "~/compensation_state", _LATCHED)
        self._said: tuple[object, ...] = ()
        self._due = 0.0

    def show(self, status: Status) -> None:
        """Publish a status if it is a new one, or due again."""
        now = time.monotonic()
        said = (status.mode, status.reason, status.estimate_ns, status.old, status.share == 1.0)
        if said != self._said or now >= self._due:
            self._said, self._due = said, now + _PERIOD
            self._publisher.publish(state_message(status))


def state_message(status: Status) -> CompensationState:
    """A status as a message."""
    message = CompensationState(
        mode=int(status.mode), estimate_stamp=time_message(status.estimate_ns),
        age=float(status.age), old=bool(status.old), blend=float(status.share),
        inertia=_inertia(None if status.load is None else status.load.phi), reason=status.reason)
    message.header.stamp = time_message(status.stamp_ns)
    message.header.frame_id = status.frame_id
    return message


def _inertia(phi: Array | None) -> Inertia:
    """phi (10,) as a message: NaN where it is None, zero without a mass."""
    if phi is not None and phi[0] > 0.0:
        return inertia_message(body_from_phi(phi))
    x = NAN if phi is None else 0.0
    return Inertia(m=x, com=vector((x, x, x)), ixx=x, ixy=x, ixz=x, iyy=x, iyz=x, izz=x)


