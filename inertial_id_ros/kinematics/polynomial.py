"""Zero-phase smoothing: a local quartic through positions gives value, velocity, acceleration.

Around each wanted time a polynomial of degree four is fitted by least squares with a Hann taper
(Savitzky and Golay 1964, for samples at any times). It looks half a window ahead, so its lag is
fixed and its phase is zero.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..inertia import Array

DEGREE = 4
# The window of a slow topic is lengthened until it holds SAMPLES_WANTED, but beyond SMOOTHED [s]
# only as far as SAMPLES_NEEDED demand: a quartic over more time smooths motion that the wrench
# still shows, and the inertia is then wrong by more than its interval.
SAMPLES_WANTED, SAMPLES_NEEDED = 20, 10
SMOOTHED = 0.25
LONGEST_WINDOW = 1.0  # s
_RIDGE = 1e-12 * np.eye(DEGREE + 1)
# Share of half a window that must be there on either side. A quartic's second derivative gets noisy
# towards the end of its samples, and its change from time to time even more: with nothing beyond,
# the rates of rows at a stream's beginning are 42 times as noisy as later ones, with this share 5.
_BEYOND = 0.15
_LADDER = 1.25  # windows differ by this factor, so that jitter of the period does not change them


def choose_window(period: float, window: float) -> float:
    """Window length [s]: the requested one, or longer where samples are `period` [s] apart."""
    needed = SAMPLES_NEEDED * period
    wanted = max(min(SAMPLES_WANTED * period, SMOOTHED / _LADDER), needed)
    if not np.isfinite(wanted) or (needed <= window and wanted <= window * _LADDER):
        return window
    steps = math.ceil(math.log(wanted / window) / math.log(_LADDER) - 1e-9)
    return min(window * _LADDER**steps, max(LONGEST_WINDOW, window))


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
    weights = np.where(inside, np.cos(0.5 * np.pi * np.clip(u, -1.0, 1.0)) ** 2, 0.0)
    return index, np.where(inside, u, 0.0), weights


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
    count = inside.sum(axis=1)
    first = np.where(inside, u, 1.0).min(axis=1, initial=1.0)
    last = np.where(inside, u, -1.0).max(axis=1, initial=-1.0)
    ordered = np.where(inside, u, last[:, None])  # padding comes last
    gap = (ordered[:, 1:] - ordered[:, :-1]).max(axis=1, initial=0.0)
    reaches_back = (first < -0.5) | (begins & (first < -_BEYOND))
    reaches_ahead = last > (_BEYOND if ends else 0.5)
    return (count >= DEGREE + 4) & reaches_back & reaches_ahead & (gap < 0.5)


def fit_quartics(u: Array, weights: Array, values: Array,
                 window: float) -> tuple[Array, Array, Array]:
    """Fit a quartic to each window; gives value and two derivatives at its middle, u = 0.

    Args:
        u, weights: (k, w) as `gather_samples` gives them; values: (k, w, d); window: [s].

    Returns:
        three arrays (k, d), in the unit of values, per second, and per second squared.
    """
    powers = np.ones((*u.shape, DEGREE + 1))
    for k in range(DEGREE):
        np.multiply(powers[..., k], u, out=powers[..., k + 1])
    tapered = (powers * weights[..., None]).transpose(0, 2, 1)
    normal = tapered @ powers + _RIDGE
    coefficients = np.linalg.solve(normal, tapered @ values)
    half = 0.5 * window
    return coefficients[:, 0], coefficients[:, 1] / half, 2.0 * coefficients[:, 2] / half**2


def sample_variance(u: Array, weights: Array, values: Array) -> Array:
    """Variance (d,) of one sample about the quartics through some of the windows.

    Args:
        u, weights: (k, w) as `gather_samples` gives them; values: (k, w, d).
    """
    powers = u[..., None] ** np.arange(DEGREE + 1)
    root = np.sqrt(weights)[..., None]
    q, _ = np.linalg.qr(powers * root)
    tapered = values * root
    left = tapered - q @ (q.transpose(0, 2, 1) @ tapered)
    # In the mean, a fit takes the weights' share along its own columns out of the squares.
    freedom = weights.sum() - np.einsum("kwp,kw->", q**2, weights)
    return (left**2).sum(axis=(0, 1)) / freedom


@lru_cache(maxsize=64)
def acceleration_gain(period: float, window: float, kernel: tuple[float, ...],
                      spacing: float) -> float:
    """Standard deviation [1/s^2] of a low-passed second derivative per unit of white noise in the
    samples.

    Args:
        period: of the samples; window: of the quartic; spacing: of the derivatives [s].
        kernel: of the low-pass over successive derivatives, not necessarily normalised.
    """
    wanted = (np.arange(len(kernel)) * spacing * 1e9).astype(np.int64)
    reach = int(0.5 * window / period) + 2
    stamps = (np.arange(-reach, int(wanted[-1] * 1e-9 / period) + reach + 1) * period * 1e9)
    index, u, weights = gather_samples(stamps.astype(np.int64), wanted, window)
    _, _, change = fit_quartics(u, weights, np.eye(len(stamps))[index], window)
    total = np.asarray(kernel) / np.sum(kernel) @ change
    return float(np.linalg.norm(total))
