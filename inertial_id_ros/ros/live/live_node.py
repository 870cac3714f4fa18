# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the view hears from the node and from the arm, what it asks the node to do, and what it
shows of one message, as text and as shapes."""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from geometry_msgs.msg import TransformStamped, WrenchStamped
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from ...action import Identify
from ...apps.report.results import CONFIDENCE_95, NAMES, round_to_spread
from ...errors import InvalidData, UnknownFrame
from ...estimate import UNOBSERVED, VERDICT_WORDS
from ...geometry.point_sets import equivalent_box
from ...inertia import Array, principal_moments
from ...kinematics.transform_tree import Pose, TransformTree
from ...msg import InertialParameters
from ...srv import Apply, Save, SetTool
from ..contract import received_qos
from ..payload_client import GROUPS, NoPayload, Payload, PayloadClient, body_of

_COLOURS = {"identified": "#1a7f37", "prior-dominated": "#9a6700", "unobserved": "#6e7781"}
_SCALES = (1.0, *9 * (1e3,))
_UNITS = ("kg", *3 * ("mm",), *6 * ("g\u00a0m²",))
_WARNING = "#b3261e"


class Ellipsoid(NamedTuple):
    """Or a box: centre (3,) [m], rotation (3, 3), half axes or whole lengths (3,) [m]."""

    centre: Array
    rotation: Array
    size: Array


def headline(payload: Payload | NoPayload) -> str:
    """What a program may use now, or why it may use nothing, as Markdown."""
    if isinstance(payload, NoPayload):
        return f'<span style="color:{_WARNING}">**No payload to use**: {payload.reason}</span>'
    tool = " (without the tool)" if payload.tool_apart else ""
    mass, about = round_to_spread(payload.mass, CONFIDENCE_95 * payload.sigma[0])
    return f"**{mass} ± {about} kg**{tool}, {payload.age:.1f} s old, in `{payload.frame_id}`"


def table(message: InertialParameters) -> str:
    """Values with 95 % intervals and verdicts, as Markdown."""
    lines = ["| | value | ± 95 % | |", "|---|---:|---:|---|"]
    body, spread = body_of(message), CONFIDENCE_95 * _sigma(message)
    values = (body.mass, *body.com, *body.inertia_com[np.triu_indices(3)])
    for k, (name, unit, scale) in enumerate(zip(NAMES, _UNITS, _SCALES, strict=True)):
        word = VERDICT_WORDS[min(message.verdict[k], len(VERDICT_WORDS) - 1)]
        value, about = round_to_spread(scale * values[k], scale * spread[k])
        if word == VERDICT_WORDS[UNOBSERVED]:
            value, about = "–", "–"
        label = f"{name} [{unit}]".replace(" ", "\u00a0")  # one line each
        lines.append(f"| {label} | {value} | {about} | "
                     f'<span style="color:{_COLOURS[word]}">{word}</span> |')
    return "\n".join(lines)


def findings(message: InertialParameters) -> str:
    """Status and findings, as Markdown."""
    lines = [f"- {text}" for text in message.diagnostics]
    return "\n".join([message.status, "", *lines])


def com_ellipsoid(message: InertialParameters) -> Ellipsoid | None:
    """Two standard deviations of the centre of mass along each principal axis; None where it is not
    observed."""
    if not message.valid or UNOBSERVED in message.verdict[GROUPS["com"]]:
        return None
    covariance = np.array(message.covariance).reshape(10, 10)[GROUPS["com"], GROUPS["com"]]
    variances, axes = principal_moments(covariance)
    return Ellipsoid(body_of(message).com, axes, 2.0 * np.sqrt(np.maximum(variances, 0.0)))


def inertia_box(message: InertialParameters) -> Ellipsoid | None:
    """The uniform box of the same mass and inertia; None where inertia is not observed."""
    if not message.valid or UNOBSERVED in message.verdict:
        return None
    body = body_of(message)
    lengths, axes = equivalent_box(body)
    return Ellipsoid(body.com, axes, lengths)


def mass_point(message: InertialParameters) -> tuple[float, float]:
    """Mass [kg] and its standard deviation; not a number without an estimate."""
    if not message.valid:
        return np.nan, np.nan
    return message.inertia.m, float(_sigma(message)[0])


def residual_point(message: InertialParameters) -> tuple[float, float]:
    """Root mean square of the force's [N] and the torque's [N m] residual over their axes."""
    if not message.valid:
        return np.nan, np.nan
    rms = np.array(message.residual_rms, dtype=float)
    return float(np.sqrt(np.mean(rms[:3] ** 2))), float(np.sqrt(np.mean(rms[3:] ** 2)))


def _sigma(message: InertialParameters) -> Array:
    covariance = np.array(message.covariance, dtype=float).reshape(10, 10)
    return np.sqrt(np.maximum(np.diag(covariance), 0.0))


_KEPT = 600  # estimates in the plots: five minutes at 2 Hz
_NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
_STATIC = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class PlottedPoint(NamedTuple):
    """Of the plots: stamp [s], mass and its sigma [kg], residual force [N] and torque [N m]."""

    stamp: float
    mass: float
    sigma: float
    force: float
    torque: float


class LiveNode(Node):
    """Subscribes for the view, and calls the services of the node that identifies.

    All of it runs in the executor's thread; browsers hand over what they ask for with `ask`.

    Args:
        target: name of the node that identifies, with its namespace.
    """

    def __init__(self, target: str) -> None:
        super().__init__("live_view", start_parameter_services=False)
        self.target = target.rstrip("/")
        self.message: InertialParameters | None = None
        self.wrench: WrenchStamped | None = None
        self.said = ""  # the last answer of the node, in words
        self.history: deque[PlottedPoint] = deque(maxlen=_KEPT)
        self._tree = TransformTree()
        self._asked: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        topic = f"{self.target}/inertial_parameters"
        self._client = PayloadClient(self, topic)
        self.create_subscription(InertialParameters, topic, self._take, received_qos())
        self.create_subscription(WrenchStamped, f"{self.target}/wrench_compensated",
                                 self._take_wrench, _NEWEST)
        self.create_subscription(TFMessage, "/tf", self._move, 100)
        self.create_subscription(TFMessage, "/tf_static", self._fix, _STATIC)
        self._triggers = {name: self.create_client(Trigger, f"{self.target}/{name}")
                          for name in ("tare", "untare", "reset")}
        self._tools = self.create_client(SetTool, f"{self.target}/set_tool")
        self._save = self.create_client(Save, f"{self.target}/save")
        self._apply = self.create_client(Apply, f"{self.target}/apply")
        self._identify: Any = ActionClient(self, Identify, f"{self.target}/identify")

    def payload(self) -> Payload | NoPayload:
        """What a program may use now, or why nothing."""
        return self._client.newest()

    def ask(self, action: Callable[[], None]) -> None:
        """Have this run in the executor's thread; may be called from any thread."""
        self._asked.put(action)

    def do_what_was_asked(self) -> None:
        """Run what browsers have asked for since the last call."""
        while not self._asked.empty():
            self._asked.get()()

    def trigger(self, name: str) -> None:
        """Call ~/tare, ~/untare or ~/reset."""
        self._call(self._triggers[name], Trigger.Request(), name)

    def set_tool(self, action: int, what: str) -> None:
        """Call ~/set_tool."""
        self._call(self._tools, SetTool.Request(action=action), what)

    def save(self) -> None:
        """Call ~/save."""
        self._call(self._save, Save.Request(), "save")

    def apply(self, send: bool, undo: bool = False) -> None:
        """Call ~/apply."""
        self._call(self._apply, Apply.Request(send=send, undo=undo),
                   "undo" if undo else "apply" if send else "rehearsal")

    def identify(self) -> None:
        """Send a goal that begins anew and ends when mass and centre of mass are known."""
        if not self._identify.server_is_ready():
            self.said = f"identify: there is no action {self.target}/identify"
            return
        self.said = "identify: sent"
        sent = self._identify.send_goal_async(Identify.Goal(), feedback_callback=self._follow)
        sent.add_done_callback(self._await_result)

    def edges(self) -> Array:
        """Line segments (n, 2, 3) [m] from each frame to its parent, in the root's axes."""
        segments = []
        for frame in self._tree.frames():
            try:
                chain = self._tree.ancestors(frame)
                if len(chain) > 1:
                    root = chain[-1]
                    ends = [self._tree.newest(root, f).translation for f in chain[1::-1]]
                    segments.append(ends)
            except UnknownFrame:
                continue
        return np.array(segments, dtype=float).reshape(-1, 2, 3)

    def pose(self, frame: str) -> Pose | None:
        """Newest pose of a frame in its root; None where there is none."""
        try:
            return self._tree.newest(self._tree.ancestors(frame)[-1], frame)
        except UnknownFrame:
            return None

    def _call(self, client: Any, request: Any, name: str) -> None:
        if not client.service_is_ready():
            self.said = f"{name}: there is no service {client.srv_name}"
            return
        self.said = f"{name}: sent"

        def answer(done: Any) -> None:
            result = done.result()
            self.said = f"{name}: {'done' if result.success else 'refused'}: {result.message}"

        client.call_async(request).add_done_callback(answer)

    def _follow(self, message: Any) -> None:
        missing = message.feedback.missing
        self.said = f"identify, {message.feedback.elapsed:.0f} s: {missing or 'all is known'}"

    def _await_result(self, sent: Any) -> None:
        goal = sent.result()
        if not goal.accepted:
            self.said = "identify: refused; the node's log says why"
            return

        def end(done: Any) -> None:
            self.said = f"identify: {done.result().result.message}"

        goal.get_result_async().add_done_callback(end)

    def _take(self, message: InertialParameters) -> None:
        self.message = message
        self._tree.want(message.header.frame_id)
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        if not self.history or stamp > self.history[-1].stamp:
            self.history.append(PlottedPoint(stamp, *mass_point(message), *residual_point(message)))
        elif stamp < self.history[-1].stamp:  # the clock was set back, or a recording begins again
            self.history.clear()

    def _take_wrench(self, message: WrenchStamped) -> None:
        self.wrench = message

    def _move(self, message: TFMessage) -> None:
        for transform in message.transforms:
            self._add(transform, fixed=False)

    def _fix(self, message: TFMessage) -> None:
        for transform in message.transforms:
            self._add(transform, fixed=True)

    def _add(self, transform: TransformStamped, fixed: bool) -> None:
        t, q = transform.transform.translation, transform.transform.rotation
        parent = transform.header.frame_id.lstrip("/")
        names = (parent, transform.child_frame_id.lstrip("/"))
        numbers = ((t.x, t.y, t.z), (q.x, q.y, q.z, q.w))
        try:
            if fixed:
                self._tree.set_static(*names, *numbers)
            else:
                stamp = transform.header.stamp
                self._tree.add(stamp.sec * 1_000_000_000 + stamp.nanosec, *names, *numbers)
        except InvalidData:
            return  # the node names what is wrong with its inputs
