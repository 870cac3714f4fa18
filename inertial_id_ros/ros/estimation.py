# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The estimate of a node: the worker, which owns the identifier, and what is shown of its outcomes.

Others may wait for the worker; it waits for nobody. Methods of `Estimation` belong to it, unless
they say otherwise.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, TypeVar

import numpy as np

from ..errors import InertialIdError, InvalidData
from ..estimate import Estimate, NoEstimate, Outcome
from ..identify.identifier import Identifier
from ..io.sample_blocks import split_by_time
from ..kinds import Finding, doubt_in, withdraw_doubted
from .contract import HEARTBEAT, Freshness
from .conversions import refuse_unphysical
from .intake import Intake, Notes
from .publishing import Publishing
from .streams import Subscriptions

T = TypeVar("T")
PATIENCE = 20.0  # s that a service waits, in a thread of its own; much for a machine that is busy
PART = 500  # samples after which is published what they show, where many wait
CHANGES = ("payload_changed", "zero_moved", "estimate_lost")  # kinds that end an estimate
SILENCE = 3.0  # s after the start before missing data are reported


class Busy(InertialIdError):
    """The worker could not take the job, or not finish it, in the time given."""


class Worker:
    """A thread that runs jobs one after the other."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="worker")
        self._stopped = False
        self._next: Future[None] | None = None

    def request(self, routine: Callable[[], None]) -> None:
        """Have a routine run soon; nothing, where it was requested and has not ended."""
        if not self._stopped and (self._next is None or self._next.done()):
            self._next = self._pool.submit(routine)

    def call(self, job: Callable[[], T], timeout: float = PATIENCE) -> T:
        """The result of a job, for which is waited at most some time [s].

        Raises:
            Busy: not in that time; a job that had not begun will not run any more.
            Exception: what the job raised.
        """
        if self._stopped:
            raise Busy("the node is shutting down")
        future = self._pool.submit(job)
        try:
            return future.result(timeout)
        except CancelledError:
            raise Busy("the node is shutting down") from None
        except FutureTimeout:
            if future.cancel():
                raise Busy(f"busy with an estimate for {timeout:g} s; try again") from None
            if future.done():  # just now
                return future.result()
            raise Busy(f"not finished within {timeout:g} s; it goes on") from None

    def stop(self, timeout: float) -> None:
        """Finish what was posted, within a time [s]; what has not begun by then is dropped."""
        self._stopped = True
        wait([self._pool.submit(lambda: None)], timeout)
        self._pool.shutdown(wait=False, cancel_futures=True)


class Estimation:
    """See the module.

    Args:
        on_error: is told of what should not happen.

    Attributes:
        worker: the thread that owns the identifier; notes: findings of the node.
        streams: None while the node is inactive.
        outcome: what is shown, whoever asks; findings_now: that belong to it.
    """

    def __init__(self, identifier: Identifier, publishing: Publishing,
                 on_error: Callable[[Exception], None]) -> None:
        self.identifier, self.worker, self.notes = identifier, Worker(), Notes()
        self._publishing, self._on_error = publishing, on_error
        self.streams: Subscriptions | None = None
        self.freshness, self._intake = Freshness(), Intake(identifier, self.notes)
        self.outcome: Outcome = NoEstimate(0, "", "the node is inactive")
        self.findings_now: tuple[Finding, ...] = ()
        self._seen: tuple[Any, ...] = ()  # of the identifier's newest outcome
        self._changes: list[str] = []  # findings of changes
        self._asked = 0  # stamp of an outcome that was not due, but asked for
        self._published = self._started = time.monotonic()
        self._lock = threading.Condition()  # of what is shown

    # ---- from other threads ---------------------------------------------------------------------

    def start(self, streams: Subscriptions) -> None:
        """Use these streams from now on."""
        self.freshness, self._intake = Freshness(), Intake(self.identifier, self.notes)
        self._started = time.monotonic()
        self.streams = streams
        self._show(NoEstimate(0, "", "waiting for the first estimate"))
        streams.start(lambda: self.worker.request(self._advance))

    def end(self, reason: str, timeout: float = PATIENCE) -> None:
        """Stop: discard all data, so that nothing old is taken for new later, and show that there
        is no estimate any more (raises Busy where the worker cannot do that in time)."""
        def forget() -> None:
            if self.streams is not None:
                self.streams.compensation.withhold(reason)
            self.streams = None
            self.identifier.reset(reason)
            self._show(NoEstimate(self.outcome.stamp_ns, self.outcome.frame_id, reason))

        streams = self.streams
        self.worker.call(forget, timeout)
        if streams is not None:
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
            self._publishing.draw()

    def wait_for(self, condition: Callable[[Outcome], bool], timeout: float) -> Outcome:
        """What is shown as soon as a condition holds of it, or after a time [s]."""
        with self._lock:
            self._lock.wait_for(lambda: condition(self.outcome), timeout)
            return self.outcome

    # ---- rounds ---------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Take what has arrived, estimate, and publish."""
        streams = self.streams
        if streams is None:
            return
        try:
            arrived = streams.inbox.received[streams.load_topic].arrived
            samples = self._intake.take(streams.inbox)
            self.freshness.note(self._intake.newest, arrived)
            for part in list(split_by_time(samples, PART)) or [[]]:
                outcomes = self.identifier.add_arrays(part)
                streams.compensation.update(self.identifier, self._intake.frame)
                for outcome in outcomes:
                    self._show(outcome)
                self._follow()
            self.notes.say("internal_error")
        except Exception as error:  # one bad round must not end the identification
            self._on_error(error)
            self.notes.say("internal_error", f"{type(error).__name__}: {error}")
            self.identifier.reset("an internal error")
            self._follow()

    def _follow(self) -> None:
        """Show what the identifier says now, where that is another than it said before, or what
        else is in doubt."""
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
        if _key(outcome) != self._seen or (
                doubt_in(self._findings()) != doubt_in(self.findings_now)):
            self._show(outcome)

    def _findings(self) -> tuple[Finding, ...]:
        return (*self.notes.all(), *self.identifier.findings())

    def solve(self) -> None:
        """Estimate with the samples so far, and publish: something was changed."""
        outcome = self.identifier.solve()
        self._asked = outcome.stamp_ns
        if self.streams is not None:
            self.streams.compensation.update(self.identifier, self._intake.frame)
        self._show(outcome)

    # ---- what is shown --------------------------------------------------------------------------

    def _show(self, outcome: Outcome) -> None:
        self._seen = _key(outcome)
        why = ""
        if isinstance(outcome, NoEstimate) and not outcome.is_finding and (
                time.monotonic() - self._started > SILENCE):
            hint = self.streams.other_topics() if self.streams is not None else ""
            why = f"no estimate: {outcome.reason}{hint}"
        self.notes.say("no_estimate", why)
        findings = self._findings()
        outcome = withdraw_doubted(refuse_unphysical(outcome), self.notes.all())
        with self._lock:
            self.findings_now = findings
            self._publish(self._judged(outcome))

    def _judged(self, outcome: Outcome) -> Outcome:
        """The outcome, as stale where it is no longer fresh."""
        if not isinstance(outcome, Estimate):
            return outcome
        reason = self.freshness.why_stale(outcome, self.identifier.settings.estimator.rate)
        return outcome if reason in ("", outcome.stale_reason) else outcome.as_stale(reason)

    def _publish(self, outcome: Outcome) -> None:
        self.outcome, self._published = outcome, time.monotonic()
        self._lock.notify_all()
        self._publishing.publish_outcome(outcome, self.findings_now, self.freshness.age(outcome))

    # ---- for services ---------------------------------------------------------------------------

    def lookup(self, target: str, source: str, fixed: bool = False) -> tuple[Any, Any, int | None]:
        """Rotation (3, 3) and translation (3,) of the source in the target, and the stamp [ns] of
        the pose; None: they are fixed to each other.

        Raises:
            UnknownFrame: a frame is not known; InvalidData: they move, and should be fixed.
        """
        place, stamp = self.identifier.streams.tree().place(target.lstrip("/"),
                                                              source.lstrip("/"))
        if fixed and stamp is not None:
            raise InvalidData(f"frame '{target}' moves against '{source}'")
        return np.array(place.rotation), np.array(place.translation), stamp


def _key(outcome: Outcome) -> tuple[Any, ...]:
    """By what an outcome differs from one that was shown before."""
    return ((outcome.stamp_ns, outcome.stale) if isinstance(outcome, Estimate) else
            (outcome.reason,))
