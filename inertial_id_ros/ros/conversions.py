# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The package's values as ROS messages, every number cast, as rclpy does not check; and the topics
that the node publishes about the estimate."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import rclpy.duration
import rclpy.time
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Inertia, InertiaStamped, Point, Pose, Vector3, Wrench
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy
from shape_msgs.msg import SolidPrimitive
from std_msgs.msg import ColorRGBA, Header
from tf_transformations import quaternion_from_matrix
from visualization_msgs.msg import Marker, MarkerArray

from inertial_id_ros.msg import InertialParameters, InertialSummary

from .. import estimate as estimates
from .. import inertia as bodies
from ..estimate import CONFIDENCE_95, UNOBSERVED, VERDICT_WORDS, Estimate, NoEstimate, Outcome
from ..inertia import Array, Body
from ..io.decoding import ENTRIES, inertia_numbers
from ..kinds import TILT, TURN, Doubt, Finding, doubt_in, doubting_first, without_doubted
from ..motion.frames import place_of

TOPIC = "/inertial_id_node/inertial_parameters"
# s of silence after which a subscriber that asked for it is told: a busy machine keeps it, too.
DEADLINE = LEASE = 1.5
NAN = math.nan
NOBODY = Body(NAN, np.full(3, NAN), np.full((3, 3), NAN))
# What an estimate has under the names of its messages, as they hold it where there is none.
NO_NUMBERS = {"stale": False, "tool_apart": False, "method": "", "weighting": "", "samples": 0,
              "window": NAN, "condition_number": NAN, "min_eigenvalue": NAN,
              "data_share": np.full(10, NAN), "residual_rms": np.full(6, NAN)}
_COM = bodies.GROUPS["com"]
ELLIPSOID, BOX, TEXT, HELD = (ColorRGBA(r=r, g=g, b=b, a=a) for r, g, b, a in (
    (0.9, 0.3, 0.1, 0.8), (0.1, 0.5, 0.9, 0.35), (0.2, 0.2, 0.2, 1.0), (0.5, 0.5, 0.5, 0.35)))
PRIMITIVES = {SolidPrimitive.BOX: "box", SolidPrimitive.SPHERE: "sphere",
              SolidPrimitive.CYLINDER: "cylinder"}
LETTERS, LEAST = 0.03, 0.004  # m: height of letters, half axis of an ellipsoid that is still seen
SD = 2.0  # standard deviations that the ellipsoid shows


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


def coordinates(points: Iterable[Any]) -> Array:
    """Coordinates (n, 3) of point messages."""
    return np.array([(p.x, p.y, p.z) for p in points], dtype=float).reshape(-1, 3)


def mesh_arrays(mesh: Any) -> tuple[Array, np.ndarray]:
    """Vertices (n, 3), and the numbers of those of each triangle (m, 3), of a mesh message."""
    return coordinates(mesh.vertices), np.array(
        [t.vertex_indices for t in mesh.triangles], dtype=np.int64).reshape(-1, 3)


def pose_matrix(pose: Pose) -> Array:
    """Homogeneous matrix (4, 4) of a pose (raises InvalidData: not finite, or no orientation)."""
    q, p = pose.orientation, pose.position
    return np.array(place_of([p.x, p.y, p.z], [q.x, q.y, q.z, q.w]).homogeneous)


def body_of(message: InertialParameters) -> Body:
    """The body of a message, in its frame."""
    numbers = inertia_numbers(message.inertia)
    return Body(message.inertia.m, numbers[1:4], bodies.tensor_from_six(numbers[4:]))


def verdicts_of(message: InertialParameters) -> tuple[estimates.ParameterVerdict, ...]:
    """The verdicts (10,) of a message; those that do not exist, or are in doubt, are UNOBSERVED."""
    kind = estimates.ParameterVerdict
    return without_doubted([kind(v) if v < len(kind) else UNOBSERVED
                            for v in message.verdict.tolist()], Doubt(message.doubt))


def inertia_message(body: Body) -> Inertia:
    """Inertia message: tensor about the centre of mass."""
    return Inertia(m=float(body.mass), com=vector(body.com), **dict(
        zip(ENTRIES, bodies.six_from_tensor(body.inertia_com).tolist(), strict=True)))


def summary_message(outcome: Outcome, sequence: int = 0) -> InertialSummary:
    """The message of `~/summary`, of the `InertialParameters` of that number; 0 in feedback."""
    none, verdict = np.full(10, NAN), getattr(outcome, "verdict", ())
    return InertialSummary(
        header=header(outcome), sequence=sequence, names=list(bodies.PARAMETER_NAMES),
        valid=outcome.valid, stale=getattr(outcome, "stale", False), text=payload_text(outcome),
        values=getattr(outcome, "report", none), sigma=getattr(outcome, "sigma", none),
        verdicts=[VERDICT_WORDS[one] for one in verdict] or 10 * [""],
        mass_rate=getattr(outcome, "mass_rate", NAN), com_speed=getattr(outcome, "com_speed", NAN))


def parameters_message(outcome: Outcome, findings: Iterable[Finding], sequence: int = 0,
                       age: float = NAN) -> InertialParameters:
    """The message of an outcome, with findings of now, number of the publication (0 in an answer),
    and age of the newest sample used [s]; without an estimate all its numbers are NaN."""
    doubting, bias = doubting_first(findings), getattr(outcome, "bias", np.full(6, NAN))
    return InertialParameters(
        header=header(outcome), sequence=sequence, age=age, doubt=doubt_in(doubting).value,
        valid=outcome.valid, status=payload_text(outcome),
        inertia=inertia_message(getattr(outcome, "body", NOBODY)),
        bias=Wrench(force=vector(bias[:3]), torque=vector(bias[3:])),
        covariance=np.ravel(getattr(outcome, "covariance", np.full(100, NAN))),
        verdict=np.array(getattr(outcome, "verdict", 10 * (UNOBSERVED,)), dtype=np.uint8),
        solve_time=duration_message(getattr(outcome, "solve_time", 0.0)),
        diagnostics=list(dict.fromkeys([*(f.text for f in doubting), *outcome.findings])),
        **{name: getattr(outcome, name, none) for name, none in NO_NUMBERS.items()})


