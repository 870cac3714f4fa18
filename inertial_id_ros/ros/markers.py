# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""An estimate as RViz shows it: ellipsoid of the centre of mass, box of the inertia, and a text."""

from __future__ import annotations

import numpy as np
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from ..estimate import UNOBSERVED, VERDICT_WORDS, Estimate, Outcome
from ..inertia import Array, principal_moments
from .conversions import CONFIDENCE_95, point, quaternion_message, time_message, vector

NAMESPACE = "payload"
ELLIPSOID, BOX, TEXT, HELD = (ColorRGBA(r=r, g=g, b=b, a=a) for r, g, b, a in (
    (0.9, 0.3, 0.1, 0.8), (0.1, 0.5, 0.9, 0.35), (0.2, 0.2, 0.2, 1.0), (0.5, 0.5, 0.5, 0.35)))
LETTERS, LEAST = 0.03, 0.004  # m: height of letters, half axis of an ellipsoid that is still seen
SD = 2.0  # standard deviations that the ellipsoid shows
COM = slice(1, 4)


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
