# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What every program of ROS does with its arguments, and with signals."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from rclpy.utilities import remove_ros_args

from ..errors import InvalidSetting
from ..ros import compat


def start_ros(program: str, words: Sequence[str]) -> None:
    """Start rclpy with the ROS arguments among the words that follow the program's name.

    Raises:
        InvalidSetting: ROS does not understand them.
    """
    with _explain_refusal():
        compat.init([program, *words])


def without_ros_arguments(program: str, words: Sequence[str]) -> list[str]:
    """The words of a command line without its ROS arguments.

    Raises:
        InvalidSetting: ROS does not understand its own.
    """
    with _explain_refusal():
        return remove_ros_args([program, *words])[1:]


# What failed within ROS, and lines of its sources.
_NOISE = re.compile(
    r"^(failed to initialize rcl|Failed to parse ROS arguments): |,? at \S+\.c(pp)?:\d+")


def without_sources(text: str) -> str:
    """A message of rcl as one line that names no lines of its sources."""
    return _NOISE.sub("", " ".join(text.split()))


@contextmanager
def _explain_refusal() -> Iterator[None]:
    """Turn an error of ROS about its arguments into an InvalidSetting that names no sources."""
    try:
        yield
    except Exception as error:  # rclpy has no public base class for bad ROS arguments
        raise InvalidSetting(f"ROS arguments: {without_sources(str(error))}") from error


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
