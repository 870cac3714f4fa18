# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Value and derivatives of a sampled signal: local quartics through its samples.

A polynomial of degree four with Hann weights is fitted about each wanted time (Savitzky and Golay
1964, for samples at any times): its phase is zero, and it looks half a window ahead.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..samples.ring import SECOND, Spacing
from .motion import Array, IntArray

WINDOW, LONGEST = 0.15, 1.0  # s, of a quartic where samples come densely, and of any
FEWEST, NEEDED = 8, 10  # samples in a window for which there is an answer, and that it is made for
LADDER = 1.25  # windows differ by this factor, so that jitter of the spacing does not change them
TIMES = 20  # samples that a window should hold, where it is no longer than SMOOTH [s] for that
SMOOTH = 0.2
_APART, _HALF = 0.1, 0.5  # of half a window: see `_is_covered`
_TOGETHER = 250  # windows that are fitted at once: they stay in the processor's cache


def window_length(spacing: Spacing) -> float:
    """Length of the window [s]: `WINDOW`, or longer for samples that are far apart."""
    def steps(length: float) -> float:
        return math.log(length / WINDOW, LADDER)
    apart = max(spacing.period, spacing.gap)
    wanted = max(steps(NEEDED * apart), steps(min(TIMES * spacing.period, SMOOTH)) - 1.0, 0.0)
    return float(min(WINDOW * LADDER ** math.ceil(wanted - 1e-9), LONGEST))


class Fit(NamedTuple):
    """Of n quartics through k signals: value, rate, acceleration (n, k), mean square of what they
    miss (n, k), and where samples cover the window (n,)."""

    value: Array
    rate: Array
    acceleration: Array
    missed: Array
    known: np.ndarray


def fit_quartics(stamps: IntArray, rows: Array, centres: IntArray, window: float,
                 begin: int | None = None, end: int | None = None) -> Fit:
    """Quartics through samples (m, k), m > 0, about n times, in windows of a length [s].

    Args:
        stamps: (m,) increasing; centres: (n,), both [ns].
        begin, end: stamps [ns] before and after which there is nothing: fewer samples will do in
            windows that reach beyond.
    """
    reach = int(0.5 * SECOND * window) + 1
    begins = np.zeros(len(centres), bool) if begin is None else centres - reach < begin
    ends = np.zeros(len(centres), bool) if end is None else centres + reach > end
    parts = [_fit(stamps, rows, centres[k:k + _TOGETHER], window, begins[k:k + _TOGETHER],
                  ends[k:k + _TOGETHER]) for k in range(0, max(len(centres), 1), _TOGETHER)]
    return Fit(*map(np.concatenate, zip(*parts, strict=True)))


def _fit(stamps: IntArray, rows: Array, centres: IntArray, window: float, begins: np.ndarray,
         ends: np.ndarray) -> Fit:
    reach = int(0.5 * SECOND * window)
    first = np.searchsorted(stamps, centres - reach)
    count = np.searchsorted(stamps, centres + reach, side="right") - first
    index = first[:, None] + np.arange(max(int(count.max(initial=0)), 1))
    inside = index < (first + count)[:, None]
    index = np.minimum(index, len(stamps) - 1)
    x = np.where(inside, (stamps[index] - centres[:, None]) * (2.0 / SECOND / window), 0.0)
    weight = np.where(inside, np.cos(0.5 * np.pi * x) ** 2, 0.0)
    power = np.empty((len(x), 5, x.shape[1]))
    power[:, 0] = 1.0
    for k in range(4):
        np.multiply(power[:, k], x, out=power[:, k + 1])
    scaled, values = power * weight[:, None], np.take(rows, index, axis=0)
    right = scaled @ values
    fit = np.linalg.solve(scaled @ power.transpose(0, 2, 1) + 1e-12 * np.eye(5), right)
    square = np.einsum("nw,nwk->nk", weight, values * values) - (fit * right).sum(1)
    missed = np.maximum(square, 0.0) / np.maximum(weight.sum(1), 1e-9)[:, None]
    half = 0.5 * window
    return Fit(fit[:, 0], fit[:, 1] / half, 2.0 * fit[:, 2] / half**2, missed,
               _is_covered(x, inside, begins, ends))


def _is_covered(x: Array, inside: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """True (n,) where samples at x (n, w), -1 to 1 in the window, lie on both sides of the centre,
    enough of them and without a hole; begins, ends: where the data begin and end."""
    last = np.where(inside, x, -1.0).max(axis=1, initial=-1.0)
    first = np.where(inside, x, 1.0).min(axis=1, initial=1.0)
    steps = np.diff(np.where(inside, x, last[:, None]), axis=1)
    count = 1.0 + np.minimum(steps / _APART, 1.0).sum(axis=1)  # those of a burst count as one
    sides = (first < -_HALF * np.where(begins, 0.3, 1.0)) & (
        last > _HALF * np.where(ends, 0.3, 1.0))
    return np.asarray((count > FEWEST - 0.01) & sides & (steps.max(axis=1, initial=0.0) < _HALF))
