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
_APART, _HOLE, _SIDE = 0.1, 0.5, 0.5  # of half a window: see `is_covered`
_TOGETHER = 250  # windows that are fitted at once: they stay in the processor's cache


def window_length(spacing: Spacing) -> float:
    """Length of the window [s]: `WINDOW`, or longer for samples that are far apart."""
    def steps(length: float) -> float:
        return math.log(length / WINDOW, LADDER)
    apart = max(spacing.period, spacing.gap)
    wanted = max(steps(NEEDED * apart), steps(min(TIMES * spacing.period, SMOOTH)) - 1.0, 0.0)
    return float(min(WINDOW * LADDER ** math.ceil(wanted - 1e-9), LONGEST))


class Near(NamedTuple):
    """Samples about n times, at most w of each: number (n, w), whether it is one (n, w), and its
    time x (n, w), -1 to 1 in the window; 0 where it is none."""

    number: IntArray
    inside: np.ndarray
    x: Array

    def at(self, times: Array, window: float) -> Near:
        """The same samples at other times (n, w) after the centres [ns]."""
        x = np.clip(times * (2.0 / SECOND / window), -1.0, 1.0)  # without weight at the ends
        return Near(self.number, self.inside, np.where(self.inside, x, 0.0))


def near(stamps: IntArray, centres: IntArray, window: float) -> Near:
    """The samples at stamps (m,) within a window [s] about each centre (n,) [ns]."""
    reach = int(0.5 * SECOND * window)
    first = np.searchsorted(stamps, centres - reach)
    count = np.searchsorted(stamps, centres + reach, side="right") - first
    index = first[:, None] + np.arange(max(int(count.max(initial=0)), 1))
    inside = index < (first + count)[:, None]
    index = np.minimum(index, len(stamps) - 1)
    return Near(index, inside, np.where(
        inside, (stamps[index] - centres[:, None]) * (2.0 / SECOND / window), 0.0))


def is_covered(samples: Near, begins: bool | np.ndarray = False, ends: bool | np.ndarray = False
               ) -> np.ndarray:
    """True (n,) where samples lie on both sides of the centre, enough of them and without a hole.

    Args:
        begins, ends: whether none comes before or after these: then fewer do on that side.
    """
    x, inside = samples.x, samples.inside
    last = np.where(inside, x, -1.0).max(axis=1, initial=-1.0)
    first = np.where(inside, x, 1.0).min(axis=1, initial=1.0)
    steps = np.diff(np.where(inside, x, last[:, None]), axis=1)
    count = 1.0 + np.minimum(steps / _APART, 1.0).sum(axis=1)  # those of a burst count as one
    sides = (first < np.where(begins, -0.3 * _SIDE, -_SIDE)) & (
        last > np.where(ends, 0.3 * _SIDE, _SIDE))
    return np.asarray((count > FEWEST - 0.01) & sides & (steps.max(axis=1, initial=0.0) < _HOLE))


class Fit(NamedTuple):
    """Of n quartics through k signals: value, rate, acceleration (n, k), and mean square of what
    they miss (n, k)."""

    value: Array
    rate: Array
    acceleration: Array
    missed: Array


def fit_quartics(samples: Near, rows: Array, window: float) -> Fit:
    """Quartics through samples (m, k) about n times, in windows of a length [s]."""
    number, inside, x = samples
    parts = [_fit(Near(number[k:k + _TOGETHER], inside[k:k + _TOGETHER], x[k:k + _TOGETHER]), rows,
                  window) for k in range(0, max(len(samples.x), 1), _TOGETHER)]
    return Fit(*map(np.concatenate, zip(*parts, strict=True)))


def _fit(samples: Near, rows: Array, window: float) -> Fit:
    index, inside, x = samples
    weight = np.where(inside, np.cos(0.5 * np.pi * x) ** 2, 0.0)
    power = np.empty((len(x), 5, x.shape[1]))
    power[:, 0] = 1.0
    for k in range(4):
        np.multiply(power[:, k], x, out=power[:, k + 1])
    scaled = power * weight[:, None]
    values = np.take(rows, index, axis=0)
    right = scaled @ values
    fit = np.linalg.solve(scaled @ power.transpose(0, 2, 1) + 1e-12 * np.eye(5), right)
    square = np.einsum("nw,nwk->nk", weight, values * values) - (fit * right).sum(1)
    missed = np.maximum(square, 0.0) / np.maximum(weight.sum(1), 1e-9)[:, None]
    half = 0.5 * window
    return Fit(fit[:, 0], fit[:, 1] / half, 2.0 * fit[:, 2] / half**2, missed)
