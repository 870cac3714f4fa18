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

from ..estimate import UNOBSERVED, VERDICT_WORDS, Estimate, NoEstimate, Outcome
from ..inertia import GROUPS, Array, is_consistent, principal_moments
from ..kinds import Finding
from .contract import LATCHED, published_qos
from .conversions import (
    CONFIDENCE_95,
    header,
    inertia_message,
    parameters_message,
    point,
    quaternion_message,
    summary_message,
    vector,
)

ELLIPSOID, BOX, TEXT, HELD = (ColorRGBA(r=r, g=g, b=b, a=a) for r, g, b, a in (
    (0.9, 0.3, 0.1, 0.8), (0.1, 0.5, 0.9, 0.35), (0.2, 0.2, 0.2, 1.0), (0.5, 0.5, 0.5, 0.35)))
LETTERS, LEAST = 0.03, 0.004  # m: height of letters, half axis of an ellipsoid that is still seen
SD = 2.0  # standard deviations that the ellipsoid shows
COM = GROUPS["com"]


class Publishing:
    """Publishers of a node, silent while it is inactive.

    Args:
        write: sets the parameters ``payload.*``.
    """

    def __init__(self, node: LifecycleNode, write: Callable[[Outcome], None]) -> None:
        self._node, self._write, self._is_written = node, write, False
        self._parameters, self._summary, self._inertia, self._markers = (
            node.create_lifecycle_publisher(kind, f"~/{name}", qos) for kind, name, qos in (
                (InertialParameters, "inertial_parameters", published_qos()),
                (InertialSummary, "summary", LATCHED),
                # Not latched: without verdict and stale mark, an old one would be taken for new.
                (InertiaStamped, "inertia", 10), (MarkerArray, "markers", LATCHED)))
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
            self._inertia.publish(InertiaStamped(header=header(outcome),
                                                 inertia=inertia_message(outcome.body)))

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
    """Ellipsoid of the centre of mass, box of the same inertia and text of an estimate; what is
    unobserved is deleted."""
    markers = ellipsoid, box, text = [
        Marker(header=header(outcome), ns="payload", id=number, action=Marker.DELETE,
               frame_locked=True) for number in range(3)]
    if isinstance(outcome, Estimate):
        if UNOBSERVED not in outcome.verdict[COM]:
            variances, axes = principal_moments(outcome.covariance[COM, COM])
            half = np.maximum(SD * np.sqrt(np.maximum(variances, 0.0)), LEAST)
            _draw(ellipsoid, Marker.SPHERE, outcome, ELLIPSOID, 2.0 * half, axes)
        if UNOBSERVED not in outcome.verdict:
            moments, axes = principal_moments(outcome.body.inertia_com)
            squares = 12.0 / outcome.body.mass * (0.5 * moments.sum() - moments)
            _draw(box, Marker.CUBE, outcome, BOX, np.sqrt(np.maximum(squares, 0.0)), axes)
        _draw(text, Marker.TEXT_VIEW_FACING, outcome, TEXT, np.full(3, LETTERS), np.eye(3))
        text.text = (f"{outcome.body.mass:.3f} ± {CONFIDENCE_95 * outcome.sigma[0]:.2g} kg\n"
                     f"{VERDICT_WORDS[outcome.verdict[0]]}{', held' if outcome.stale else ''}")
    return MarkerArray(markers=markers)


def _draw(marker: Marker, kind: int, estimate: Estimate, colour: ColorRGBA, size: Array,
          axes: Array) -> None:
    marker.type, marker.action = kind, Marker.ADD
    marker.color = HELD if estimate.stale else colour
    marker.pose.position, marker.scale = point(estimate.body.com), vector(size)
    marker.pose.orientation = quaternion_message(axes)


def refuse_unphysical(outcome: Outcome) -> Outcome:
    """The outcome, if a rigid body has it and the data tell its mass; else why not: what is valid
    may be used."""
    reason = ""
    if isinstance(outcome, Estimate) and not is_consistent(outcome.phi):
        reason = f"{outcome.method} gave parameters that no rigid body has"
    elif isinstance(outcome, Estimate) and (
            outcome.verdict[0] == UNOBSERVED and not outcome.doubted):
        reason = "the mass is not identified yet: move more"
    return outcome if not reason else NoEstimate(
        outcome.stamp_ns, outcome.frame_id, reason, outcome.findings)
