# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Jobs that belong into the executor's thread, handed over by a thread that waits for them.

Clients and subscriptions are made and destroyed there only, since an executor that is about to wait
for them must not lose them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, TypeVar

from ..worker import Busy

T = TypeVar("T")
_PATIENCE = 5.0  # s; the executor's thread may wait for the worker meanwhile


class ExecutorJobs:
    """A queue of jobs, which `step` empties in the executor's thread."""

    def __init__(self) -> None:
        self._jobs: deque[tuple[Future[Any], Callable[[], Any]]] = deque()

    def run(self, job: Callable[[], T]) -> T:
        """Have the executor's thread run a job; from any other thread (raises Busy)."""
        future: Future[T] = Future()
        self._jobs.append((future, job))
        try:
            return future.result(_PATIENCE)
        except FutureTimeout:
            if not future.cancel() and future.done():
                return future.result()
            raise Busy("the node was too busy to ask the target; try again") from None

    def step(self) -> None:
        """Run what waits; in the executor's thread."""
        while self._jobs:
            future, job = self._jobs.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(job())
            except Exception as error:  # handed to the thread that waits
                future.set_exception(error)
