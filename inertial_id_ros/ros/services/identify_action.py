# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node's action: identify until a wanted accuracy is reached.

Goals are checked in the executor's thread, in every round of housekeeping; the worker only begins
and ends them, and hands over each outcome.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple

from rclpy.action import ActionServer, CancelResponse, GoalResponse

from inertial_id_ros.action import Identify

from ...errors import InertialIdError, InvalidData, printable
from ...estimate import Estimate, NoEstimate, Outcome
from ...geometry.shape import Shape
from ...identification.accuracy_goal import AccuracyGoal
from ..conversions import parameters_message, summary_message
from ..estimation import Estimation
from ..requested_shapes import RequestedShape, RequestedShapes
from .lifecycle import ManagedNode

_TIMEOUT, _LONGEST = 60.0, 3600.0  # s
_PREPARING = 5.0  # s; filling a large mesh with points takes its time
_RESULT_KEPT = 60  # s that the result of a finished goal is kept for its client
_REJECTION_SHOWN = 20.0  # s that diagnostics say why a goal was rejected; its client is not told
_SUCCEEDED, _ABORTED, _CANCELED = "succeed", "abort", "canceled"  # names in rclpy
_BETWEEN_FEEDBACK = 1.0  # s
_NO_ESTIMATE_YET = NoEstimate(0, "", "no estimate since the goal began")


class _Goal(NamedTuple):
    """A goal whose values were checked."""

    wanted: AccuracyGoal
    method: str
    shape: Shape | None  # where it is made already
    asked: RequestedShape | None  # where that takes longer than a client should wait
    keep_data: bool
    timeout: float  # s


class _RunningGoal(NamedTuple):
    """A goal that runs, its handle in rclpy, and when it began."""

    goal: _Goal
    handle: Any
    since: float  # monotonic [s]
    begun: Future[None]


class _GoalServer(ActionServer):
    """Does nothing when a goal begins; the callback that makes the result runs when it ends.

    An execute callback that waits would be run again and again by the executors of rclpy.
    """

    def notify_execute(self, goal_handle: Any, execute_callback: Callable[..., Any] | None) -> None:
        """As rclpy's, but for a goal that begins, which has no callback."""
        if execute_callback is not None:
            super().notify_execute(goal_handle, execute_callback)


