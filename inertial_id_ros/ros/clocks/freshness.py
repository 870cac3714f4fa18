# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How old an estimate is, and when it may no longer be called fresh: by the steady clock alone."""

from __future__ import annotations

import math

from ...estimate import Estimate, Outcome
from ..client.contract import PERIODS, STALE_AFTER
from .arrivals import Arrivals


class Freshness:
    """Follows what arrives and what is made of it.

    Its methods may be called from any thread: each works on values that are replaced as a whole.

    Args:
        now: steady time at the start [s].
    """

    def __init__(self, now: float) -> None:
        self._arrivals = Arrivals()
        self._shown: tuple[int, float] | None = None  # stamp and arrival of the last estimate
        self._settled_ns = 0
        self._arrived = self._processed = self._progress = now

    def note(self, newest_ns: int, settled_ns: int, arrived: float, now: float) -> None:
        """Note a round of the worker.

        Args:
            newest_ns: newest stamp of what measures the load.
            settled_ns: stamp up to which load and motion were processed.
            arrived: when the last message that brings the load arrived; now: both steady [s].
        """
        if newest_ns:
            self._arrivals.note(newest_ns, arrived)
        if settled_ns != self._settled_ns:
            self._settled_ns, self._progress = settled_ns, now
        self._arrived, self._processed = arrived, now

    def take(self, outcome: Outcome) -> None:
        """Remember when the newest sample of an estimate arrived."""
        if not isinstance(outcome, Estimate) or outcome.restored:
            self._shown = None
        elif self._shown is None or self._shown[0] != outcome.stamp_ns:
            arrived = self._arrivals.of(outcome.stamp_ns)
            self._shown = None if arrived is None else (outcome.stamp_ns, arrived)

    def age(self, outcome: Outcome, now: float) -> float:
        """Time since the newest sample of an estimate arrived [s]; NaN where there is none."""
        if not isinstance(outcome, Estimate) or outcome.restored:
            return math.nan
        shown = self._shown
        arrived = (shown[1] if shown is not None and shown[0] == outcome.stamp_ns
                   else self._arrivals.of(outcome.stamp_ns))
        return math.nan if arrived is None else max(now - arrived, 0.0)

    def why_stale(self, outcome: Outcome, rate: float, now: float) -> str:
        """Why an estimate is no longer fresh, in words; empty where it is.

        Args:
            rate: at which estimates are made [Hz].
        """
        if now - self._processed > STALE_AFTER:
            return f"the node has been too busy for {STALE_AFTER:g} s to process data"
        if now - self._progress > STALE_AFTER:
            if now - self._arrived > STALE_AFTER:
                return f"no data have arrived for {STALE_AFTER:g} s"
            return (f"the data that have arrived for {STALE_AFTER:g} s have no new stamps, or no "
                    "motion for them")
        limit = max(STALE_AFTER, PERIODS / rate)
        if self.age(outcome, now) > limit:
            return f"the newest sample used arrived more than {limit:.3g} s ago"
        return ""
