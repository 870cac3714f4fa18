# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The queue of samples: one thread appends blocks, the one that owns the identifier takes them out.

Ticks between the blocks say when estimates are made: at times of arrival that are multiples of a
period. So they are functions of messages, their times of arrival and settings alone, live as in a
replay, however busy the machine is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from ..io.sample_blocks import Samples, join_streams

ROOM = 400_000  # samples that may wait


class Tick(NamedTuple):
    """A time of arrival [ns]: samples before it are used without those behind it; solves: whether
    an estimate is made of them."""

    time_ns: int
    solves: bool


class Ticks:
    """The ticks of two periods.

    Args:
        begin_ns: time at or before the first message [ns]; round_ns, solve_ns: periods [ns].

    Attributes:
        next_ns: time of the next tick [ns].
    """

    def __init__(self, begin_ns: int, round_ns: int, solve_ns: int) -> None:
        self._periods = round_ns, solve_ns
        self.skip_to(begin_ns)

    def skip_to(self, now_ns: int) -> None:
        """Leave out the ticks up to a time [ns]."""
        self.next_ns = min((now_ns // period + 1) * period for period in self._periods)

    def until(self, now_ns: int) -> Iterator[Tick]:
        """The ticks that come before a message which arrives at a time [ns], in order."""
        while (due := self.next_ns) <= now_ns:
            self.skip_to(due)
            yield Tick(due, due % self._periods[1] == 0)


class Inbox:
    """A bounded queue; `append` and `add_tick` from one thread, `take` from another.

    Attributes:
        lost: samples for which there was no room.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._queue: deque[Samples | Tick] = deque()
        self._put = self._taken = 0  # samples; one thread counts the one, one the other
        self._ticks_put = self._ticks_taken = 0
        self.lost = 0

    def append(self, samples: Samples) -> None:
        """Append a block of n rows of one stream; it is lost where there is no room."""
        count = len(samples.stamps)
        if self._put - self._taken + count > self._room:
            self.lost += count
            return
        self._put += count
        self._queue.append(samples)

    def add_tick(self, tick: Tick) -> None:
        """What was appended so far is to be used without what follows."""
        self._queue.append(tick)
        self._ticks_put += 1

    @property
    def ticks(self) -> int:
        """Ticks that wait."""
        return self._ticks_put - self._ticks_taken

    def take(self) -> tuple[list[Samples], Tick | None]:
        """The samples up to the next tick, one block of each stream, and that tick; None: all that
        wait, since there is none."""
        out: list[Samples] = []
        tick = None
        for _ in range(len(self._queue)):
            entry = self._queue.popleft()
            if isinstance(entry, Tick):
                tick = entry
                self._ticks_taken += 1
                break
            out.append(entry)
        self._taken += sum(len(samples.stamps) for samples in out)
        return join_streams(out), tick
