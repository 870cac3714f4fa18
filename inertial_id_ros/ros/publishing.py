# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The topics that the node publishes about the estimate, and ``payload.*``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import InertiaStamped
from rclpy.lifecycle import LifecycleNode
from visualization_msgs.msg import MarkerArray

from inertial_id_ros.msg import InertialParameters, InertialSummary

from ..estimate import Estimate, Outcome
from ..findings import Finding
from .contract import LATCHED, published_qos
from .conversions import inertia_message, parameters_message, summary_message, time_message
from .markers import payload_markers


class Publishing:
    """Publishers of a node, silent while it is inactive but for the diagnostics.

    Args:
        write: sets the parameters ``payload.*``.
    """

    def __init__(self, node: LifecycleNode, write: Callable[[Outcome], None]) -> None:
        self._node, self._write, self._is_written = node, write, False
        self._parameters = node.create_lifecycle_publisher(
            InertialParameters, "~/inertial_parameters", published_qos())
        self._summary = node.create_lifecycle_publisher(InertialSummary, "~/summary", LATCHED)
        # Not latched: without verdict and stale mark, an old one would be taken for a new one.
        self._inertia = node.create_lifecycle_publisher(InertiaStamped, "~/inertia", 10)
        self._markers = node.create_lifecycle_publisher(MarkerArray, "~/markers", LATCHED)
        self._diagnostics = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._sequence = 0  # of the last message with parameters
        self._undrawn: Outcome | None = None  # the last one, where nobody has asked for markers yet

    def publish_outcome(self, outcome: Outcome, findings: Sequence[Finding], age: float) -> None:
        """Publish parameters, summary and markers; the plain inertia, which carries neither verdict
        nor stale mark, only where all of it is known, and fresh. One call at a time.

        Args:
            findings, age: as `parameters_message` takes them.
        """
        self._sequence += 1
        self._parameters.publish(parameters_message(outcome, findings, self._sequence, age))
        self._summary.publish(summary_message(outcome, self._sequence))
        self._undrawn = outcome
        self.draw()
        if isinstance(outcome, Estimate) or self._is_written:
            self._is_written = isinstance(outcome, Estimate)
            self._write(outcome)
        if isinstance(outcome, Estimate) and outcome.inertia_is_known and not outcome.stale:
            message = InertiaStamped(inertia=inertia_message(outcome.body))
            message.header.frame_id = outcome.frame_id
            message.header.stamp = time_message(outcome.stamp_ns)
            self._inertia.publish(message)

    def draw(self) -> None:
        """Publish markers of the last outcome as soon as anybody listens: they take longer than all
        the rest. In turn with `publish_outcome`."""
        if self._undrawn is not None and self._markers.get_subscription_count():
            self._markers.publish(payload_markers(self._undrawn))
            self._undrawn = None

    def publish_diagnostics(self, statuses: Sequence[DiagnosticStatus], stamp: Any) -> None:
        """Publish diagnostic statuses, stamped with a time message."""
        message = DiagnosticArray(status=list(statuses))
        message.header.stamp = stamp
        self._diagnostics.publish(message)

    def close(self) -> None:
        """Destroy the publishers."""
        for publisher in (self._parameters, self._summary, self._inertia, self._markers):
            self._node.destroy_lifecycle_publisher(publisher)
        self._node.destroy_publisher(self._diagnostics)
