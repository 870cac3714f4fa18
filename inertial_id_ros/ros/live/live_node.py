# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the view hears from the node and from the arm, and what it asks the node to do."""

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

from inertial_id_ros.action import Identify
from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.srv import Apply, Export, Save, SetTool

from ...errors import InvalidData, UnknownFrame
from ...inertia import Array
from ...kinematics.transform_tree import Pose, TransformTree
from ..contract import received_qos
from ..payload_client import NoPayload, Payload, PayloadClient
from .payload_view import mass_point, residual_point

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
        self._export = self.create_client(Export, f"{self.target}/export")
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

    def export(self, kind: str, name: str) -> None:
        """Call ~/export for a file of this format and name."""
        self._call(self._export, Export.Request(format=kind, name=name), "export")

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
