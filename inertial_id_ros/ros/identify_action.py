# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node's action: identify until a wanted accuracy is reached."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from functools import partial
from operator import is_not
from typing import Any

import numpy as np
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.lifecycle import LifecycleNode

from inertial_id_ros.action import Identify

from ..errors import InvalidData, printable
from ..estimate import UNOBSERVED, VERDICT_WORDS, Estimate, NoEstimate, Outcome
from ..inertia import PARAMETER_NAMES
from ..settings import Settings
from .conversions import CONFIDENCE_95, parameters_message, payload_text, summary_message
from .estimation import Estimation
from .services import explain, require_active

TIMEOUT, LONGEST = 60.0, 3600.0  # s
BETWEEN_FEEDBACK = 1.0  # s
POLL = 0.1  # s between two looks for a request to cancel
MASS, COM, INERTIA = slice(0, 1), slice(1, 4), slice(4, 10)
TILT = "tilt the sensor by 20 to 30 degrees about two axes"


class IdentifyAction:
    """The action server of the node; one goal runs at a time.

    Args:
        settings: gives those of the node.
    """

    def __init__(self, node: LifecycleNode, estimation: Estimation,
                 settings: Callable[[], Settings]) -> None:
        self._node, self._estimation, self._settings = node, estimation, settings
        self._running = threading.Lock()
        self._server = ActionServer(
            node, Identify, "~/identify", self._execute, goal_callback=self._on_request,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup())

    @property
    def is_running(self) -> bool:
        """True while a goal runs."""
        return self._running.locked()

    def close(self) -> None:
        """Offer the action no more."""
        self._server.destroy()

    def _on_request(self, request: Any) -> GoalResponse:
        """Accept a goal, or reject it; the log says why, as rclpy has no word for its client."""
        try:
            require_active(self._node, self._estimation)
            if not self._running.acquire(blocking=False):
                raise InvalidData("another goal runs; cancel it first")
            try:
                check(request, self._settings())
            except BaseException:
                self._running.release()
                raise
        except Exception as error:  # a request must not end the node
            text = f"goal of ~/identify rejected: {explain(self._node, 'identify', error)}"
            self._node.get_logger().warning(printable(text))
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _execute(self, handle: Any) -> Identify.Result:
        """Wait in a thread of the pool until a goal is reached, cancelled, or out of time."""
        goal, began = handle.request, time.monotonic()
        outcome: Outcome = NoEstimate(0, "", "no estimate since the goal began")
        try:
            if not goal.keep_data:
                self._estimation.worker.call(self._forget)
            outcome, message, end = self._wait(handle, goal, began, outcome)
        except Exception as error:  # its client is told
            message, end = explain(self._node, "identify", error), handle.abort
        finally:
            self._running.release()
        result = Identify.Result(message=message, success=end == handle.succeed,
                                 parameters=parameters_message(
                                     outcome, self._estimation.findings_now))
        if self._node.context.ok():
            end()
        return result

    def _forget(self) -> None:
        self._estimation.identifier.reset("a goal of ~/identify began")
        self._estimation.solve()

    def _wait(self, handle: Any, goal: Any, began: float, outcome: Outcome
              ) -> tuple[Outcome, str, Callable[[], None]]:
        """The last outcome, a sentence, and the method of the handle that ends it."""
        timeout, fed_back, last = goal.timeout or TIMEOUT, -math.inf, self._estimation.outcome
        while True:
            newest = self._estimation.wait_for(partial(is_not, last), POLL)
            is_new, last = newest is not last, newest
            outcome = newest if is_new else outcome
            missing, elapsed = describe_missing(outcome, goal), time.monotonic() - began
            if is_new and (elapsed - fed_back >= BETWEEN_FEEDBACK or not missing):
                fed_back = elapsed
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
    """Raise an InertialIdError where a goal cannot be reached, or makes no sense."""
    for name in ("mass_accuracy", "com_accuracy", "inertia_accuracy"):
        value = getattr(goal, name)
        if not (math.isfinite(value) and value >= 0.0):
            raise InvalidData(f"{name} is {value:g}; it must be finite and not negative")
    if not (math.isfinite(goal.timeout) and 0.0 <= goal.timeout <= LONGEST):
        raise InvalidData(f"timeout is {goal.timeout:g} s; allowed: 0 to {LONGEST:g} s, 0 for "
                          f"{TIMEOUT:g} s")
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
    if outcome.stale:
        return "new data: the estimate is held"
    if outcome.doubted:
        return outcome.doubted
    width = CONFIDENCE_95 * outcome.sigma
    parts = [_lack("mass", outcome, MASS, width, goal.mass_accuracy, 1.0, "kg")]
    if not outcome.carries_nothing:
        parts.append(_lack("centre of mass", outcome, COM, width, goal.com_accuracy, 1e3, "mm"))
    motions = [TILT] if any(parts) else []
    if goal.inertia_accuracy > 0.0 and not outcome.carries_nothing:
        share = width / (float(np.trace(outcome.body.inertia_com)) / 3.0)
        lack = _lack("inertia", outcome, INERTIA, share, goal.inertia_accuracy, 100.0,
                     "% of the mean moment")
        lacking = (share[INERTIA] > goal.inertia_accuracy) | (
            np.array(outcome.verdict[INERTIA]) == UNOBSERVED)
        axes = {letter for name, lacks in zip(PARAMETER_NAMES[INERTIA], lacking, strict=True)
                if lacks for letter in name[1:]}
        parts.append(lack)
        motions += [f"turn faster, to and fro, about {', '.join(sorted(axes))} of the sensor"
                    ] if lack else []
    return "; ".join([part for part in parts if part] + motions)


def _lack(name: str, estimate: Estimate, group: slice, width: Any, wanted: float, scale: float,
          unit: str) -> str:
    """What a group of parameters lacks: half its 95 % interval is to be at most as wide as wanted;
    empty where it lacks nothing."""
    if UNOBSERVED in estimate.verdict[group]:
        return f"{name} {VERDICT_WORDS[UNOBSERVED]}"
    widest = float(width[group].max())
    return "" if wanted == 0.0 or widest <= wanted else (
        f"{name} known to {scale * widest:.3g} {unit}, where {scale * wanted:.3g} {unit} is wanted")
