# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Stamps of samples that were taken evenly, without the jitter of their arrival."""

from __future__ import annotations

import numpy as np

from .ring import IntArray

FEWEST = 8  # samples
_EVEN = 0.1  # of their distance: stamps that differ by less are even
_HOLE, _HOLE_NS = 10.0, 5e7  # mean distances of samples, and ns: a longer one is a hole


def evened(stamps: IntArray, over: float = 1.0) -> IntArray:
    """Stamps of samples that were taken evenly, without the jitter of their arrival.

    Args:
        stamps: (m,) [ns], in order; over: a moving mean of the jitter over so long stays [s].
    """
    if len(stamps) < FEWEST:
        return stamps
    step = np.diff(stamps)
    if step.max() - step.min() < _EVEN * step[0]:
        return stamps
    holes = np.flatnonzero(step > max(_HOLE * float(np.median(step)), _HOLE_NS)) + 1
    return np.concatenate([_evened(part, over) for part in np.split(stamps, holes)])


def _evened(stamps: IntArray, over: float) -> IntArray:
    if len(stamps) < FEWEST:
        return stamps
    index = np.arange(len(stamps))
    since = (stamps - stamps[0]).astype(float)
    slope, start = np.polyfit(index, since, 1)
    half = max(int(0.5 * over * len(stamps) * 1e9 / max(since[-1], 1.0)), 1)
    total = np.cumsum(np.r_[0.0, since - slope * index - start])
    first, last = np.maximum(index - half, 0), np.minimum(index + half + 1, len(stamps))
    mean = (total[last] - total[first]) / (last - first)
    return stamps[0] + np.asarray(np.round(slope * index + start + mean), np.int64)
