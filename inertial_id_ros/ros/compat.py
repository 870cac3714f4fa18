# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Types of messages by name, and rclpy without its own handling of signals."""

from __future__ import annotations

import importlib
import threading
from typing import Any

import rclpy
from rclpy.experimental import EventsExecutor
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from ..errors import InvalidSetting

WAKE = 0.2  # s until a request to stop is seen when nothing else happens


def init(arguments: list[str] | None = None) -> None:
    """Start rclpy without its signal handlers, in place of which there are those of `program`."""
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)


def make_executor() -> Any:
    """The events executor: it needs a third of the processor time of others at 1 kHz topics."""
    return EventsExecutor()


def spin(executor: Any, stop: threading.Event) -> None:
    """Run callbacks until stop is set or the context is shut down.

    ``spin()`` of the events executor burns a core in some releases; waiting for a future that
    never comes does not.
    """
    never: Any = Future()
    while not stop.is_set() and rclpy.ok():
        executor.spin_until_future_complete(never, timeout_sec=WAKE)


def shutdown() -> None:
    """Shut rclpy down if it still runs."""
    rclpy.try_shutdown()


def message_type(name: str, required_by: str = "") -> Any:
    """The Python class of a type such as ``std_msgs/msg/String``.

    Args:
        required_by: setting that asks for it, or topic that has it.

    Raises:
        InvalidSetting: it is not installed, and the text names what asks for it.
        ImportError, AttributeError, ValueError: it is not installed, or not the name of a type.
    """
    package, kind, message = name.split("/")
    try:
        return getattr(importlib.import_module(f"{package}.{kind}"), message)
    except (ImportError, AttributeError) as error:
        if not required_by:
            raise
        raise InvalidSetting(f"{required_by} needs {package}/{message}, which is not installed "
                             f"({' '.join(str(error).split())})") from error


def find_type(name: str) -> Any:
    """The Python class of a type; None where it is not installed."""
    try:
        return message_type(name)
    except (ImportError, AttributeError):
        return None
