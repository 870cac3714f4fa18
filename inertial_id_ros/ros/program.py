# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What every program of ROS does with its arguments, executors, signals and types of messages, and
with processes of its own, which live no longer than it."""

import importlib
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

import rclpy
import rclpy.logging
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from rclpy.utilities import remove_ros_args

from ..errors import InvalidSetting

GRACE = 4.0  # s to end after a signal
WAKE = 0.2  # s until a request to stop is seen when nothing else happens


def start_ros(program: str, words: Sequence[str]) -> list[str]:
    """Start rclpy with the ROS arguments among these words, without signal handlers, for which
    there is `stop_flag`; returns the other words (raises InvalidSetting: bad ROS arguments)."""
    try:
        rclpy.init(args=[program, *words], signal_handler_options=SignalHandlerOptions.NO)
        return remove_ros_args([program, *words])[1:]
    except Exception as error:  # rclpy has no base class of its errors
        text = re.sub(r",? at \S+\.c(pp)?:\d+", "", str(error))  # without lines of its sources
        raise InvalidSetting(f"ROS arguments: {' '.join(text.split())}") from error


def stop_flag() -> threading.Event:
    """An event that is set by every SIGINT and SIGTERM from now on."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop


def spin(executor: Any, stop: threading.Event, seconds: float = math.inf) -> None:
    """Run callbacks until stop is set, a time is over or the context is shut down.

    ``spin()`` of the events executor, which needs less processor time than others at 1 kHz topics,
    burns a core in some releases; waiting for a future that never comes does not.
    """
    end = time.monotonic() + seconds
    while not stop.is_set() and rclpy.ok() and time.monotonic() < end:
        try:
            executor.spin_until_future_complete(Future(), timeout_sec=WAKE)
        except Exception as error:  # of rclpy, which waits for what another thread just destroyed
            rclpy.logging.get_logger("executor").warning(f"{error}; it goes on")


def find_type(name: str) -> Any:
    """The Python class of a type such as ``std_msgs/msg/String``; None: it is not installed."""
    package, kind, message = name.split("/")
    try:
        return getattr(importlib.import_module(f"{package}.{kind}"), message)
    except (ImportError, AttributeError):
        return None


def message_type(name: str, required_by: str = "a program") -> Any:
    """The Python class of a type (raises InvalidSetting with what requires it: not installed)."""
    if (found := find_type(name)) is None:
        raise InvalidSetting(f"{required_by} needs {name}, which is not installed")
    return found


class Children:
    """Programs as processes; a context manager that ends them and what they started."""

    def __init__(self) -> None:
        self._running: list[tuple[str, subprocess.Popen[bytes], IO[bytes]]] = []

    def start(self, name: str, arguments: Sequence[str]) -> None:
        """Start a program; what it writes is kept for `describe_ended`."""
        output = tempfile.TemporaryFile()
        self._running.append((name, subprocess.Popen(
            [sys.executable, "-m", "inertial_id_ros.cli", name, *arguments], stdout=output,
            stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True), output))

    def describe_ended(self) -> str:
        """Name, status and last line of the first process that ended by itself; empty: none."""
        for name, process, output in self._running:
            if process.poll() is not None:
                output.seek(0)
                last = output.read().decode(errors="replace").strip().splitlines()[-1:]
                return ": ".join([f"{name} ended with status {process.returncode}", *last])
        return ""

    def __enter__(self) -> "Children":
        return self

    def __exit__(self, *error: object) -> None:
        for number in (signal.SIGINT, signal.SIGKILL):
            running = [process for _, process, _ in self._running if process.poll() is None]
            for process in running:
                os.killpg(process.pid, number)
            for process in running:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(GRACE)
