# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Hands out the newest payload that may be used, or the reason why there is none."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import NamedTuple

from rclpy.node import Node

from inertial_id_ros.msg import InertialParameters

from ...errors import InvalidData
from ...estimate import ParameterVerdict
from ...io.messages import stamp_ns
from ..compat import with_message_info
from .contract import TOPIC, received_qos
from .message_checks import body_of, why_unusable
from .payload import GROUPS, NoPayload, Payload
from .sequence_watch import Order, SequenceWatch

_TWO_BREAKS = 10.0  # s within which a second break means that two programs publish


class _Received(NamedTuple):
    """A message, and the steady time at which its newest sample arrived at the latest [s], where
    that is known."""

    message: InertialParameters
    arrived: float | None


class PayloadClient:
    """Subscribes to the payload of a node, and judges what comes by the steady clock alone.

    How long a message waited for the executor is told by the middleware in times of the system
    clock, which may be set meanwhile; that it did not come before the message before was taken,
    is certain but for the time that it is under way. So its age counts from the earlier of the two:
    a message after a silence, and the first one, are used only when another follows, which takes a
    period of estimator.rate, or .85 s.

    `newest` may be called from any thread. The node's executor must run.

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
        self._frame_id = frame_id.lstrip("/")
        self._sequence = SequenceWatch()
        self._received: _Received | None = None
        self._last_taken = -math.inf  # steady time [s]
        self._node = node
        self._subscription = node.create_subscription(
            InertialParameters, topic, with_message_info(self._take), received_qos())

    @property
    def lost(self) -> int:
        """Messages that did not arrive, or were replaced by newer ones before they were taken."""
        return self._sequence.lost

    @property
    def restarts(self) -> int:
        """How often the numbers of the messages have gone back."""
        return self._sequence.restarts

    def close(self) -> None:
        """Subscribe no more."""
        self._node.destroy_subscription(self._subscription)

    def _take(self, message: InertialParameters, info: Mapping[str, int]) -> None:
        """Keep a message; it is judged when somebody asks.

        Args:
            info: of the middleware: when it arrived, by the system clock [ns].
        """
        received = info.get("received_timestamp", 0)
        waited = max(0.0, 1e-9 * (time.time_ns() - received)) if received > 0 else 0.0
        order = self._sequence.follow(message, time.monotonic())
        if order is Order.REPEATED:  # it says nothing new, nor that the node lives
            return
        arrived = None
        if order is Order.NEXT:
            arrived = min(self._last_taken, time.monotonic() - waited) - message.age
            last = self._received
            if (last is not None and last.arrived is not None
                    and last.message.header.stamp == message.header.stamp):
                arrived = min(arrived, last.arrived)  # the same sample gets no younger
        self._received, self._last_taken = _Received(message, arrived), time.monotonic()

    def newest(self) -> Payload | NoPayload:
        """The newest payload, if it may be used now, or the reason why there is none.

        The newest message alone decides: what came before may be of another payload.
        """
        received = self._received
        if received is None:
            return NoPayload(f"no message has arrived on '{self.topic}'")
        message, arrived = received
        if time.monotonic() - self._sequence.broken[0] < _TWO_BREAKS:
            return NoPayload(f"the numbers of the messages on '{self.topic}' go back or repeat "
                             "again and again: more than one program publishes there")
        reason = why_unusable(message, self.require)
        if reason:
            return NoPayload(reason)
        frame = message.header.frame_id.lstrip("/")
        if self._frame_id and frame != self._frame_id:
            return NoPayload(f"the numbers are given in '{frame}', and not in '{self._frame_id}'")
        if arrived is None:
            return NoPayload("the first message of a run has arrived, and how long it waited is "
                             "not known before the next")
        self._frame_id = frame
        return self._hand_out(message, arrived)

    def _hand_out(self, message: InertialParameters, arrived: float) -> Payload | NoPayload:
        """The payload of a message that may be used, if it is not too old.

        Args:
            arrived: steady time at which its newest sample arrived at the latest [s].
        """
        body, age = body_of(message), time.monotonic() - arrived
        if age > self.max_age:
            return NoPayload(f"the newest sample used is {age:.2f} s old; max_age is "
                             f"{self.max_age:g} s")
        return Payload(
            body.mass, body.com, body.inertia_com, message.covariance.reshape(10, 10).copy(),
            tuple(ParameterVerdict(v) for v in message.verdict), message.header.frame_id,
            message.tool_apart, stamp_ns(message.header.stamp), message.sequence, arrived,
            arrived + self.max_age)
