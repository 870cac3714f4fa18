# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""For programs that use the payload: `PayloadClient` gives it while it can be relied on, and else
the reason why not. `docs/use_payload.md` says what the node promises."""

import inspect
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.time import Time

from inertial_id_ros.msg import InertialParameters

from .errors import InvalidData
from .estimate import UNOBSERVED, ParameterVerdict
from .inertia import GROUPS, Array, is_consistent, phi_from_body
from .kinds import STOPPING, Doubt
from .ros.conversions import TOPIC, body_of, verdicts_of

__all__ = ["NoPayload", "Payload", "PayloadClient"]


@dataclass(frozen=True, eq=False)
class Payload:
    """A payload that is physically possible, and was young enough when it was returned."""

    mass: float  # [kg]
    com: Array  # centre of mass (3,) [m], in the axes and about the origin of frame_id
    inertia: Array  # about the centre of mass (3, 3) [kg m^2], in the same axes
    covariance: Array  # (10, 10), SI units, of mass, com, and inertia xx, xy, xz, yy, yz, zz
    verdict: tuple[ParameterVerdict, ...]  # on these ten; what is UNOBSERVED must not be used
    frame_id: str
    tool_apart: bool  # True if a stored tool is no part of it
    stamp_ns: int  # stamp of the newest sample used [ns]
    sequence: int  # number of the message
    arrived: float  # steady time at which that sample arrived at the earliest [s]
    expires: float  # steady time from which on the payload is too old [s]

    @property
    def age(self) -> float:
        """Time since the newest sample used arrived, now and at most [s]."""
        return time.monotonic() - self.arrived

    @property
    def sigma(self) -> Array:
        """Standard deviations (10,) in the order of the covariance."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def is_known(self, group: str) -> bool:
        """True if all of "mass", "com" or "inertia" may be used."""
        return UNOBSERVED not in self.verdict[GROUPS[group]]


@dataclass(frozen=True)
class NoPayload:
    """There is no payload that may be used, for a reason in one sentence; false in a condition."""

    reason: str

    def __bool__(self) -> bool:
        return False


class PayloadClient:
    """Subscribes to the payload of a node; `newest` may be called from any thread, while an
    executor spins the program's node.

    Ages are bounds by the steady clock, as the system clock may be set: no message arrived before
    the one before it was taken, nor before the subscription, which gets none that was published
    earlier. After a silence longer than max_age a second message must follow, within a period of
    estimator.rate, or .9 s.

    Args:
        node: of the program. topic: of the node that identifies.
        max_age: bound on the time since the newest sample used has arrived [s]; at 2 Hz, ages
            reach a second and a half.
        frame_id: in which the numbers must be given; empty: that of the first message.
        require: "mass", "com" or "inertia", which must be known; each includes those before.

    Raises:
        InvalidData: max_age is not positive, or require is none of these.
    """

    def __init__(self, node: Node, topic: str = TOPIC, max_age: float = 2.0, frame_id: str = "",
                 require: str = "mass") -> None:
        if not max_age > 0.0:
            raise InvalidData(f"max_age is {max_age:g} s; it must be above 0")
        if require not in GROUPS:
            raise InvalidData(f"require is '{require}'; allowed: {', '.join(GROUPS)}")
        self.topic, self.max_age, self.require = topic, max_age, require
        self._node, self._frame_id = node, frame_id.lstrip("/")
        # The newest message, and when its newest sample arrived at the earliest [s, steady].
        self._received, self._taken = (InertialParameters(), -math.inf), time.monotonic()

        def take(*arrived: Any) -> None:  # some executors pass both as one tuple
            self._take(*(arrived[0] if len(arrived) == 1 else arrived))

        # By its signature rclpy knows that the callback wants the message info.
        take.__signature__ = inspect.signature(self._take)  # type: ignore[attr-defined]
        self._subscription = node.create_subscription(InertialParameters, topic, take, 1)

    def close(self) -> None:
        """Subscribe no more."""
        self._node.destroy_subscription(self._subscription)

    def _take(self, message: InertialParameters, info: Mapping[str, int]) -> None:
        """Keep a message; info: of the middleware, as its arrival by the system clock [ns]."""
        now, received = time.monotonic(), info.get("received_timestamp", 0)
        waited = max(0.0, 1e-9 * (time.time_ns() - received)) if received > 0 else 0.0
        (last, before), arrived = self._received, min(self._taken, now - waited) - message.age
        if last.header.stamp == message.header.stamp:
            arrived = min(arrived, before)  # the same sample gets no younger
        self._received, self._taken = (message, arrived), now

    def newest(self) -> Payload | NoPayload:
        """The newest payload, if it may be used now, or the reason why there is none. The newest
        message alone decides: what came before may be of another payload."""
        message, arrived = self._received
        body, verdict, frame = body_of(message), verdicts_of(message), (
            message.header.frame_id.lstrip("/"))
        age = time.monotonic() - arrived
        needed = list(GROUPS)[:list(GROUPS).index(self.require) + 1]
        unknown = [name for name in needed if UNOBSERVED in verdict[GROUPS[name]]]
        for is_wrong, why in (
                (self._node.count_publishers(self.topic) > 1,
                 f"more than one program publishes on '{self.topic}'"),
                (not message.sequence, f"no message has arrived on '{self.topic}'"),
                (not message.valid, f"the node has no estimate: {message.status}"),
                (message.stale, f"the node holds an old estimate: {message.status}"),
                (Doubt(message.doubt) & STOPPING,
                 f"the node is in doubt: {next(iter(message.diagnostics), message.status)}"),
                (not 0.0 <= message.age < math.inf, f"the message has no age ({message.age:g} s)"),
                (unknown, f"the motion so far does not determine the {', '.join(unknown)}"),
                (not all(np.isfinite(part).all() for part in (*body, message.covariance))
                 or not is_consistent(phi_from_body(*body)),
                 "no rigid body has the numbers of the message"),
                (self._frame_id not in ("", frame),
                 f"the numbers are given in '{frame}', and not in '{self._frame_id}'"),
                (age > self.max_age, f"the newest sample used may be {age:.2f} s old; max_age is "
                                     f"{self.max_age:g} s")):
            if is_wrong:
                return NoPayload(why)
        self._frame_id = frame
        return Payload(
            *body, message.covariance.reshape(10, 10).copy(), verdict, message.header.frame_id,
            message.tool_apart, Time.from_msg(message.header.stamp).nanoseconds, message.sequence,
            arrived, arrived + self.max_age)
