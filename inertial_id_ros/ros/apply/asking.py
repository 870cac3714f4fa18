# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Asks services and topics of other nodes, and waits for what they answer; not in the executor's
thread."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any

from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy

from ...errors import InertialIdError
from .executor_jobs import ExecutorJobs

_POLL = 0.02  # s
_TIMES = 4  # that a question is asked: a service that has just been found may lose an answer
_QOS = QoSProfile(depth=100, history=HistoryPolicy.KEEP_LAST,
                  reliability=ReliabilityPolicy.BEST_EFFORT)


class NoAnswer(InertialIdError):
    """There is no such service, or it does not answer."""


class NoResponse(NoAnswer):
    """A service was asked, and does not answer."""


class Asking:
    """Clients and subscriptions of a node that live as long as a question.

    Args:
        jobs: run by the executor's thread; also an attribute.
    """

    def __init__(self, node: Node, jobs: ExecutorJobs) -> None:
        self._node, self.jobs = node, jobs

    def ask(self, kind: Any, service: str, request: Any, timeout: float) -> Any:
        """As `call`, for a request that changes nothing: it may be sent several times."""
        return self.call(kind, service, request, timeout, _TIMES)

    def call(self, kind: Any, service: str, request: Any, timeout: float, times: int = 1) -> Any:
        """The response of a service within a time [s]; times: that the request is sent at most.

        Raises:
            NoAnswer: it is not there; NoResponse: it does not answer.
        """
        client = self.jobs.run(lambda: self._node.create_client(kind, service))
        try:
            end = time.monotonic() + timeout
            while not client.service_is_ready():
                if time.monotonic() > end:
                    raise NoAnswer(f"there is no service '{service}'")
                time.sleep(_POLL)
            return self._wait(client, service, request, timeout, times)
        finally:
            self.jobs.run(lambda: self._node.destroy_client(client))

    def _wait(self, client: Any, service: str, request: Any, timeout: float, times: int) -> Any:
        """The response to a request that is sent so often (raises NoResponse)."""
        answered: Future[Any] = Future()

        def pass_on(done: Any) -> None:
            if answered.done() or done.cancelled():
                return
            if done.exception() is not None:
                answered.set_exception(done.exception())
            else:
                answered.set_result(done.result())

        def send() -> None:
            client.call_async(request).add_done_callback(pass_on)

        for _ in range(times):
            self.jobs.run(send)
            with contextlib.suppress(FutureTimeout):
                return answered.result(timeout / times)
        raise NoResponse(f"service '{service}' did not answer within {timeout:g} s")

    def listen(self, kind: Any, topic: str, timeout: float,
               enough: Callable[[list[Any]], bool]) -> list[Any]:
        """Messages of a topic until they are enough, or a time [s] is over."""
        messages: list[Any] = []
        arrived = threading.Event()

        def take(message: Any) -> None:
            messages.append(message)
            arrived.set()

        subscription = self.jobs.run(
            lambda: self._node.create_subscription(kind, topic, take, _QOS))
        try:
            end = time.monotonic() + timeout
            while not enough(messages) and (left := end - time.monotonic()) > 0.0:
                arrived.wait(left)
                arrived.clear()
        finally:
            self.jobs.run(lambda: self._node.destroy_subscription(subscription))
        return messages
