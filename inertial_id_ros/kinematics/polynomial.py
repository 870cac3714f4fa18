# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Zero-phase smoothing: a local quartic through positions gives value, velocity, acceleration.

Around each wanted time a polynomial of degree four is fitted by least squares with a Hann taper
(Savitzky and Golay 1964, for samples at any times). It looks half a window ahead, so its lag is
fixed and its phase is zero. Its length is `KinematicsSettings.window`, more for slow topics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..inertia import Array

DEGREE = 4
# The window of a slow topic is lengthened until it holds SAMPLES_WANTED, but beyond SMOOTHED [s]
# only as far as SAMPLES_NEEDED demand: a quartic over more time smooths motion that the wrench
# still shows, and the inertia is then wrong by more than its interval.
SAMPLES_WANTED, SAMPLES_NEEDED = 20, 10
FEW = 10  # samples whose spacing is judged already
_LEAST = DEGREE + 4  # samples in a window for which there is an answer at all
SMOOTHED = 0.25
LONGEST_WINDOW = 1.0  # s
_RIDGE = 1e-12 * np.eye(DEGREE + 1)
# Share of half a window that must be there on either side. A quartic's second derivative gets noisy
# towards the end of its samples, and its change from time to time even more: with nothing beyond,
# the rates of rows at a stream's beginning are 42 times as noisy as later ones, with this share 5.
_BEYOND = 0.15
# Samples so far apart, on the scale of half a window, count as two; those of a burst are one.
_APART = 0.1
_MEASURED = 1000  # samples of which the spacing is measured
_REGULAR = 1.1  # ratio of gap to period up to which stamps count as regular
_JITTERY = 4  # samples between which the delays of jittering stamps last
_PAUSES, _PAUSE = 2, 4.0  # so many of the longest steps may be pauses: so much longer than usual
_IN_MEMORY = 200_000  # samples in windows at a time: they take some 30 MB
_FINEST = 1000  # samples in a window; more are as good as white noise in continuous time
_LADDER = 1.25  # windows differ by this factor, so that jitter of the period does not change them


class Spacing(NamedTuple):
    """How the samples of a stream lie in time [s].

    Attributes:
        period: mean time between samples; gap: the longest that is usual between two of them, which
            is longer where they are stamped in bursts.
    """

    period: float
    gap: float

    @property
    def block(self) -> int:
        """Samples of which only the mean has an error of its own: those of whole bursts, in which
        the errors of stamps cancel, and some where stamps jitter, with delays that last."""
        if not self.gap > _REGULAR * self.period:
            return 1
        burst = round(self.gap / self.period)
        return burst * math.ceil(_JITTERY / burst)


def measure_spacing(stamps: np.ndarray) -> Spacing:
    """The spacing of samples with increasing stamps (n,) [ns]; neither bursts, in which most stamps
    nearly coincide, nor a pause mislead it. Infinite with fewer than two samples."""
    if len(stamps) < 2:
        return Spacing(math.inf, math.inf)
    steps = np.sort(np.diff(stamps[-_MEASURED:]))
    usual = steps[:-_PAUSES] if len(steps) > 3 * _PAUSES else steps
    elapsed = np.cumsum(usual)
    # Half of the time lies in steps of that length or longer.
    gap = usual[np.searchsorted(elapsed, 0.5 * elapsed[-1])]
    return Spacing(1e-9 * float(steps[steps <= _PAUSE * gap].mean()), 1e-9 * float(gap))


def choose_window(spacing: Spacing, window: float) -> float:
    """Window length [s]: the requested one, or longer for samples that are far from each other."""
    needed = SAMPLES_NEEDED * max(spacing)  # a burst counts as one sample
    wanted = max(min(SAMPLES_WANTED * spacing.period, SMOOTHED / _LADDER), needed)
    if not np.isfinite(wanted) or (needed <= window and wanted <= window * _LADDER):
        return window
    steps = math.ceil(math.log(wanted / window) / math.log(_LADDER) - 1e-9)
    return min(window * _LADDER**steps, max(LONGEST_WINDOW, window))


