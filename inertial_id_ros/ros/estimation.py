# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The estimate of a node: the worker, which owns the identifier, and what is shown of its outcomes.

Others may wait for the worker; it waits for nobody. Methods of `Estimation` belong to it, unless
they say otherwise.
"""

from __future__ import annotations

import math
import threading
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from rclpy.serialization import deserialize_message

from ..errors import InertialIdError
from ..estimate import Estimate, NoEstimate, Outcome
from ..identify.beliefs import stated_by_driver
from ..identify.identifier import BATCH, Identifier
from ..io import decoding, inputs
from ..io.inputs import Edges, InputTopic, JointStates, Samples, Wrenches, split_by_time
from ..kinds import Finding, made, withdraw_doubted
from .conversions import Publishing, refuse_unphysical
from .program import message_type
from .streams import Subscriptions

T = TypeVar("T")
PATIENCE = 20.0  # s that a service waits, in a thread of its own; much for a machine that is busy
CHANGES = ("payload_changed", "zero_moved", "estimate_lost")  # kinds that end an estimate
SILENCE = 3.0  # s after the start before missing data are reported
# s of steady time without anything new after which an estimate is stale, so that a second holds
# with the delay of the watchdog.
STALE_AFTER = 0.8
PERIODS = 1.5  # of estimator.rate that an estimate may be old, where that is longer
HEARTBEAT = 0.8  # s after which the last outcome is published again
LOOK = 0.05  # s between two looks at the time
MARKS = 1024  # of arrivals, one each time that samples are taken


class Worker:
    """A thread that runs jobs one after the other."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="worker")
        self._next: Future[None] | None = None

    def request(self, routine: Callable[[], None], again: bool = False) -> None:
        """Have a routine run soon; nothing, where it was requested and has not ended, unless it is
        to run again: after what others have asked for."""
        if again or self._next is None or self._next.done():
            self._next = self._pool.submit(routine)

    def call(self, job: Callable[[], T], timeout: float = PATIENCE) -> T:
        """The result of a job, or what it raised (raises InertialIdError where it does not end
        within a time [s]; if it had not begun, it will not run any more)."""
        future = self._pool.submit(job)
        try:
            return future.result(timeout)
        except CancelledError:
            why = "the node is shutting down"
        except FutureTimeout:
            why = (f"busy with an estimate for {timeout:g} s; try again" if future.cancel() else
                   f"not finished within {timeout:g} s; it goes on")
        raise InertialIdError(why)

    def stop(self, timeout: float) -> None:
        """Finish what was posted, within a time [s]; what has not begun by then is dropped."""
        wait([self._pool.submit(lambda: None)], timeout)
        self._pool.shutdown(wait=False, cancel_futures=True)


class Freshness:
    """When samples of which stamp arrived, by the steady clock: stamps may be of any clock, and may
    jump. For any thread."""

    def __init__(self) -> None:
        self._marks: deque[tuple[int, float]] = deque(maxlen=MARKS)

    def note(self, newest: int, arrived: float) -> None:
        """The newest sample of the load [ns; 0: there is none] arrived at a steady time [s]."""
        if self._marks and newest < self._marks[-1][0]:
            self._marks.clear()  # the clock went back
        if newest and (not self._marks or newest > self._marks[-1][0]):
            self._marks.append((newest, arrived))

    def age_of(self, stamp: int) -> float:
        """Time since the sample of a stamp [ns] arrived [s]; NaN where that is not known."""
        marks = list(self._marks)
        if not marks or not stamp:
            return math.nan
        # The next arrival that is known; in between, stamps run with the steady clock.
        newest, arrived = marks[min(bisect_left(marks, (stamp,)), len(marks) - 1)]
        return max(time.monotonic() - arrived + 1e-9 * max(newest - stamp, 0), 0.0)

    def judged(self, outcome: Outcome, rate: float) -> Outcome:
        """The outcome, as stale where it is no longer fresh while estimates are made at a rate
        [Hz]."""
        if not isinstance(outcome, Estimate):
            return outcome
        marks, limit, reason = self._marks, max(STALE_AFTER, PERIODS / rate), outcome.stale_reason
        if marks and time.monotonic() - marks[-1][1] > STALE_AFTER:
            reason = f"no data with new stamps have been processed for {STALE_AFTER:g} s"
        elif not self.age_of(outcome.stamp_ns) <= limit:
            reason = f"the newest sample used arrived more than {limit:.3g} s ago"
        return outcome if reason == outcome.stale_reason else outcome.as_stale(reason)


