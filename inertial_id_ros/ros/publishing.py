# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The topics that the node publishes."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import InertiaStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from inertial_id_ros.msg import InertialParameters, InertialSummary

from ..apps.report.equivalent_box import box_edges, box_interval, equivalent_box
from ..estimate import UNOBSERVED, VERDICT_WORDS, Estimate, Outcome
from ..findings import Finding
from ..inertia import Array, principal_moments
from .contract import published_qos
from .conversions import (
    inertia_message,
    parameters_message,
    point,
    quaternion_message,
    summary_message,
    time_message,
    vector,
)
from .services.lifecycle import ManagedNode

_LEAST = 0.004  # m: half axis of an ellipsoid that is still seen
_ELLIPSOID = ColorRGBA(r=0.9, g=0.3, b=0.1, a=0.8)
_BOX = ColorRGBA(r=0.1, g=0.5, b=0.9, a=0.35)
_LIMITS = ColorRGBA(r=0.1, g=0.5, b=0.9, a=0.9)
_HELD = ColorRGBA(r=0.5, g=0.5, b=0.5, a=0.35)  # of an estimate that is held
_TEXT = ColorRGBA(r=0.2, g=0.2, b=0.2, a=1.0)
_LETTERS, _LINE = 0.03, 0.001  # m: height of letters, width of lines
_NAMESPACE = "payload"
_SD = 2.0  # standard deviations along each axis of the ellipsoid and of the box, on either side
_CONFIDENCE = 1.96  # standard deviations on either side of what holds 95 %
_COM = slice(1, 4)


def payload_markers(outcome: Outcome) -> MarkerArray:
    """Ellipsoid, box, text, and the box's limits of an estimate; what is unobserved is deleted."""
    markers = [_marker(outcome, number) for number in range(4)]
    if isinstance(outcome, Estimate):
        if UNOBSERVED not in outcome.verdict[_COM]:
            _draw_ellipsoid(markers[0], outcome)
        if UNOBSERVED not in outcome.verdict:
            _draw_box(markers[1], outcome)
            _draw_limits(markers[3], outcome)
        _draw_text(markers[2], outcome)
    return MarkerArray(markers=markers)


def _draw_ellipsoid(marker: Marker, estimate: Estimate) -> None:
    """Two standard deviations of the centre of mass along each principal axis."""
    variances, axes = principal_moments(estimate.covariance[_COM, _COM])
    half = np.maximum(_SD * np.sqrt(np.maximum(variances, 0.0)), _LEAST)
    _draw(marker, Marker.SPHERE, estimate, _ELLIPSOID, 2.0 * half, axes)


def _draw_box(marker: Marker, estimate: Estimate) -> None:
    """The uniform box of the same mass and inertia."""
    lengths, axes = equivalent_box(estimate.body)
    _draw(marker, Marker.CUBE, estimate, _BOX, lengths, axes)


def _draw_limits(marker: Marker, estimate: Estimate) -> None:
    """The edges of the smallest and the largest box within two standard deviations."""
    _, axes = equivalent_box(estimate.body)
    limits = box_interval(estimate.body, estimate.covariance, _SD)
    _draw(marker, Marker.LINE_LIST, estimate, _LIMITS, np.array([_LINE, 0.0, 0.0]), axes)
    marker.points = [point(end) for lengths in limits
                     for end in box_edges(np.zeros(3), lengths, np.eye(3)).reshape(-1, 3)]


def _draw_text(marker: Marker, estimate: Estimate) -> None:
    """Mass with its 95 % interval, and its verdict."""
    _draw(marker, Marker.TEXT_VIEW_FACING, estimate, _TEXT, np.full(3, _LETTERS), np.eye(3))
    marker.text = (f"{estimate.body.mass:.3f} ± {_CONFIDENCE * estimate.sigma[0]:.2g} kg\n"
                   f"{VERDICT_WORDS[estimate.verdict[0]]}{', held' if estimate.stale else ''}")


def _draw(marker: Marker, kind: int, estimate: Estimate, colour: ColorRGBA, size: Array,
          axes: Array) -> None:
    """Make a marker a shape about the centre of mass."""
    marker.type, marker.action = kind, Marker.ADD
    marker.color = _HELD if estimate.stale else colour
    marker.pose.position, marker.scale = point(estimate.body.com), vector(size)
    marker.pose.orientation = quaternion_message(axes)


def _marker(outcome: Outcome, number: int) -> Marker:
    """A marker that deletes what was drawn under this number."""
    marker = Marker(ns=_NAMESPACE, id=number, action=Marker.DELETE, frame_locked=True)
    marker.header.frame_id = outcome.frame_id
    marker.header.stamp = time_message(outcome.stamp_ns)
    return marker


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
        self._undrawn: Outcome | None = None  # the last one, where nobody has asked for markers yet
        self._drawing = threading.Lock()

    def publish_outcome(self, outcome: Outcome, findings: Sequence[Finding], age: float) -> None:
        """Publish parameters, summary and markers; the plain inertia, which carries neither verdict
        nor stale mark, only where all of it is known, and fresh.

        One call at a time, for the order of the numbers.

        Args:
            findings, age: as `parameters_message` takes them.
        """
        self._sequence += 1
        self._parameters.publish(parameters_message(outcome, findings, self._sequence, age))
        self._summary.publish(summary_message(outcome, self._sequence))
        self._undrawn = outcome
        self.draw()
        if (isinstance(outcome, Estimate) and outcome.inertia_is_known
                and not outcome.stale):
            message = InertiaStamped(inertia=inertia_message(outcome.body))
            message.header.frame_id = outcome.frame_id
            message.header.stamp = time_message(outcome.stamp_ns)
            self._inertia.publish(message)

    def draw(self) -> None:
        """Publish markers of the last outcome as soon as anybody listens: they take longer than all
        the rest."""
        with self._drawing:
            outcome = self._undrawn
            if outcome is not None and self._markers.get_subscription_count():
                self._undrawn = None
                self._markers.publish(payload_markers(outcome))

    def publish_diagnostics(self, statuses: Sequence[DiagnosticStatus]) -> None:
        """Publish diagnostic statuses, stamped with the present time."""
        message = DiagnosticArray(status=list(statuses))
        message.header.stamp = self._clock.now().to_msg()
        self._diagnostics.publish(message)