def is_too_slow(spacing: Spacing, window: float) -> bool:
    """Whether a window of that length [s] holds too few samples for a quartic."""
    return math.isfinite(spacing.gap) and _LEAST * max(spacing) > window


def parts_in_memory(stamps: np.ndarray, wanted: np.ndarray, window: float) -> Iterator[slice]:
    """Parts of the wanted times (k,), for the arguments of `gather_samples`, whose windows may be
    in memory together however many samples these hold."""
    if len(wanted) * len(stamps) <= _IN_MEMORY:
        yield slice(0, len(wanted))
        return
    reach = np.int64(0.5e9 * window)
    width = int((np.searchsorted(stamps, wanted + reach, side="right")
                 - np.searchsorted(stamps, wanted - reach)).max(initial=1))
    count = max(_IN_MEMORY // width, 1)
    for begin in range(0, len(wanted), count):
        yield slice(begin, min(begin + count, len(wanted)))


def gather_samples(stamps: np.ndarray, wanted: np.ndarray,
                   window: float) -> tuple[np.ndarray, Array, Array]:
    """Gather the samples around each wanted time, with their weights.

    Args:
        stamps: (n,) increasing [ns], not empty; wanted: (k,) [ns]; window: full length [s].

    Returns:
        index (k, w) of samples, their time u (k, w) scaled to [-1, 1], and Hann weights (k, w)
        that are zero for padding.
    """
    half = 0.5 * window
    reach = np.int64(half * 1e9)
    low = np.searchsorted(stamps, wanted - reach)
    high = np.searchsorted(stamps, wanted + reach, side="right")
    width = max(int((high - low).max(initial=0)), 1)
    index = low[:, None] + np.arange(width)
    inside = index < high[:, None]
    index = np.minimum(index, len(stamps) - 1)
    u = (stamps[index] - wanted[:, None]) * (1e-9 / half)
    return index, np.where(inside, u, 0.0), np.where(inside, hann_weights(u), 0.0)


def hann_weights(u: Array) -> Array:
    """Hann taper at times u on the scale of half a window."""
    return np.cos(0.5 * np.pi * np.clip(u, -1.0, 1.0)) ** 2


def has_coverage(u: Array, weights: Array, begins: np.ndarray | bool = False,
                 ends: bool = False) -> np.ndarray:
    """Whether samples lie densely enough around each wanted time (k,) for a quartic.

    Args:
        u, weights: (k, w) as `gather_samples` gives them.
        begins: (k,) whether the stream begins within that window. There most of the past half may
            be missing: the answer is noisier, but nothing is extrapolated, and the kernels of the
            zero-phase filter go to zero at the beginning of its data.
        ends: whether the stream ends there; the same holds for the future half.
    """
    inside = weights > 0.0
    first = np.where(inside, u, 1.0).min(axis=1, initial=1.0)
    last = np.where(inside, u, -1.0).max(axis=1, initial=-1.0)
    ordered = np.where(inside, u, last[:, None])  # padding comes last
    steps = ordered[:, 1:] - ordered[:, :-1]
    gap = steps.max(axis=1, initial=0.0)
    count = inside.any(axis=1) + np.minimum(steps / _APART, 1.0).sum(axis=1)
    reaches_back = (first < -0.5) | (begins & (first < -_BEYOND))
    reaches_ahead = last > (_BEYOND if ends else 0.5)
    return (count > _LEAST - 0.01) & reaches_back & reaches_ahead & (gap < 0.5)


def fit_quartics(u: Array, weights: Array, values: Array,
                 window: float) -> tuple[Array, Array, Array]:
    """Fit a quartic to each window; gives value and two derivatives at its middle, u = 0.

    Args:
        u, weights: (k, w) as `gather_samples` gives them; values: (k, w, d); window: [s].

    Returns:
        three arrays (k, d), in the unit of values, per second, and per second squared.
    """
    powers, tapered = _design(u, weights)
    coefficients = np.linalg.solve(tapered @ powers + _RIDGE, tapered @ values)
    half = 0.5 * window
    return coefficients[:, 0], coefficients[:, 1] / half, 2.0 * coefficients[:, 2] / half**2


def _design(u: Array, weights: Array) -> tuple[Array, Array]:
    """Powers (k, w, 5) of times u (k, w), and their weighted transpose (k, 5, w)."""
    powers = np.ones((*u.shape, DEGREE + 1))
    for k in range(DEGREE):
        np.multiply(powers[..., k], u, out=powers[..., k + 1])
    return powers, (powers * weights[..., None]).transpose(0, 2, 1)


def sample_variance(u: Array, weights: Array, values: Array, block: int = 1) -> Array:
    """Variance (d,) of one sample about the quartics through some of the windows.

    Args:
        u, weights: (k, w) as `gather_samples` gives them; values: (k, w, d).
        block: so many successive samples are judged by their mean (see `Spacing.block`).
    """
    left, q = _residual(u, weights, values)
    tapered_q = q * weights[..., None]
    # In the mean, a fit takes the weights' share along its own columns out of the squares: they
    # are the diagonal of (1 - q q') weights (1 - q q'), summed over blocks.
    inner = q.transpose(0, 2, 1) @ tapered_q
    if block > 1:
        starts = np.arange(0, u.shape[1], block)
        left, q, tapered_q = (np.add.reduceat(x, starts, axis=1) for x in (left, q, tapered_q))
    freedom = weights.sum() - 2.0 * (q * tapered_q).sum() + ((q @ inner) * q).sum()
    return (left**2).sum(axis=(0, 1)) / freedom


def misfit(u: Array, weights: Array, values: Array) -> Array:
    """Mean square (k,) that the quartic of each window leaves, summed over the channels; arguments
    as for `sample_variance`."""
    left, _ = _residual(u, weights, values)
    return (left**2).sum(axis=(1, 2)) / weights.sum(axis=1).clip(1e-12)


def _residual(u: Array, weights: Array, values: Array) -> tuple[Array, Array]:
    """What the quartics leave of the tapered samples (k, w, d), and an orthonormal basis (k, w, 5)
    of the tapered powers."""
    powers = u[..., None] ** np.arange(DEGREE + 1)
    root = np.sqrt(weights)[..., None]
    q = np.linalg.qr(powers * root)[0]
    tapered = values * root
    return tapered - q @ (q.transpose(0, 2, 1) @ tapered), q


@lru_cache(maxsize=64)
def acceleration_gain(period: float, window: float, kernel: tuple[float, ...],
                      spacing: float) -> float:
    """Standard deviation [1/s^2] of a low-passed second derivative per unit of white noise in the
    samples.

    Args:
        period: of the samples; window: of the quartic; spacing: of the derivatives [s].
        kernel: of the low-pass over successive derivatives, not necessarily normalised.
    """
    fine = max(period, window / _FINEST)
    wanted = (np.arange(len(kernel)) * spacing * 1e9).astype(np.int64)
    reach = int(0.5 * window / fine) + 2
    stamps = (np.arange(-reach, int(wanted[-1] * 1e-9 / fine) + reach + 1) * fine * 1e9)
    index, u, weights = gather_samples(stamps.astype(np.int64), wanted, window)
    powers, tapered = _design(u, weights)
    curvature = np.zeros((len(wanted), DEGREE + 1, 1))
    curvature[:, 2] = 2.0 / (0.5 * window)**2
    # What each sample adds to each derivative, and to their low-passed sum.
    share = (np.linalg.solve(tapered @ powers + _RIDGE, curvature) * tapered).sum(axis=1)
    share *= np.asarray(kernel)[:, None] / np.sum(kernel)
    total = np.bincount(index.ravel(), share.ravel(), len(stamps))
    return float(np.linalg.norm(total)) * math.sqrt(period / fine)
