# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Sees to it that nothing old is shown as fresh, whatever the clocks and other threads do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rclpy.node import Node

from ...estimate import Estimate, NoEstimate, Outcome
from ...findings import FindingLog
from ..client.contract import HEARTBEAT, LOOK
from .freshness import Freshness
from .ros_clock_watch import RosClockWatch

_AT_ONCE = 0.02  # s between the readings of two clocks that count as simultaneous
_END = 1.0  # s that the thread may take to end


class Watchdog:
    """Holds the outcome that topics, services, parameters and diagnostics show.

    Its own thread looks at the steady clock, as the executor's may wait for the worker, and the
    worker for a solver. An estimate to which nothing new is added becomes stale there.

    Args:
        freshness: judges the estimates; patience: as `RosClockWatch` takes it [s].
        findings: of the node; rate: gives the setting estimator.rate [Hz].
        publish: called with an outcome and its age [s], one call at a time, from any thread.
    """

    def __init__(self, node: Node, freshness: Freshness, findings: FindingLog, patience: float,
                 rate: Callable[[], float], publish: Callable[[Outcome, float], None]) -> None:
        self._clock, self._freshness, self._findings = node.get_clock(), freshness, findings
        self._ros_clock = RosClockWatch(findings, patience)
        self._rate, self._publish = rate, publish
        self.outcome: Outcome = NoEstimate(0, "", "the node is inactive")
        self._published = time.monotonic()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, which may have been stopped before."""
        self.outcome = NoEstimate(0, "", "waiting for the first estimate")
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread: nothing is published by it any more."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_END)

    def age(self, outcome: Outcome) -> float:
        """Time since the newest sample of an estimate arrived [s]; NaN where there is none."""
        return self._freshness.age(outcome, time.monotonic())

    def take(self, outcome: Outcome) -> Outcome:
        """Show a new outcome; returns it as it is shown."""
        with self._lock:
            self._freshness.take(outcome)
            now = time.monotonic()
            self._show(self._judge(outcome, now), now)
            return self.outcome

    def _run(self) -> None:
        """Look again and again until stopped."""
        while not self._stop.wait(LOOK):
            self._look()

    def _look(self) -> None:
        """Publish the outcome anew where it has become stale, or is due again."""
        self._look_at_clock()
        with self._lock:
            now = time.monotonic()
            outcome = self._judge(self.outcome, now)
            if outcome is not self.outcome or now - self._published >= HEARTBEAT:
                self._show(outcome, now)

    def _look_at_clock(self) -> None:
        """Compare the ROS clock with the steady one, if both could be read at once."""
        before = time.monotonic()
        ros = self._clock.now().nanoseconds
        if time.monotonic() - before < _AT_ONCE:
            self._ros_clock.look(before, 1e-9 * ros, self._clock.ros_time_is_active)

    def _judge(self, outcome: Outcome, now: float) -> Outcome:
        """The outcome, marked as stale with the reason where it is no longer fresh."""
        if not isinstance(outcome, Estimate) or outcome.restored:
            return outcome
        reason = ("the time on /clock stands still" if self._ros_clock.stands_still
                  else self._freshness.why_stale(outcome, self._rate(), now))
        return outcome if reason in ("", outcome.stale_reason) else outcome.as_stale(reason)

    def _show(self, outcome: Outcome, now: float) -> None:
        """Show an outcome everywhere."""
        self.outcome, self._published = outcome, now
        if isinstance(outcome, Estimate) and outcome.stale_reason:
            self._findings.set("estimate_stale", "warning",
                               f"the estimate is held as stale: {outcome.stale_reason}")
        else:
            self._findings.clear("estimate_stale")
        self._publish(outcome, self._freshness.age(outcome, now))
