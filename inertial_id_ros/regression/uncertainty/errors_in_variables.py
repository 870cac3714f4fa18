# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Noise in the regressor: accelerations that are measured rather than derived from joints.

Accelerations with noise n make the regressor ``A + sum_c n_c dA_c``, linear in n. The residual is
then ``r = w - D(phi) n`` (w: noise of the wrench, ``D_c = dA_c phi``), with a covariance that
depends on the body and ties the channels together::

    Sigma(phi) = Sigma_w + D(phi) Sigma_a D(phi)'

Maximum likelihood, the true accelerations being unknown but fixed, minimises
``f(phi) = sum r' Sigma(phi)^-1 r / 2`` (errors in variables; Fuller 1987). There is no
``log det Sigma``: it belongs to accelerations drawn from a flat prior, and with it the gradient at
the truth would not vanish in the mean. The gradient of Sigma matters: through it the regressor
loses the noise that the residual shows, ``n^ = -Sigma_a D' Sigma^-1 r``::

    grad f = -sum (A - sum_c n^_c dA_c)' Sigma^-1 r

The curvature of f is, in the mean, the information ``H = sum A' Sigma^-1 A`` of the true
accelerations. The corrected regressor holds more: ``S = H + M``, where M comes from the noise left
in it, of covariance ``Sigma_a - Sigma_a D' Sigma^-1 D Sigma_a`` and independent of r. The gradient
varies as S, so the optimum varies as ``H^-1 S H^-1``. Optimum and this covariance make a linear
least-squares problem of the usual compressed form, ``H S^-1 H`` its information, so that every
estimator can use it; a few rounds lead to the fixed point.

All of it is quadratic in the rows, so a few rows with the same products stand for the window.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...inertia import PARAMETERS, Array
from ..newton_euler import ACCELERATION_REGRESSORS, acceleration_wrenches
from ..problem import Problem, eliminate
from ..regressor_window import CrossChannelRows
from .encoder_noise import remove_information

# A direction in which the rows hold less than noise alone may leave by chance, three standard
# deviations of its variance, counts as open: it keeps its value, with next to no information. To
# move along it would let the inertia, and Sigma with it, grow at will.
_CHANCE, _OPEN_WEIGHT = 3.0, 0.05


def compress_across_channels(rows: Array, noise: Array, energy: float,
                             independent: float) -> CrossChannelRows:
    """Compress rows into the fewest with the same sums of products, also across channels.

    Args:
        rows: (r, 6, 48) scaled stored rows; noise: (6,) of the accelerations.
        energy, independent: as in `CrossChannelRows`.
    """
    upper = np.asarray(np.linalg.qr(rows.reshape(len(rows), -1), mode="r"))
    _, strengths, right = np.linalg.svd(upper, full_matrices=False)
    kept = strengths > 1e-15 * strengths[0]
    few = strengths[kept, None] * right[kept]
    return CrossChannelRows(few.reshape(-1, *rows.shape[1:]), noise, energy, independent)


def residual_covariance(phi: Array, wrench_noise: Array, acceleration_noise: Array) -> Array:
    """Covariance (6, 6) of one sample of the residual at phi (10,).

    Args:
        wrench_noise: (6,) standard deviations [N, N m]; acceleration_noise: (6,) [m/s^2, rad/s^2].
    """
    scaled = acceleration_wrenches(phi) * acceleration_noise
    return np.diag(wrench_noise**2) + scaled @ scaled.T


def linearise(problem: Problem, window: CrossChannelRows, matrix: Array, x: Array,
              covariance: Array) -> Problem:
    """Linearise the errors-in-variables likelihood at x, as a problem that estimators can solve.

    Args:
        matrix: (48, 17 + q) from stored columns to ``[A | B | states (q) | y]``.
        x: (16 + q,) parameters, biases, other states.
        covariance: (6, 6) of one sample of the residual (see `residual_covariance`).
    """
    phi, rows, noise = x[:PARAMETERS], window.rows @ matrix, window.acceleration_noise
    weight = np.linalg.inv(covariance)
    residual = rows[..., -1] - rows[..., :-1] @ x
    scaled = acceleration_wrenches(phi) * noise**2
    gain = scaled.T @ weight  # n^ = -gain r
    corrected = rows.copy()
    corrected[..., :PARAMETERS] += np.tensordot(residual @ gain.T, ACCELERATION_REGRESSORS, axes=1)
    corrected[..., -1] = corrected[..., :-1] @ x + residual
    whitened = (np.linalg.cholesky(weight).T @ corrected).reshape(-1, corrected.shape[-1])
    marginal = eliminate(whitened, problem.state_prior())
    left = np.diag(noise**2) - gain @ scaled
    of_noise = window.energy * np.einsum(
        "cik,ij,cd,djl->kl", ACCELERATION_REGRESSORS, weight, left, ACCELERATION_REGRESSORS,
        optimize=True)
    chance = _CHANCE * np.sqrt(2.0 / (3.0 * window.independent))  # three channels tell inertia
    return replace(problem, known_marginal=remove_information(
        marginal, of_noise, phi, 1.0 / (1.0 + chance), _OPEN_WEIGHT))
