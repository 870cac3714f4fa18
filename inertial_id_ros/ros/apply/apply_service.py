# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The service ~/apply, and the applications that nobody has to ask for (apply.automatic)."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from inertial_id_ros.srv import Apply

from ...errors import InertialIdError, printable
from ...estimate import Estimate
from ..services.late_answers import create_late_service
from ..settings.authority import require_unlocked_service
from ..worker import Busy, Worker
from .application import Answer, Applications
from .asking import Asking
from .executor_jobs import ExecutorJobs

if TYPE_CHECKING:
    from ..node import InertialIdNode

_FAILED = "apply_failed"  # finding


class ApplyService:
    """Applies payloads in a thread of its own, one after the other.

    Attributes:
        asking: asks other nodes, for any thread but the executor's.
    """

    def __init__(self, node: InertialIdNode) -> None:
        self._node = node
        self._jobs = ExecutorJobs()
        self.asking = Asking(node, self._jobs)
        self._applications = Applications(node, self.asking)
        self._thread = Worker({"automatic": self._apply_by_itself}, self._report_failure)
        self._running: Future[Any] | None = None
        self._attempted = time.monotonic()
        create_late_service(node, Apply, "~/apply", self._answer)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, timeout: float) -> bool:
        """End the thread; False where it still waits for somebody's answer after a time [s]."""
        return self._thread.stop(timeout)

    def step(self) -> None:
        """Do what the thread asks for, and begin an automatic application where one is due; in the
        executor's thread."""
        self._jobs.step()
        settings = self._node.settings.apply
        now = time.monotonic()
        if (settings.automatic and self._node.is_active
                and now - self._attempted >= settings.interval):
            self._attempted = now
            self._thread.request("automatic")

    def _answer(self, request: Apply.Request, response: Apply.Response) -> Future[Any]:
        """The response, as soon as it is there."""
        answered: Future[Any] = Future()

        def finish(done: Future[Answer]) -> None:
            answer = self._answer_of(done)
            response.success, response.message = answer.success, printable(answer.message)
            response.calls, response.left_out = answer.calls, answer.left_out
            answered.set_result(response)

        try:
            require_unlocked_service(self._node.settings, "apply")
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
            return Answer(message=str(error))
        self._node.get_logger().error(printable(f"apply: {type(error).__name__}: {error}"))
        return Answer(message=f"internal error: {error}")

    def _carry_out(self, target: str, estimate: str, send: bool, undo: bool,
                   by_itself: bool = False) -> Answer:
        """Carry out a request, and keep a finding of what was not sent although it was asked for.
        """
        try:
            answer = self._applications.carry_out(target, estimate, send, undo, by_itself)
        except InertialIdError as error:
            if send:
                self._node.findings.set(_FAILED, "warning", str(error))
            raise
        if send and answer.success:
            self._node.findings.clear(_FAILED)
        elif send:
            self._node.findings.set(_FAILED, "warning", answer.message)
        return answer

    # ---- automatic -----------------------------------------------------------------------------

    def _apply_by_itself(self) -> None:
        """Apply the newest estimate, where there is one that is not told yet."""
        outcome = self._node.watchdog.outcome
        if isinstance(outcome, Estimate) and not outcome.stale:
            self._carry_out("", "", send=True, undo=False, by_itself=True)

    def _report_failure(self, _routine: str, error: Exception) -> None:
        """Keep what an automatic application raised; errors of the user are findings already."""
        if not isinstance(error, InertialIdError):
            self._node.findings.set(_FAILED, "error", f"{type(error).__name__}: {error}")
