# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The topics that the node publishes."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import InertiaStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from visualization_msgs.msg import MarkerArray

from inertial_id_ros.msg import InertialParameters, InertialSummary

from ..estimate import Estimate, Outcome
from .client.contract import published_qos
from .conversions import inertia_message, parameters_message, summary_message, time_message
from .markers import payload_markers
from .services.lifecycle import ManagedNode

# Late joiners get the last estimate.
_LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE,
                      durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Publishing:
    """Publishers of a node, silent while it is inactive but for the diagnostics; may be used from
    any thread."""

    def __init__(self, node: ManagedNode) -> None:
        self._parameters = node.create_lifecycle_publisher(
            InertialParameters, "~/inertial_parameters", published_qos())
        self._summary = node.create_lifecycle_publisher(InertialSummary, "~/summary", _LATCHED)
        # Not latched: without verdict and stale mark, an old one would be taken for a new one.
        self._inertia = node.create_lifecycle_publisher(InertiaStamped, "~/inertia", 10)
        self._markers = node.create_lifecycle_publisher(MarkerArray, "~/markers", _LATCHED)
        self._diagnostics = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._clock = node.get_clock()
        self._sequence = 0  # of the last message with parameters

    def publish_outcome(self, outcome: Outcome, age: float) -> None:
        """Publish parameters, summary and markers; the plain inertia, which carries neither verdict
        nor stale mark, only where all of it is known, and fresh.

        One call at a time, for the order of the numbers.

        Args:
            age: as `parameters_message` takes it.
        """
        self._sequence += 1
        self._parameters.publish(parameters_message(outcome, self._sequence, age))
        self._summary.publish(summary_message(outcome, self._sequence))
        self._markers.publish(payload_markers(outcome))
        if (isinstance(outcome, Estimate) and outcome.inertia_is_known
                and not outcome.stale):
            message = InertiaStamped(inertia=inertia_message(outcome.body))
            message.header.frame_id = outcome.frame_id
            message.header.stamp = time_message(outcome.stamp_ns)
            self._inertia.publish(message)

    def publish_diagnostics(self, statuses: Sequence[DiagnosticStatus]) -> None:
        """Publish diagnostic statuses, stamped with the present time."""
        message = DiagnosticArray(status=list(statuses))
        message.header.stamp = self._clock.now().to_msg()
        self._diagnostics.publish(message)
