# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The thread that owns the identifier. Others may wait for it; it waits for nobody."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as FutureTimeout
from typing import TypeVar

from ..errors import InertialIdError

T = TypeVar("T")
PATIENCE = 20.0  # s that a service waits, in a thread of its own; much for a machine that is busy


class Busy(InertialIdError):
    """The worker could not take the job, or not finish it, in the time given."""


class Worker:
    """Runs jobs one after the other."""

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
