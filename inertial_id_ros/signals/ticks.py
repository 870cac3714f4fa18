# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""When samples are processed and solved: at times of arrival that are multiples of a period.

An estimate starts from the one before, and an event is seen at the end of a round. So the estimates
are a function of the messages, their times of arrival and the settings alone, and a replay gives
the same, only if rounds and solves lie between the same messages. They do where their times depend
on nothing else, such as when a process started or had time for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Tick(NamedTuple):
    """A time at which the samples that arrived before it are processed.

    Attributes:
        time_ns: of arrival [ns]; solves: whether an estimate is made of them, too.
    """

    time_ns: int
    solves: bool


class Ticks:
    """The ticks of two periods.

    Args:
        begin_ns: time at or before the first message [ns].

    Attributes:
        round_ns, solve_ns: the periods [ns].
    """

    def __init__(self, begin_ns: int, round_ns: int, solve_ns: int) -> None:
        self._now, self.round_ns, self.solve_ns = begin_ns, round_ns, solve_ns

    @property
    def next_ns(self) -> int:
        """Time of the next tick [ns]."""
        return min((self._now // period + 1) * period for period in (self.round_ns, self.solve_ns))

    def until(self, now_ns: int) -> Iterator[Tick]:
        """The ticks that come before a message which arrives at a time [ns], in order."""
        while (due := self.next_ns) <= now_ns:
            self._now = due
            yield Tick(due, due % self.solve_ns == 0)

    def skip_to(self, now_ns: int) -> None:
        """Leave out the ticks up to a time [ns]."""
        self._now = max(self._now, now_ns)
