# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The stream of the wrench: what cannot be a reading of one sensor is left out and counted."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from ..inertia import Array
from .ring import IMPOSSIBLE, LINE_NS, REORDER_NS, SHOWN_NS, IntArray, Ring, evened

CHUNK = 16  # samples that are judged together
FAR = 5.0  # times the range: no saturated channel reads so much, and no larger range explains it
CHANNELS = "fx", "fy", "fz", "tx", "ty", "tz"
CLEAR = 30.0  # deviations of the noise: so far a channel changes beside one that is dead
CLIPPED = 0.999  # of full scale
MIXED = 10.0  # times as far from the sample before as from the one before that


class Wrenches:
    """Readings of one sensor, in order.

    Args:
        noise: (6,) of a sample; limits: (6,) at which a channel saturates, 0: not known.

    Attributes:
        ring: of all readings; counts: of those that are judged, by kind: `saturated`, `zero`, and
            all that were `read` or lie `far` beyond the range.
        begin: stamp of the first one [ns].
        stuck: stamps [ns] of the first and last of readings that are the same to the last bit.
    """

    def __init__(self, noise: Array, limits: Array) -> None:
        self.ring, self.counts = Ring(6), Counter[str]()
        self._noise, self._limits = noise, np.where(limits > 0.0, CLIPPED * limits, IMPOSSIBLE)
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Readings before count no more."""
        self._cleared, self.stuck = self.ring.cleared, list[tuple[int, int]]()
        self._taken = self._line = self._even = self._last_mixed = self.begin = 0
        self._mixed = False  # the chunk before
        self._lowest, self._highest = np.full((2, 6), np.nan)

    def take(self, finished: bool = False) -> tuple[IntArray, Array]:
        """Readings that no other will overtake, since the last call, without those left out."""
        ring = self.ring
        if self._cleared != ring.cleared:
            self._begin_anew()
        if len(ring) and not self.begin:
            self.begin = int(ring.stamps[0])
        start, closed = np.searchsorted(ring.stamps, (self._taken, ring.newest - REORDER_NS))
        end = len(ring) if finished else start + (closed - start) // CHUNK * CHUNK
        stamps, rows = ring.stamps[start:end].copy(), ring.rows[start:end].copy()
        if len(stamps):
            self._taken = int(stamps[-1]) + 1
        good = self._judge(stamps, rows)
        for k in range(start, end, CHUNK):  # each by the samples before it
            last = min(k + CHUNK, end)
            if not good[k - start:last - start].any():
                self._line = int(ring.stamps[last - 1]) + 1  # the times are not those of one sensor
                continue
            first = int(np.searchsorted(ring.stamps, max(ring.stamps[k] - LINE_NS, self._line)))
            stamps[k - start:last - start] = evened(ring.stamps[first:last], k - first)
        ring.drop(self._taken - LINE_NS)
        stamps = np.maximum.accumulate(np.append(self._even, stamps[good]))  # as lines may cross
        self._even = int(stamps[-1])
        return stamps[1:], rows[good]

    def _judge(self, stamps: IntArray, rows: Array) -> np.ndarray:
        """Which readings (m, 6) are one sensor's, chunk by chunk."""
        good = self._is_in_range(rows)
        self._lowest = np.fmin(self._lowest, rows.min(0, initial=np.inf))
        self._highest = np.fmax(self._highest, rows.max(0, initial=-np.inf))
        whole = len(rows) // CHUNK * CHUNK
        chunks = rows[:whole].reshape(-1, CHUNK, 6)
        same = (chunks == chunks[:, :1]).all((1, 2))
        zero = same & ~chunks.any((1, 2))
        one, two = (np.sort(np.abs(chunks[:, k:] - chunks[:, :-k]), axis=1)[
            :, [(CHUNK - k - 1) // 2, (CHUNK - k) // 2]].mean(1) / self._noise
            for k in (1, 2))  # medians; `np.median` takes longer
        mixed = np.append(self._mixed, (one > MIXED * np.maximum(two, 1.0)).any(1))
        self._mixed = bool(mixed[-1])
        self.counts.update(saturated=int((~good).sum()), zero=CHUNK * int(zero.sum()))
        if mixed[1:].any():
            self._last_mixed = int(stamps[-1])
        begins = stamps[:whole].reshape(-1, CHUNK)[same & ~zero]
        self.stuck += zip(begins[:, 0].tolist(), begins[:, -1].tolist(), strict=True)
        # The chunk in which mixing ends has some of the other sensor's readings as well.
        good[:whole] &= np.repeat(~(zero | mixed[1:] | mixed[:-1]), CHUNK)
        return good

    def _is_in_range(self, rows: Array) -> np.ndarray:
        """Which readings (m, 6) do not saturate. Where most of those so far lie far beyond the
        range, their units are others, or the range is: these are used, to be named."""
        size = (np.abs(rows) / self._limits).max(axis=1)
        read = self.counts["read"] + 1 + np.arange(len(rows))
        far = self.counts["far"] + np.cumsum(size > FAR)
        self.counts.update(read=len(rows), far=int((size > FAR).sum()))
        return np.asarray((size < 1.0) | (2 * far > read))

    def findings(self) -> Iterator[tuple[str, dict[str, float | str]]]:
        """Names and numbers of what is wrong with the readings."""
        lasted, counts = self.ring.newest - self.begin, self.counts
        if counts["saturated"]:
            yield "samples_saturated.wrench", {"count": counts["saturated"]}
        if counts["zero"]:
            yield "input_stuck.wrench", {"seconds": 1e-9 * lasted * counts["zero"] / counts["read"]}
        if 0 < self.ring.newest < self._last_mixed + SHOWN_NS:  # it doubts all, and not for ever
            yield "streams_mixed.wrench", {}
        if 2 * counts["far"] > counts["read"]:
            yield "wrong_units.wrench", {"why": "beyond_range"}
        # A channel that never changes while the other two of force or torque do by far is dead.
        spread = ((self._highest - self._lowest) / self._noise).reshape(2, 3)
        others = np.sort(spread, axis=1)[:, 1:2]  # the smaller of those two
        if lasted >= LINE_NS:
            for k in np.flatnonzero((spread == 0.0) & (others > CLEAR)):
                yield f"channel_dead.{CHANNELS[k]}", {}
