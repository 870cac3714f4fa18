# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Samples averaged over short bins of absolute time.

The bins are tied to the clock, not to the first sample, so that a recording that is played live
and one that is read offline fall into the same bins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inertia import Array
from .ring_buffer import SampleRing

BIN_NS = 10_000_000  # 10 ms
_FIRST = np.zeros(1, dtype=np.int64)


class Bins(NamedTuple):
    """Non-empty bins in order.

    Attributes:
        number: (k,) bin number; bin i covers [i, i + 1) times 10 ms since epoch.
        samples: (k,) raw samples in each.
        stamps: (k,) mean stamp of the samples [ns].
        mean: (k, d) mean of the samples.
    """

    number: np.ndarray
    samples: np.ndarray
    stamps: np.ndarray
    mean: Array


class BinColumns(NamedTuple):
    """What the low-pass filter takes of bins.

    Attributes:
        number: (k,) bin numbers in order; samples: (k,) raw samples in each.
        columns: (k, d) of the model of the load: what was measured, and its regressor.
    """

    number: np.ndarray
    samples: np.ndarray
    columns: Array

    def part(self, which: slice | np.ndarray) -> BinColumns:
        """Some of the bins, by slice or by mask."""
        return BinColumns(*(field[which] for field in self))


def bin_samples(ring: SampleRing, first: int, end: int) -> Bins:
    """The non-empty bins with numbers in [first, end) of a ring of samples (n, d)."""
    part = ring.between(first * BIN_NS, end * BIN_NS)
    return average_bins(ring.stamps[part], ring.rows[part])


def average_bins(stamps: np.ndarray, rows: Array) -> Bins:
    """The non-empty bins of samples (n, d) with increasing stamps (n,) [ns]."""
    if len(stamps) == 0:
        return Bins(np.empty(0, int), np.empty(0, int), np.empty(0, np.int64), rows)
    number = stamps // BIN_NS
    edges = np.flatnonzero(number[1:] > number[:-1]) + 1
    starts = np.concatenate([_FIRST, edges])
    count = np.concatenate([edges, [len(stamps)]]) - starts
    within = stamps - number * BIN_NS
    mean = number[starts] * BIN_NS + np.add.reduceat(within, starts) // count
    return Bins(number[starts], count, mean, np.add.reduceat(rows, starts) / count[:, None])
