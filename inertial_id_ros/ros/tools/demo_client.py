# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The demo's own node: a program that knows nothing but the topics, services and parameters."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import InertiaStamped
from rcl_interfaces.srv import GetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.srv import GetInertialParameters

from ...io.messages import stamp_ns
from .. import compat
from .demo_record import Check, Record, inertia_numbers

_NODE = "/inertial_id_node"
_PAYLOAD = ("mass", "com", "inertia", "stamp")
_WAIT = 5.0  # s for an answer


class DemoClient:
    """Collects what the node publishes and the truth; asks service and parameters.

    Args:
        stop: set when the user wants to end.
    """

    def __init__(self, stop: threading.Event) -> None:
        compat.init([])
        self._stop = stop
        self.record = Record()
        self._node = rclpy.create_node("inertial_id_demo")
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        latched = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE,
                             durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._node.create_subscription(
            InertialParameters, f"{_NODE}/inertial_parameters", self.record.messages.append,
            latched)
        self._node.create_subscription(
            InertiaStamped, "/simulate_cobot/truth", self._take_truth, latched)

    def _take_truth(self, message: InertiaStamped) -> None:
        self.record.truth = inertia_numbers(message.inertia)

    def spin(self, seconds: float) -> None:
        """Receive for a while."""
        self._spin_until(lambda: False, seconds)

    def _spin_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Receive until a condition holds; False where it does not within so many seconds."""
        end = time.monotonic() + seconds
        while not condition() and not self._stop.is_set():
            left = end - time.monotonic()
            if left <= 0.0:
                return False
            self._executor.spin_once(timeout_sec=min(left, 0.05))
        return condition()

    def _ask(self, kind: Any, service: str, request: Any) -> Any:
        """The answer of a service; None where there is none in time."""
        client = self._node.create_client(kind, f"{_NODE}/{service}")
        if not self._spin_until(client.service_is_ready, _WAIT):
            return None
        future = client.call_async(request)
        return future.result() if self._spin_until(future.done, _WAIT) else None

    def ask_service(self) -> Check:
        """Whether ~/get_inertial_parameters gives the same numbers as the topic."""
        answer = self._ask(GetInertialParameters, "get_inertial_parameters",
                           GetInertialParameters.Request())
        if answer is None or not answer.success:
            return Check("service get_inertial_parameters: no answer" if answer is None else
                         f"service get_inertial_parameters: {answer.message}", False)
        parameters = answer.parameters
        return self._compare("service get_inertial_parameters",
                             stamp_ns(parameters.header.stamp), inertia_numbers(parameters.inertia))

    def ask_parameters(self) -> Check:
        """Whether the parameters payload.* give the same numbers as the topic."""
        names = [f"payload.{name}" for name in _PAYLOAD]
        answer = self._ask(GetParameters, "get_parameters", GetParameters.Request(names=names))
        if answer is None or len(answer.values) != len(names):
            return Check("parameters payload.*: no answer", False)
        mass, com, inertia, stamp = answer.values
        numbers = np.array([mass.double_value, *com.double_array_value,
                            *inertia.double_array_value])
        return self._compare("parameters payload.*", stamp.integer_value, numbers)

    def _compare(self, source: str, stamp: int, numbers: np.ndarray) -> Check:
        """The message of the same stamp may still be on its way."""
        self._spin_until(lambda: self.record.find(stamp) is not None, 1.0)
        message = self.record.find(stamp)
        if message is None:
            return Check(f"{source}: an estimate that was not published", False)
        same = np.array_equal(numbers, inertia_numbers(message.inertia))
        return Check(f"{source}: {numbers[0]:.4f} kg, "
                     f"{'agrees' if same else 'DISAGREES'} with the topic", same)

    def close(self) -> None:
        """Leave the ROS graph."""
        self._executor.shutdown()
        self._node.destroy_node()
        compat.shutdown()
