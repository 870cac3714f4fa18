# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Times of samples that are stamped on arrival: those of the regular clock behind the stamps.

Messages that are stamped when they arrive were late by different times, or came in bursts. The
samples were taken regularly all the same, so that over some seconds the stamps scatter about a
straight line over the number of the sample. Its slope is the true period; the mean delay in it is
part of the offset between the clocks.
"""

from __future__ import annotations

import numpy as np

from ..inertia import Array
from .polynomial import Spacing, hann_weights, misfit

BASE_NS = 3_000_000_000  # length of the stamps before a wanted time to which its line is fitted
_FEW = 20  # samples on a line


def even_out(stamps: np.ndarray, wanted: np.ndarray, window: float, spacing: Spacing,
             index: np.ndarray, u: Array, weights: Array, values: Array
             ) -> tuple[Array, Array, np.ndarray]:
    """Replace the times in windows by those of a regular clock where these fit the samples better:
    irregular stamps may also be right.

    Args:
        stamps: (n,) increasing [ns], from `BASE_NS` before the wanted times on, where there are
            some; wanted: (k,) [ns]; window: full length [s]; spacing: of the stamps.
        index, u, weights: (k, w) as `gather_samples` gives them; values: (k, w, d).

    Returns:
        u, weights (k, w), and where they are those of a regular clock (k,).
    """
    inside = weights > 0.0
    even = np.where(inside, _regular_times(stamps, wanted, window, spacing, index), 0.0)
    even_weights = np.where(inside, hann_weights(even), 0.0)
    better = misfit(even, even_weights, values) < misfit(u, weights, values)
    which = better[:, None]
    return np.where(which, even, u), np.where(which, even_weights, weights), better


def _regular_times(stamps: np.ndarray, wanted: np.ndarray, window: float, spacing: Spacing,
                   index: np.ndarray) -> Array:
    """Times (k, w) of samples on the line of each wanted time, relative to it, on the scale of half
    a window; arguments as for `even_out`. It looks half a window ahead, as the quartics do."""
    half = 0.5 * window
    number = np.arange(len(stamps), dtype=float)
    late = (stamps - stamps[0]) * 1e-9 - number * spacing.period  # small, so that sums stay exact
    low = np.searchsorted(stamps, wanted - BASE_NS)
    high = np.searchsorted(stamps, wanted + np.int64(half * 1e9), side="right")
    few = high - low < _FEW

    def mean(x: Array) -> Array:
        sums = np.concatenate([[0.0], np.cumsum(x)])
        return (sums[high] - sums[low]) / np.maximum(high - low, 1)

    middle, shift = mean(number), mean(late)
    spread = np.where(few, 1.0, mean(number * number) - middle**2)
    slope = (mean(number * late) - middle * shift) / spread
    on_line = (number[index] * spacing.period + shift[:, None]
               + slope[:, None] * (number[index] - middle[:, None]))
    line = (on_line - ((wanted - stamps[0]) * 1e-9)[:, None]) / half
    return np.where(few[:, None], (stamps[index] - wanted[:, None]) * (1e-9 / half), line)
