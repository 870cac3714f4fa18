# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What differs between ROS distributions (Humble, Jazzy, newer), in one place."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from ..errors import InvalidSetting

_WAKE = 0.2  # seconds until a stop request is seen when nothing else happens


def init(arguments: list[str] | None = None) -> None:
    """Start rclpy without its signal handlers, in place of which there are those of `signals`."""
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)


def make_executor() -> Any:
    """The events executor where there is one (Jazzy and newer), else the single-threaded one.

    The events executor needs a third of the processor time at 1 kHz topics. A multi-threaded
    executor loses most messages at these rates.
    """
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def spin(executor: Any, stop: threading.Event) -> None:
    """Run callbacks until stop is set or the context is shut down.

    ``spin()`` of the events executor burns a core in some releases; waiting for a future that
    never comes does not.
    """
    never: Any = Future()
    while not stop.is_set() and rclpy.ok():
        executor.spin_until_future_complete(never, timeout_sec=_WAKE)


def waiting_messages(subscription: Any, most: int) -> Iterator[tuple[int, bytes]]:
    """Serialised messages that wait in a subscription which no executor serves, at most so many,
    each with the time at which it was received by the system clock [ns]; 0: not known."""
    with subscription.handle:
        for _ in range(most):
            taken = subscription.handle.take_message(subscription.msg_type, True)
            if taken is None:
                return
            data, info = taken
            yield info["received_timestamp"], data


def is_running() -> bool:
    """Whether rclpy was started and not shut down."""
    return bool(rclpy.ok())


def shutdown() -> None:
    """Shut rclpy down if it still runs."""
    if rclpy.ok():
        rclpy.shutdown()


def with_message_info(callback: Callable[[Any, Any], None]) -> Callable[..., None]:
    """A subscriber's callback of message and message info that every executor can call: the events
    executor (Jazzy, Kilted) hands over both as one tuple, the others as two arguments."""

    def take(*arrived: Any) -> None:
        callback(*(arrived[0] if len(arrived) == 1 else arrived))

    # By its signature rclpy knows that the callback wants the message info.
    take.__signature__ = inspect.signature(callback)  # type: ignore[attr-defined]
    return take


def parameter_overrides(node: Node) -> dict[str, Any]:
    """Values given on the command line or in parameter files, by name; {} where rclpy hides them.

    Declared parameters get their overrides through the public interface; this serves only to find
    names that nobody declares, for which rclpy has no public way.
    """
    overrides = getattr(node, "_parameter_overrides", {})
    return {name: parameter.value for name, parameter in overrides.items()}


def message_type(name: str, required_by: str = "") -> Any:
    """The Python class of a type such as ``std_msgs/msg/String``.

    Args:
        required_by: setting that asks for a type that not every installation has.

    Raises:
        InvalidSetting: it is not installed, and a setting asks for it, which the text names.
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
    """The Python class of a type, as `std_msgs/msg/String`; None where it is not installed."""
    try:
        return message_type(name)
    except (ImportError, AttributeError):
        return None


def exit_process(status: int) -> None:
    """End the process at once, even while other threads run."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
