"""Sensor noise from the residual, starting from the data sheet.

Means of the residual over blocks much longer than the noise's correlation show how strong the
noise is where it matters for the estimate: white noise, drift and slow disturbances count,
vibration that averages out does not.
"""

from __future__ import annotations

import numpy as np

from .buffer import CHANNELS, Window
from .filtering import TwoSidedFilter
from .inertia import Array

_DATA_SHEET_SAMPLES = 3.0  # strength of the data sheet, in independent residuals of force or torque


def block_means(window: Window, slices: int) -> tuple[Array, np.ndarray]:
    """Mean full rows (b, 6, 17) over blocks of successive slices, and rows (b,) in each."""
    blocks = len(window.rows) // slices
    if blocks == 0:
        return np.empty((0, *window.sums.shape[1:])), np.empty(0, dtype=int)
    sums = window.sums[:blocks * slices].reshape(blocks, slices, *window.sums.shape[1:]).sum(axis=1)
    rows = window.rows[:blocks * slices].reshape(blocks, slices).sum(axis=1)
    return sums / rows[:, None, None], rows


def block_slices(duration: float, slice_length: float) -> int:
    """Slices per block: blocks of a twelfth of the window, between 0.15 s and 1 s."""
    return max(int(round(np.clip(duration / 12.0, 0.15, 1.0) / slice_length)), 1)


def refine(noise: Array, window: Window, solution: Array, filtering: TwoSidedFilter,
           slices: int, used: Array) -> Array:
    """Noise (6,) of one raw sample, corrected by the block means of the residual.

    Args:
        noise: (6,) from the data sheet [N, N m].
        window: content of the buffer.
        solution: (38,) such that ``rows @ solution`` is the residual (see `row_layout`).
        slices: slices per block.
        used: degrees of freedom that the fit takes from the three force and the three torque
            channels (2,).
    """
    means, rows = block_means(window, slices)
    if len(rows) == 0:
        return noise
    residual = means @ solution
    samples = rows * window.samples / window.rows.sum()
    gain = np.array([filtering.block_gain(int(r)) for r in rows])
    normalised = (residual**2 * (samples / gain)[:, None]).sum(axis=0) / noise**2
    factor = np.empty(CHANNELS)
    for part, taken in zip((slice(0, 3), slice(3, 6)), used, strict=True):
        freedom = max(3.0 * len(rows) - float(taken), 0.0)
        seen = normalised[part].sum() * (freedom > 0.0)
        factor[part] = (_DATA_SHEET_SAMPLES + seen) / (_DATA_SHEET_SAMPLES + freedom)
    return noise * np.sqrt(factor)


def degrees_of_freedom(rows: Array, prior: Array) -> Array:
    """What a fit of all states takes from force and from torque (2,): the traces of their leverage.

    Args:
        rows: (6 n, k) whitened rows of the states, channel after channel.
        prior: (k, k) information of the states before the data.
    """
    halves = [part.T @ part for part in np.split(rows, 2)]
    covariance = np.linalg.inv(halves[0] + halves[1] + prior)
    return np.array([np.sum(covariance * half) for half in halves])
