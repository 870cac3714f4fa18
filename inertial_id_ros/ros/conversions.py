# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The package's values as ROS messages, every number cast, as rclpy does not check; and the topics
that the node publishes about the estimate."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import rclpy.duration
import rclpy.time
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import (
    Inertia,
    InertiaStamped,
    Point,
    Pose,
    Vector3,
    Wrench,
)
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import ColorRGBA, Header
from tf_transformations import quaternion_from_matrix, quaternion_matrix
from visualization_msgs.msg import Marker, MarkerArray

from inertial_id_ros.msg import InertialParameters, InertialSummary

from ..errors import InvalidData
from ..estimate import (
    CONFIDENCE_95,
    NOTHING_CARRIED,
    UNOBSERVED,
    VERDICT_WORDS,
    Estimate,
    NoEstimate,
    Outcome,
)
from ..inertia import GROUPS, PARAMETER_NAMES, Array, Body, is_consistent, principal_moments
from ..kinds import Finding, doubt_in, doubting_first

TOPIC = "/inertial_id_node/inertial_parameters"
# s of silence after which a subscriber that asked for it is told: a busy machine keeps it, too.
DEADLINE = LEASE = 1.5
NAN = math.nan
NOBODY = Body(NAN, np.full(3, NAN), np.full((3, 3), NAN))
_MASS, _COM, _INERTIA = GROUPS.values()
ELLIPSOID, BOX, TEXT, HELD = (ColorRGBA(r=r, g=g, b=b, a=a) for r, g, b, a in (
    (0.9, 0.3, 0.1, 0.8), (0.1, 0.5, 0.9, 0.35), (0.2, 0.2, 0.2, 1.0), (0.5, 0.5, 0.5, 0.35)))
LETTERS, LEAST = 0.03, 0.004  # m: height of letters, half axis of an ellipsoid that is still seen
SD = 2.0  # standard deviations that the ellipsoid shows


