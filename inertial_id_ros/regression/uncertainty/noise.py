# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Sensor noise from the residual, starting from the data sheet.

Means of the residual over blocks much longer than the noise's correlation show how strong the
noise is where it matters for the estimate: white noise, drift and slow disturbances count,
vibration that averages out does not.
"""

from __future__ import annotations

import math

import numpy as np

from ...inertia import Array
from ...linalg import inverse
from ...settings import WrenchSettings
from ...signals.low_pass import ZeroPhaseFilter
from ..regressor_window import CHANNELS, WindowContent

_DATA_SHEET_SAMPLES = 3.0  # strength of the data sheet, in independent residuals of force or torque


def datasheet_noise(settings: WrenchSettings) -> Array:
    """Noise (6,) of one raw sample by the data sheet [N, N m]."""
    force, torque = settings.force_noise, settings.torque_noise
    return np.array([force, force, force, torque, torque, torque])


def correct_noise(noise: Array, window: WindowContent, solution: Array, low_pass: ZeroPhaseFilter,
                  used: Array) -> Array:
    """Noise (6,) of one raw sample, corrected by the block means of the residual.

    Args:
        noise: (6,) from the data sheet [N, N m].
        window: its content; low_pass: the filter of its rows.
        solution: (48,) such that ``rows @ solution`` is the residual (see `row_layout`).
        used: degrees of freedom that the fit takes from the three force and the three torque
            channels (2,).
    """
    sums, rows = window.slices.sums, window.slices.rows
    if len(rows) == 0:
        return noise
    residual = (sums.reshape(-1, sums.shape[-1]) @ solution).reshape(-1, CHANNELS)
    normalised = (block_weights(window, low_pass) @ residual**2 / noise**2).tolist()
    factors = []
    for seen, taken in zip((sum(normalised[:3]), sum(normalised[3:])), used.tolist(), strict=True):
        freedom = max(3.0 * len(rows) - taken, 0.0)
        seen = seen if freedom > 0.0 else 0.0
        factors += 3 * [math.sqrt((_DATA_SHEET_SAMPLES + seen) / (_DATA_SHEET_SAMPLES + freedom))]
    return noise * factors


def block_weights(window: WindowContent, low_pass: ZeroPhaseFilter) -> Array:
    """Weights (b,) that turn squared sums over blocks into estimates of one sample's variance."""
    rows = window.slices.rows
    gains = np.empty(int(rows.max(initial=0)) + 1)
    for count in set(rows.tolist()):
        gains[count] = low_pass.block_gain(count)
    return 1.0 / (gains[rows] * window.slices.samples)


def degrees_of_freedom(rows: Array, prior: Array) -> Array:
    """Degrees of freedom (2,) that a fit of all states takes from the forces and from the torques.

    They are the traces of the leverage of the rows.

    Args:
        rows: (6 n, k) whitened rows of the states, channel after channel.
        prior: (k, k) information of the states before the data.
    """
    force, torque = rows[:len(rows) // 2], rows[len(rows) // 2:]
    of_force, of_torque = force.T @ force, torque.T @ torque
    covariance = inverse(of_force + of_torque + prior)
    return np.array([np.vdot(covariance, of_force), np.vdot(covariance, of_torque)])
