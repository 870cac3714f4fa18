# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What every service does: whether it may be called now, and how often; answers that come later."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any

from rclpy.node import Node

from ...errors import InertialIdError
from ...settings import Settings


class Locked(InertialIdError):
    """The settings allow nobody to do that while the node runs."""


def require_unlocked_parameters(settings: Settings, names: Iterable[str]) -> None:
    """Raise Locked where one of these parameters cannot be set any more."""
    for name in names:
        if settings.security.locks_parameter(name):
            raise Locked(f"{name} is locked, because security.lock_parameters is "
                         f"'{settings.security.lock_parameters}'; set it when the node starts")


def require_unlocked_service(settings: Settings, name: str) -> None:
    """Raise Locked where a service refuses every request."""
    if name in settings.security.locked_services:
        raise Locked(f"{name} is locked, because security.lock_services is "
                     f"'{settings.security.lock_services}'")


SPAN = 10.0  # s


class TooOften(InertialIdError):
    """Clients called too often."""


class CallLimit:
    """Counts the calls of all clients; used in the executor's thread.

    Args:
        limit: calls that are admitted within `SPAN`.
        done: what the calls have done, for the sentence of a refusal; loop: who calls in a loop to
            do that, for the warning.
        now: monotonic time [s].
    """

    def __init__(self, limit: int, done: str, loop: str,
                 now: Callable[[], float] = time.monotonic) -> None:
        self.limit, self._done, self._loop, self._now = limit, done, loop, now
        self._admitted: deque[float] = deque(maxlen=limit)
        self._refused, self._last_refused = 0, -SPAN

    def admit(self) -> None:
        """Admit one more call (raises TooOften)."""
        now = self._now()
        if len(self._admitted) == self.limit and now - self._admitted[0] < SPAN:
            self._refused += 1
            self._last_refused = now
            raise TooOften(f"{self._done} {self.limit} times in the last {SPAN:g} s; more is "
                           "refused, so that estimates can be made")
        self._admitted.append(now)

    def warning(self) -> str:
        """One sentence where calls were refused lately, else empty."""
        if self._now() - self._last_refused >= SPAN:
            self._refused = 0
        if not self._refused:
            return ""
        return (f"{self._loop}: more than {self.limit} times in {SPAN:g} s, and {self._refused} "
                "were refused")


def flush_limit(now: Callable[[], float] = time.monotonic) -> CallLimit:
    """The limit on requests to forget the data."""
    return CallLimit(
        10, "the data were forgotten", "reset, set_tool, goals of identify or changes of "
        "precompensated ask in a loop to forget the data", now)


def parameter_limit(now: Callable[[], float] = time.monotonic) -> CallLimit:
    """The limit on parameters that are set; a file of all of them stays far below."""
    return CallLimit(100, "parameters were set", "parameters are set in a loop", now)


def rejection_limit(now: Callable[[], float] = time.monotonic) -> CallLimit:
    """The limit on rejected goals that are logged one by one."""
    return CallLimit(10, "goals were rejected", "goals of identify are rejected in a loop", now)


class _Late:
    """Stands for a response until both the response and the caller's header are there."""

    def __init__(self, future: Future[Any], send: Callable[[Any, Any], None]) -> None:
        self._future, self._send = future, send

    def attach(self, header: Any) -> None:
        """Send the response to this caller as soon as it is there."""
        self._future.add_done_callback(lambda done: self._send(done.result(), header))


def create_late_service(node: Node, kind: Any, name: str,
                        answer: Callable[[Any, Any], Future[Any]]) -> None:
    """Create a service whose callback returns a future of the response, which never fails.

    Args:
        answer: takes request and response; the future may be done in any thread.
    """
    closed = threading.Event()
    service = node.create_service(kind, name, lambda request, response: _Late(
        answer(request, response), send))
    send_now = service.send_response

    def send(response: Any, header: Any) -> None:
        if closed.is_set():
            return
        try:
            send_now(response, header)
        except Exception:  # the service was destroyed meanwhile: nobody waits any more
            closed.set()

    service.send_response = lambda response, header: response.attach(header)
