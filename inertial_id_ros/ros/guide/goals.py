# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""``identify_payload --serve``: each goal of its own ~/identify is a session.

The goal is that of the node's action. Here the arm is moved by who takes it, and what comes of it
is proved and applied; so the action is offered by this program, which owns the motion.
"""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.clock import Clock, ClockType
from rclpy.task import Future

from inertial_id_ros.action import Identify
from inertial_id_ros.msg import InertialSummary, Shape

from ...apps.guide.progress import Progress, Wanted
from ...apps.guide.proof import Proof
from ...apps.guide.record import End, Row, Verdict
from ...cli import OK
from ..contract import received_qos
from .guide_node import GuideNode

if TYPE_CHECKING:
    from .command_line import Options

_LONGEST = 600.0  # s, of a goal
_LOOK = 0.05  # s between two looks at whether the program ends


class GoalServer:
    """Takes one goal at a time; what a session shows goes to who sent it.

    Args:
        guide: offers the action; node: full name of the node that identifies.

    Attributes:
        stop: set when the present session is to end.
    """

    def __init__(self, guide: GuideNode, node: str) -> None:
        self._guide = guide
        self.stop = threading.Event()
        self._summary = InertialSummary()
        self._handle: Any = None
        self._ended: Future | None = None
        guide.subscribe(InertialSummary, f"{node}/summary", self._take_summary, received_qos())
        guide.jobs.run(lambda: guide.node.create_timer(_LOOK, self._look, clock=Clock(
            clock_type=ClockType.STEADY_TIME)))
        self._server = guide.jobs.run(lambda: ActionServer(
            guide.node, Identify, "~/identify", self._execute,
            goal_callback=self._take_goal, cancel_callback=self._take_cancel))

    def wait(self, options: Options) -> Options:
        """The options of the next session, from those of the command line and a goal (raises
        Stopped)."""
        self._guide.wait_until(lambda: self._handle is not None, math.inf)
        self.stop.clear()
        goal = self._handle.request
        usual = options.wanted
        return replace(
            options, timeout=goal.timeout or options.timeout, wanted=Wanted(
                usual.mass, goal.com_accuracy or usual.com, goal.inertia_accuracy or usual.inertia,
                goal.mass_accuracy))

    def finish(self, end: End, parameters: Any) -> None:
        """Tell how the session ended, and the estimate; None: there is none."""
        result = Identify.Result(success=end.status == OK, message=end.text)
        if parameters is not None:
            result.parameters = parameters
        self._guide.jobs.run(lambda: self._finish(result))

    def close(self) -> None:
        """Take no goals any more."""
        self._guide.jobs.run(self._server.destroy)

    def tell(self, missing: str, elapsed: float = 0.0) -> None:
        """Feed back what is missing, or is done now."""
        handle = self._handle
        if handle is not None and handle.status == GoalStatus.STATUS_EXECUTING:
            self._guide.jobs.run(lambda: handle.publish_feedback(Identify.Feedback(
                summary=self._summary, missing=missing, elapsed=elapsed)))

    # ---- in the executor's thread ----------------------------------------------------------------

    def _look(self) -> None:
        if self._guide.stop.is_set():
            self.stop.set()

    def _take_summary(self, message: InertialSummary) -> None:
        self._summary = message

    def _take_goal(self, goal: Identify.Goal) -> GoalResponse:
        """Refuse what a session cannot do: another one, its own shape or method, odd numbers."""
        numbers = (goal.mass_accuracy, goal.com_accuracy, goal.inertia_accuracy)
        fits = (self._handle is None and not goal.method and goal.shape == Shape()
                and all(0.0 <= value < math.inf for value in numbers)
                and 0.0 <= goal.timeout <= _LONGEST)
        if not fits:
            self._guide.node.get_logger().warning(
                "goal refused: another one runs, it names a method or a shape (those of the node "
                f"hold), or a number is not 0 or more (timeout: {_LONGEST:g} s at most)")
        return GoalResponse.ACCEPT if fits else GoalResponse.REJECT

    def _take_cancel(self, handle: Any) -> CancelResponse:
        self.stop.set()
        return CancelResponse.ACCEPT

    async def _execute(self, handle: Any) -> Identify.Result:
        self._ended, self._handle = Future(), handle
        result: Identify.Result = await self._ended
        return result

    def _finish(self, result: Identify.Result) -> None:
        handle, self._handle = self._handle, None
        if handle.is_cancel_requested:
            handle.canceled()
        elif result.success:
            handle.succeed()
        else:
            handle.abort()
        assert self._ended is not None
        self._ended.set_result(result)


class GoalShow:
    """What a session shows, as feedback of a goal; who started the program agreed to motion."""

    def __init__(self, server: GoalServer) -> None:
        self._tell = server.tell

    def step(self, name: str, text: str = "") -> None:
        """As `Show`."""
        self._tell(f"{name}: {text}")

    def row(self, row: Row) -> None:
        """As `Show`; only what is wrong."""
        if row.verdict is Verdict.FAILED:
            self._tell(f"{row.name}: {row.measured}. {row.advice}")

    def progress(self, progress: Progress) -> None:
        """As `Show`."""
        self._tell(progress.missing, progress.elapsed)

    def motion(self, words: str, seconds: float) -> None:
        """As `Show`."""
        self._tell(f"motion: {words}")

    def proof(self, proof: Proof) -> None:
        """As `Show`."""
        self._tell(proof.sentence())

    def say(self, text: str, good: bool | None = None) -> None:
        """As `Show`."""
        self._tell(text)

    def ask(self, question: str) -> bool:
        """As `Show`."""
        return True

    def end(self, text: str, status: int) -> None:
        """As `Show`; the result says it."""

    def close(self) -> None:
        """As `Show`."""
