# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The service ~/apply: plan, refuse or send, read back, record.

An application may change what the node itself receives: its wrench may lack the payload from then
on. Then no compensated wrench is published while it is sent, and the data from before are dropped.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import numpy as np
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.lifecycle import LifecycleNode

from inertial_id_ros.srv import Apply

from ..errors import DamagedFile, InertialIdError, InvalidData, NotEnoughData, printable
from ..estimate import Estimate
from ..io.files import without_nonfinite
from ..settings import Settings
from ..targets import load_target
from ..targets.target import (
    Plan,
    Target,
    TargetPayload,
    Values,
    difference,
    payload_of,
    payload_of_tool,
)
from . import refusals
from .estimation import Estimation
from .files import CannotSave, StateKeeper, own_name, read_saved, state_folder, why_not_writable
from .ros_client import NoResponse, Rehearsal, RosClient
from .services import explain, require_active

FRESH = 2.0  # s that a fresh estimate is waited for
SETTLING = 0.6  # s after a driver has answered, in which its wrench may still change
POLL = 0.1  # s between two readings of what the target has
FILE = "applications.jsonl"
Record = dict[str, Any]  # of an application, as it is written


class NothingToUndo(InertialIdError):
    """There is no application to undo, or it is not known what was there before."""


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
        name = request.target or settings.apply.target
        target = load_target(name, self._robot, settings)
        last = self._last(name)
        before, payload = target.read(), None
        record: Record = {"target": name}
        if request.undo:
            values, record["undo_of"] = undo_of(last, name)
            plan = Plan(values, what="what it had before the application of " + record["undo_of"])
        else:
            payload, record["evidence"] = (self._saved(request.estimate, target)
                                           if request.estimate else self._newest(target))
            payload = self._placed(payload, target, before)
            plan = target.plan(payload, before)
            plan = plan._replace(what=plan.what or payload.describe() + (
                " from the origin of the sensor" if target.axes_only else ""))
        rehearsal = Rehearsal(self._robot)
        type(target)(rehearsal, settings).send(plan.values)
        record |= {"calls": rehearsal.lines, "values": plan.values,
                   "before": target.undo_of(before, plan.values)}
        response.left_out = list(plan.left_out)
        case = refusals.Case(target, self._robot, self._estimation, payload, before, last)
        closed = [*target.refusals(), why_not_writable(settings.state.directory),
                  *(condition(case) for condition in refusals.CONDITIONS)]
        closed, missing = list(filter(None, closed)), refusals.no_service(case)
        if not closed:  # only the way to the target may be missing: the lines run elsewhere
            response.calls = rehearsal.lines
        if closed or missing:
            response.message = (f"nothing {'is' if request.send else 'would be'} sent: "
                                + "; ".join([*closed, *filter(None, [missing])]))
            return
        response.success = True
        response.message = f"{name} would be sent {plan.what} (send is false)"
        if request.send:
            self._send(target, plan, before, record, response)
        response.message += "".join(f"; {n}" for n in (*plan.notes, *consequences(target)))

    # ---- the payload ----------------------------------------------------------------------------

    def _newest(self, target: Target) -> tuple[TargetPayload, Record]:
        """The payload of the newest estimate; one that is stale only for a moment is waited for."""
        outcome = self._estimation.wait_for(
            lambda shown: isinstance(shown, Estimate) and not shown.stale, FRESH)
        if not isinstance(outcome, Estimate):
            raise NotEnoughData(f"there is no estimate: {outcome.reason}")
        if outcome.stale:
            raise NotEnoughData(f"the estimate is stale: {outcome.stale_reason}")
        tool = self._estimation.identifier.beliefs.tool
        tool = tool if target.takes_tool and outcome.tool_apart else None
        record = {**outcome.to_json(), "with_tool": tool and tool.describe()}
        if tool is not None and outcome.carries_nothing:
            return payload_of_tool(tool, outcome.bias), record
        return payload_of(record, outcome.bias, tool), record

    def _saved(self, name: str, target: Target) -> tuple[TargetPayload, Record]:
        """The payload of a saved estimate.

        Raises:
            InvalidData: the file cannot be used, or the estimate excludes the tool and the target
                expects object and tool together.
        """
        report = read_saved(target.settings.state.directory, name)
        try:
            payload = payload_of(report)
        except DamagedFile as error:
            raise InvalidData(f"saved estimate '{name}' cannot be used: {error}") from error
        if report.get("tool_apart") and target.takes_tool:
            raise InvalidData(f"saved estimate '{name}' is of the object without its tool, and the "
                              "target takes both")
        return payload, {**report, "saved_as": name}

    def _placed(self, payload: TargetPayload, target: Target, before: Values) -> TargetPayload:
        """A payload where a target wants it.

        Raises:
            UnknownFrame: that frame is not known; InvalidData: it moves against the sensor.
        """
        frame, estimation = target.frame(before).lstrip("/"), self._estimation
        if frame in ("", payload.frame_id):
            return payload
        rotation, translation, _ = estimation.worker.call(
            lambda: estimation.lookup(frame, payload.frame_id, fixed=True))
        return payload.placed(frame, rotation, np.zeros(3) if target.axes_only else translation)

    # ---- sending --------------------------------------------------------------------------------

    def _send(self, target: Target, plan: Plan, before: Values, record: Record, response: Any
              ) -> None:
        """Send, read back, and record."""
        name, changes = record["target"], refusals.changes_wrench(target)
        got: Values = {}
        confirmed = failure = ""
        if changes:
            self._withhold(f"a payload is being applied to {name}")
        response.sent = True  # from now on it may have accepted it
        try:
            target.send(plan.values)
        except NoResponse as error:
            failure = f"{error}: sent, not confirmed"
        except InertialIdError as error:
            response.sent, failure = False, str(error)
        try:
            if changes and response.sent:
                time.sleep(SETTLING)
                self._forget(name)
            elif changes:
                self._withhold("")
            if not failure:
                got, confirmed, failure = self._read_back(target, plan.values, before)
        except InertialIdError as error:
            failure = f"{failure}; {error}".lstrip("; ")
        response.success = not failure
        verb = "was to be sent" if failure else "was sent"
        response.message = f"{name} {verb} {plan.what}" + (
            f", but {failure}" if failure else f"; {confirmed}")
        self._node.get_logger().info(printable(response.message))
        try:
            self._write({"time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
                         "sent": response.sent, "failure": failure, "after": got, **record})
        except CannotSave as error:
            response.message += f"; that is not recorded, so that undo does not know of it: {error}"

    def _read_back(self, target: Target, sent: Values, before: Values) -> tuple[Values, str, str]:
        """What the target has once that is what was sent, or when the time for it is over; a
        sentence on it, and why it is another."""
        unknown = "sent, not confirmed: it does not say what it has accepted"
        if not before or not target.confirms:
            return {}, unknown, ""
        got: Values = {}
        end, differs = time.monotonic() + self._robot.timeout, "nothing was read"
        while differs and time.monotonic() < end and self._node.context.ok():
            try:
                got = target.read()
            except InertialIdError as error:  # it has accepted the payload all the same
                return {}, f"sent, not confirmed: it was not read back: {error}", ""
            if not got:
                return {}, unknown, ""
            if differs := difference(sent, got):
                time.sleep(POLL)
        return got, "the same is read back", differs and (
            f"another payload is read back than was sent: {differs}; ~/apply with undo gives back "
            "what it had")

    def _withhold(self, reason: str) -> None:
        if self._estimation.streams is not None:
            self._estimation.streams.compensation.withhold(reason)

    def _forget(self, name: str) -> None:
        """Drop the data, and the tare, which was of the zero before: UR zeroes its sensor, too.
        Then publish the compensated wrench again, once there is an estimate."""
        def forget() -> None:
            identifier = self._estimation.identifier
            identifier.untare()
            identifier.reset(f"a payload was applied to {name}")
            try:
                self._state.keep(identifier.beliefs)
            except CannotSave as error:
                self._estimation.notes.say("file_failed", str(error))
            self._estimation.solve()
            self._withhold("")
        self._estimation.worker.call(forget)

    # ---- the record, one line of JSON for each application ---------------------------------------

    @property
    def _file(self) -> Any:
        """That of this node alone: an undo must not reach another arm."""
        return state_folder(self._settings().state.directory) / own_name(
            self._node.get_fully_qualified_name(), FILE)

    def _write(self, record: Record) -> None:
        """Add a line (raises CannotSave)."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(without_nonfinite(record)) + "\n")
        except OSError as error:
            raise CannotSave(f"cannot write {self._file}: {error.strerror}") from error

    def _last(self, target: str) -> Record | None:
        """The last application to a target that was sent and not undone since; None: none. An undo
        that failed leaves it to be undone again."""
        last = None
        try:
            lines = self._file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return None
        for line in lines:
            try:
                record = json.loads(line)
            except ValueError:  # written in part
                continue
            if record.get("target") == target and record.get("sent") and not (
                    record.get("undo_of") and record.get("failure")):
                last = None if record.get("undo_of") else record
        return last


def undo_of(last: Record | None, target: str) -> tuple[Values, str]:
    """What a target had before the last application, and the time of that (raises
    NothingToUndo)."""
    if last is None:
        raise NothingToUndo(f"nothing was applied to '{target}' that was not undone already; "
                            "nothing is sent")
    if not last["before"]:
        raise NothingToUndo(f"'{target}' did not say what it had before the application of "
                            f"{last['time']}; nothing is sent: set it by hand")
    return last["before"], last["time"]


def consequences(target: Target) -> list[str]:
    """What the user must know of what follows, one sentence each."""
    if not refusals.changes_wrench(target):
        return []
    notes = ["the node drops its data, since its wrench changes with that"]
    if target.needs_limits and target.settings.precompensated.source == "settings":
        notes.append("the driver compensates this payload from now on: set precompensated.mass, "
                     ".com and .inertia to it, or precompensated.source to read it back, before "
                     "the next estimate")
    return notes
