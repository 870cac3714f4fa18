# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What an estimator sees of the data: a whitened least-squares problem in phi, in which everything
else that was estimated (bias, set-up, causes of a residual) is marginalised."""

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import solve_triangular

from ..inertia import PARAMETERS, Array

CHANNELS = 6  # of a wrench; joint torques have one a joint


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise ``|matrix phi - target|^2 + residual^2``.

    Attributes:
        matrix: (10, 10) upper triangular, square root of the information about phi.
        target: (10,).
        residual: norm of the whitened residual that no phi explains.
        models: rows of the wrench, for the estimators that need them: one set (c, k, 12) for each
            model, by channel ``[1 | A (10) | y]`` in N and N m, y without the mean of the bias;
            empty where they are not known.
        noise: (c,) standard deviation of a row of each channel.
        bias_sd: (c,) of the bias about its mean before the data; zeros: it is known.
        near: what was found for a similar problem, from which a search may begin.
    """

    matrix: Array
    target: Array
    residual: float = 0.0
    models: tuple[Array, ...] = ()
    noise: Array = field(default_factory=lambda: np.ones(CHANNELS))
    bias_sd: Array = field(default_factory=lambda: np.zeros(CHANNELS))
    near: tuple[Array, ...] = ()

    @classmethod
    def from_estimate(cls, mean: Array, covariance: Array) -> "Problem":
        """The problem whose optimum is `mean` (10,) with this covariance (10, 10), whole rank."""
        scale = np.sqrt(np.diag(covariance))
        lower = np.linalg.cholesky(covariance / np.outer(scale, scale))
        root = triangle(solve_triangular(lower, np.diag(1.0 / scale), lower=True))
        return cls(root, root @ mean)

    @classmethod
    def from_models(cls, models: tuple[Array, ...], noise: Array, bias_sd: Array) -> "Problem":
        """The problem of one or more sets of rows, see the attributes; the bias is marginalised."""
        rows = np.concatenate(_stacked(models, 1.0 / noise, noise, bias_sd))
        upper = triangle(rows)[-PARAMETERS - 1:, -PARAMETERS - 1:]
        return cls(upper[:-1, :-1], upper[:-1, -1], float(abs(upper[-1, -1])), models, noise,
                   bias_sd)

    def rows(self, scale: Array) -> list[Array]:
        """The triangular (QR) factor ``[bias (c, or none if known) | A (10) | y]`` of each model.

        Args:
            scale: (c,) by which each channel is multiplied; the prior of the bias, in units of one
                row's noise, goes with the first model.
        """
        return list(map(triangle, _stacked(self.models, scale, self.noise, self.bias_sd)))


def triangle(rows: Array) -> Array:
    """Square upper triangular factors (..., k, k) of rows (..., n, k), filled with zeros where n is
    less than k."""
    missing = max(rows.shape[-1] - rows.shape[-2], 0)
    padding = [(0, 0)] * (rows.ndim - 2) + [(0, missing), (0, 0)]
    return np.asarray(np.linalg.qr(np.pad(rows, padding), mode="r"))


def covariance_of(rows: Array) -> Array:
    """Covariance (10, 10) of phi by whitened rows (n, 10); finite where they lack a direction."""
    scale, unit = np.linalg.norm(rows, axis=0), np.eye(PARAMETERS)
    upper = triangle(np.concatenate([rows / scale, np.sqrt(np.finfo(float).eps) * unit]))
    root = solve_triangular(upper, unit, check_finite=False) / scale[:, None]
    return np.asarray(root @ root.T)


def _stacked(models: tuple[Array, ...], scale: Array, noise: Array, bias_sd: Array) -> list[Array]:
    """Rows ``[bias | A | y]`` of each model, channels times `scale` (c,); in the first the prior of
    the bias, too. A bias without prior spread has no columns."""
    is_free, out = bias_sd > 0.0, list[Array]()
    for model in models:
        bias = model[..., :1] * np.eye(len(model))[:, None, is_free]
        rows = np.concatenate([bias, model[..., 1:]], axis=2) * scale[:, None, None]
        out.append(rows.reshape(-1, rows.shape[2]))
    prior = np.zeros((int(is_free.sum()), out[0].shape[1]))
    np.fill_diagonal(prior, (scale * noise)[is_free] / bias_sd[is_free])
    return [np.concatenate([out[0], prior]), *out[1:]]


def dynamism_weight(acceleration: Array, omega: Array, alpha: Array, c1: float) -> Array:
    """Weight (n,) in [0, 1) of the full model, ``tanh(3 nu / c1)`` (Nadeau et al. 2022, eq. 7).

    Args:
        acceleration: (n, 3) without gravity [m/s^2]; omega, alpha: (n, 3) [rad/s, rad/s^2];
        c1: dynamism at which the weight is 0.995.
    """
    squares = [np.sum(v**2, axis=1) for v in (acceleration, alpha, omega / 0.5)]
    return np.asarray(np.tanh(3.0 * sum(squares) / c1))


def channel_triangles(rows: Array, weight: Array) -> Array:
    """Triangles (c, 12, 12) ``[1 | A | y]`` of rows (n, c, 11) with weights (n,)."""
    one = np.ones((*rows.shape[:2], 1))
    weighted = np.concatenate([one, rows], axis=2) * weight[:, None, None]
    return triangle(weighted.transpose(1, 0, 2))
