# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How samples lie in time, and stamps of samples that were taken evenly, without the jitter of
their arrival."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inertia import Array
from .ring import IntArray

SECOND = 1e9  # ns
_EVEN = 0.1  # of a period: stamps that lie so near to a multiple of it are those of a clock
_HOLE, _HOLE_NS = 10.0, 5e7  # mean distances of samples, and ns: a longer one is a hole
_FEWEST = 20  # samples on a line


class Spacing(NamedTuple):
    """Mean time between samples [s], and the longest that is usual (longer if they come in bursts);
    even: True where the stamps are those of a clock, perhaps with some samples missing."""

    period: float
    gap: float
    even: bool


def spacing_of(stamps: IntArray) -> Spacing:
    """Spacing of samples with increasing stamps (m,) [ns], m > 1; pauses do not count."""
    steps = np.sort(np.diff(stamps))
    elapsed = np.cumsum(steps[:-2] if len(steps) > 6 else steps)
    gap = int(steps[np.searchsorted(elapsed, 0.5 * elapsed[-1])])  # half of the time, or longer
    usual = steps[:int(np.searchsorted(steps, 4 * gap, side="right"))]
    usually = int(steps[len(usual) // 2])
    ratio = usual / usually
    even = (np.abs(ratio - np.round(ratio)) < _EVEN) & (ratio > _EVEN)
    return Spacing(float(usual.mean()) / SECOND, gap / SECOND,
                   bool(even.mean() > 0.9) and gap < 3 * usually)


def line_through(values: Array) -> tuple[float, float]:
    """Slope and start of the line through values (m,) over their number."""
    index = np.arange(len(values)) - 0.5 * (len(values) - 1)
    slope = float(index @ values / (index @ index))
    return slope, float(values.mean() + slope * index[0])


def evened(stamps: IntArray, begin: int) -> IntArray:
    """Stamps from number `begin` on as a clock would have given them.

    They are put on a line over the number of the sample. Stamps of a clock stay as they are, and so
    do those with too few before them.

    Args:
        stamps: (m,) [ns], increasing, those before `begin` for the line.
    """
    if len(stamps) < _FEWEST:
        return stamps[begin:]
    step = np.diff(stamps)
    if step.max() - step.min() < _EVEN * step[0] or spacing_of(stamps).even:
        return stamps[begin:]
    holes = np.flatnonzero(step > max(_HOLE * float(np.median(step)), _HOLE_NS)) + 1
    first = int(holes[-1]) if len(holes) else 0
    if first > begin or len(stamps) - first < _FEWEST:
        return stamps[begin:]
    slope, start = line_through((stamps[first:] - stamps[first]).astype(float))
    line = start + slope * np.arange(begin - first, len(stamps) - first)
    return stamps[first] + np.asarray(np.round(line), np.int64)
