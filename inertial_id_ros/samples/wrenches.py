# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The stream of the wrench: what cannot be a reading of one sensor is left out and counted."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..inertia import Array
from .ring import GAP_NS, IMPOSSIBLE, LINE_NS, MEMORY, IntArray, Ring, evened

CHUNK = 16  # samples that are judged together
# Times the range: no saturated channel reads so much; no larger range explains it.
BEYOND, FAR = 1.2, 5.0
CHANNELS = "fx", "fy", "fz", "tx", "ty", "tz"
CLEAR = 30.0  # deviations of the noise: so far a channel changes beside one that is dead
CLIPPED = 0.999  # of full scale
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
        self._noise, self._limits = noise, np.where(limits > 0.0, CLIPPED * limits, IMPOSSIBLE)
        self._cleared = self._taken = self._line = self.begin = 0
        self._mixed = False  # the chunk before
        self._lowest, self._highest = np.full((2, 6), np.nan)

    def push(self, stamps: IntArray, rows: Array) -> None:
        """Take readings (m, 6) at stamps (m,) [ns]."""
        good = np.isfinite(rows).all(1) & (stamps > 0)
        self.counts["invalid"] += int((~good).sum())
        self.ring.push(stamps[good], rows[good])

    def take(self, finished: bool = False) -> tuple[IntArray, Array]:
        """Readings that no other will overtake, since the last call, without those left out."""
        ring = self.ring
        if self._cleared != ring.cleared:
            self._cleared, self._taken, self._line, self.begin = ring.cleared, 0, 0, 0
            self._mixed = False
            self._lowest, self._highest = np.full((2, 6), np.nan)
            self.stuck.clear()
        if len(ring) and not self.begin:
            self.begin = int(ring.stamps[0])
        part = ring.between(self._taken, ring.newest + 1 if finished else ring.closed)
        count = part.stop - part.start
        end = part.start + (count if finished else count // CHUNK * CHUNK)
        stamps, rows = ring.stamps[part.start:end].copy(), ring.rows[part.start:end].copy()
        if len(stamps):
            self._taken = int(stamps[-1]) + 1
        good = self._judge(stamps, rows)
        for k in range(part.start, end, CHUNK):  # each by the samples before it
            last = min(k + CHUNK, end)
            if not good[k - part.start:last - part.start].any():
                self._line = int(ring.stamps[last - 1]) + 1  # the times are not those of one sensor
                continue
            first = int(np.searchsorted(ring.stamps, max(ring.stamps[k] - LINE_NS, self._line)))
            stamps[k - part.start:last - part.start] = evened(ring.stamps[first:last], k - first)
        ring.drop(self._taken - LINE_NS)
        return stamps[good], rows[good]

    def _judge(self, stamps: IntArray, rows: Array) -> np.ndarray:
        """Which readings (m, 6) are one sensor's, chunk by chunk."""
        good = self._is_in_range(rows)
        self._lowest = np.fmin(self._lowest, rows.min(0, initial=np.inf))
        self._highest = np.fmax(self._highest, rows.max(0, initial=-np.inf))
        self.counts["saturated"] += int((~good).sum())
        whole = len(rows) // CHUNK * CHUNK
        chunks = rows[:whole].reshape(-1, CHUNK, 6)
        same = (chunks == chunks[:, :1]).all((1, 2))
        zero = same & ~chunks.any((1, 2))
        one, two = (np.median(np.abs(chunks[:, k:] - chunks[:, :-k]), axis=1) / self._noise
                    for k in (1, 2))
        mixed = np.append(self._mixed, (one > MIXED * np.maximum(two, 1.0)).any(1))
        self._mixed = bool(mixed[-1])
        self.counts["zero"] += CHUNK * int(zero.sum())
        self.counts["mixed"] += CHUNK * int(mixed[1:].sum())
        for k in np.flatnonzero(same & ~zero).tolist():
            first, last = int(stamps[k * CHUNK]), int(stamps[(k + 1) * CHUNK - 1])
            if self.stuck and first - self.stuck[-1][1] < GAP_NS:
                first = self.stuck.pop()[0]  # it goes on
            self.stuck.append((first, last))
        # The chunk in which mixing ends has some of the other sensor's readings as well.
        good[:whole] &= np.repeat(~(zero | mixed[1:] | mixed[:-1]), CHUNK)
        return good

    def _is_in_range(self, rows: Array) -> np.ndarray:
        """Which readings (m, 6) do not saturate. Where most of those so far lie far beyond the
        range, their units are others, or the range is: these are used, to be named."""
        good = np.asarray((np.abs(rows) < self._limits).all(1))
        for k in range(0, len(rows), CHUNK):
            part = np.abs(rows[k:k + CHUNK])
            self.counts["read"] += len(part)
            for kind, times in (("beyond", BEYOND), ("far", FAR)):
                self.counts[kind] += int((part > times * self._limits).any(1).sum())
            if 2 * self.counts["beyond"] > self.counts["read"]:
                good[k:k + CHUNK] |= (part < MEMORY).all(1)
        return good

    @property
    def dead(self) -> list[str]:
        """Channels that never changed, while the other two of force or torque did by far."""
        if self.ring.newest - self.begin < LINE_NS:
            return []
        spread = ((self._highest - self._lowest) / self._noise).reshape(2, 3)
        others = np.sort(spread, axis=1)[:, 1:2]  # the smaller of those two
        return [CHANNELS[k] for k in np.flatnonzero((spread == 0.0) & (others > CLEAR))]

    @property
    def are_of_other_units(self) -> bool:
        """True if most readings lie far beyond the range of the sensor."""
        return 2 * self.counts["far"] > self.counts["read"]
