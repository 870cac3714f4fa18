# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The topics that the node publishes about the estimate, ``payload.*``, and markers for RViz."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from geometry_msgs.msg import InertiaStamped
from rclpy.lifecycle import LifecycleNode
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from inertial_id_ros.msg import InertialParameters, InertialSummary

from ..estimate import UNOBSERVED, VERDICT_WORDS, Estimate, Outcome
from ..inertia import Array, principal_moments
from ..kinds import Finding
from .contract import LATCHED, published_qos
from .conversions import (
    CONFIDENCE_95,
    inertia_message,
    parameters_message,
    point,
    quaternion_message,
    summary_message,
    time_message,
    vector,
)

NAMESPACE = "payload"
ELLIPSOID, BOX, TEXT, HELD = (ColorRGBA(r=r, g=g, b=b, a=a) for r, g, b, a in (
    (0.9, 0.3, 0.1, 0.8), (0.1, 0.5, 0.9, 0.35), (0.2, 0.2, 0.2, 1.0), (0.5, 0.5, 0.5, 0.35)))
LETTERS, LEAST = 0.03, 0.004  # m: height of letters, half axis of an ellipsoid that is still seen
SD = 2.0  # standard deviations that the ellipsoid shows
COM = slice(1, 4)


class Publishing:
    """Publishers of a node, silent while it is inactive.

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

    def close(self) -> None:
        """Destroy the publishers."""
        for publisher in (self._parameters, self._summary, self._inertia, self._markers):
            self._node.destroy_lifecycle_publisher(publisher)


def payload_markers(outcome: Outcome) -> MarkerArray:
    """Ellipsoid, box and text of an estimate; what is unobserved is deleted."""
    ellipsoid, box, text = (_marker(outcome, number) for number in range(3))
    if isinstance(outcome, Estimate):
        if UNOBSERVED not in outcome.verdict[COM]:
            variances, axes = principal_moments(outcome.covariance[COM, COM])
            half = np.maximum(SD * np.sqrt(np.maximum(variances, 0.0)), LEAST)
            _draw(ellipsoid, Marker.SPHERE, outcome, ELLIPSOID, 2.0 * half, axes)
        if UNOBSERVED not in outcome.verdict:
            _draw(box, Marker.CUBE, outcome, BOX, *equivalent_box(outcome))
        _draw(text, Marker.TEXT_VIEW_FACING, outcome, TEXT, np.full(3, LETTERS), np.eye(3))
        text.text = (f"{outcome.body.mass:.3f} ± {CONFIDENCE_95 * outcome.sigma[0]:.2g} kg\n"
                     f"{VERDICT_WORDS[outcome.verdict[0]]}{', held' if outcome.stale else ''}")
    return MarkerArray(markers=[ellipsoid, box, text])


def equivalent_box(estimate: Estimate) -> tuple[Array, Array]:
    """Lengths (3,) [m] and axes (3, 3) of the uniform box of the same mass and inertia."""
    moments, axes = principal_moments(estimate.body.inertia_com)
    squares = 12.0 / estimate.body.mass * (0.5 * moments.sum() - moments)
    return np.sqrt(np.maximum(squares, 0.0)), axes


def _draw(marker: Marker, kind: int, estimate: Estimate, colour: ColorRGBA, size: Array,
          axes: Array) -> None:
    marker.type, marker.action = kind, Marker.ADD
    marker.color = HELD if estimate.stale else colour
    marker.pose.position, marker.scale = point(estimate.body.com), vector(size)
    marker.pose.orientation = quaternion_message(axes)


def _marker(outcome: Outcome, number: int) -> Marker:
    """A marker that deletes what was drawn under this number."""
    marker = Marker(ns=NAMESPACE, id=number, action=Marker.DELETE, frame_locked=True)
    marker.header.frame_id = outcome.frame_id
    marker.header.stamp = time_message(outcome.stamp_ns)
    return marker
