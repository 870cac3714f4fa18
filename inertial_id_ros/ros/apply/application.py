# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The service ~/apply: look, plan, check, send, read back, record.

An application may change what the node itself receives: its wrench may lack the payload from then
on (`changing_wrench`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from inertial_id_ros.srv import Apply

from ...errors import InertialIdError, printable
from ...identification.wrench.identifier import Identifier
from ...settings import Settings
from ...targets.registry import load_target
from ...targets.target import (
    Call,
    Gate,
    ParameterCall,
    Reading,
    ServiceCall,
    Target,
    TargetPayload,
    TargetPlan,
    closed_gates,
    difference,
)
from ..compat import message_type
from ..compensation import CompensationTopics
from ..estimation import Estimation
from ..services.black_boxes import BlackBoxes
from ..services.calls import create_late_service
from ..services.lifecycle import ManagedNode
from ..services.saving import CannotSave, StateKeeper
from ..worker import Busy, Worker
from .gates import (
    History,
    changes_wrench,
    doubt_gate,
    find_evidence,
    gates_of_payload,
    place,
    record_gate,
    removal_gate,
    rest_gate,
    undo_calls,
)
from .other_nodes import (
    Asking,
    ExecutorJobs,
    Graph,
    NoResponse,
    ParameterClient,
    Survey,
    fill,
    refusal,
)

_SETTLING = 0.6  # s after a driver has answered, in which its wrench may still change


def consequences(target: Target, settings: Settings) -> list[str]:
    """What the user must know of what follows, one sentence each."""
    if not changes_wrench(target, settings):
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


@contextmanager
def changing_wrench(estimation: Estimation, compensation: CompensationTopics, name: str,
                    target: Target, settings: Settings) -> Iterator[Callable[[], None]]:
    """While a target is told a payload, publish no compensated wrench, since nobody knows from
    which sample on the driver removes the payload itself.

    Yields:
        what to call as soon as the target may have taken it: the data from before are forgotten,
        and at the end, not before the wrench has settled, those from meanwhile.
    """
    if not changes_wrench(target, settings):
        yield lambda: None
        return
    taken: list[float] = []

    def reset() -> None:
        estimation.identifier.reset(f"a payload was applied to {name}")
        if isinstance(estimation.identifier, Identifier):
            _drop_tare(estimation.state, estimation.identifier)
        estimation.solve_after_change()

    def forget() -> None:
        taken.append(time.monotonic())
        estimation.worker.post(reset)

    def resume() -> None:
        if taken:
            reset()  # first: what is given next must not be what was known before
        compensation.withhold("")

    compensation.withhold(f"a payload is being applied to {name}")
    try:
        yield forget
        if taken:
            time.sleep(max(0.0, taken[0] + _SETTLING - time.monotonic()))
    finally:
        estimation.worker.post(resume)


def _drop_tare(state: StateKeeper, identifier: Identifier) -> None:
    """Drop the tare, which was of the zero before: UR zeroes its sensor, too; in the worker."""
    try:
        identifier.untare(state.keep)
    except CannotSave:  # which a finding says
        identifier.untare()


_POLL = 0.1  # s between two looks at what the target tells


@dataclass
class Answer:
    """What is answered, as `Apply.Response` has it."""

    success: bool = False
    sent: bool = False
    message: str = ""
    calls: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


class NotTaken(InertialIdError):
    """The target refuses, does not answer, or reports another payload than was sent.

    Attributes:
        sent: False if it has certainly taken nothing.
    """

    def __init__(self, text: str, sent: bool = False) -> None:
        super().__init__(text)
        self.sent = sent


@dataclass(frozen=True)
class _Planned:
    """A planned application: what is told, in words, and all that it was planned from."""

    name: str
    target: Target
    settings: Settings
    survey: Survey
    plan: TargetPlan
    gates: list[Gate]
    what: str
    payload: TargetPayload | None
    record: dict[str, Any]


class Applications:
    """Applies payloads for a node; all methods wait, and none belongs into the executor's thread.
    """

    def __init__(self, node: ManagedNode, estimation: Estimation, compensation: CompensationTopics,
                 black_boxes: BlackBoxes, asking: Asking) -> None:
        self._node, self._estimation, self._asking = node, estimation, asking
        self._compensation, self._black_boxes = compensation, black_boxes
        self._graph = Graph(node, asking)

    @property
    def history(self) -> History:
        """The record of all applications."""
        return History(self._node.settings.state.directory,
                       self._node.get_fully_qualified_name())

    def carry_out(self, name: str, estimate: str, send: bool, undo: bool) -> Answer:
        """Tell a target the payload of an estimate, or what it had before; see `Apply.srv`.

        Raises:
            InertialIdError: it cannot even be planned.
        """
        step = self._plan(name, estimate, undo)
        calls = tuple(self._resolved(call) for call in step.plan.calls)
        answer = Answer(left_out=list(step.plan.left_out))
        if not closed_gates(gate for gate in step.gates if gate not in step.survey.gates):
            # Where only the way to the target is missing the lines can be run elsewhere.
            answer.calls = [line for call in calls for line in call.commands]
        closed = closed_gates(step.gates)
        if closed:
            answer.message = f"nothing {'is' if send else 'would be'} sent: {'; '.join(closed)}"
            return answer
        notes = "".join(f"; {note}" for note in
                        (*step.plan.notes, *consequences(step.target, step.settings)))
        if not send:
            answer.success = True
            answer.message = f"{step.name} would be told {step.what} (send is false){notes}"
            return answer
        answer.message = self._send(step, calls) + notes
        answer.success = answer.sent = True
        return answer

    # ---- planning ------------------------------------------------------------------------------

    def _plan(self, name: str, estimate: str, undo: bool) -> _Planned:
        settings = self._node.settings
        name = name or settings.apply.target
        target = load_target(name)
        if undo:
            return self._plan_undo(name, target, settings)
        evidence = find_evidence(self._estimation, settings, estimate, target.takes_tool)
        sources = target.sources(settings)
        survey = self._graph.survey(sources, settings)
        payload = place(self._estimation, evidence.payload, target.placement(settings, survey.seen))
        plan = target.plan(payload, settings, survey.seen)
        told = target.read(settings, survey.seen)
        silent = sources.topic.name if sources.topic and survey.seen.message is None else ""
        urdf = self._estimation.identifier.robot_description
        gates = [*gates_of_payload(payload, settings, target, urdf), *plan.gates,
                 removal_gate(name, target, settings, told, silent, self.history),
                 *self._common_gates(target, settings, survey)]
        return _Planned(name, target, settings, survey, plan, gates,
                        plan.what or payload.describe(), payload, evidence.record)

    def _plan_undo(self, name: str, target: Target, settings: Settings) -> _Planned:
        entry = self.history.last(name)
        calls = undo_calls(entry, name)
        assert entry is not None
        survey = self._graph.survey(target.sources(settings), settings)
        sent = entry.get("before")
        plan = TargetPlan(calls, Reading(sent["values"], sent["tolerance"]) if sent else None)
        return _Planned(name, target, settings, survey, plan,
                        self._common_gates(target, settings, survey),
                        f"what it had before the application of {entry.get('time')}", None,
                        {"undo_of": entry.get("time")})

    def _common_gates(self, target: Target, settings: Settings, survey: Survey) -> list[Gate]:
        """Gates that do not depend on the payload; the arm is watched for a moment."""
        identifier = self._estimation.identifier
        return [*target.ready(settings, survey.seen), *survey.gates, record_gate(self.history),
                doubt_gate(self._estimation.all_findings(), identifier.doubtful_zero()),
                rest_gate(self._asking.listen, settings, identifier.joint_names())]

    def _resolved(self, call: Call) -> Call:
        """A call with the full name of its service or node."""
        if isinstance(call, ServiceCall):
            return replace(call, service=self._graph.resolve(call.service))
        return replace(call, node=self._graph.resolve(call.node))

    # ---- sending -------------------------------------------------------------------------------

    def _send(self, step: _Planned, calls: tuple[Call, ...]) -> str:
        """Make the calls, read back, and record; says what was done, also where that cannot be
        recorded.

        Raises:
            NotTaken: the target did not take it, or tells another payload; that is recorded, too.
        """
        changed, failure, confirmed = False, "", ""
        told: Reading | None = None
        with changing_wrench(self._estimation, self._compensation, step.name, step.target,
                             step.settings) as forget:
            try:
                for call in calls:
                    self._do(call, step.settings.apply.timeout)
                    changed = True
                    forget()
                told, confirmed = self._read_back(step)
                failure = self._difference(step, told)
            except NoResponse as error:  # it may have been taken
                changed, failure = True, str(error)
                forget()
            except InertialIdError as error:
                failure = str(error)
        unrecorded = self._record(step, calls, told, changed, failure)
        if self._difference(step, told):
            failure = f"it tells another payload than was sent: {failure}"
            if step.plan.undo:
                failure += "; ~/apply with undo gives back what it had"
        if failure:
            raise NotTaken(f"{step.name} was to be told {step.what}, but {failure}{unrecorded}",
                           changed)
        return f"{step.name} was told {step.what}; {confirmed}{unrecorded}"

    @staticmethod
    def _difference(step: _Planned, told: Reading | None) -> str:
        """In what a target tells another payload than was sent; empty where it does not."""
        if step.plan.sent is None or told is None:
            return ""
        return difference(step.plan.sent, told)

    def _do(self, call: Call, timeout: float) -> None:
        """Make a call (raises NotTaken, NoAnswer, InvalidData where it has not succeeded)."""
        if isinstance(call, ParameterCall):
            ParameterClient(self._asking, call.node, timeout).set(call.values)
            return
        kind = message_type(call.type)
        response = self._asking.call(kind, call.service, fill(kind.Request(), call.fields),
                                     timeout)
        reason = refusal(call, response)
        if reason and not call.may_fail:
            raise NotTaken(f"service '{call.service}' refuses: {reason}")

    def _read_back(self, step: _Planned) -> tuple[Reading | None, str]:
        """The payload that the target reports once that is what was sent, or when the time for it
        is over, and a sentence on it; None where it reports none, or cannot be asked."""
        sent, told = step.plan.sent, None
        sources = step.target.sources(step.settings)
        end = time.monotonic() + step.settings.apply.timeout
        while sent is not None:
            try:
                seen = self._graph.survey(sources, step.settings).seen
            except InertialIdError as error:  # it has taken the payload all the same
                return None, f"it was not read back: {error}"
            told = step.target.read(step.settings, seen)
            if told is None or not difference(sent, told) or time.monotonic() > end:
                break
            time.sleep(_POLL)
        return told, ("it does not tell what it has taken" if told is None
                      else "it tells the same")

    def _record(self, step: _Planned, calls: tuple[Call, ...], told: Reading | None, changed: bool,
                failure: str) -> str:
        """Log an application with what was before, what is now, and what it stands on; gives what
        the answer must add where that cannot be written."""
        before = step.target.read(step.settings, step.survey.seen)
        if step.plan.sent is not None:
            before, told = (reading and reading.of(step.plan.sent.values)
                            for reading in (before, told))
        undo = [self._resolved(call).to_json() for call in step.plan.undo or ()]
        text = (f"{step.name} was to be told {step.what}, but {failure}" if failure else
                f"{step.name} was told {step.what}")
        self._black_boxes.note_command(f"apply: {text}")
        self._node.get_logger().info(printable(text))
        try:
            self.history.append({
                "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
                "target": step.name, "sent": changed, "failure": failure,
                "calls": [call.to_json() for call in calls], "undo": undo or None,
                "mass": None if step.payload is None else step.payload.mass,
                "com": None if step.payload is None else step.payload.com,
                "before": _as_json(before), "after": _as_json(told), "evidence": step.record})
        except CannotSave as error:
            self._node.get_logger().error(printable(str(error)))
            return f"; that is not recorded, so that undo does not know of it: {error}"
        return ""


def _as_json(reading: Reading | None) -> dict[str, Any] | None:
    """A reading as data."""
    return None if reading is None else {"values": dict(reading.values),
                                         "tolerance": dict(reading.tolerance)}


_FAILED = "apply_failed"  # finding


class ApplyService:
    """Applies payloads in a thread of its own, one after the other."""

    def __init__(self, node: ManagedNode, estimation: Estimation, compensation: CompensationTopics,
                 black_boxes: BlackBoxes) -> None:
        self._node, self._estimation = node, estimation
        self._jobs = ExecutorJobs()
        self._applications = Applications(node, estimation, compensation, black_boxes,
                                          Asking(node, self._jobs))
        self._thread = Worker({}, lambda *_: None)
        self._running: Future[Any] | None = None
        create_late_service(node, Apply, "~/apply", self._answer)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, timeout: float) -> bool:
        """End the thread; False where it still waits for somebody's answer after a time [s]."""
        return self._thread.stop(timeout)

    def step(self) -> None:
        """Do what the thread asks for; in the executor's thread."""
        self._jobs.step()

    def _answer(self, request: Apply.Request, response: Apply.Response) -> Future[Any]:
        """The response, as soon as it is there."""
        answered: Future[Any] = Future()

        def finish(done: Future[Answer]) -> None:
            answer = self._answer_of(done)
            response.success, response.sent = answer.success, answer.sent
            response.message = printable(answer.message)
            response.calls, response.left_out = answer.calls, answer.left_out
            answered.set_result(response)

        try:
            self._node.require_active()
            if self._running is not None and not self._running.done():
                raise Busy("another application is under way; try again later")
            self._running = job = self._thread.post(lambda: self._carry_out(
                request.target, request.estimate, request.send, request.undo))
        except InertialIdError as error:
            job = Future()
            job.set_exception(error)
        job.add_done_callback(finish)
        return answered

    def _answer_of(self, done: Future[Answer]) -> Answer:
        """The answer of an application that is over, whatever became of it."""
        if done.cancelled():
            return Answer(message="the node is shutting down")
        error = done.exception()
        if error is None:
            return done.result()
        if isinstance(error, InertialIdError):
            return Answer(message=str(error), sent=isinstance(error, NotTaken) and error.sent)
        self._node.get_logger().error(printable(f"apply: {type(error).__name__}: {error}"))
        return Answer(message=f"internal error: {error}", sent=True)  # who knows

    def _carry_out(self, target: str, estimate: str, send: bool, undo: bool) -> Answer:
        """Carry out a request, and keep a finding of what was not sent although it was asked for.
        """
        try:
            answer = self._applications.carry_out(target, estimate, send, undo)
        except InertialIdError as error:
            if send:
                self._estimation.findings.set(_FAILED, "warning", str(error))
            raise
        if send and answer.success:
            self._estimation.findings.clear(_FAILED)
        elif send:
            self._estimation.findings.set(_FAILED, "warning", answer.message)
        return answer
