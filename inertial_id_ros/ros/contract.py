# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the node promises about ``~/inertial_parameters`` (docs/contract.md): numbers, and ages.

The age of an estimate goes by the steady clock: stamps may be of any clock, and may jump.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from collections import deque

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy

from ..estimate import Estimate, Outcome

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
MARKS = 1024  # of arrivals, one each time that samples are taken
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


class Freshness:
    """When samples of which stamp arrived; its methods may be called from any thread."""

    def __init__(self) -> None:
        self._marks: deque[tuple[int, float]] = deque(maxlen=MARKS)

    def note(self, newest: int, arrived: float) -> None:
        """Note that messages are taken.

        Args:
            newest: stamp of the newest one that brings the load [ns]; 0: there is none.
            arrived: steady time at which that arrived [s].
        """
        if self._marks and newest < self._marks[-1][0]:
            self._marks.clear()  # the clock went back
        if newest and (not self._marks or newest > self._marks[-1][0]):
            self._marks.append((newest, arrived))

    def age_of(self, stamp: int) -> float:
        """Time since the sample of a stamp [ns] arrived [s]; NaN where that is not known."""
        marks = list(self._marks)
        if not marks:
            return math.nan
        # The next arrival that is known; in between, stamps run with the steady clock.
        newest, arrived = marks[min(bisect_left(marks, (stamp,)), len(marks) - 1)]
        return max(time.monotonic() - arrived + 1e-9 * max(newest - stamp, 0), 0.0)

    def age(self, outcome: Outcome) -> float:
        """Time since the newest sample of an estimate arrived [s]; NaN where there is none."""
        return self.age_of(outcome.stamp_ns) if isinstance(outcome, Estimate) else math.nan

    def why_stale(self, outcome: Outcome, rate: float) -> str:
        """Why an estimate is no longer fresh; empty where it is.

        Args:
            rate: at which estimates are made [Hz].
        """
        marks = self._marks
        if marks and time.monotonic() - marks[-1][1] > STALE_AFTER:
            return f"no data with new stamps have been processed for {STALE_AFTER:g} s"
        limit = max(STALE_AFTER, PERIODS / rate)
        if not self.age(outcome) <= limit:
            return f"the newest sample used arrived more than {limit:.3g} s ago"
        return ""
