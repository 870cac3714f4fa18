"""Noise in the regressor: accelerations that are measured rather than derived from joints.

Accelerations with noise n make the regressor ``A + sum_c n_c dA_c``, linear in n. The residual is
then ``r = w - D(phi) n`` (w: noise of the wrench, ``D_c = dA_c phi``), with a covariance that
depends on the body and ties the channels together::

    Sigma(phi) = Sigma_w + D(phi) Sigma_a D(phi)'

Maximum likelihood, the true accelerations being unknown but fixed, minimises
``f(phi) = sum r' Sigma(phi)^-1 r / 2`` (errors in variables; Fuller 1987). There is no
``log det Sigma``: it belongs to accelerations drawn from a flat prior, and with it the gradient at
the truth would not vanish in the mean. The gradient of Sigma matters: through it the regressor is
freed of the noise that the residual shows, ``n^ = -Sigma_a D' Sigma^-1 r``::

    grad f = -sum (A - sum_c n^_c dA_c)' Sigma^-1 r

The curvature of f is, in the mean, the information ``H = sum A' Sigma^-1 A`` of the true
accelerations. The freed regressor holds more: ``S = H + M``, where M comes from the noise that is
left in it, of covariance ``Sigma_a - Sigma_a D' Sigma^-1 D Sigma_a`` and independent of r. The
gradient varies as S, so the optimum varies as ``H^-1 S H^-1``. Optimum and this covariance make a
linear least-squares problem of the usual compressed form, ``H S^-1 H`` its information, so that
every estimator can use it; a few rounds lead to the fixed point.

All of it is quadratic in the rows, so a few rows with the same products stand for the window.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..inertia import PARAMETERS, Array
from .newton_euler import regressor
from .problem import Marginal, Problem, eliminate
from .regressor_window import JointRows

# Regressor per unit of linear and angular acceleration along each axis (6, 6, 10).
DIRECTIONS = np.concatenate([regressor(np.eye(3), np.zeros((3, 3)), np.zeros((3, 3))),
                             regressor(np.zeros((3, 3)), np.zeros((3, 3)), np.eye(3))])
# A direction in which the rows hold less than noise alone may leave by chance, three standard
# deviations of its variance, counts as open: it keeps its value, with next to no information. To
# move along it would let the inertia, and Sigma with it, grow at will.
_CHANCE, _OPEN_WEIGHT = 3.0, 0.05
_RANK = 1e-9


def joint_rows(rows: Array, noise: Array, energy: float, independent: float) -> JointRows:
    """The smallest rows with the same products; see `JointRows`.

    Args:
        rows: (r, 6, 38) scaled stored rows; noise: (6,) of the accelerations; energy, independent:
            see there.
    """
    upper = np.asarray(np.linalg.qr(rows.reshape(len(rows), -1), mode="r"))
    _, strengths, right = np.linalg.svd(upper, full_matrices=False)
    kept = strengths > 1e-15 * strengths[0]
    few = strengths[kept, None] * right[kept]
    return JointRows(few.reshape(-1, *rows.shape[1:]), noise, energy, independent)


def residual_covariance(phi: Array, wrench_noise: Array, acceleration_noise: Array) -> Array:
    """Covariance (6, 6) of one sample of the residual at phi (10,).

    Args:
        wrench_noise: (6,) standard deviations [N, N m]; acceleration_noise: (6,) [m/s^2, rad/s^2].
    """
    levers = _levers(phi) * acceleration_noise
    return np.diag(wrench_noise**2) + levers @ levers.T


def _levers(phi: Array) -> Array:
    """D (6, 6): wrench per unit of linear and angular acceleration."""
    return (DIRECTIONS @ phi).T


def linearised(problem: Problem, joint: JointRows, matrix: Array, x: Array,
               covariance: Array) -> Problem:
    """The problem with the errors-in-variables likelihood, linearised at x.

    Args:
        matrix: (38, 17 + q) from stored columns to ``[A | B | alignment (q) | y]``.
        x: (16 + q,) parameters, biases, alignment states.
        covariance: (6, 6) of one sample of the residual (see `residual_covariance`).
    """
    phi, rows, noise = x[:PARAMETERS], joint.rows @ matrix, joint.acceleration_noise
    weight = np.linalg.inv(covariance)
    residual = rows[..., -1] - rows[..., :-1] @ x
    levers = _levers(phi) * noise**2
    gain = levers.T @ weight  # n^ = -gain r
    freed = rows.copy()
    freed[..., :PARAMETERS] += np.tensordot(residual @ gain.T, DIRECTIONS, axes=1)
    freed[..., -1] = freed[..., :-1] @ x + residual
    whitened = (np.linalg.cholesky(weight).T @ freed).reshape(-1, freed.shape[-1])
    marginal = eliminate(whitened, problem.state_prior())
    left = np.diag(noise**2) - gain @ levers
    spurious = joint.energy * np.einsum("cik,ij,cd,djl->kl", DIRECTIONS, weight, left, DIRECTIONS,
                                        optimize=True)
    chance = _CHANCE * np.sqrt(2.0 / (3.0 * joint.independent))  # three channels tell inertia
    return replace(problem, noisy=without(marginal, spurious, phi, 1.0 / (1.0 + chance)))


def without(marginal: Marginal, spurious: Array, phi: Array, largest: float) -> Marginal:
    """The marginal less spurious information M (10, 10); its gradient was taken at phi (10,).

    With S the information of the marginal and ``H = S - M``, the optimum ``phi - H^-1 gradient``
    has the covariance ``H^-1 S H^-1``. Directions with a larger share of M in S are left open.
    """
    upper = marginal.matrix
    lengths = np.linalg.norm(upper, axis=0)
    floor = _RANK * np.diag(np.where(lengths > 0.0, lengths, 1.0))
    root = np.asarray(np.linalg.qr(np.concatenate([upper, floor]), mode="r"))
    share = np.linalg.solve(root.T, np.linalg.solve(root.T, spurious).T)
    values, vectors = np.linalg.eigh(0.5 * (share + share.T))
    # S = root' root, H = root' V kept V' root, H S^-1 H = (kept V' root)' (kept V' root)
    is_open = values > largest
    kept = np.where(is_open, _OPEN_WEIGHT, 1.0 - np.maximum(values, 0.0))
    new = kept[:, None] * (vectors.T @ root)
    pull = vectors.T @ np.linalg.solve(root.T, upper.T @ (marginal.target - upper @ phi))
    pull[is_open] = 0.0
    out = np.zeros_like(marginal.upper)
    out[:PARAMETERS] = np.linalg.qr(np.column_stack([new, new @ phi + pull]), mode="r")
    out[PARAMETERS, PARAMETERS] = marginal.upper[PARAMETERS, PARAMETERS]
    return Marginal(out, marginal.state_rows)
