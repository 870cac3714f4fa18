# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the numbers of successive messages tell."""

from __future__ import annotations

from enum import Enum, auto


class Order(Enum):
    """How a message stands to the one before it."""

    FIRST = auto()  # there was none
    NEXT = auto()  # newer, perhaps after some that were lost
    REPEATED = auto()  # the same number again
    RESTARTED = auto()  # the number has gone back: of another run, or of another publisher


class SequenceWatch:
    """Follows sequence numbers.

    Attributes:
        lost: messages that were left out; restarts: how often the number has gone back.
    """

    def __init__(self) -> None:
        self._last: int | None = None
        self.lost = self.restarts = 0

    def follow(self, number: int) -> Order:
        """Take the number of the next message; says how it stands to the one before."""
        last, self._last = self._last, number
        if last is None:
            return Order.FIRST
        if number == last:
            return Order.REPEATED
        if number < last:
            self.restarts += 1
            return Order.RESTARTED
        self.lost += number - last - 1
        return Order.NEXT
