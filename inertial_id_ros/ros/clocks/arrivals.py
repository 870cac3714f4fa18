# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""When samples arrived, by the steady clock, from their stamps."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

_MARKS = 256  # more than ten seconds of them


class Arrivals:
    """Marks of how far the stamps had come at which steady time, and interpolation between them.

    A mark a round costs nothing, while the time of each of thousands of samples a second would.
    """

    def __init__(self) -> None:
        self._marks: deque[tuple[int, float]] = deque(maxlen=_MARKS)

    def note(self, stamp_ns: int, arrived: float) -> None:
        """Note when the newest sample has arrived [s], and its stamp; one that goes back ends the
        marks before."""
        if self._marks and stamp_ns < self._marks[-1][0]:
            self._marks.clear()
        if not self._marks or stamp_ns > self._marks[-1][0]:
            self._marks.append((stamp_ns, arrived))

    def of(self, stamp_ns: int) -> float | None:
        """When the sample of a stamp arrived [s]; of a stamp before all marks as if stamps ran
        with the steady clock. None without marks."""
        if not self._marks:
            return None
        marks = list(self._marks)
        first, last = marks[0], marks[-1]
        if stamp_ns >= last[0]:
            return last[1]
        if stamp_ns <= first[0]:
            return first[1] - 1e-9 * (first[0] - stamp_ns)
        (s, a), (t, b) = next(pair for pair in pairwise(marks) if pair[1][0] >= stamp_ns)
        return a + (b - a) * (stamp_ns - s) / (t - s)
