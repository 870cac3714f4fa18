# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The service ~/apply: plan, refuse or send, read back, record.

An application may change what the node itself receives: its wrench may lack the payload from then
on. Then no compensated wrench is published while it is sent, and the data from before are
forgotten.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.lifecycle import LifecycleNode

from inertial_id_ros.srv import Apply

from ...errors import DamagedFile, InertialIdError, InvalidData, NotEnoughData, printable
from ...estimate import Estimate
from ...settings import Settings
from ...targets.payload import TargetPayload, payload_of, payload_of_tool
from ...targets.registry import load_target
from ...targets.target import Plan, Target, Values, difference, parameter_lines, service_line
from ..estimation import Estimation
from ..files import CannotSave, StateKeeper, read_saved, why_not_writable
from ..ros_client import NoResponse, RosClient
from ..services import explain, require_active
from . import refusals
from .history import History

FRESH = 2.0  # s that a fresh estimate is waited for
SETTLING = 0.6  # s after a driver has answered, in which its wrench may still change
POLL = 0.1  # s between two looks at what the target tells


class Rehearsal:
    """A robot that is asked, and never told: what it would be told is kept as lines of a shell."""

    def __init__(self, robot: RosClient) -> None:
        self._robot, self.lines = robot, list[str]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._robot, name)

    def call(self, kind: str, service: str, request: Mapping[str, Any]) -> Any:
        """Keep the call of a service."""
        self.lines.append(service_line(kind, self._robot.resolve(service), request))

    def set_parameters(self, node: str, values: Mapping[str, Any]) -> None:
        """Keep the setting of parameters."""
        self.lines += parameter_lines(node, values)


@dataclass
class Step:
    """An application: name and target, what it had before, and what it is told.

    Attributes:
        what: it is told, in words; lines: that would tell it.
        closed: why nothing may be sent; record: what it stands on.
    """

    name: str
    target: Target
    before: Values | None
    plan: Plan
    what: str
    record: dict[str, Any]
    closed: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


