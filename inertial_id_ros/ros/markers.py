# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Markers for RViz: a ball at the centre of mass, and the equivalent-inertia box."""

from __future__ import annotations

import numpy as np
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from ..estimate import Estimate, Outcome
from ..inertia import equivalent_box
from .conversions import point, quaternion_message, time_message, vector

_DENSITY = 2700.0  # kg/m^3: the ball has the size of this much aluminium
_BALL = ColorRGBA(r=0.9, g=0.3, b=0.1, a=1.0)
_BOX = ColorRGBA(r=0.1, g=0.5, b=0.9, a=0.35)
_HELD = ColorRGBA(r=0.5, g=0.5, b=0.5, a=0.35)  # both, of an estimate that is held
_NAMESPACE = "payload"


def payload_markers(outcome: Outcome) -> MarkerArray:
    """Ball and box of an estimate; without an estimate, the deletion of both."""
    if not isinstance(outcome, Estimate):
        return MarkerArray(markers=[_marker(outcome, k, Marker.DELETE) for k in (0, 1)])
    body = outcome.body
    ball = _marker(outcome, 0, Marker.ADD)
    ball.type, ball.color = Marker.SPHERE, _HELD if outcome.stale else _BALL
    diameter = (6.0 * body.mass / (np.pi * _DENSITY)) ** (1.0 / 3.0)
    ball.pose.position, ball.scale = point(body.com), vector([diameter] * 3)
    box = _marker(outcome, 1, Marker.ADD)
    box.type, box.color = Marker.CUBE, _HELD if outcome.stale else _BOX
    lengths, axes = equivalent_box(body)
    box.pose.position, box.scale = point(body.com), vector(lengths)
    box.pose.orientation = quaternion_message(axes)
    return MarkerArray(markers=[ball, box])


def _marker(outcome: Outcome, number: int, action: int) -> Marker:
    marker = Marker(ns=_NAMESPACE, id=number, action=action, frame_locked=True)
    marker.header.frame_id = outcome.frame_id
    marker.header.stamp = time_message(outcome.stamp_ns)
    return marker
