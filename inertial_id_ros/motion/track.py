# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A sampled vector signal as bins: value, rate, acceleration, and where they are known.

Bins are made ten at a time, each ten from the samples about them alone, so that the size of the
blocks in which samples come does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..samples.ring import Ring
from ..samples.stamps import evened
from .motion import BIN_NS, Array, IntArray
from .quartic import WINDOW, local_quartics, window_length

GROUP = 10  # bins
CONTEXT_NS = 1_000_000_000  # before a group, from which stamps are evened out
OFF = 2e-3  # rad or m: no encoder misses a quartic by more
FROZEN = 5  # samples that are the same to the last bit


class Signal(NamedTuple):
    """n bins: number (n,), value, rate, acceleration (n, k); faults: kinds of bins left out."""

    number: IntArray
    value: Array
    rate: Array
    acceleration: Array
    faults: tuple[str, ...] = ()

    def part(self, which: np.ndarray) -> Signal:
        """The signal in some bins."""
        return Signal(self.number[which], self.value[which], self.rate[which],
                      self.acceleration[which], self.faults)


def joined_signals(parts: Sequence[Signal]) -> Signal:
    """Signals one after the other."""
    kinds = tuple(dict.fromkeys(kind for part in parts for kind in part.faults))
    return Signal(np.concatenate([p.number for p in parts]),
                  np.concatenate([p.value for p in parts]),
                  np.concatenate([p.rate for p in parts]),
                  np.concatenate([p.acceleration for p in parts]), kinds)


class Track:
    """The bins of a ring, each once.

    Args:
        ring: of the samples (n, k).
    """

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self._next: int | None = None
        self._stuck = np.zeros(ring.rows.shape[1], bool)

    def restart(self) -> None:
        """Begin with the oldest sample in the ring."""
        self._next = None

    def advance(self, finished: bool = False) -> Signal:
        """The bins that have settled since the last call; finished: no sample will follow."""
        parts: list[Signal] = []
        while (part := self._group(finished)) is not None:
            parts.append(part)
        if not parts:
            nothing = np.empty((0, self.ring.rows.shape[1]))
            return Signal(np.empty(0, np.int64), nothing, nothing, nothing)
        return joined_signals(parts)

    def _group(self, finished: bool) -> Signal | None:
        """The next ten bins, or None while they have not settled."""
        stamps = self.ring.stamps
        if len(stamps) < FROZEN:
            return None
        if self._next is None:
            self._next = int(stamps[0]) // BIN_NS // GROUP * GROUP
        begin = self._next * BIN_NS
        later = int(np.searchsorted(stamps, begin))
        if later < len(stamps) and stamps[later] > begin + CONTEXT_NS:  # a hole
            self._next = int(stamps[later]) // BIN_NS // GROUP * GROUP
            begin = self._next * BIN_NS
        end = begin + GROUP * BIN_NS
        near = self.ring.between(begin - CONTEXT_NS, end + CONTEXT_NS)
        if near.stop - near.start < FROZEN:
            return None
        window = window_length(1e-9 * float(np.median(np.diff(stamps[near]))))
        settled = self.ring.closed + (100 * BIN_NS if finished else 0)
        if settled < end + int(0.5e9 * window):
            return None
        near = self.ring.between(begin - CONTEXT_NS, end + int(0.5e9 * window))
        number = self._next + np.arange(GROUP)
        self._next += GROUP
        return self._bins(number, near, window)

    def _bins(self, number: IntArray, near: slice, window: float) -> Signal:
        stamps, rows = self.ring.stamps[near], self.ring.rows[near]
        centres = number * BIN_NS + BIN_NS // 2
        value, rate, more, known, off = local_quartics(evened(stamps), rows, centres, window)
        jumped = off > OFF * (window / WINDOW) ** 3  # (n, k)
        frozen = np.zeros(len(number), bool)
        for i, centre in enumerate(centres):
            at = int(np.searchsorted(stamps, centre, side="right"))
            same = (rows[max(at - FROZEN, 0):at] == rows[at - 1]).all(0) if at else self._stuck
            self._stuck = same & (self._stuck | jumped[i])
            frozen[i] = self._stuck.any()
        wrong = known & (jumped.any(1) | frozen)
        good = known & ~wrong
        kinds = ("frozen",) * bool((known & frozen).any()) + ("mixed",) * bool(
            (known & jumped.any(1) & ~frozen).any())
        return Signal(number[good], value[good], rate[good], more[good], kinds)
