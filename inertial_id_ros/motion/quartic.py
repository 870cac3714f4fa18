# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Value and derivatives of a sampled signal: local quartics through its samples."""

from __future__ import annotations

import numpy as np

from .motion import Array, IntArray

SECOND = 1e9
WINDOW = 0.15  # s, of a quartic where samples come densely
FEWEST = 8  # samples in a window
_GAP = 4.0  # mean distances of samples: a longer one is a hole


def window_length(spacing: float) -> float:
    """Length of the window [s] for samples that are so far apart [s]."""
    return max(WINDOW, FEWEST * spacing)


def local_quartics(stamps: IntArray, values: Array, centres: IntArray, window: float
                   ) -> tuple[Array, Array, Array, np.ndarray, Array]:
    """Fit a quartic with Hann weights about each centre (Savitzky and Golay 1964).

    Args:
        stamps: (m,) [ns], increasing; values: (m, k); centres: (n,) [ns]; window: [s].

    Returns:
        Value, first and second derivative (n, k); where they are known (n,): samples on both sides
        of the centre, no hole about it; and root mean square of what the quartics miss (n, k).
    """
    half = 0.5 * window
    reach = int(SECOND * half)
    first = np.searchsorted(stamps, centres - reach)
    last = np.searchsorted(stamps, centres + reach, side="right")
    count = last - first
    index = first[:, None] + np.arange(max(int(count.max(initial=0)), 1))
    inside = index < last[:, None]
    index = np.minimum(index, max(len(stamps) - 1, 0))
    x = (stamps[index] - centres[:, None]) / (SECOND * half)
    known = (count >= FEWEST - 2) & _is_covered(x, inside, count)
    weight = np.where(inside, np.cos(0.5 * np.pi * np.clip(x, -1.0, 1.0)) ** 2, 0.0)
    power = x[..., None] ** np.arange(5)
    scaled = (power * weight[..., None]).transpose(0, 2, 1)
    normal = scaled @ power
    normal[~known] = np.eye(5)
    middle = values[first.clip(max=len(values) - 1)][:, None]
    near = values[index] - middle
    fit = np.linalg.solve(normal, scaled @ near)
    square = np.einsum("nm,nmk->nk", weight, (near - power @ fit) ** 2)
    off = np.sqrt(square / np.maximum(weight.sum(1), 1e-9)[:, None])
    return fit[:, 0] + middle[:, 0], fit[:, 1] / half, 2.0 * fit[:, 2] / half**2, known, off


def _is_covered(x: Array, inside: np.ndarray, count: IntArray) -> np.ndarray:
    """True where samples at x (n, m), -1 to 1, lie on both sides without a hole in the middle."""
    step = 2.0 / np.maximum(count, 1)
    left = np.where(inside & (x <= 0.0), x, -np.inf).max(axis=1)
    right = np.where(inside & (x >= 0.0), x, np.inf).min(axis=1)
    low = np.where(inside, x, np.inf).min(axis=1)
    high = np.where(inside, x, -np.inf).max(axis=1)
    return np.asarray((right - left < _GAP * step) & (low < -0.6) & (high > 0.6))
