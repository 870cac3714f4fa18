# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the numbers of successive messages tell."""

from __future__ import annotations

import math
from collections import deque
from enum import Enum, auto
from typing import Any

import numpy as np

from inertial_id_ros.msg import InertialParameters


class Order(Enum):
    """How a message stands to the one before it."""

    FIRST = auto()  # there was none
    NEXT = auto()  # newer, perhaps after some that were lost
    REPEATED = auto()  # the same message again
    CONFLICTING = auto()  # the same number with another content: most likely of another publisher
    RESTARTED = auto()  # the number has gone back: of another run, or of another publisher


_BREAKS = (Order.CONFLICTING, Order.RESTARTED)


class SequenceWatch:
    """Follows the numbers and contents of messages.

    The node gives each message a number of its own, its heartbeats too. So the numbers of two
    publishers go back again and again, or repeat with other contents where they run in step. One
    such break alone may be a publisher that was started again; a number that stands is one break,
    however often it is repeated.

    The number of publishers on the topic decides nothing: one that was killed is counted for
    another 20 s, and one that is inactive says nothing.

    Attributes:
        lost: messages that were left out; restarts: how often the number has gone back.
        broken: steady times of the last two breaks, the older one first [s].
    """

    def __init__(self) -> None:
        self._last: InertialParameters | None = None
        self._conflicting: int | None = None  # the last number that was given to two contents
        self.lost = self.restarts = 0
        self.broken: deque[float] = deque([-math.inf] * 2, maxlen=2)

    def follow(self, message: InertialParameters, now: float) -> Order:
        """Take the next message; says how it stands to the one before.

        Args:
            now: steady time [s].
        """
        last, self._last = self._last, message
        order = Order.FIRST if last is None else self._order(last, message)
        is_known = order is Order.CONFLICTING and message.sequence == self._conflicting
        if order in _BREAKS and not is_known:
            self.broken.append(now)
        if order is Order.CONFLICTING:
            self._conflicting = message.sequence
        return order

    def _order(self, before: InertialParameters, message: InertialParameters) -> Order:
        """How a message stands to the one before it; counts what is lost, and restarts."""
        number, last = message.sequence, before.sequence
        if number == last:
            return Order.REPEATED if _say_the_same(before, message) else Order.CONFLICTING
        if number < last:
            self.restarts += 1
            return Order.RESTARTED
        self.lost += number - last - 1
        return Order.NEXT


def _say_the_same(one: Any, other: Any) -> bool:
    """Whether two messages are the same, as one that is delivered twice; NaN equals NaN.

    Their serialized bytes would not tell: those that only align the fields are left as they are.
    """
    return all(_equal(getattr(one, name), getattr(other, name))
               for name in one.get_fields_and_field_types())


def _equal(one: Any, other: Any) -> bool:
    """Whether two values of a field are the same."""
    if hasattr(one, "get_fields_and_field_types"):
        return _say_the_same(one, other)
    if isinstance(one, float | np.ndarray):
        return np.array_equal(one, other, equal_nan=True)
    return bool(one == other)
