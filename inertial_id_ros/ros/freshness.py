# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How old an estimate is, by the steady clock: stamps may be of any clock, and may jump."""

from __future__ import annotations

import math
import time
from collections import deque

import numpy as np

from ..estimate import Estimate, Outcome
from .contract import PERIODS, STALE_AFTER

MARKS = 1024  # most of them, one each time that samples are processed


class Freshness:
    """Marks of how far the stamps had come at which steady time, and interpolation between them.

    Its methods may be called from any thread.
    """

    def __init__(self) -> None:
        self._marks: deque[tuple[int, float]] = deque(maxlen=MARKS)
        self._processed = self._arrived = time.monotonic()

    def note(self, newest: int, arrived: float) -> None:
        """Note that messages are taken.

        Args:
            newest: stamp of the newest one that brings the load [ns]; 0: there is none.
            arrived: steady time at which that arrived [s].
        """
        self._processed, self._arrived = time.monotonic(), arrived
        if self._marks and newest < self._marks[-1][0]:
            self._marks.clear()  # the clock went back
        if newest and (not self._marks or newest > self._marks[-1][0]):
            self._marks.append((newest, arrived))

    def note_processed(self) -> None:
        """Note that some of them were processed."""
        self._processed = time.monotonic()

    def age(self, outcome: Outcome) -> float:
        """Time since the newest sample of an estimate arrived [s]; NaN where there is none."""
        return self.age_of(outcome.stamp_ns) if isinstance(outcome, Estimate) else math.nan

    def age_of(self, stamp: int) -> float:
        """Time since the sample of a stamp [ns] arrived [s]; NaN where that is not known."""
        marks = list(self._marks)
        if not marks:
            return math.nan
        stamps, arrivals = zip(*marks, strict=True)
        # What came before the first mark: as if stamps ran with the steady clock.
        before = 1e-9 * max(stamps[0] - stamp, 0)
        arrived = np.interp(stamp - stamps[0], np.subtract(stamps, stamps[0]), arrivals) - before
        return max(time.monotonic() - float(arrived), 0.0)

    def why_stale(self, outcome: Outcome, rate: float) -> str:
        """Why an estimate is no longer fresh, in words; empty where it is.

        Args:
            rate: at which estimates are made [Hz].
        """
        now = time.monotonic()
        if now - self._processed > STALE_AFTER:
            return f"the node has been too busy for {STALE_AFTER:g} s to process data"
        if now - self._arrived > STALE_AFTER:
            return f"no data have arrived for {STALE_AFTER:g} s"
        marks = self._marks
        if marks and now - marks[-1][1] > STALE_AFTER:
            return (f"the data that have arrived for {STALE_AFTER:g} s have no new stamps, or no "
                    "motion for them")
        limit = max(STALE_AFTER, PERIODS / rate)
        if not self.age(outcome) <= limit:
            return f"the newest sample used arrived more than {limit:.3g} s ago"
        return ""
