# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""All samples of a recording in one small triangular factor per output, and what they are worth.

``|F_j [phi; -1]|^2`` is the sum of squared residuals of output j over all samples (Sousa and
Cortesao 2014, eqs 64-71, one joint at a time, so that joints can be weighted afterwards).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import InvalidData, NotEnoughData
from ..inertia import Array
from ..linalg import triangular_factors
from .model import BASE_SIZE, RobotModel

CHUNK = 2000  # samples whose regressors are in memory at a time


@dataclass(frozen=True)
class Compressed:
    """Factors of a recording.

    Attributes:
        factors: (k, p + 1, p + 1), one for each output (joint, or row of the floating base).
        counts: (k,) samples in each.
    """

    factors: Array
    counts: Array

    @property
    def size(self) -> int:
        """Number p of parameters."""
        return self.factors.shape[2] - 1

    def squares(self, phi: Array) -> Array:
        """Sum of squared residuals (k,) of each output, for parameters (p,)."""
        return np.sum((self.factors @ np.append(phi, -1.0))**2, axis=1)

    def rms(self, phi: Array) -> Array:
        """Root mean square residual (k,) of each output [N m]."""
        return np.sqrt(self.squares(phi) / self.counts)

    def relative_error(self, phi: Array) -> float:
        """``|omega - W phi| / |omega|`` over all outputs (Sousa and Cortesao 2014, eq. 84)."""
        return float(np.sqrt(self.squares(phi).sum() / self.squares(np.zeros(self.size)).sum()))

    def stack(self, noise: Array | None = None) -> Array:
        """Factor (p + 1, p + 1) of all outputs, each divided by its noise (k,) [N m]; None: 1."""
        scale = np.ones(len(self.factors)) if noise is None else 1.0 / np.asarray(noise)
        return triangular_factors((self.factors * scale[:, None, None]).reshape(-1, self.size + 1))

    def __add__(self, other: Compressed) -> Compressed:
        """The factors of both recordings together."""
        both = zip(self.factors, other.factors, strict=True)
        return Compressed(np.stack([triangular_factors(np.concatenate(pair)) for pair in both]),
                          self.counts + other.counts)


def compress_rows(rows: Array, target: Array) -> Compressed:
    """Factors of regressor rows (n, k, p) and measured outputs (n, k).

    Raises:
        InvalidData: shapes do not fit, or numbers are not finite.
        NotEnoughData: no rows.
    """
    if target.shape != rows.shape[:2]:
        raise InvalidData(f"outputs have shape {target.shape}; expected {rows.shape[:2]}")
    if len(rows) == 0:
        raise NotEnoughData("there is no sample")
    if not np.isfinite(target).all():
        raise InvalidData("outputs hold numbers that are not finite")
    size = rows.shape[2]
    factors = np.zeros((rows.shape[1], size + 1, size + 1))
    for j, factor in enumerate(factors):
        # A joint feels only what lies beyond it: most columns of most joints are zero.
        used = np.append(np.flatnonzero(rows[:, j].any(axis=0)), size)
        system = np.concatenate([rows[:, j], target[:, j, None]], axis=1)[:, used]
        small = triangular_factors(system)
        factor[np.ix_(np.arange(len(used)), used)] = small
    return Compressed(factors, np.full(rows.shape[1], len(rows)))


def compress(model: RobotModel, q: Array, dq: Array, ddq: Array, torque: Array) -> Compressed:
    """Factors of a recording of joint torques.

    Args:
        q, dq, ddq: motion, see `RobotModel.regressor`; torque: (n, nv) generalised forces.

    Raises:
        InvalidData, NotEnoughData: see `compress_rows`.
    """
    return _compress_in_chunks(model.regressor, q, dq, ddq, torque)


def compress_base(model: RobotModel, q: Array, dq: Array, ddq: Array, force: Array) -> Compressed:
    """Factors of the six base-link rows of a robot that no ground holds.

    Args:
        force: (n, 6) external force and torque on the robot, as generalised forces of the base.
    """
    return _compress_in_chunks(model.base_regressor, q, dq, ddq, np.asarray(force)[:, :BASE_SIZE])


def _compress_in_chunks(regressor: Callable[[Array, Array, Array], Array], q: Array, dq: Array,
                        ddq: Array, target: Array) -> Compressed:
    """Factors of a recording, with the regressors of `CHUNK` samples in memory at a time."""
    total: Compressed | None = None
    for start in range(0, max(len(q), 1), CHUNK):
        part = slice(start, start + CHUNK)
        block = compress_rows(regressor(q[part], dq[part], ddq[part]), target[part])
        total = block if total is None else total + block
    assert total is not None
    return total


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
