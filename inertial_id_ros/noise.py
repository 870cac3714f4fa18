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
from .small_systems import inverse

_DATA_SHEET_SAMPLES = 3.0  # strength of the data sheet, in independent residuals of force or torque


def refine(noise: Array, window: Window, solution: Array, filtering: TwoSidedFilter,
           used: Array) -> Array:
    """Noise (6,) of one raw sample, corrected by the block means of the residual.

    Args:
        noise: (6,) from the data sheet [N, N m].
        window: content of the buffer.
        solution: (38,) such that ``rows @ solution`` is the residual (see `row_layout`).
        used: degrees of freedom that the fit takes from the three force and the three torque
            channels (2,).
    """
    sums, rows = window.blocks
    if len(rows) == 0:
        return noise
    residual = (sums.reshape(-1, sums.shape[-1]) @ solution).reshape(-1, CHANNELS)
    normalised = weights(window, filtering) @ residual**2 / noise**2
    factor = np.empty(CHANNELS)
    for part, taken in zip((slice(0, 3), slice(3, 6)), used, strict=True):
        freedom = max(3.0 * len(rows) - float(taken), 0.0)
        seen = normalised[part].sum() * (freedom > 0.0)
        factor[part] = (_DATA_SHEET_SAMPLES + seen) / (_DATA_SHEET_SAMPLES + freedom)
    return noise * np.sqrt(factor)


def weights(window: Window, filtering: TwoSidedFilter) -> Array:
    """Weights (b,) of the squared sums of blocks, for means with a variance of 1 / sample."""
    rows = window.blocks.rows
    samples = window.samples / window.rows  # in a row
    of_count = {r: samples / (r * filtering.block_gain(r)) for r in set(rows.tolist())}
    return np.array([of_count[r] for r in rows.tolist()])


def degrees_of_freedom(rows: Array, prior: Array) -> Array:
    """What a fit of all states takes from force and from torque (2,): the traces of their leverage.

    Args:
        rows: (6 n, k) whitened rows of the states, channel after channel.
        prior: (k, k) information of the states before the data.
    """
    force, torque = rows[:len(rows) // 2], rows[len(rows) // 2:]
    of_force, of_torque = force.T @ force, torque.T @ torque
    covariance = inverse(of_force + of_torque + prior)
    return np.array([np.vdot(covariance, of_force), np.vdot(covariance, of_torque)])
