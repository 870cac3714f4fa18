"""How often clients may have the data forgotten; one that asks in a loop must not starve estimates.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from ...errors import InertialIdError

LIMIT, SPAN = 10, 10.0  # requests obeyed within so many seconds


class TooOften(InertialIdError):
    """The data were asked to be forgotten too often."""


class FlushLimit:
    """Counts requests of all clients; used in the executor's thread.

    Args:
        now: monotonic time [s].
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._obeyed: deque[float] = deque(maxlen=LIMIT)
        self._refused, self._last_refused = 0, -SPAN

    def take(self) -> None:
        """Obey one more request (raises TooOften)."""
        now = self._now()
        if len(self._obeyed) == LIMIT and now - self._obeyed[0] < SPAN:
            self._refused += 1
            self._last_refused = now
            raise TooOften(f"the data were forgotten {LIMIT} times in the last {SPAN:g} s; more is "
                           "refused, so that estimates can be made")
        self._obeyed.append(now)

    def complaint(self) -> str:
        """One sentence where requests were refused lately; else empty."""
        if self._now() - self._last_refused >= SPAN:
            self._refused = 0
        if not self._refused:
            return ""
        return ("reset, set_tool or goals of identify ask in a loop to forget the data: more than "
                f"{LIMIT} times in {SPAN:g} s, and {self._refused} were refused")
