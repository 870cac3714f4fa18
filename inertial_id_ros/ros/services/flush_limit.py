# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A limit on how often clients may flush the data: doing so in a loop would prevent estimates."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from ...errors import InertialIdError

LIMIT, SPAN = 10, 10.0  # requests that are admitted within so many seconds


class TooOften(InertialIdError):
    """Clients asked too often to flush the data."""


class FlushLimit:
    """Counts the requests of all clients to flush the data; used in the executor's thread.

    Args:
        now: monotonic time [s].
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._admitted: deque[float] = deque(maxlen=LIMIT)
        self._refused, self._last_refused = 0, -SPAN

    def admit(self) -> None:
        """Admit one more request (raises TooOften)."""
        now = self._now()
        if len(self._admitted) == LIMIT and now - self._admitted[0] < SPAN:
            self._refused += 1
            self._last_refused = now
            raise TooOften(f"the data were forgotten {LIMIT} times in the last {SPAN:g} s; more is "
                           "refused, so that estimates can be made")
        self._admitted.append(now)

    def warning(self) -> str:
        """One sentence where requests were refused lately, else empty."""
        if self._now() - self._last_refused >= SPAN:
            self._refused = 0
        if not self._refused:
            return ""
        return ("reset, set_tool or goals of identify ask in a loop to forget the data: more than "
                f"{LIMIT} times in {SPAN:g} s, and {self._refused} were refused")
