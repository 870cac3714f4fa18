# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The estimate of a node: the worker, which owns the identifier, and what is shown of its outcomes.

Others may wait for the worker; it waits for nobody. Methods of `Estimation` belong to it, but for
`look` and those of any thread; what is published is so under a lock.
"""

import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, TypeVar

from rclpy import task
from rclpy.serialization import deserialize_message

from ..errors import InertialIdError
from ..estimate import UNOBSERVED, Estimate, NoEstimate, Outcome
from ..identify.identifier import Identifier
from ..io import decoding, inputs
from ..io.inputs import Edges, InputTopic, JointStates, Samples, Wrenches
from ..kinds import Finding, made, withdraw_doubted
from .conversions import Publishing, payload_text
from .io_thread import IoThread
from .program import message_type

T = TypeVar("T")
PATIENCE = 20.0  # s that a service waits; much for a machine that is busy
# s of steady time without anything new after which an estimate is stale, so that a second holds
# with the delay of the watchdog.
STALE_AFTER = 0.8
PERIODS = 1.5  # of estimator.rate that an estimate may be old, where that is longer
HEARTBEAT = 0.8  # s after which the last outcome is published again
PART = 1.0  # s of messages that are used at once: services must not wait for all of a search
LOOK = 0.1  # s between two looks at the time


class Worker(ThreadPoolExecutor):
    """A thread of a name that runs jobs one after the other; wake: of an executor of coroutines."""

    def __init__(self, name: str, wake: Callable[[], None]) -> None:
        super().__init__(1, thread_name_prefix=name)
        self._wake = wake
        self._next: Future[None] | None = None

    def request(self, routine: Callable[[], None]) -> None:
        """Have a routine run soon; nothing, where it was requested and has not ended."""
        if self._next is None or self._next.done():
            self._next = self.submit(routine)

    def call(self, job: Callable[[], T], timeout: float = PATIENCE) -> T:
        """The result of a job, or what it raised (raises InertialIdError where it does not end
        within a time [s]; if it had not begun, it will not run any more)."""
        future = self.submit(job)
        try:
            return future.result(timeout)
        except FutureTimeout:
            raise InertialIdError(
                f"busy with an estimate for {timeout:g} s; try again" if future.cancel() else
                f"not finished within {timeout:g} s; it goes on") from None

    async def answer(self, job: Callable[[], T]) -> T:
        """The same for a coroutine of the executor; a job that has begun in time is waited for."""
        def begin() -> T:
            if time.monotonic() > end:
                raise InertialIdError(f"busy with an estimate for {PATIENCE:g} s; try again")
            return job()

        end, ended = time.monotonic() + PATIENCE, task.Future()
        future = self.submit(begin)
        future.add_done_callback(ended.set_result)
        future.add_done_callback(lambda _: self._wake())
        await ended
        return future.result()


class Estimation:
    """See the module; node: whose executor runs coroutines, and which explains what happens.

    Attributes:
        worker: the thread that owns the identifier; apply: one that waits for drivers.
        turn: is there with the next look at the time.
        io: the thread that receives; None while the node is inactive.
        outcome: what is shown, whoever asks; findings_now: that belong to it.
        notes: findings of the node itself, by name; each belongs to one thread.
    """

    def __init__(self, identifier: Identifier, publishing: Publishing, node: Any) -> None:
        self.identifier, self.turn, self.notes = identifier, task.Future(), dict[str, Finding]()
        self.worker, self.apply = [Worker(n, node.executor.wake) for n in ("worker", "apply")]
        self._publishing, self._explain = publishing, node.explain
        self.outcome: Outcome = NoEstimate(0, "", "the node is inactive")
        self.findings_now: tuple[Finding, ...] = ()
        self._lock = threading.Lock()  # of what is shown
        self._begin(None)

    def _begin(self, io: IoThread | None) -> None:
        self.io, self._frame = io, ""  # of the wrench
        # Stamp of the newest sample of the load [ns], and when it arrived: one that stands still
        # does not arrive again.
        self._newest: tuple[int, float] = (0, 0.0)
        self._stated = decoding.StateReader()
        self._seen: Outcome = NoEstimate(0, "", "")  # shown last, as it came
        self._asked: Outcome = self._seen  # the last that was not due
        self._published = time.monotonic()

    # ---- from any thread ------------------------------------------------------------------------

    def start(self, io: IoThread) -> None:
        """Take in what this thread receives from now on."""
        self._begin(io)
        self._show(NoEstimate(0, "", "waiting for the first estimate"))
        io.start(lambda: self.worker.request(self._advance))

    def end(self, reason: str, timeout: float = PATIENCE) -> None:
        """Stop: discard all data, so that nothing old counts as new later, and show that there is
        no estimate any more (raises InertialIdError where the worker takes longer)."""
        if (io := self.io) is None:
            return

        def forget() -> None:
            io.withhold(reason)
            self.io = None
            self.identifier.reset(reason)
            self._show(NoEstimate(self.outcome.stamp_ns, self.outcome.frame_id, reason))

        self.worker.call(forget, timeout)
        io.close(reason)

    def look(self) -> None:
        """Publish what is shown anew where it has become stale, or is due again; in the thread of
        the executor, again and again."""
        turn, self.turn = self.turn, task.Future()
        turn.set_result(None)
        with self._lock:
            if self.io is None:
                return
            judged = self._judged(self.outcome)
            if judged is not self.outcome or time.monotonic() - self._published >= HEARTBEAT:
                self._publish(judged)

    def age_of(self, stamp: int) -> float:
        """Time since the sample of a stamp [ns] arrived [s]: by the steady clock since the newest
        one did, and by stamps, which may be of any clock, before; NaN where it is not known."""
        newest, arrived = self._newest
        return time.monotonic() - arrived + 1e-9 * max(newest - stamp, 0) if (
            newest and stamp) else math.nan

    def note(self, name: str, why: str = "", **numbers: Any) -> None:
        """Set a finding of the node with what its sentence needs, or clear it where nothing is
        given."""
        if why or numbers:
            self.notes[name] = made(name, why=why, **numbers)
        else:
            self.notes.pop(name, None)

    # ---- what comes in --------------------------------------------------------------------------

    def _advance(self) -> None:
        """Take what has arrived, estimate, and publish."""
        io = self.io
        if io is None:
            return
        try:
            outcomes = self.identifier.add_arrays(self._collect(io))
            io.update(self.identifier, self._frame)
            for outcome in outcomes:
                self._show(outcome)
            self._show_changes()
        except Exception as error:  # one bad round must not end the identification
            self.identifier.reset(self._explain(error))

    def _collect(self, io: IoThread, seconds: float = PART) -> list[Samples]:
        """The samples that arrived first, in so long a time [s], once."""
        return [some for topic, messages in io.take(seconds).items() if messages
                for some in self._take(io, topic, *zip(*messages, strict=True))]

    def _take(self, io: IoThread, topic: InputTopic, times: Sequence[float],
              messages: Sequence[bytes]) -> list[Samples]:
        """Use what the messages of a topic say; returns their samples, and counts damaged ones."""
        identifier = self.identifier
        if topic not in decoding.READERS:
            self._use(topic, messages[-1])
            return []
        samples, damaged, why = decoding.decode(topic, messages)
        if damaged:
            io.damaged[topic] += damaged
            self.note(f"message_malformed.{topic.setting.partition('.')[0]}", why,
                      count=io.damaged[topic])
        load = JointStates if identifier.settings.load.robot else Wrenches
        for some in samples:
            if isinstance(some, load) and some.stamps[-1] != self._newest[0]:
                self._newest = int(some.stamps[-1]), times[-1]
            if isinstance(some, Wrenches):
                self._frame = some.frame_id.lstrip("/")
            if isinstance(some, Edges) and topic is inputs.STATIC_TRANSFORMS:
                for row in some.rows:
                    identifier.add_static_transform(some.parent, some.child, row[:3], row[3:])
        return [] if topic is inputs.STATIC_TRANSFORMS else samples

    def _use(self, topic: InputTopic, data: bytes) -> None:
        """Use the robot description, or the payload that the driver states, of a message; a finding
        says why it cannot be used."""
        identifier, is_robot = self.identifier, topic is inputs.ROBOT_DESCRIPTION
        finding = "robot_description_invalid" if is_robot else "payload_not_added"
        try:
            if is_robot:
                identifier.set_robot_description(decoding.Reader(data).text())
            else:
                stated = self._stated.payload(deserialize_message(data, message_type(topic.type)),
                                              identifier.settings.precompensated.name)
                identifier.by_driver = stated or identifier.by_driver
            self.note(finding)
        except (InertialIdError, ValueError) as error:  # tried again with the next message
            self.note(finding, str(error))

    # ---- what is shown --------------------------------------------------------------------------

    def reset(self, reason: str) -> str:
        """Forget all samples, those that wait to be used, too, and show that; what was done."""
        if self.io is not None:
            self._collect(self.io, math.inf)
        self.identifier.reset(reason)
        self.solve()
        return "buffer and estimate are forgotten"

    def solve(self) -> None:
        """Estimate with the samples so far, and publish: something was changed."""
        self._asked = self.identifier.solve()
        if self.io is not None:
            self.io.update(self.identifier, self._frame)
        self._show(self._asked)

    def _show_changes(self) -> None:
        """Publish the identifier's outcome where it or its findings differ from what was published
        last; one that was asked for since, and is no older, stays, perhaps as stale."""
        outcome, asked = self.identifier.outcome, self._asked
        if isinstance(outcome, Estimate) and (
                outcome.stamp_ns <= asked.stamp_ns <= self.identifier.streams.newest):
            reason, outcome = outcome.stale_reason, asked
            if isinstance(asked, Estimate) and reason and not asked.stale:
                outcome = asked.as_stale(reason)
        names = {*self.notes, *(f.name for f in self.identifier.findings())}
        is_new = outcome is not self._seen and payload_text(outcome) != payload_text(self._seen)
        if is_new or names != {f.name for f in self.findings_now}:
            self._show(outcome)

    def _show(self, outcome: Outcome) -> None:
        self._seen = outcome
        if isinstance(outcome, Estimate) and not outcome.doubted and (
                outcome.verdict[0] == UNOBSERVED):
            outcome = NoEstimate(outcome.stamp_ns, outcome.frame_id,
                                 "the mass is not identified yet: move more", outcome.findings)
        notes = tuple(self.notes.copy().values())
        outcome = withdraw_doubted(outcome, notes)
        with self._lock:
            self.findings_now = *notes, *self.identifier.findings()
            self._publish(self._judged(outcome))

    def _publish(self, outcome: Outcome) -> None:
        self.outcome, self._published = outcome, time.monotonic()
        self._publishing.publish_outcome(outcome, self.findings_now, self.age_of(outcome.stamp_ns))

    def _judged(self, outcome: Outcome) -> Outcome:
        """The outcome, as stale where it is no longer fresh."""
        if not isinstance(outcome, Estimate):
            return outcome
        limit = max(STALE_AFTER, PERIODS / self.identifier.settings.estimator.rate)
        reason = outcome.stale_reason
        if time.monotonic() - self._newest[1] > STALE_AFTER:
            reason = f"no data with new stamps have been processed for {STALE_AFTER:g} s"
        elif not self.age_of(outcome.stamp_ns) <= limit:
            reason = f"the newest sample used arrived more than {limit:.3g} s ago"
        return outcome if reason == outcome.stale_reason else outcome.as_stale(reason)
