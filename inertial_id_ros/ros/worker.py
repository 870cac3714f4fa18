# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The threads beside the executor's: the worker, and the reader of what comes from outside.

The worker owns the identifier: it runs periodic work by name, and jobs that services post. The
executor's thread may wait for the worker, for a limited time; the worker never waits for the
executor. So the two cannot lock each other. The reader reads what may take long: large
descriptions, meshes, sets of points. The worker goes on with estimates meanwhile, and the
executor's thread with messages. The reading itself is done by another process
(`io.child_process`), for which this thread waits.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, TypeVar

from ..errors import InertialIdError
from ..export.urdf import without_payloads
from ..io.child_process import ChildProcess
from ..kinematics.robot_description import simplify

T = TypeVar("T")


class Busy(InertialIdError):
    """The worker could not take the job, or not finish it, in the time given."""


class Worker:
    """Runs periodic work and jobs in turn, so that neither keeps the other waiting for long.

    Args:
        routines: periodic work by name; what was requested first runs first.
        failed: called in the worker with what a routine raised; the worker lives on.
        before: called before a job is posted, by who posts it.
    """

    def __init__(self, routines: dict[str, Callable[[], None]],
                 failed: Callable[[str, Exception], None],
                 before: Callable[[], object] = lambda: None) -> None:
        self._routines, self._failed, self._before = routines, failed, before
        self._changed = threading.Condition()
        self._jobs: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._requested: dict[str, None] = {}  # an ordered set
        self._running = ""
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="identifier", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, timeout: float) -> bool:
        """Ask the thread to end and wait for it [s]; False where it still runs."""
        with self._changed:
            self._stopping = True
            while self._jobs:
                self._jobs.popleft()[0].cancel()
            self._changed.notify()
        if self._thread.ident is not None:  # started
            self._thread.join(timeout)
        return not self._thread.is_alive()

    @property
    def stopping(self) -> bool:
        """Whether `stop` was called."""
        return self._stopping

    @property
    def waiting(self) -> int:
        """Number of the jobs that have not begun."""
        return len(self._jobs)

    def request(self, routine: str) -> bool:
        """Request a run of a routine; False, and no request, where one already waits or runs."""
        with self._changed:
            if routine in self._requested or routine == self._running:
                return False
            self._requested[routine] = None
            self._changed.notify()
            return True

    def post(self, job: Callable[[], T]) -> Future[T]:
        """Have the worker run a job, without waiting for it."""
        if not self._stopping:
            self._before()
        future: Future[T] = Future()
        with self._changed:
            if self._stopping:
                future.cancel()
                return future
            self._jobs.append((future, job))
            self._changed.notify()
        return future

    def call(self, job: Callable[[], T], timeout: float) -> T:
        """Have the worker run a job, and wait for its result at most `timeout` [s].

        Raises:
            Busy: not in that time; a job that had not begun will not run any more.
            Exception: what the job raised.
        """
        future = self.post(job)
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

    def _run(self) -> None:
        """Run jobs and routines in turn until stopped."""
        had_job = False
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopping or self._jobs or self._requested)
                if self._stopping:
                    return
                had_job = bool(self._jobs) and not (had_job and self._requested)
                job = self._jobs.popleft() if had_job else None
                if job is None:
                    self._running = next(iter(self._requested))
                    del self._requested[self._running]
            if job is not None:
                _carry_out(*job)
                job = None  # while this waits for the next one, it must not keep what it held
            else:
                self._run_routine()

    def _run_routine(self) -> None:
        """Run the routine that was requested first, and report what it raises."""
        try:
            self._routines[self._running]()
        except Exception as error:  # one bad round must not end the identification
            self._failed(self._running, error)
        finally:
            with self._changed:
                self._running = ""


def _carry_out(future: Future[Any], job: Callable[[], Any] | None) -> None:
    """Run a job and hand its result or exception to its future."""
    if job is None or not future.set_running_or_notify_cancel():
        return
    try:
        result = job()
    except Exception as error:  # handed to the thread that waits
        job = error.__context__ = error.__cause__ = None
        # An error keeps the frames that it came through, and they keep messages that may be large.
        future.set_exception(error.with_traceback(None))
    else:
        job = None
        future.set_result(result)


_MOST_WAITING = 4  # pieces of data; each may have the size of the largest message


class OutsideReader:
    """Reads one piece of data after the other; of descriptions only the newest.

    Args:
        on_description: gets, in the reader's thread, a description as it came, and the same such
            that it can be parsed at once, or why it cannot be used.
        failed: called with the name of a routine and what it raised.

    Attributes:
        description: the newest robot description that could be read, as it came; empty: none.
    """

    def __init__(self, on_description: Callable[[str, str | InertialIdError], None],
                 failed: Callable[[str, Exception], None]) -> None:
        self._on_description = on_description
        self.child = ChildProcess()
        self._thread = Worker({"read a description": self._read_description}, failed)
        self._newest: str | None = None
        self.description = ""
        self._waiting: list[Future[object]] = []

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, timeout: float) -> bool:
        """End the thread and the other process; False where the thread still runs after [s]."""
        self.child.stop()
        return self._thread.stop(timeout)

    def read_description(self, urdf: str) -> None:
        """Read this description in place of those that still wait; in the executor's thread."""
        self._newest = urdf
        self._thread.request("read a description")

    def resume(self) -> None:
        """Begin with a description that came while another was read; forget what is done."""
        self._waiting = [future for future in self._waiting if not future.done()]
        if self._newest is not None:
            self._thread.request("read a description")

    def run(self, job: Callable[[], None]) -> None:
        """Have the thread do something else, which takes a fraction of a second; in any thread."""
        self._thread.post(job)

    def post(self, read: Callable[[ChildProcess], T]) -> Future[T]:
        """Have the thread read something; in the executor's thread (raises Busy)."""
        self.resume()
        if len(self._waiting) >= _MOST_WAITING:
            raise Busy(f"{_MOST_WAITING} requests wait to be read already; try again later")
        future = self._thread.post(lambda: read(self.child))
        self._waiting.append(future)  # type: ignore[arg-type]
        return future

    def _read_description(self) -> None:
        urdf, self._newest = self._newest, None
        if urdf is None:
            return
        before, self.description = self.description, urdf
        plain = without_payloads(urdf)
        if (before != urdf or plain != urdf) and plain == without_payloads(before):
            return  # with a payload of export_payload: the robot is as it was, and so are the data
        try:
            self._on_description(urdf, simplify(urdf, self.child))
        except InertialIdError as error:
            self.description = before
            # An error keeps the frames that it came through, and they keep the text.
            self._on_description(urdf, error.with_traceback(None))
