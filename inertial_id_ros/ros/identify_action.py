# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node's action: identify until a wanted accuracy is reached."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from functools import partial
from operator import is_not
from typing import TYPE_CHECKING, Any

import numpy as np
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup

from inertial_id_ros.action import Identify

from ..errors import InertialIdError, InvalidData
from ..estimate import CONFIDENCE_95, UNOBSERVED, VERDICT_WORDS, Estimate, NoEstimate, Outcome
from ..settings import Settings
from .conversions import parameters_message, payload_text, summary_message

if TYPE_CHECKING:
    from .node import InertialIdNode

TIMEOUT = 60.0  # s
POLL = 0.1  # s between two looks for a request to cancel
NOTHING: Outcome = NoEstimate(0, "", "no estimate since the goal began")
TILT = "tilt the sensor by 20 to 30 degrees about two axes"
TURN = "turn the sensor faster, to and fro, about all its axes"


class IdentifyAction:
    """The action server of the node; one goal runs at a time."""

    def __init__(self, node: InertialIdNode) -> None:
        self._node, self._estimation = node, node.estimation
        self._running = threading.Lock()
        self._server = ActionServer(
            node, Identify, "~/identify", self._execute, goal_callback=self._on_request,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup())
        self.close = self._server.destroy

    def _on_request(self, request: Any) -> GoalResponse:
        """Accept a goal, or reject it; the log says why, as rclpy has no word for its client."""
        try:
            self._node.require_active()
            check(request, self._node.settings)
            if not self._running.acquire(blocking=False):
                raise InvalidData("another goal runs; cancel it first")
        except InertialIdError as error:
            self._node.get_logger().warning(f"goal of ~/identify rejected: {error}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _execute(self, handle: Any) -> Identify.Result:
        """Wait in a thread of the pool until a goal is reached, cancelled, or out of time."""
        try:
            outcome, message, end = self._wait(handle)
        except Exception as error:  # its client is told
            outcome, message, end = NOTHING, self._node.explain(error), handle.abort
        finally:
            self._running.release()
        if self._node.context.ok():
            end()
        return Identify.Result(message=message, success=end == handle.succeed,
                               parameters=parameters_message(
                                   outcome, self._estimation.findings_now))

    def _wait(self, handle: Any) -> tuple[Outcome, str, Callable[[], None]]:
        """The last outcome, a sentence, and the method of the handle that ends it."""
        goal, outcome, began = handle.request, NOTHING, time.monotonic()
        if not goal.keep_data:
            self._estimation.worker.call(
                lambda: self._estimation.reset("a goal of ~/identify began"))
        last, timeout = self._estimation.outcome, goal.timeout or TIMEOUT
        while True:
            newest = self._estimation.wait_for(partial(is_not, last), POLL)
            is_new, last = newest is not last, newest
            outcome = newest if is_new else outcome
            missing, elapsed = describe_missing(outcome, goal), time.monotonic() - began
            if is_new:
                handle.publish_feedback(Identify.Feedback(
                    summary=summary_message(outcome), elapsed=elapsed, missing=missing))
            because = f": {missing}" if missing else ""
            if handle.is_cancel_requested:
                return outcome, f"cancelled after {elapsed:.1f} s{because}", handle.canceled
            if isinstance(outcome, Estimate) and not missing:
                return outcome, f"{payload_text(outcome)} after {elapsed:.1f} s", handle.succeed
            if elapsed > timeout:
                return outcome, f"timeout of {timeout:g} s{because}", handle.abort
            if self._estimation.streams is None or not self._node.context.ok():
                return outcome, "the node stops", handle.abort


def check(goal: Any, settings: Settings) -> None:
    """Raise InvalidData where a goal cannot be reached, or makes no sense."""
    for name in ("mass_accuracy", "com_accuracy", "inertia_accuracy", "timeout"):
        if not 0.0 <= getattr(goal, name) < math.inf:
            raise InvalidData(f"{name} is {getattr(goal, name):g}; allowed: finite, not negative")
    least = CONFIDENCE_95 * settings.alignment.position_sd
    if settings.load.source == "wrench" and 0.0 < goal.com_accuracy < least:
        raise InvalidData(
            f"com_accuracy is {1e3 * goal.com_accuracy:.3g} mm; no motion gives less than "
            f"{1e3 * least:.3g} mm: set alignment.position_sd to what the drawing of the mounting "
            "allows")


def describe_missing(outcome: Outcome, goal: Any) -> str:
    """What an outcome lacks, and which motion provides it; empty where it lacks nothing."""
    if not isinstance(outcome, Estimate):
        return outcome.reason
    if outcome.stale or outcome.doubted:
        return "new data: the estimate is held" if outcome.stale else outcome.doubted
    width = CONFIDENCE_95 * outcome.sigma
    width[4:] *= 3.0 / float(np.trace(outcome.body.inertia_com))
    lacks, motions = [], dict[str, None]()
    for name, group, wanted, scale, unit, motion in (
            ("mass", slice(0, 1), goal.mass_accuracy, 1.0, "kg", TILT),
            ("centre of mass", slice(1, 4), goal.com_accuracy, 1e3, "mm", TILT),
            ("inertia", slice(4, 10), goal.inertia_accuracy, 100.0, "% of the mean moment", TURN)):
        widest = float(width[group].max())
        if (name != "mass" and outcome.carries_nothing) or (name == "inertia" and not wanted):
            continue
        if UNOBSERVED in outcome.verdict[group]:
            lacks.append(f"{name} {VERDICT_WORDS[UNOBSERVED]}")
        elif wanted > 0.0 and widest > wanted:
            lacks.append(f"{name} known to {scale * widest:.3g} {unit}, where "
                         f"{scale * wanted:.3g} {unit} is wanted")
        else:
            continue
        motions[motion] = None
    return "; ".join([*lacks, *motions])
