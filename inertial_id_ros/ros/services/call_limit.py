# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Limits on how often clients may call: doing so in a loop would prevent estimates."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from ...errors import InertialIdError

SPAN = 10.0  # s


class TooOften(InertialIdError):
    """Clients called too often."""


class CallLimit:
    """Counts the calls of all clients; used in the executor's thread.

    Args:
        limit: calls that are admitted within `SPAN`.
        done: what the calls have done, for the sentence of a refusal; loop: who calls in a loop to
            do that, for the warning.
        now: monotonic time [s].
    """

    def __init__(self, limit: int, done: str, loop: str,
                 now: Callable[[], float] = time.monotonic) -> None:
        self.limit, self._done, self._loop, self._now = limit, done, loop, now
        self._admitted: deque[float] = deque(maxlen=limit)
        self._refused, self._last_refused = 0, -SPAN

    def admit(self) -> None:
        """Admit one more call (raises TooOften)."""
        now = self._now()
        if len(self._admitted) == self.limit and now - self._admitted[0] < SPAN:
            self._refused += 1
            self._last_refused = now
            raise TooOften(f"{self._done} {self.limit} times in the last {SPAN:g} s; more is "
                           "refused, so that estimates can be made")
        self._admitted.append(now)

    def warning(self) -> str:
        """One sentence where calls were refused lately, else empty."""
        if self._now() - self._last_refused >= SPAN:
            self._refused = 0
        if not self._refused:
            return ""
        return (f"{self._loop}: more than {self.limit} times in {SPAN:g} s, and {self._refused} "
                "were refused")


def flush_limit(now: Callable[[], float] = time.monotonic) -> CallLimit:
    """The limit on requests to forget the data."""
    return CallLimit(
        10, "the data were forgotten", "reset, set_tool, goals of identify or changes of "
        "precompensated ask in a loop to forget the data", now)


def parameter_limit(now: Callable[[], float] = time.monotonic) -> CallLimit:
    """The limit on parameters that are set; a file of all of them stays far below."""
    return CallLimit(100, "parameters were set", "parameters are set in a loop", now)


def rejection_limit(now: Callable[[], float] = time.monotonic) -> CallLimit:
    """The limit on rejected goals that are logged one by one."""
    return CallLimit(10, "goals were rejected", "goals of identify are rejected in a loop", now)