class IdentifyAction:
    """The action server of the node.

    Args:
        shapes: makes the shape that a message describes.
    """

    def __init__(self, node: ManagedNode, estimation: Estimation,
                 shapes: RequestedShapes) -> None:
        self._node, self._estimation, self._shapes = node, estimation, shapes
        self._checked: _Goal | None = None  # between request and acceptance
        self._run: _RunningGoal | None = None
        self._current: _Goal | None = None  # that runs; the worker reads it
        self._shown: Outcome = _NO_ESTIMATE_YET
        self._fed_back = math.inf, ""  # when feedback was given last, and what it said
        self._rejected_at = math.inf
        self._watching = False  # in the worker
        self._seen: deque[Outcome] = deque(maxlen=1)
        self._server = _GoalServer(
            node, Identify, "~/identify",
            _never_executed, goal_callback=self._on_request, cancel_callback=self._on_cancel,
            handle_accepted_callback=self._on_accepted, result_timeout=_RESULT_KEPT)

    def keep_outcome(self, outcome: Outcome) -> None:
        """Keep an outcome for the feedback of the goal that runs; in the worker."""
        if self._watching:
            self._seen.append(outcome)

    # ---- requests --------------------------------------------------------------------------------

    def _on_request(self, request: Identify.Goal) -> GoalResponse:
        """Accept a goal, or reject it with a finding that says why."""
        try:
            self._checked = self._check(request)
        except InertialIdError as error:
            self._reject(f"goal of ~/identify rejected: {error}")
            return GoalResponse.REJECT
        except Exception as error:  # a request must not end the node
            self._node.get_logger().error(
                printable(f"identify: {type(error).__name__}: {error}"))
            return GoalResponse.REJECT
        self._estimation.findings.clear("goal.rejected")
        return GoalResponse.ACCEPT

    def _reject(self, why: str) -> None:
        """Say why a goal is rejected: the last one in diagnostics, each in the log."""
        self._estimation.findings.set("goal.rejected", "warning", why)
        self._rejected_at = time.monotonic()
        self._node.get_logger().warning(printable(why))

    def _check(self, request: Identify.Goal) -> _Goal:
        """The goal of a request (raises InertialIdError where it is refused)."""
        self._node.require_active()
        if self._run is not None:
            left = self._run.goal.timeout - (time.monotonic() - self._run.since)
            raise InvalidData(f"another goal runs (for {max(left, 0.0):.0f} s more at most); "
                              "cancel it first")
        wanted = AccuracyGoal(request.mass_accuracy, request.com_accuracy,
                              request.inertia_accuracy)
        wanted.require_reachable(self._node.settings)
        timeout = request.timeout
        if not (math.isfinite(timeout) and 0.0 <= timeout <= _LONGEST):
            raise InvalidData(f"timeout is {timeout:g} s; allowed: 0 to {_LONGEST:g} s, 0 for "
                              f"{_TIMEOUT:g} s")
        asked, shape = self._shapes.read(request.shape), None
        if asked is not None and asked.small:
            shape = self._estimation.worker.call(lambda: self._shapes.make(asked), _PREPARING)
        self._estimation.configuration.check(request.method, asked is not None)
        return _Goal(wanted, request.method, shape, None if shape else asked,
                     bool(request.keep_data), timeout or _TIMEOUT)

    def _on_accepted(self, handle: Any) -> None:
        """Start the goal that was checked last."""
        goal, self._checked = self._checked, None
        assert goal is not None
        handle.execute()
        self._shown, self._fed_back = _NO_ESTIMATE_YET, (-math.inf, "")
        self._current = goal
        self._run = _RunningGoal(goal, handle, time.monotonic(), self._hand_over(goal))
        self._estimation.findings.set(
            "goal", "info", f"a goal of ~/identify runs for at most {goal.timeout:g} s")

    def _on_cancel(self, handle: Any) -> CancelResponse:
        runs = self._run is not None and self._run.handle is handle
        return CancelResponse.ACCEPT if runs else CancelResponse.REJECT

    def _hand_over(self, goal: _Goal) -> Future[None]:
        """Have the worker begin a goal, as soon as its shape is made."""
        if goal.asked is None:
            return self._estimation.worker.post(lambda: self._begin(goal, goal.shape))
        return self._shapes.hand_over(goal.asked, lambda shape: self._begin(goal, shape))

    # ---- in the worker ---------------------------------------------------------------------------

    def _begin(self, goal: _Goal, shape: Shape | None) -> None:
        """Use the goal's method and shape, and flush the data unless it keeps them."""
        if self._current is not goal:  # it ended before its shape was made
            return
        self._seen.clear()
        self._watching = True
        self._estimation.configuration.hold_goal(goal.method, shape)
        if not goal.keep_data:
            self._estimation.identifier.reset("a goal of ~/identify began")
            self._estimation.publish_if_forgotten()

    def _end(self) -> None:
        """Use the node's own method and shape again."""
        self._watching = False
        self._estimation.configuration.release_goal()

    # ---- in every round of housekeeping ----------------------------------------------------------

    def step(self) -> None:
        """Give feedback on a new outcome, and end the goal where it is due."""
        if time.monotonic() - self._rejected_at > _REJECTION_SHOWN:
            self._estimation.findings.clear("goal.rejected")
        run = self._run
        if run is None:
            return
        elapsed = time.monotonic() - run.since
        newest = self._seen.pop() if self._seen else None
        if newest is not None:
            self._shown = newest
        missing = run.goal.wanted.describe_missing(self._shown)
        self._feed_back(run, missing, elapsed)
        if run.handle.is_cancel_requested:
            self._finish(_CANCELED, f"cancelled after {elapsed:.1f} s" + _because(missing))
        elif run.begun.done() and (error := run.begun.exception()) is not None:
            self._finish(_ABORTED, str(error))
        elif isinstance(newest, Estimate) and not missing:
            self._finish(_SUCCEEDED,
                         f"{run.goal.wanted.describe_reached(newest)} after {elapsed:.1f} s")
        elif elapsed > run.goal.timeout:
            self._finish(_ABORTED, f"timeout of {run.goal.timeout:g} s" + _because(missing))

    def _feed_back(self, run: _RunningGoal, missing: str, elapsed: float) -> None:
        """Give feedback where there is something new, once a second at most, and on what reaches
        the goal."""
        if self._shown is _NO_ESTIMATE_YET:
            return
        summary = summary_message(self._shown)
        (last, said), text = self._fed_back, f"{summary.text}; {missing}"
        if text == said or (missing and elapsed - last < _BETWEEN_FEEDBACK):
            return
        self._fed_back = elapsed, text
        run.handle.publish_feedback(
            Identify.Feedback(summary=summary, elapsed=elapsed, missing=missing))

    def destroy(self) -> None:
        """Offer the action no more."""
        self._server.destroy()

    def close(self) -> bool:
        """Abort the goal that runs, because the node stops; False where there is none.

        Its client gets the result as soon as the executor goes on.
        """
        if self._run is None:
            return False
        self._finish(_ABORTED, "the node stops")
        return True

    def _finish(self, state: str, message: str) -> None:
        """End the goal that runs, and send its result.

        Args:
            state: name of the method of rclpy's handle that sets it.
        """
        assert self._run is not None
        handle, self._run, self._current = self._run.handle, None, None
        self._estimation.worker.post(self._end)
        self._estimation.findings.clear("goal")
        result = Identify.Result(success=state == _SUCCEEDED, message=message,
                                 parameters=parameters_message(
                                     self._shown, self._estimation.all_findings()))

        def end(_: Any) -> Identify.Result:
            getattr(handle, state)()
            return result

        self._server.notify_execute(handle, end)


def _because(missing: str) -> str:
    return f": {missing}" if missing else ""


def _never_executed(handle: Any) -> Identify.Result:
    """Stands in for the execute callback that rclpy demands, and `_GoalServer` never calls."""
    raise NotImplementedError
