# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How much a series of low-passed residuals is worth: neighbours repeat each other."""

from __future__ import annotations

import numpy as np

from ..inertia import Array


def equivalent_white_noise(residual: Array, least: Array) -> Array:
    """Noise (k,) of independent rows that carry as much information as these correlated ones.

    The root mean square times the root of the integrated autocorrelation time, ``1 + 2 sum rho``,
    summed until its first pair of lags that is not positive (Geyer 1992).

    Args:
        residual: (n, k), evenly spaced but for gaps; least: (k,) lower bound of the answer.
    """
    n = len(residual)
    size = 2 ** int(np.ceil(np.log2(2 * n)))
    spectrum = np.fft.rfft(residual, size, axis=0)
    covariance = np.fft.irfft(np.abs(spectrum)**2, size, axis=0)[:n]
    power = np.maximum(covariance[0], np.finfo(float).tiny)
    rho = covariance / power
    pairs = rho[:-1:2][:n // 2] + rho[1::2][:n // 2]
    positive = np.cumprod(pairs > 0.0, axis=0)
    time = np.maximum(2.0 * (pairs * positive).sum(axis=0) - 1.0, 1.0)
    return np.maximum(np.sqrt(power / n * time), least)
