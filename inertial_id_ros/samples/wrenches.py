# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The stream of the wrench: what cannot be a reading of one sensor is left out and counted."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..inertia import Array
from .ring import IntArray, Ring, evened

CHUNK = 16  # samples that are judged together
IMPOSSIBLE, COUNTS = 1e6, 1e12  # N or N m: uninitialised memory; not even of other units
LINE_NS = 2_000_000_000  # before samples, by which their stamps are evened out
KEPT_NS, NEXT_NS = 3_000_000_000, 100_000_000
# Times the range: no saturated channel reads so much; no larger range explains it.
BEYOND, FAR = 1.2, 5.0
MIXED = 10.0  # times as far from the sample before as from the one before that


class Wrenches:
    """Readings of one sensor, in order.

    Args:
        noise: (6,) of a sample; limits: (6,) at which a channel saturates, 0: not known.

    Attributes:
        counts: by kind: `invalid`, `saturated`, `mixed`, `zero`, and all that were `read` or lie
            `beyond` or `far` beyond the range; ring: of all finite readings.
        begin: stamp of the first one [ns].
        stuck: stamps [ns] of the first and last of readings that are the same to the last bit.
    """

    def __init__(self, noise: Array, limits: Array) -> None:
        self.ring = Ring(6)
        self.counts: Counter[str] = Counter()
        self.stuck: list[tuple[int, int]] = []
        # A channel within one part in a thousand of full scale is clipped.
        self._noise, self._limits = noise, np.where(limits > 0.0, 0.999 * limits, IMPOSSIBLE)
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._cleared, self._taken, self.begin = self.ring.cleared, 0, 0
        self.stuck.clear()

    def push(self, stamps: IntArray, rows: Array) -> None:
        """Take readings (m, 6) at stamps (m,) [ns]."""
        good = np.isfinite(rows).all(1) & (stamps > 0)
        if not good.all():
            self.counts["invalid"] += int((~good).sum())
            stamps, rows = stamps[good], rows[good]
        self.ring.push(stamps, rows)

    def take(self, finished: bool = False) -> tuple[IntArray, Array]:
        """Readings that no other will overtake, since the last call, without those left out."""
        ring = self.ring
        if self._cleared != ring.cleared:
            self._begin_anew()
        if len(ring) and not self.begin:
            self.begin = int(ring.stamps[0])
        closed = ring.closed + (10**9 if finished else 0)
        part = ring.between(self._taken, closed)
        count = part.stop - part.start
        use = count if finished else count // CHUNK * CHUNK
        if not use:
            return np.empty(0, np.int64), np.empty((0, 6))
        stamps = ring.stamps[part][:use].copy()
        rows = ring.rows[part][:use].copy()
        self._taken = int(stamps[-1]) + 1
        good = self._judge(stamps, rows)
        for k in range(0, use, CHUNK):
            stamps[k:k + CHUNK] = self._evened(part.start + k, part.start + min(k + CHUNK, use))
        ring.drop(self._taken - KEPT_NS)
        return stamps[good], rows[good]

    def _evened(self, begin: int, end: int) -> IntArray:
        """Stamps of some samples without the jitter of their arrival, by those before them."""
        stamps = self.ring.stamps
        first = int(np.searchsorted(stamps, stamps[begin] - LINE_NS))
        return evened(stamps[first:end], begin - first)

    def _judge(self, stamps: IntArray, rows: Array) -> np.ndarray:
        """Which readings (m, 6) are one sensor's, chunk by chunk."""
        good = self._is_in_range(rows)
        self.counts["saturated"] += int((~good).sum())
        whole = len(rows) // CHUNK * CHUNK
        chunks = rows[:whole].reshape(-1, CHUNK, 6)
        same = (chunks == chunks[:, :1]).all((1, 2))
        zero = same & ~chunks.any((1, 2))
        one, two = (np.median(np.abs(chunks[:, k:] - chunks[:, :-k]), axis=1) / self._noise
                    for k in (1, 2))
        mixed = (one > MIXED * np.maximum(two, 1.0)).any(1)
        self.counts["zero"] += CHUNK * int(zero.sum())
        self.counts["mixed"] += CHUNK * int(mixed.sum())
        for k in np.flatnonzero(same & ~zero).tolist():
            self._note_stuck(int(stamps[k * CHUNK]), int(stamps[(k + 1) * CHUNK - 1]))
        good[:whole] &= np.repeat(~(zero | mixed), CHUNK)
        return good

    def _is_in_range(self, rows: Array) -> np.ndarray:
        """Which readings (m, 6) do not saturate. Where most of those so far lie far beyond the
        range, their units are others, or the range is: these are used, to be named."""
        good = np.asarray((np.abs(rows) < self._limits).all(1))
        for k in range(0, len(rows), CHUNK):
            part = rows[k:k + CHUNK]
            self.counts["read"] += len(part)
            for kind, times in (("beyond", BEYOND), ("far", FAR)):
                self.counts[kind] += int((np.abs(part) > times * self._limits).any(1).sum())
            if 2 * self.counts["beyond"] > self.counts["read"]:
                good[k:k + CHUNK] |= (np.abs(part) < COUNTS).all(1)
        return good

    @property
    def are_of_other_units(self) -> bool:
        """True if most readings lie far beyond the range of the sensor."""
        return 2 * self.counts["far"] > self.counts["read"]

    def _note_stuck(self, first: int, last: int) -> None:
        if self.stuck and first - self.stuck[-1][1] < NEXT_NS:
            self.stuck[-1] = self.stuck[-1][0], last
        else:
            self.stuck.append((first, last))
