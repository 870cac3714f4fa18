# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The demo's own node, which knows nothing but topics, services and parameters, and what it saw:
every estimate beside the truth, and whether that is good enough."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import rclpy
from geometry_msgs.msg import Inertia, InertiaStamped
from rcl_interfaces.srv import GetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.srv import GetInertialParameters

from ...inertia import Array
from ...io.messages import stamp_ns
from ...ros import compat

MASS_TOLERANCE = 0.01  # relative
COM_TOLERANCE = 0.002  # m


def inertia_numbers(inertia: Inertia) -> Array:
    """mass, com, and tensor entries about the centre of mass (10,) of a message."""
    c = inertia.com
    return np.array([inertia.m, c.x, c.y, c.z, inertia.ixx, inertia.ixy, inertia.ixz, inertia.iyy,
                     inertia.iyz, inertia.izz])


def can_exist(inertia: Inertia) -> bool:
    """Whether a rigid body can have this inertia, judged from the message alone.

    Positive mass and principal moments about the centre of mass that obey the triangle
    inequalities (Traversaro et al. 2016), which is the same as a positive definite pseudo-inertia.
    """
    i = inertia
    tensor = [[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]]
    if not (np.isfinite(tensor).all() and np.isfinite([i.com.x, i.com.y, i.com.z]).all()):
        return False
    low, middle, high = np.linalg.eigvalsh(tensor)
    return bool(np.isfinite(i.m) and i.m > 0.0 and low > 0.0 and low + middle > high)


class Check(NamedTuple):
    """One condition of success: what it says, and whether it holds."""

    text: str
    passed: bool


@dataclass
class Record:
    """Messages as they came.

    Attributes:
        truth: mass, com and inertia about it (10,), sensor frame; None until received.
        messages: all InertialParameters, in order.
    """

    truth: Array | None = None
    messages: list[InertialParameters] = field(default_factory=list)

    @property
    def valid(self) -> list[InertialParameters]:
        """Messages with an estimate."""
        return [m for m in self.messages if m.valid]

    def times(self) -> Array:
        """Stamps of the valid messages (n,) [s] since the first message with a stamp."""
        stamps = [stamp_ns(m.header.stamp) for m in self.messages]
        first = next((s for s in stamps if s > 0), 0)
        return np.array([(stamp_ns(m.header.stamp) - first) * 1e-9 for m in self.valid])

    def values(self) -> Array:
        """Estimates (n, 10)."""
        return np.array([inertia_numbers(m.inertia) for m in self.valid]).reshape(-1, 10)

    def sigmas(self) -> Array:
        """Standard deviations (n, 10)."""
        covariances = np.array([m.covariance for m in self.valid]).reshape(-1, 10, 10)
        return np.sqrt(np.maximum(np.einsum("nii->ni", covariances), 0.0))

    def find(self, stamp: int) -> InertialParameters | None:
        """The newest valid message with that stamp [ns]."""
        return next((m for m in reversed(self.valid) if stamp_ns(m.header.stamp) == stamp), None)

    def checks(self) -> list[Check]:
        """The conditions of success."""
        valid = self.valid
        found = [Check(f"{len(valid)} valid estimates received", bool(valid))]
        if not valid or self.truth is None:
            return found + ([] if self.truth is not None else [Check("no truth received", False)])
        impossible = sum(not can_exist(m.inertia) for m in valid)
        found.append(Check(f"{len(valid) - impossible} of {len(valid)} are bodies that can exist",
                           impossible == 0))
        last = self.values()[-1]
        mass = abs(last[0] / self.truth[0] - 1.0)
        com = float(np.linalg.norm(last[1:4] - self.truth[1:4]))
        found.append(Check(f"mass off by {mass:.2%} (allowed {MASS_TOLERANCE:.0%})",
                           mass <= MASS_TOLERANCE))
        found.append(Check(f"centre of mass off by {com * 1e3:.2f} mm "
                           f"(allowed {COM_TOLERANCE * 1e3:.0f} mm)", com <= COM_TOLERANCE))
        return found


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
