# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Between the package's values and ROS messages; every number is cast, as rclpy does not check."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Inertia, Point, Pose, Quaternion, Vector3, Wrench
from tf_transformations import quaternion_from_matrix, quaternion_matrix

from inertial_id_ros.msg import InertialParameters, InertialSummary

from ..errors import InvalidData
from ..estimate import NOTHING_CARRIED, UNOBSERVED, VERDICT_WORDS, Estimate, NoEstimate, Outcome
from ..inertia import PARAMETER_NAMES, Array, Body, is_consistent
from ..kinds import Finding, doubt_in, doubting_first

NAN = math.nan
CONFIDENCE_95 = 1.96  # standard deviations on either side that hold 95 %
# Fields of InertialParameters that are more than a number or text of the estimate.
_COMPOSED_FIELDS = ("header", "sequence", "age", "status", "inertia", "bias", "solve_time",
                    "diagnostics", "doubt")
_CASTS = {"boolean": bool, "string": str, "uint32": int, "double": float}
_DTYPES = {"double": np.float64, "uint8": np.uint8}
_GROUPS = (slice(0, 1), slice(1, 4), slice(4, 10))  # mass, com, inertia in the report


def stamp_ns(stamp: Time) -> int:
    """Nanoseconds since the epoch of a time message."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def time_message(nanoseconds: int) -> Time:
    """Time message of nanoseconds since the epoch."""
    seconds, rest = divmod(int(nanoseconds), 1_000_000_000)
    return Time(sec=seconds, nanosec=rest)


def duration_message(seconds: float) -> Duration:
    """Duration message of seconds."""
    whole, rest = divmod(round(seconds * 1e9), 1_000_000_000)
    return Duration(sec=int(whole), nanosec=int(rest))


def vector(values: Sequence[float] | Array) -> Vector3:
    """Vector message of (3,) numbers."""
    x, y, z = (float(v) for v in values)
    return Vector3(x=x, y=y, z=z)


def point(values: Sequence[float] | Array) -> Point:
    """Point message of (3,) numbers."""
    x, y, z = (float(v) for v in values)
    return Point(x=x, y=y, z=z)


def wrench_message(values: Sequence[float] | Array) -> Wrench:
    """Wrench message of force and torque (6,) [N, N m]."""
    return Wrench(force=vector(values[:3]), torque=vector(values[3:]))


def quaternion_message(rotation: Array) -> Quaternion:
    """Quaternion message of a rotation matrix (3, 3)."""
    matrix = np.eye(4)
    matrix[:3, :3] = rotation
    x, y, z, w = (float(v) for v in quaternion_from_matrix(matrix))
    return Quaternion(x=x, y=y, z=z, w=w)


def pose_matrix(pose: Pose) -> Array:
    """Homogeneous matrix (4, 4) of a pose.

    Raises:
        InvalidData: numbers that are not finite, or an orientation that is not of unit length.
    """
    q = np.array([pose.orientation.x, pose.orientation.y, pose.orientation.z, pose.orientation.w])
    p = np.array([pose.position.x, pose.position.y, pose.position.z])
    if not np.isfinite(p).all():
        raise InvalidData(f"pose.position is {p.tolist()}; it must be finite")
    length = float(np.linalg.norm(q))
    if not abs(length - 1.0) < 1e-2:
        raise InvalidData(f"pose.orientation has length {length:.3g}; it must be a unit quaternion")
    matrix = np.array(quaternion_matrix(q / length), dtype=float)
    matrix[:3, 3] = p
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
    for group in _GROUPS:
        share[group] = share[group].min()
        verdict[group] = [min(verdict[group])] * len(verdict[group])
    return dataclasses.replace(moved, data_share=share, verdict=tuple(verdict))


def refuse_unphysical(outcome: Outcome) -> Outcome:
    """Replace an estimate that no rigid body has, or whose mass the data do not tell, by a
    `NoEstimate`: what is valid may be used."""
    if isinstance(outcome, NoEstimate):
        return outcome
    if is_consistent(outcome.phi):
        if outcome.verdict[0] != UNOBSERVED or outcome.doubted:
            return outcome
        return NoEstimate(outcome.stamp_ns, outcome.frame_id,
                          "the mass is not identified yet: move more", outcome.findings)
    return NoEstimate(outcome.stamp_ns, outcome.frame_id,
                      f"{outcome.method} gave parameters that no rigid body has",
                      outcome.findings)


def summary_message(outcome: Outcome, sequence: int = 0) -> InertialSummary:
    """The message of `~/summary`; without an estimate all its numbers are NaN.

    Args:
        sequence: of the `InertialParameters` that it sums up; 0 in feedback.
    """
    message = InertialSummary(sequence=int(sequence), names=list(PARAMETER_NAMES),
                              values=[NAN] * 10, sigma=[NAN] * 10, mass_rate=NAN, com_speed=NAN)
    message.header.frame_id = outcome.frame_id
    message.header.stamp = time_message(outcome.stamp_ns)
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


def payload_text(estimate: Estimate) -> str:
    """The text of `~/summary`: mass and, where it is observed, the centre of mass with their 95 %
    intervals."""
    mass, com, spread = estimate.body.mass, 1e3 * estimate.body.com, CONFIDENCE_95 * estimate.sigma
    text = f"mass {mass:.3f} ± {spread[0]:.2g} kg"
    if estimate.carries_nothing:
        return f"{NOTHING_CARRIED}: {text} (95 %)"
    if UNOBSERVED not in estimate.verdict[_GROUPS[1]]:
        text += (f", centre of mass ({com[0]:.1f}, {com[1]:.1f}, {com[2]:.1f}) ± "
                 f"{1e3 * spread[1:4].max():.2g} mm in {estimate.frame_id}")
    walk = f"; now {estimate.walk}" if estimate.walk else ""
    return f"{text} (95 %){walk}" + _doubt(estimate)


def _doubt(estimate: Estimate) -> str:
    """What follows the numbers of an estimate that is in doubt."""
    return f"; in doubt: {estimate.doubted}" if estimate.doubted else ""


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
        sequence=int(sequence), age=float(age), doubt=doubt_in(doubting).value,
        diagnostics=list(dict.fromkeys([*(f.text for f in doubting), *outcome.findings])))
    message.header.frame_id = outcome.frame_id
    message.header.stamp = time_message(outcome.stamp_ns)
    if isinstance(outcome, NoEstimate):
        message.status = outcome.reason
        message.inertia = inertia_message(Body(NAN, np.full(3, NAN), np.full((3, 3), NAN)))
        message.bias = wrench_message([NAN] * 6)
    else:
        message.status = status_sentence(outcome)
        message.inertia = inertia_message(outcome.body)
        message.bias = wrench_message(outcome.bias)
        message.solve_time = duration_message(outcome.solve_time)
    _fill_plain_fields(message, outcome)
    return message


def _fill_plain_fields(message: InertialParameters, outcome: Outcome) -> None:
    """Set the numbers and texts that the estimate has under the names of the message's fields."""
    for name, ros_type in message.get_fields_and_field_types().items():
        element, _, array = ros_type.partition("[")
        if name in _COMPOSED_FIELDS:
            continue
        if isinstance(outcome, Estimate):
            value = getattr(outcome, name)
            setattr(message, name, np.asarray(value, dtype=_DTYPES[element]).reshape(-1) if array
                    else _CASTS[element](value))
        elif element == "double":
            setattr(message, name, np.full(int(array.rstrip("]")), NAN) if array else NAN)


def status_sentence(estimate: Estimate) -> str:
    """One sentence for a person: what was estimated from what, and what to trust."""
    groups = zip(("mass", "centre of mass", "inertia"), _GROUPS, strict=True)
    words = [f"{name} {VERDICT_WORDS[min(estimate.verdict[group])]}" for name, group in groups]
    if estimate.carries_nothing:
        words = [NOTHING_CARRIED]
    held = f"held, {estimate.stale_reason or 'no new data'}: " if estimate.stale else ""
    apart = "object apart from the tool, " if estimate.tool_apart else ""
    return (f"{held}{apart}{estimate.method} on {estimate.samples} samples over "
            f"{estimate.window:.1f} s: " + ", ".join(words) + _doubt(estimate))
