# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Rows of a recording in one small triangular factor for each output.

``|F_j [phi; -1]|^2`` is the sum of squared residuals of output j over all samples (Sousa and
Cortesao 2014, eqs 64-71, one joint at a time, so that joints can be weighted afterwards).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..inertia import Array
from ..linalg import triangle


@dataclass(frozen=True)
class Compressed:
    """Factors of a recording.

    Attributes:
        factors: (k, p + 1, p + 1), one for each output (joint, or row of the floating base).
        count: samples in each.
    """

    factors: Array
    count: int

    @property
    def size(self) -> int:
        """Number p of parameters."""
        return self.factors.shape[2] - 1

    def squares(self, phi: Array) -> Array:
        """Sum of squared residuals (k,) of each output, for parameters (p,)."""
        return np.sum((self.factors @ np.append(phi, -1.0))**2, axis=1)

    def stack(self, noise: Array | None = None) -> Array:
        """Factor (p + 1, p + 1) of all outputs, each divided by its noise (k,) [N m]; None: 1."""
        rows, outputs = self._rows
        return triangle(rows if noise is None else rows / noise[outputs, None])

    @cached_property
    def _rows(self) -> tuple[Array, np.ndarray]:
        """All rows of the factors that are not zero (n, p + 1), and the output of each (n,)."""
        used = self.factors.any(axis=2)
        return self.factors[used], np.nonzero(used)[0]


def compress_rows(rows: Array, target: Array) -> Compressed:
    """Factors of regressor rows (n, k, p) and measured outputs (n, k)."""
    return Compressed(factors_of_joints(np.concatenate([rows, target[..., None]], axis=2)),
                      len(rows))


def factors_of_joints(rows: Array) -> Array:
    """Triangular factors (k, width, width) of rows (n, k, width) of k joints.

    A joint feels only what lies beyond it: most columns of most joints are zero.
    """
    factors = np.zeros((rows.shape[1], rows.shape[2], rows.shape[2]))
    for j, factor in enumerate(factors):
        columns = np.flatnonzero(rows[:, j].any(axis=0))
        upper = triangle(rows[:, j, columns])
        factor[np.ix_(np.arange(len(upper)), columns)] = upper
    return factors


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
