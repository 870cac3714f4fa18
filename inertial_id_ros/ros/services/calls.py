# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Services whose answers come later."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from rclpy.node import Node


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