def stamp_ns(stamp: Time) -> int:
    """Nanoseconds since the epoch of a time message."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def time_message(nanoseconds: int) -> Time:
    """Time message of nanoseconds since the epoch."""
    return rclpy.time.Time(nanoseconds=int(nanoseconds)).to_msg()


def duration_message(seconds: float) -> Duration:
    """Duration message of seconds."""
    return rclpy.duration.Duration(nanoseconds=round(seconds * 1e9)).to_msg()


def header(outcome: Outcome) -> Header:
    """Stamp and frame of an outcome."""
    return Header(stamp=time_message(outcome.stamp_ns), frame_id=outcome.frame_id)


def vector(values: Sequence[float] | Array, kind: type = Vector3) -> Any:
    """Vector or point message of (3,) numbers."""
    x, y, z = map(float, values)
    return kind(x=x, y=y, z=z)


def wrench_message(values: Sequence[float] | Array) -> Wrench:
    """Wrench message of force and torque (6,) [N, N m]."""
    return Wrench(force=vector(values[:3]), torque=vector(values[3:]))


def pose_matrix(pose: Pose) -> Array:
    """Homogeneous matrix (4, 4) of a pose (raises InvalidData where its numbers are not finite, or
    the orientation not of unit length)."""
    q, p = pose.orientation, pose.position
    turn, place = np.array([q.x, q.y, q.z, q.w]), np.array([p.x, p.y, p.z])
    if not np.isfinite(place).all():
        raise InvalidData(f"pose.position is {place.tolist()}; it must be finite")
    length = float(np.linalg.norm(turn))
    if not abs(length - 1.0) < 1e-2:
        raise InvalidData(f"pose.orientation has length {length:.3g}; it must be a unit quaternion")
    matrix = np.array(quaternion_matrix(turn / length), dtype=float)
    matrix[:3, 3] = place
    return matrix


def inertia_message(body: Body) -> Inertia:
    """Inertia message: tensor about the centre of mass."""
    i = body.inertia_com
    return Inertia(m=float(body.mass), com=vector(body.com), ixx=float(i[0, 0]),
                   ixy=float(i[0, 1]), ixz=float(i[0, 2]), iyy=float(i[1, 1]),
                   iyz=float(i[1, 2]), izz=float(i[2, 2]))


def in_frame(estimate: Estimate, frame_id: str, rotation: Array, translation: Array) -> Estimate:
    """Transform an estimate to another frame: ``x_new = rotation (3, 3) x + translation (3,)``.

    The bias stays in the sensor frame: it belongs to the sensor's channels. A rotation mixes the
    entries of the centre of mass, and of the tensor, among themselves; each then counts as no
    better known than the worst of its group.
    """
    moved = estimate.in_frame(frame_id, rotation, translation)
    if np.allclose(rotation, np.eye(3), atol=1e-9):
        return moved
    share, verdict = np.array(estimate.data_share, dtype=float), list(estimate.verdict)
    for group in GROUPS.values():
        share[group] = share[group].min()
        verdict[group] = [min(verdict[group])] * len(verdict[group])
    return dataclasses.replace(moved, data_share=share, verdict=tuple(verdict))


def summary_message(outcome: Outcome, sequence: int = 0) -> InertialSummary:
    """The message of `~/summary`; without an estimate all its numbers are NaN. `sequence`: of the
    `InertialParameters` that it sums up; 0 in feedback."""
    message = InertialSummary(header=header(outcome), sequence=sequence,
                              names=list(PARAMETER_NAMES), values=[NAN] * 10, sigma=[NAN] * 10,
                              mass_rate=NAN, com_speed=NAN)
    if isinstance(outcome, NoEstimate):
        message.text = outcome.reason
        return message
    held = f"; held: {outcome.stale_reason or 'nothing new comes'}" if outcome.stale else ""
    message.valid, message.stale = True, outcome.stale
    message.text = payload_text(outcome) + held
    message.mass_rate, message.com_speed = outcome.mass_rate, outcome.com_speed
    message.values, message.sigma = outcome.report, outcome.sigma
    message.verdicts = [VERDICT_WORDS[verdict] for verdict in outcome.verdict]
    return message


def parameters_message(outcome: Outcome, findings: Iterable[Finding], sequence: int = 0,
                       age: float = NAN) -> InertialParameters:
    """The message of an outcome; without an estimate all its numbers are NaN.

    Args:
        findings: of this moment.
        sequence: number of the publication; 0 in an answer.
        age: time since the newest sample used has arrived [s].
    """
    doubting = doubting_first(findings)
    message = InertialParameters(
        header=header(outcome), sequence=sequence, age=age, doubt=doubt_in(doubting).value,
        diagnostics=list(dict.fromkeys([*(f.text for f in doubting), *outcome.findings])))
    if isinstance(outcome, NoEstimate):
        message.status = outcome.reason
        message.inertia, message.bias = inertia_message(NOBODY), wrench_message([NAN] * 6)
        message.covariance, message.data_share = np.full(100, NAN), np.full(10, NAN)
        message.residual_rms = np.full(6, NAN)
        message.window = message.condition_number = message.min_eigenvalue = NAN
        return message
    message.valid, message.stale, message.tool_apart = True, outcome.stale, outcome.tool_apart
    message.status = status_sentence(outcome)
    message.inertia, message.bias = inertia_message(outcome.body), wrench_message(outcome.bias)
    message.covariance = outcome.covariance.ravel()
    message.data_share = np.array(outcome.data_share, dtype=float)
    message.verdict = np.array(outcome.verdict, dtype=np.uint8)
    message.residual_rms = np.array(outcome.residual_rms, dtype=float)
    message.method, message.weighting = outcome.method, outcome.weighting
    message.samples, message.window = int(outcome.samples), float(outcome.window)
    message.condition_number = float(outcome.condition_number)
    message.min_eigenvalue = float(outcome.min_eigenvalue)
    message.solve_time = duration_message(outcome.solve_time)
    return message


def payload_text(estimate: Estimate) -> str:
    """The text of `~/summary`: mass and, where it is observed, the centre of mass with their 95 %
    intervals."""
    mass, com, spread = estimate.body.mass, 1e3 * estimate.body.com, CONFIDENCE_95 * estimate.sigma
    text = f"mass {mass:.3f} ± {spread[0]:.2g} kg"
    if estimate.carries_nothing:
        return f"{NOTHING_CARRIED}: {text} (95 %)"
    if UNOBSERVED not in estimate.verdict[_COM]:
        text += (f", centre of mass ({com[0]:.1f}, {com[1]:.1f}, {com[2]:.1f}) ± "
                 f"{1e3 * spread[_COM].max():.2g} mm in {estimate.frame_id}")
    walk = f"; now {estimate.walk}" if estimate.walk else ""
    return f"{text} (95 %){walk}" + _doubt(estimate)


def status_sentence(estimate: Estimate) -> str:
    """One sentence for a person: what was estimated from what, and what to trust."""
    groups = {"mass": _MASS, "centre of mass": _COM, "inertia": _INERTIA}
    words = NOTHING_CARRIED if estimate.carries_nothing else ", ".join(
        f"{name} {VERDICT_WORDS[min(estimate.verdict[group])]}" for name, group in groups.items())
    held = f"held, {estimate.stale_reason or 'no new data'}: " if estimate.stale else ""
    apart = "object apart from the tool, " if estimate.tool_apart else ""
    return (f"{held}{apart}{estimate.method} on {estimate.samples} samples over "
            f"{estimate.window:.1f} s: {words}") + _doubt(estimate)


def _doubt(estimate: Estimate) -> str:
    return f"; in doubt: {estimate.doubted}" if estimate.doubted else ""


# ---- what the node publishes ---------------------------------------------------------------------


def latched(depth: int = 1, **more: Any) -> QoSProfile:
    """Late joiners get the last messages."""
    return QoSProfile(depth=depth, reliability=ReliabilityPolicy.RELIABLE,
                      durability=DurabilityPolicy.TRANSIENT_LOCAL, **more)


LATCHED = latched()
# Whoever requests a deadline or a lease of liveliness no shorter than these is told of a node that
# dies or hangs: a process that lives and does not publish is not alive.
PROMISED = latched(deadline=rclpy.duration.Duration(seconds=DEADLINE),
                   liveliness=LivelinessPolicy.MANUAL_BY_TOPIC,
                   liveliness_lease_duration=rclpy.duration.Duration(seconds=LEASE))


class Publishing:
    """Publishers of a node, silent while it is inactive; `write` sets the parameters
    ``payload.*``."""

    def __init__(self, node: LifecycleNode, write: Callable[[Outcome], None]) -> None:
        self._write, self._is_written = write, False
        self._parameters, self._summary, self._inertia, self._markers = (
            node.create_lifecycle_publisher(kind, f"~/{name}", qos) for kind, name, qos in (
                (InertialParameters, "inertial_parameters", PROMISED),
                (InertialSummary, "summary", LATCHED),
                # Not latched: without verdict and stale mark, an old one would be taken for new.
                (InertiaStamped, "inertia", 10), (MarkerArray, "markers", LATCHED)))
        self._sequence = 0  # of the last message with parameters
        self._undrawn: Outcome | None = None  # the last one, where nobody has asked for markers yet

    def publish_outcome(self, outcome: Outcome, findings: Sequence[Finding], age: float) -> None:
        """Publish parameters, summary and markers; the plain inertia, which carries neither verdict
        nor stale mark, only where all of it is known, and fresh. One call at a time; arguments as
        of `parameters_message`."""
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


def payload_markers(outcome: Outcome) -> MarkerArray:
    """Ellipsoid of the centre of mass, box of the same inertia and text of an estimate; what is
    unobserved is deleted."""
    markers = ellipsoid, box, text = [
        Marker(header=header(outcome), ns="payload", id=number, action=Marker.DELETE,
               frame_locked=True) for number in range(3)]
    if isinstance(outcome, Estimate):
        if UNOBSERVED not in outcome.verdict[_COM]:
            variances, axes = principal_moments(outcome.covariance[_COM, _COM])
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
    marker.pose.position, marker.scale = vector(estimate.body.com, Point), vector(size)
    matrix = np.eye(4)
    matrix[:3, :3] = axes
    q = marker.pose.orientation
    q.x, q.y, q.z, q.w = map(float, quaternion_from_matrix(matrix))


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
