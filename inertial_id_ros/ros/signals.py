# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A clean exit on SIGINT and SIGTERM at any moment.

rclpy's own handlers raise KeyboardInterrupt in whatever Python runs at that moment; with a plain
flag nothing is interrupted half-way, and a second signal (launch sends two) does no harm.
Until a program calls `stop_flag`, a signal ends it at once (`cli`).
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def stop_flag() -> threading.Event:
    """An event that is set by every SIGINT and SIGTERM from now on."""
    stop = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        stop.set()

    for number in _SIGNALS:
        signal.signal(number, ask)
    return stop


def leave_in_time(stop: threading.Event, patience: float, leave: Callable[[], object]) -> None:
    """Call `leave` this long [s] after a stop, wherever the other threads are by then; a process
    that has ended before is not affected."""

    def wait() -> None:
        stop.wait()
        time.sleep(patience)
        leave()

    threading.Thread(target=wait, name="end", daemon=True).start()


def ignore_signals() -> None:
    """Have signals do nothing any more: while Python ends, it puts the default actions back, and a
    launch file sends SIGINT twice."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