class Estimation:
    """See the module; `on_error` is called with what should not happen.

    Attributes:
        worker: the thread that owns the identifier; freshness: ages of its samples.
        streams: None while the node is inactive.
        outcome: what is shown, whoever asks; findings_now: that belong to it.
        notes: findings of the node itself, by name; each belongs to one thread.
    """

    def __init__(self, identifier: Identifier, publishing: Publishing,
                 on_error: Callable[[Exception], object]) -> None:
        self.identifier, self.worker, self.notes = identifier, Worker(), dict[str, Finding]()
        self._publishing, self._on_error = publishing, on_error
        self.outcome: Outcome = NoEstimate(0, "", "the node is inactive")
        self.findings_now: tuple[Finding, ...] = ()
        self._lock = threading.Condition()  # of what is shown
        self._begin(None)

    def _begin(self, streams: Subscriptions | None) -> None:
        self.streams, self.freshness = streams, Freshness()
        self._newest, self._frame = 0, ""  # stamp of the load, frame of the wrench
        self._stated: np.ndarray = np.array(())  # payload that the driver compensates
        self._seen: tuple[Any, ...] = ()  # of the identifier's newest outcome
        self._changes: list[str] = []  # findings of changes
        self._parts: list[list[Samples]] = []  # that have arrived and are not used yet
        self._asked = 0  # stamp of an outcome that was not due, but asked for
        self._published = time.monotonic()

    # ---- from any thread ------------------------------------------------------------------------

    def start(self, streams: Subscriptions) -> None:
        """Use these streams from now on."""
        self._begin(streams)
        self._show(NoEstimate(0, "", "waiting for the first estimate"))
        streams.start(lambda: self.worker.request(self._advance))

    def end(self, reason: str, timeout: float = PATIENCE) -> None:
        """Stop: discard all data, so that nothing old counts as new later, and show that there is
        no estimate any more (raises InertialIdError where the worker takes longer)."""
        if (streams := self.streams) is None:
            return

        def forget() -> None:
            streams.compensation.withhold(reason)
            self.streams = None
            self.identifier.reset(reason)
            self._show(NoEstimate(self.outcome.stamp_ns, self.outcome.frame_id, reason))

        self.worker.call(forget, timeout)
        streams.close(reason)

    def look(self) -> None:
        """Publish what is shown anew where it has become stale, or is due again; in any thread that
        does so again and again."""
        with self._lock:
            if self.streams is None:
                return
            judged = self._judged(self.outcome)
            if judged is not self.outcome or time.monotonic() - self._published >= HEARTBEAT:
                self._publish(judged)

    def wait_for(self, condition: Callable[[Outcome], bool], timeout: float) -> Outcome:
        """What is shown as soon as a condition holds of it, or after a time [s]."""
        with self._lock:
            self._lock.wait_for(lambda: condition(self.outcome), timeout)
            return self.outcome

    def place(self, frame: str, child: str) -> tuple[Any, int | None]:
        """The pose of a frame in another, as the worker knows it, and its time [ns] where they move
        against each other (raises UnknownFrame)."""
        return self.worker.call(lambda: self.identifier.streams.tree().place(frame, child))

    def note(self, name: str, why: str = "", **numbers: Any) -> None:
        """Set a finding of the node with what its sentence needs, or clear it where nothing is
        given."""
        if why or numbers:
            self.notes[name] = made(name, why=why, **numbers)
        else:
            self.notes.pop(name, None)

    # ---- what comes in --------------------------------------------------------------------------

    def _advance(self) -> None:
        """Take what has arrived, estimate, and publish. Of much, as after a search on a busy
        machine, a part each time: a service must not wait for all estimates that are due."""
        streams = self.streams
        if streams is None:
            return
        try:
            if not self._parts:
                self._parts = list(split_by_time(self._collect(streams), BATCH)) or [[]]
            outcomes = self.identifier.add_arrays(self._parts.pop(0))
            streams.compensation.update(self.identifier, self._frame)
            for outcome in outcomes:
                self._show(outcome)
            self._show_changes()
            self.note("internal_error")
            if self._parts:
                self.worker.request(self._advance, again=True)
        except Exception as error:  # one bad round must not end the identification
            self._on_error(error)
            self.note("internal_error", f"{type(error).__name__}: {error}")
            self._parts = []
            self.identifier.reset("an internal error")
            self._show_changes()

    def _collect(self, streams: Subscriptions) -> list[Samples]:
        """The samples that have arrived, once."""
        arrived, samples = streams.arrived[streams.load_topic], list[Samples]()
        for topic, messages in streams.take().items():
            samples += self._take(streams, topic, messages)
        self.freshness.note(self._newest, arrived)
        return samples

    def _take(self, streams: Subscriptions, topic: InputTopic, messages: list[bytes]
              ) -> list[Samples]:
        """Use what the messages of a topic say; returns their samples, and counts damaged ones."""
        identifier = self.identifier
        if topic in inputs.PAYLOADS.values():
            self._attempt("payload_not_added", lambda: self._use_payload(topic, messages[-1]))
            return []
        if topic is inputs.ROBOT_DESCRIPTION:
            self._attempt("robot_description_invalid", lambda: (
                identifier.set_robot_description(decoding.text(messages[-1]))))
            return []
        decoded = decoding.decode(topic, messages)
        if decoded.damaged:
            streams.damaged[topic] += decoded.damaged
            self.note(f"message_malformed.{topic.setting.partition('.')[0]}", decoded.why,
                      count=streams.damaged[topic])
        load = Wrenches if identifier.settings.load.source == "wrench" else JointStates
        for some in decoded.samples:
            if isinstance(some, load):
                self._newest = int(some.stamps[-1])
            if isinstance(some, Wrenches):
                self._frame = some.frame_id.lstrip("/")
            if isinstance(some, Edges) and topic is inputs.STATIC_TRANSFORMS:
                for row in some.rows:
                    identifier.add_static_transform(some.parent, some.child, row[:3], row[3:])
        return [] if topic is inputs.STATIC_TRANSFORMS else decoded.samples

    def _attempt(self, finding: str, use: Callable[[], None]) -> None:
        """Use something; the finding says why it cannot be used."""
        try:
            use()
            self.note(finding)
        except (InertialIdError, ValueError) as error:  # tried again with the next message
            self.note(finding, str(error))

    def _use_payload(self, topic: InputTopic, data: bytes) -> None:
        """Believe that the driver compensates the payload that its message states."""
        identifier = self.identifier
        stated = decoding.stated_payload(
            topic, data, identifier.settings.precompensated.name,
            lambda data, kind: deserialize_message(data, message_type(kind)))
        if stated is not None and not np.array_equal(stated.values, self._stated):
            phi = stated_by_driver(stated.values, stated.frame, identifier.settings,
                                   identifier.streams)
            self._stated = stated.values
            identifier.believe(replace(identifier.beliefs, compensated=phi))

    # ---- what is shown --------------------------------------------------------------------------

    def reset(self, reason: str) -> None:
        """Forget all samples, those that wait to be used, too, and show that."""
        if self.streams is not None:
            self._collect(self.streams)
        self._parts = []
        self.identifier.reset(reason)
        self.solve()

    def solve(self) -> None:
        """Estimate with the samples so far, and publish: something was changed."""
        outcome = self.identifier.solve()
        self._asked = outcome.stamp_ns
        if self.streams is not None:
            self.streams.compensation.update(self.identifier, self._frame)
        self._show(outcome)

    def _show_changes(self) -> None:
        """Show what the identifier says now, where that is another than it said before, or where
        there are other findings."""
        changes = [f.text for f in self.identifier.findings() if f.kind in CHANGES]
        if changes != self._changes:  # the next estimate may not be due for long
            self._changes = changes
            if changes:
                self.solve()
                return
        outcome, shown = self.identifier.outcome, self.outcome
        if isinstance(outcome, Estimate) and (
                outcome.stamp_ns < self._asked <= self.identifier.streams.newest):
            reason, outcome = outcome.stale_reason, shown
            if isinstance(shown, Estimate) and reason and not shown.stale:
                outcome = shown.as_stale(reason)
        names = {*self.notes, *(f.name for f in self.identifier.findings())}
        if _key(outcome) != self._seen or names != {f.name for f in self.findings_now}:
            self._show(outcome)

    def _show(self, outcome: Outcome) -> None:
        self._seen = _key(outcome)
        why = ""
        if isinstance(outcome, NoEstimate) and not outcome.is_finding and (
                self.streams is not None and time.monotonic() - self.streams.begun > SILENCE):
            why = f"no estimate: {outcome.reason}{self.streams.other_topics()}"
        self.note("no_estimate", why)
        notes = tuple(self.notes.copy().values())
        outcome = withdraw_doubted(refuse_unphysical(outcome), notes)
        with self._lock:
            self.findings_now = *notes, *self.identifier.findings()
            self._publish(self._judged(outcome))

    def _publish(self, outcome: Outcome) -> None:
        self.outcome, self._published = outcome, time.monotonic()
        self._lock.notify_all()
        self._publishing.publish_outcome(outcome, self.findings_now,
                                         self.freshness.age_of(outcome.stamp_ns))

    def _judged(self, outcome: Outcome) -> Outcome:
        return self.freshness.judged(outcome, self.identifier.settings.estimator.rate)


def _key(outcome: Outcome) -> tuple[Any, ...]:
    """By what an outcome differs from one that was shown before."""
    return ((outcome.stamp_ns, outcome.stale) if isinstance(outcome, Estimate) else
            (outcome.reason,))