class ApplyService:
    """Offers ~/apply; one application at a time.

    Args:
        state: keeps the tare; settings: gives those of now.
    """

    def __init__(self, node: LifecycleNode, estimation: Estimation, state: StateKeeper,
                 settings: Callable[[], Settings]) -> None:
        self._node, self._estimation = node, estimation
        self._state, self._settings = state, settings
        self._robot = RosClient(node, settings().apply.timeout)
        self._service = node.create_service(Apply, "~/apply", self._answer,
                                            callback_group=ReentrantCallbackGroup())
        self._running = threading.Lock()

    def close(self) -> None:
        """Offer it no more."""
        self._node.destroy_service(self._service)

    def _answer(self, request: Any, response: Any) -> Any:
        if not self._running.acquire(blocking=False):
            response.message = "another application is under way; try again later"
            return response
        try:
            require_active(self._node, self._estimation)
            self._carry_out(request, response)
        except Exception as error:  # a request must not end the node
            response.message, response.success = explain(self._node, "apply", error), False
        finally:
            self._running.release()
        response.message = printable(response.message)
        return response

    def _carry_out(self, request: Any, response: Any) -> None:
        settings = self._settings()
        history = History(settings.state.directory, self._node.get_fully_qualified_name())
        name = request.target or settings.apply.target
        target = load_target(name, self._robot, settings)
        step = (self._undo(name, target, history) if request.undo else
                self._plan(name, target, request.estimate, settings, history))
        response.left_out = list(step.plan.left_out)
        step.closed += filter(None, [
            *target.refusals(), why_not_writable(settings.state.directory),
            refusals.in_doubt(self._estimation.findings_now),
            refusals.moves(self._robot, settings, self._joints())])
        missing = refusals.no_service(target, self._robot)
        if not step.closed:  # where only the way to the target is missing, it may be told elsewhere
            response.calls = step.lines
        if step.closed or missing:
            words = "; ".join([*step.closed, *filter(None, [missing])])
            response.message = f"nothing {'is' if request.send else 'would be'} sent: {words}"
            return
        notes = "".join(f"; {n}" for n in (*step.plan.notes, *consequences(target, settings)))
        if request.send:
            self._send(step, history, response)
        else:
            response.success = True
            response.message = f"{name} would be told {step.what} (send is false)"
        response.message += notes

    def _joints(self) -> list[str]:
        chain = self._estimation.identifier.streams.chain
        return [] if chain is None else list(chain.turning)

    # ---- planning -------------------------------------------------------------------------------

    def _plan(self, name: str, target: Target, estimate: str, settings: Settings, history: History
              ) -> Step:
        payload, record = (self._saved(estimate, target, settings) if estimate else
                           self._newest(target))
        payload = self._placed(payload, target)
        before = target.read()
        plan = target.plan(payload, before)
        urdf = self._estimation.identifier.streams.urdf
        closed = [refusals.unknown_mass(payload), refusals.unknown_com(payload),
                  refusals.too_heavy(payload, settings, target, urdf),
                  refusals.too_far(payload, settings),
                  refusals.compensated_otherwise(target, settings, before, history.last(name))]
        return self._rehearsed(Step(name, target, before, plan, plan.what or payload.describe(),
                                    {"evidence": record}, list(filter(None, closed))))

    def _undo(self, name: str, target: Target, history: History) -> Step:
        before, then = history.before(name)
        return self._rehearsed(Step(
            name, target, target.read(), Plan(before),
            f"what it had before the application of {then}", {"undo_of": then}))

    def _rehearsed(self, step: Step) -> Step:
        rehearsal = Rehearsal(self._robot)
        target = type(step.target)(rehearsal, step.target.settings)
        target.send(step.plan.values)
        step.lines = rehearsal.lines
        return step

    def _newest(self, target: Target) -> tuple[TargetPayload, dict[str, Any]]:
        """The payload of the newest estimate; one that is stale only for a moment is waited for."""
        outcome = self._estimation.wait_for(
            lambda shown: isinstance(shown, Estimate) and not shown.stale, FRESH)
        if not isinstance(outcome, Estimate):
            raise NotEnoughData(f"there is no estimate: {outcome.reason}")
        if outcome.stale:
            raise NotEnoughData(f"the estimate is stale: {outcome.stale_reason}")
        tool = self._estimation.identifier.beliefs.tool
        tool = tool if target.takes_tool and outcome.tool_apart else None
        report = outcome.to_json()
        record = {**report, "with_tool": tool.describe() if tool is not None else None}
        if tool is not None and outcome.carries_nothing:
            return payload_of_tool(tool, outcome.bias), record
        return payload_of(report, outcome.bias, None if tool is None else tool.phi), record

    def _saved(self, name: str, target: Target, settings: Settings
               ) -> tuple[TargetPayload, dict[str, Any]]:
        """Payload and record of a saved estimate.

        Raises:
            InvalidData: the file cannot be used, or the estimate excludes the tool and the target
                expects object and tool together.
        """
        report = read_saved(settings.state.directory, name)
        try:
            payload = payload_of(report)
        except DamagedFile as error:
            raise InvalidData(f"saved estimate '{name}' cannot be used: {error}") from error
        if report.get("tool_apart") and target.takes_tool:
            raise InvalidData(f"saved estimate '{name}' is of the object without its tool, and the "
                              "target takes both")
        return payload, {**report, "saved_as": name}

    def _placed(self, payload: TargetPayload, target: Target) -> TargetPayload:
        """A payload where a target wants it.

        Raises:
            UnknownFrame: that frame is not known; InvalidData: it moves against the sensor.
        """
        wanted = target.frame()
        frame = wanted.frame.lstrip("/")
        if frame in ("", payload.frame_id):
            return payload
        estimation = self._estimation
        rotation, translation, _ = estimation.worker.call(
            lambda: estimation.lookup(frame, payload.frame_id, fixed=True))
        return (payload.turned(frame, rotation) if wanted.axes_only
                else payload.placed(frame, rotation, translation))

    # ---- sending --------------------------------------------------------------------------------

    def _send(self, step: Step, history: History, response: Any) -> None:
        """Send, read back, and record."""
        changes = refusals.changes_wrench(step.target, self._settings())
        told, failure, confirmed = None, "", "it does not tell what it has taken"
        if changes:
            self._withhold(f"a payload is being applied to {step.name}")
        try:
            response.sent = True  # from now on it may have taken it
            step.target.send(step.plan.values)
            answered = time.monotonic()
            if changes:
                self._forget(step.name)
            told, confirmed, failure = self._read_back(step)
        except NoResponse as error:
            answered, failure = time.monotonic(), f"{error}: sent, not confirmed"
        except InertialIdError as error:
            response.sent, failure = step.target.told > 0, str(error)
            answered = time.monotonic()
        finally:
            if changes:
                self._resume(step.name, answered if response.sent else 0.0)
        verb = "was to be told" if failure else "was told"
        response.success = not failure
        response.message = f"{step.name} {verb} {step.what}" + (
            f", but {failure}" if failure else f"; {confirmed}")
        self._node.get_logger().info(printable(response.message))
        response.message += self._recorded(step, history, told, failure, response.sent)

    def _read_back(self, step: Step) -> tuple[Values | None, str, str]:
        """What the target tells once that is what was sent, or when the time for it is over; a
        sentence on it, and why it is another."""
        if step.before is None or not step.target.confirms:
            return None, "it does not tell what it has taken", ""
        sent = {name: value for name, value in step.plan.values.items() if name in step.before}
        end = time.monotonic() + self._robot.timeout
        while True:
            try:
                told = step.target.read()
            except InertialIdError as error:  # it has taken the payload all the same
                return None, f"it was not read back: {error}", ""
            if told is None:
                return None, "sent, not confirmed: it does not tell what it has taken", ""
            differs = difference(sent, told)
            if not differs:
                return told, "it tells the same", ""
            if time.monotonic() > end or not self._node.context.ok():
                return told, "", (f"it tells another payload than was sent: {differs}; ~/apply "
                                  "with undo gives back what it had")
            time.sleep(POLL)

    def _withhold(self, reason: str) -> None:
        streams = self._estimation.streams
        if streams is not None:
            streams.compensation.withhold(reason)

    def _forget(self, name: str) -> None:
        """Forget the data, and the tare, which was of the zero before: UR zeroes its sensor, too.
        """
        def forget() -> None:
            identifier = self._estimation.identifier
            identifier.untare()
            identifier.reset(f"a payload was applied to {name}")
            try:
                self._state.keep(identifier.beliefs)
            except CannotSave as error:
                self._estimation.notes.say("file_failed", str(error))
            self._estimation.solve()
        self._estimation.worker.call(forget)

    def _resume(self, name: str, answered: float) -> None:
        """Publish the compensated wrench again.

        Args:
            answered: when the target may have taken something [s]; 0: it has not.
        """
        if answered:
            time.sleep(max(0.0, answered + SETTLING - time.monotonic()))
            self._forget(name)  # first: what is given next must not be what was known before
        self._withhold("")

    def _recorded(self, step: Step, history: History, told: Values | None, failure: str, sent: bool
                  ) -> str:
        """Log an application; gives what the answer must add where that cannot be written."""
        before = step.target.undo_of(step.before, step.plan.values)
        try:
            history.append({
                "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
                "target": step.name, "sent": sent, "failure": failure, "calls": step.lines,
                "values": dict(step.plan.values), "before": before, "after": told,
                **step.record})
        except CannotSave as error:
            self._node.get_logger().error(printable(str(error)))
            return f"; that is not recorded, so that undo does not know of it: {error}"
        return ""


def consequences(target: Target, settings: Settings) -> list[str]:
    """What the user must know of what follows, one sentence each."""
    if not refusals.changes_wrench(target, settings):
        return []
    notes = ["the node forgets its data, since its wrench changes with that"]
    source = settings.precompensated.source
    if target.needs_limits:
        notes.append(
            "the driver removes this payload from its wrench from now on, and the node does not "
            "read that back: set precompensated.mass, .com and .inertia to it, or "
            "precompensated.source, before the next estimate" if source == "settings" else
            f"the payload that the driver removes is read back (precompensated.source '{source}') "
            "and counted once")
    return notes
