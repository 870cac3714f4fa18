"""Messages of one topic decoded all at once, where only stamps and numbers tell them apart.

A driver sends the same names in the same order for hours. The first message then tells where stamps
and numbers lie in all of them, and they are taken out of the stacked bytes as columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from .blocks import Edges, JointStates, Wrenches
from .cdr import LONGEST, Cursor, read_joint_state, read_transforms, read_wrench
from .inertia import Array

T = TypeVar("T")


class Mixed(Exception):
    """Messages of more than one layout."""


class _Survey(Cursor):
    """Notes where everything lies that it reads.

    Attributes:
        stamps: where stamps begin; numbers: slices of doubles; same: slices of what messages of
            one layout have in common (what lies between is padding, which nobody sets).
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.stamps: list[int] = []
        self.numbers: list[slice] = []
        self.same = [slice(0, 2)]

    def stamp(self) -> int:
        value = super().stamp()
        self.stamps.append(self.at - 8)
        return value

    def count(self, largest: int = LONGEST) -> int:
        value = super().count(largest)
        self.same.append(slice(self.at - 4, self.at))
        return value

    def text(self, longest: int = LONGEST) -> str:
        value = super().text(longest)
        self.same[-1] = slice(self.same[-1].start, self.at)
        return value

    def doubles(self, count: int) -> tuple[float, ...]:
        values = super().doubles(count)
        self.numbers.append(slice(self.at - 8 * count, self.at))
        return values


class _Stack:
    """Messages of one layout: the first one as read, and the bytes (n, length) of all."""

    def __init__(self, survey: _Survey, rows: np.ndarray) -> None:
        self._survey, self._rows = survey, rows

    def stamps(self, k: int) -> np.ndarray:
        """The k-th stamp of each message (n,) [ns]."""
        at, order = self._survey.stamps[k], self._survey.order
        seconds, nanoseconds = (self._column(at + shift, kind) for shift, kind in (
            (0, order + "i4"), (4, order + "u4")))
        return seconds.astype(np.int64) * 1_000_000_000 + nanoseconds

    def _column(self, at: int, kind: str) -> np.ndarray:
        return np.ascontiguousarray(self._rows[:, at:at + 4]).view(kind)[:, 0]

    def numbers(self, k: int) -> Array:
        """The k-th sequence of doubles of each message (n, count)."""
        part = self._rows[:, self._survey.numbers[k]]
        return np.ascontiguousarray(part).view(self._survey.order + "f8").astype(float)


def _stacked(messages: Sequence[bytes], read: Callable[[Cursor], T]) -> tuple[T, _Stack]:
    """The first message, and all of them.

    Raises:
        Mixed: they differ in more than stamps and numbers.
        struct.error, ValueError, IndexError: the first message is damaged.
    """
    length = len(messages[0])
    if any(len(data) != length for data in messages):
        raise Mixed
    survey = _Survey(messages[0])
    first = read(survey)
    rows = np.frombuffer(b"".join(messages), dtype=np.uint8).reshape(len(messages), length)
    if any((rows[:, part] != rows[0, part]).any() for part in survey.same):
        raise Mixed
    return first, _Stack(survey, rows)


def wrenches(messages: Sequence[bytes]) -> Wrenches | None:
    """Of serialised geometry_msgs/WrenchStamped; None if there are none (raises: `_stacked`)."""
    if not messages:
        return None
    first, stack = _stacked(messages, read_wrench)
    return Wrenches(stack.stamps(0), first.frame_id, stack.numbers(0))


def joint_states(messages: Sequence[bytes]) -> JointStates | None:
    """Of serialised sensor_msgs/JointState; None if there are none (raises: `_stacked`)."""
    if not messages:
        return None
    first, stack = _stacked(messages, read_joint_state)
    return JointStates(stack.stamps(0), first.names, stack.numbers(0))


def transforms(messages: Sequence[bytes]) -> tuple[Edges, ...]:
    """Of serialised tf2_msgs/TFMessage, at least one (raises: `_stacked`)."""
    first, stack = _stacked(messages, read_transforms)
    return tuple(Edges(stack.stamps(k), edge.parent, edge.child, stack.numbers(k))
                 for k, edge in enumerate(first))
