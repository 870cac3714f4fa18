# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The service ~/apply: plan, refuse or send, read back, record. Where the wrench of the node lacks
the payload from then on, nothing compensated is published meanwhile, and older data are dropped."""

import json
import threading
import time
from concurrent.futures import wait
from contextlib import suppress
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import numpy as np

from inertial_id_ros.srv import Apply

from ..errors import DamagedFile, InertialIdError, InvalidData, NotEnoughData, printable
from ..estimate import Estimate
from ..export import estimate_of
from ..io.files import read_report, without_nonfinite
from ..targets.drivers import load_target
from ..targets.target import Plan, Target, Values, difference, with_tool
from . import refusals
from .files import SAVES
from .ros_client import NoResponse, Rehearsal, RosClient
from .services import offer

if TYPE_CHECKING:
    from .node import InertialIdNode

SETTLING = 0.6  # s after a driver has answered, in which its wrench may still change
POLL = 0.1  # s between two looks at what the target has
FILE = "applications.jsonl"  # a line for each application
UNKNOWN = "sent, not confirmed: nobody read it back, since the target does not say what it has"
Record = dict[str, Any]  # of an application, as it is written


class ApplyService:
    """Offers ~/apply; one application at a time."""

    def __init__(self, node: "InertialIdNode") -> None:
        self._node, self._estimation = node, node.estimation
        self._robot = RosClient(node, node.settings.apply.timeout)
        # That of this node alone: an undo must not reach another arm.
        self._file = node.files.own(FILE)
        self._running = threading.Lock()
        offer(node, Apply, "apply", self._answer)

    async def _answer(self, request: Any, response: Any) -> str:
        """An application that waited for another one would be sent when nobody expects it."""
        if self._running.locked():
            raise InvalidData("another application is under way; try again later")
        with self._running:
            return await self._estimation.apply.answer(lambda: self._carry_out(request, response))

    def _carry_out(self, request: Any, response: Any) -> str:
        """Plan, and if wanted send; what was or would be sent (raises InertialIdError)."""
        settings = self._node.settings
        name = request.target or settings.apply.target
        target = load_target(name, self._robot, settings)
        last, before = self._last(name), target.read()
        plan, payload, record = (_undo(last, name) if request.undo else
                                 self._planned(request.estimate, target, before))
        rehearsal = Rehearsal(self._robot)
        type(target)(rehearsal, settings).send(plan.values)
        record |= {"target": name, "calls": rehearsal.lines, "values": plan.values,
                   "before": target.undo_of(before, plan.values)}
        response.left_out = list(plan.left_out)
        streams = self._estimation.identifier.streams
        closed = [*target.refusals()]
        if payload is not None:  # what the target had before is sent back in any doubt
            closed += [*refusals.unknown(payload),
                       *refusals.too_heavy(payload, target, streams.urdf),
                       *refusals.too_far(payload, settings.apply.max_com),
                       *refusals.compensated_otherwise(target, before, last),
                       *refusals.in_doubt(self._estimation.findings_now)]
        closed += refusals.moves(target, streams.chain)
        if not closed:  # only the way to the target may be missing: the lines run elsewhere
            response.calls = rehearsal.lines
        if closed := [*closed, *refusals.no_service(target)]:
            raise InvalidData(f"nothing {'is' if request.send else 'would be'} sent: "
                              + "; ".join(closed))
        done, failure = (self._send(target, plan, record, response) if request.send else
                         (f"{name} would be sent {plan.what} (send is false)", ""))
        notes = list(plan.notes)
        if refusals.changes_wrench(target):
            notes.append("the node drops its data, since its wrench changes with that")
            if target.needs_limits and settings.precompensated.source == "settings":
                notes.append("the driver compensates this payload from now on: before the next "
                             "estimate set precompensated.mass, .com and .inertia to it" + (
                                 ", or .source and .topic to read it back" if before else ""))
        text = "; ".join([done, *notes])
        if failure:
            raise InvalidData(text)
        return text

    def _planned(self, saved: str, target: Target, before: Values) -> tuple[Plan, Estimate, Record]:
        """The plan for a saved estimate, or for the newest where `saved` is empty; its payload in
        the frame that the target wants; and a record of both. `refusals` are not asked yet (raises
        InertialIdError: no fresh or usable estimate, or that frame moves against the sensor)."""
        payload, evidence = self._saved(saved, target) if saved else self._newest(target)
        frame = target.frame(before).lstrip("/")
        if frame not in ("", payload.frame_id):
            place, stamp = self._estimation.worker.call(
                lambda: self._estimation.identifier.streams.tree().place(frame, payload.frame_id))
            if stamp is not None:
                raise InvalidData(f"frame '{frame}' moves against '{payload.frame_id}'")
            payload = payload.in_frame(frame, np.array(place.rotation), np.array(
                np.zeros(3) if target.axes_only else place.translation))
        plan, com = target.plan(payload, before), payload.body.com
        what = (f"{payload.body.mass:.3f} kg at [{', '.join(f'{1e3 * x:.1f}' for x in com)}] mm in "
                f"'{payload.frame_id}'") + (
            " from the origin of the sensor" if target.axes_only else "")
        return plan._replace(what=plan.what or what), payload, {"evidence": evidence}

    def _newest(self, target: Target) -> tuple[Estimate, Record]:
        """The payload of the newest estimate (raises NotEnoughData: there is none, or stale)."""
        outcome = self._estimation.outcome
        if not isinstance(outcome, Estimate):
            raise NotEnoughData(f"there is no estimate: {outcome.reason}")
        if outcome.stale:
            raise NotEnoughData(f"the estimate is stale: {outcome.stale_reason}")
        tool = self._estimation.identifier.beliefs.tool
        tool = tool if target.takes_tool and outcome.tool_apart else None
        return outcome if tool is None else with_tool(outcome, tool), {
            **outcome.to_json(), "with_tool": tool and tool.describe()}

    def _saved(self, name: str, target: Target) -> tuple[Estimate, Record]:
        """The payload of a saved estimate (raises InvalidData where the target cannot take it)."""
        try:
            report = read_report(self._node.files.find(SAVES, name))
            payload = estimate_of(report)
        except (DamagedFile, OSError) as error:
            raise InvalidData(f"saved estimate '{name}' cannot be used: {error}") from error
        if report.get("tool_apart") and target.takes_tool:
            raise InvalidData(f"saved estimate '{name}' is of the object without its tool, and the "
                              "target takes both")
        return payload, {**report, "saved_as": name}

    def _send(self, target: Target, plan: Plan, record: Record, response: Any) -> tuple[str, str]:
        """Send, read back, and record; a sentence on all of it, and what failed."""
        name, changes = record["target"], refusals.changes_wrench(target)
        got: Values = {}
        confirmed = failure = ""
        if changes:
            self._withhold(f"a payload is being applied to {name}")
        response.sent = True  # from now on it may have accepted it
        try:
            target.send(plan.values)
        except Exception as error:  # of rclpy and its types, too
            response.sent = isinstance(error, NoResponse) or not isinstance(error, InertialIdError)
            failure = self._node.explain(error) + (": sent, not confirmed" if response.sent else "")
        try:
            if changes and response.sent:
                time.sleep(SETTLING)
                # Late where the worker is busy, but never left out: nothing else ends the silence.
                wait([self._estimation.worker.submit(self._forget, name)], self._robot.timeout)
            elif changes:
                self._withhold("")
            if not failure:
                got, confirmed, failure = self._read_back(target, plan.values, record["before"])
        except Exception as error:  # it is recorded all the same
            failure = f"{failure}; {self._node.explain(error)}".lstrip("; ")
        text = (f"{name} was to be sent {plan.what}, but {failure}" if failure else
                f"{name} was sent {plan.what}; {confirmed}")
        self._node.get_logger().info(printable(text))
        line = json.dumps(without_nonfinite({
            "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
            "sent": response.sent, "failure": failure, "after": got, **record}))
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a") as file:
                file.write(f"{line}\n")
        except OSError as error:
            text += ("; that is not recorded, so that undo does not know of it: "
                     f"{self._node.explain(error)}")
        return text, failure

    def _read_back(self, target: Target, sent: Values, before: Values) -> tuple[Values, str, str]:
        """What the target has, at the latest after a time; a sentence, and how it differs."""
        got: Values = {}
        end, differs = time.monotonic() + self._robot.timeout, "nothing was read"
        while differs and time.monotonic() < end and self._node.context.ok():
            try:
                got = target.read() if before and target.confirms else {}
            except InertialIdError as error:  # it has accepted the payload all the same
                return {}, f"sent, not confirmed: it was not read back: {error}", ""
            if not got:
                return {}, UNKNOWN, ""
            if differs := difference(sent, got):
                time.sleep(POLL)
        return got, "the same is read back", differs and (
            f"another payload is read back than was sent: {differs}; ~/apply with undo gives back "
            "what it had")

    def _withhold(self, reason: str) -> None:
        if self._estimation.io is not None:
            self._estimation.io.withhold(reason)

    def _forget(self, name: str) -> None:
        """Drop the data, and the tare, as UR zeroes its sensor; withhold the wrench no more."""
        self._estimation.identifier.untare()
        self._estimation.note("file_failed", self._node.files.keep(
            self._estimation.identifier.beliefs).lstrip("; "))
        self._estimation.reset(f"a payload was applied to {name}")
        self._withhold("")

    def _last(self, target: str) -> Record | None:
        """The last application to a target that was sent, and not undone since; None: none."""
        last = None
        text = (self._file.read_text(encoding="utf-8", errors="replace")
                if self._file.is_file() else "")
        for line in text.splitlines():
            with suppress(ValueError):  # written in part
                record = json.loads(line)
                if record.get("target") == target and record.get("sent") and not (
                        record.get("undo_of") and record.get("failure")):
                    last = None if record.get("undo_of") else record
        return last


def _undo(last: Record | None, target: str) -> tuple[Plan, None, Record]:
    """What gives a target what it had before its last application (raises InvalidData)."""
    if last is None:
        raise InvalidData(f"nothing was applied to '{target}' that was not undone already; nothing "
                          "is sent")
    if not last["before"]:
        raise InvalidData(f"'{target}' did not say what it had before the application of "
                          f"{last['time']}; nothing is sent: set it by hand")
    return (Plan(last["before"], what=f"what it had before the application of {last['time']}"),
            None, {"undo_of": last["time"]})