def payload_text(estimate: Outcome) -> str:
    """Mass and observed centre of mass with 95 % intervals, and how far to trust them; or why there
    is no estimate."""
    if isinstance(estimate, NoEstimate):
        return estimate.reason
    mass, com, spread = estimate.body.mass, 1e3 * estimate.body.com, CONFIDENCE_95 * estimate.sigma
    text = estimates.NOTHING_CARRIED + ": " if estimate.carries_nothing else ""
    text += f"mass {mass:.3f} ± {spread[0]:.2g} kg"
    if UNOBSERVED not in estimate.verdict[_COM] and not estimate.carries_nothing:
        text += (f", centre of mass ({com[0]:.1f}, {com[1]:.1f}, {com[2]:.1f}) ± "
                 f"{1e3 * spread[_COM].max():.2g} mm in {estimate.frame_id}")
    return "; ".join(filter(None, (
        f"{text} (95 %)", estimate.walk and f"now {estimate.walk}",
        estimate.doubted and f"in doubt: {estimate.doubted}",
        f"held: {estimate.stale_reason or 'nothing new comes'}" if estimate.stale else "")))


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
    """Publishers of a node, silent while it is inactive; `write` sets ``payload.*``."""

    def __init__(self, node: LifecycleNode, write: Callable[[Outcome], None]) -> None:
        self._write, self._sequence = write, 0  # of the last message with parameters
        self._parameters, self._summary, self._inertia, self._markers = (
            node.create_lifecycle_publisher(kind, f"~/{name}", qos) for kind, name, qos in (
                (InertialParameters, "inertial_parameters", PROMISED),
                (InertialSummary, "summary", LATCHED),
                # Not latched: without verdict and stale mark, an old one would be taken for new.
                (InertiaStamped, "inertia", 10), (MarkerArray, "markers", LATCHED)))

    def publish_outcome(self, outcome: Outcome, findings: Sequence[Finding], age: float) -> None:
        """Publish parameters and summary; markers where anybody listens, as they take longer; the
        plain inertia, without verdict and stale mark, where all is known and fresh."""
        self._sequence += 1
        self._parameters.publish(parameters_message(outcome, findings, self._sequence, age))
        self._summary.publish(summary_message(outcome, self._sequence))
        if self._markers.get_subscription_count():
            self._markers.publish(payload_markers(outcome))
        self._write(outcome)
        if isinstance(outcome, Estimate) and outcome.is_known("inertia") and not outcome.stale:
            self._inertia.publish(InertiaStamped(header=header(outcome),
                                                 inertia=inertia_message(outcome.body)))


def payload_markers(outcome: Outcome) -> MarkerArray:
    """Ellipsoid of the centre of mass, box of the same inertia, and text; unobserved: deleted."""
    markers = ellipsoid, box, text = [
        Marker(header=header(outcome), ns="payload", id=number, action=Marker.DELETE,
               frame_locked=True) for number in range(3)]
    if isinstance(outcome, Estimate):
        if UNOBSERVED not in outcome.verdict[_COM]:
            variances, axes = bodies.principal_moments(outcome.covariance[_COM, _COM])
            half = np.maximum(SD * np.sqrt(np.maximum(variances, 0.0)), LEAST)
            _draw(ellipsoid, Marker.SPHERE, outcome, ELLIPSOID, 2.0 * half, axes)
        if UNOBSERVED not in outcome.verdict:
            moments, axes = bodies.principal_moments(outcome.body.inertia_com)
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


def lacking(outcome: Outcome, goal: Any) -> dict[str, str]:
    """What an outcome lacks to a goal of ~/identify, and which motion provides it; empty: none."""
    if not isinstance(outcome, Estimate):
        return {outcome.reason: ""}
    if outcome.stale or outcome.doubted:
        return {"new data: the estimate is held" if outcome.stale else outcome.doubted: ""}
    width = CONFIDENCE_95 * outcome.sigma
    width[4:] *= 3.0 / float(np.trace(outcome.body.inertia_com))
    lacks = dict[str, str]()
    for name, group, wanted, scale, unit, motion in (
            ("mass", slice(0, 1), goal.mass_accuracy, 1.0, "kg", TILT),
            ("centre of mass", slice(1, 4), goal.com_accuracy, 1e3, "mm", TILT),
            ("inertia", slice(4, 10), goal.inertia_accuracy, 100.0, "% of the mean moment", TURN)):
        widest = float(width[group].max())
        if (name != "mass" and outcome.carries_nothing) or (name == "inertia" and not wanted):
            continue
        if UNOBSERVED in outcome.verdict[group]:
            lacks[f"{name} {VERDICT_WORDS[UNOBSERVED]}"] = motion
        elif wanted > 0.0 and widest > wanted:
            lacks[f"{name} known to {scale * widest:.3g} {unit}, where {scale * wanted:.3g} {unit} "
                  "is wanted"] = motion
    return lacks


def describe_missing(lacks: Mapping[str, str]) -> str:
    """The same in a sentence; empty where nothing is lacking."""
    return "; ".join(filter(None, dict.fromkeys([*lacks, *lacks.values()])))
