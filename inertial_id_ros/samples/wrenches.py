# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The stream of the wrench: what cannot be a reading of one sensor is left out and counted."""

from __future__ import annotations

from collections import Counter

import numpy as np

from .ring import Array, IntArray, Ring
from .stamps import evened

CONTEXT_NS = 1_000_000_000  # before samples, by which their stamps are evened out
CHUNK = 16  # samples that are judged together
MIXED = 10.0  # times as far from the sample before as from the one before that


class Wrenches:
    """Readings of one sensor, in order.

    Args:
        noise: (6,) of a sample; limits: (6,) at which a channel saturates, 0: not known.

    Attributes:
        counts: by kind: `invalid`, `saturated`, `mixed`, `stuck`, `zero` and those of the ring.
    """

    def __init__(self, noise: Array, limits: Array) -> None:
        self.ring = Ring(6)
        self.counts: Counter[str] = Counter()
        self._noise, self._limits = noise, np.where(limits > 0.0, limits, np.inf)
        self._taken = 0

    def push(self, stamps: IntArray, rows: Array) -> None:
        """Take readings (m, 6) at stamps (m,) [ns]."""
        finite = np.isfinite(rows).all(1)
        if not finite.all():
            self.counts["invalid"] += int((~finite).sum())
            stamps, rows = stamps[finite], rows[finite]
        self.ring.push(stamps, rows)

    def take(self, finished: bool = False) -> tuple[IntArray, Array]:
        """Readings that no other will overtake, since the last call, without those left out."""
        ring = self.ring
        closed = ring.closed + (10**9 if finished else 0)
        if len(ring) and closed < self._taken - 10**9:
            self._taken = 0  # the clock went back
        part = ring.between(self._taken, closed)
        count = part.stop - part.start
        use = count if finished else count // CHUNK * CHUNK
        if not use:
            return np.empty(0, np.int64), np.empty((0, 6))
        rows = ring.rows[part][:use].copy()
        begins = range(part.start, part.start + use, CHUNK)
        ends = [min(begin + CHUNK, part.start + use) for begin in begins]
        stamps = np.concatenate([self._evened(*span) for span in zip(begins, ends, strict=True)])
        self._taken = int(ring.stamps[part.start + use - 1]) + 1
        keep = np.concatenate([self._judge(chunk) for chunk in
                               np.split(rows, np.arange(CHUNK, use, CHUNK))])
        return stamps[keep], rows[keep]

    def _evened(self, begin: int, end: int) -> IntArray:
        """Stamps of some samples without the jitter of their arrival, by those before them."""
        stamps = self.ring.stamps
        first = int(np.searchsorted(stamps, stamps[begin] - CONTEXT_NS))
        return evened(stamps[first:end])[begin - first:]

    def _judge(self, rows: Array) -> np.ndarray:
        """Which readings (n,) of a chunk are one sensor's."""
        good = np.asarray((np.abs(rows) < self._limits).all(1))
        self.counts["saturated"] += int((~good).sum())
        if len(rows) < CHUNK:
            return good
        if not rows.any():
            self.counts["zero"] += len(rows)
        elif (rows == rows[0]).all():
            self.counts["stuck"] += len(rows)
        else:
            one = np.median(np.abs(rows[1:] - rows[:-1]), axis=0) / self._noise
            two = np.median(np.abs(rows[2:] - rows[:-2]), axis=0) / self._noise
            if (one > MIXED * np.maximum(two, 1.0)).any():
                self.counts["mixed"] += len(rows)
                return np.zeros(len(rows), bool)
            return good
        return np.zeros(len(rows), bool)
