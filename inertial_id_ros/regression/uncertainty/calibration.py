# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Errors of the sensor's calibration: gains and cross-talk, a 6 x 6 matrix about the identity.

An error E adds ``E w`` to the wrench. But for the turning of the payload w is
``[m; h x] a``, where a is the acceleration less gravity: each channel reads three numbers per
acceleration too much, with a prior that the data sheet gives and the payload scales. To estimate
them where there is nothing wrong costs accuracy, and to ignore them costs more where there is; the
evidence in the data decides by how much the data sheet's errors are scaled.

Gains that all forces, or all torques, have in common show in no residual; they are added to the
intervals.
"""

from __future__ import annotations

import numpy as np

from ...inertia import PARAMETERS, Array, skew
from ...linalg import identity
from ...settings import WrenchSettings
from .channel_errors import ChannelProducts
from .walking_bias import Levels, white_noise

_SCALES = np.r_[0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0]  # of the data sheet
_USUAL, _SPREAD = 0.3, 1.0  # scale before the data, and spread of its logarithm
# Of misfits in general, in standard deviations beyond the noise: each may be as probable.
_MISFITS = np.r_[0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
_RANGES = np.repeat([130.0, 10.0], 3)  # N, N m; of a sensor whose ranges are not known
_ROUNDING = 1e-6  # of a variance: the root exists where the payload has no first moment


def calibration_sd(settings: WrenchSettings) -> Array:
    """Standard deviations (6, 6) of the errors of the calibration matrix by the data sheet."""
    ranges = np.repeat([settings.force_range, settings.torque_range], 3)
    ranges = ranges if ranges.all() else _RANGES
    sd = settings.cross_talk * ranges[:, None] / ranges
    sd[np.diag_indices(6)] = settings.gain_error
    return np.asarray(sd)


def calibration_covariance(sd: Array, phi: Array) -> Array:
    """Covariance (6, 3, 3) of what each channel reads per acceleration too much.

    Args:
        sd: (6, 6) of the errors; phi: (10,) payload.
    """
    wrench = np.concatenate([phi[0] * identity(3), skew(phi[1:4])])
    squares = (wrench[:, :, None] * wrench[:, None]).reshape(len(wrench), -1)
    covariance = sd**2 @ squares  # (6, 9)
    diagonals = covariance[:, ::4]
    diagonals += _ROUNDING * diagonals.sum(axis=1, keepdims=True) + 1e-30
    return np.asarray(covariance.reshape(-1, 3, 3))


def calibration_scale(products: ChannelProducts, levels: Levels, prior: Array,
                      covariance: Array) -> float:
    """Root mean square of the scale of the data sheet's errors, weighed by the evidence.

    Args:
        products: of the window's rows; levels: by which they are weighed.
        prior: (n, n) products of whitened rows ``[A | states | y]`` that are known before the data.
        covariance: (6, 3, 3) of the errors (see `calibration_covariance`).
    """
    root = np.linalg.cholesky(covariance)
    white = white_noise(levels)[:, None, None] ** 2
    total = (products.rows / white).sum(axis=0) + prior
    cross = (products.beside / white @ root).transpose(1, 0, 2).reshape(len(total), -1)
    own = np.zeros((len(root), 3, len(root), 3))
    k = np.arange(len(root))
    own[k, :, k] = root.transpose(0, 2, 1) @ (products.accelerations / white) @ root
    known = np.linalg.solve(total[:-1, :-1], np.column_stack([cross[:-1], total[:-1, -1]]))
    unknown = own.reshape(cross.shape[1], -1) - cross[:-1].T @ known[:, :-1]
    pull = cross[-1] - cross[:-1].T @ known[:, -1]
    values, vectors = np.linalg.eigh(unknown)
    told = values > _ROUNDING * values[-1]
    values, found = values[told], np.square(vectors.T @ pull)[told] / values[told]
    variance = (1.0 + _MISFITS[:, None] ** 2
                + _SCALES[:, None, None] ** 2 * values)  # (scales, misfits, n)
    log = -0.5 * (found / variance + np.log(variance)).sum(axis=2)
    log -= 0.5 * (np.log(_SCALES[:, None] / _USUAL) / _SPREAD) ** 2
    weight = np.exp(log - log.max()).sum(axis=1)
    return float(np.sqrt(weight @ _SCALES**2 / weight.sum()))


def common_gain_covariance(phi: Array, gain_error: Array | float) -> Array:
    """Covariance (10, 10) of phi (10,) by gains that all forces, or all torques, have in common.

    Args:
        gain_error: standard deviation of each gain, or of the two (2,).
    """
    gains = np.zeros((PARAMETERS, 2))
    gains[0, 0], gains[1:, 1] = phi[0], phi[1:]
    gains *= gain_error
    return np.asarray(gains @ gains.T)
