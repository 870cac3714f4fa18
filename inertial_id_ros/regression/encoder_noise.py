"""Noise of the motion is no excitation: what it adds to the information is taken out again.

Positions of joints are noisy, and so are the accelerations in the regressor: a little, after the
low-pass, but at rest there is nothing else. With noise N in it, independent of the wrench, the
regressor A = A0 + N makes the normal equations ``S phi = A'y`` of ``S = H + M``: M, the information
that the noise seems to bring, pulls phi towards zero, and the arm that rests is sure to carry
nothing. ``H phi = A'y`` is not pulled (Fuller, Measurement Error Models, 1987, section 2.2).
"""

from __future__ import annotations

import numpy as np

from ..inertia import PARAMETERS, Array
from .errors_in_variables import DIRECTIONS
from .problem import Marginal

# A direction in which the noise holds more than this share of the information is left open: the
# rest of it is smaller than what is not known of the noise.
_LARGEST, _OPEN_WEIGHT = 0.5, 1e-3
_RANK = 1e-9
# Products (216, 100) of the regressor's changes, of two accelerations in each channel.
_PRODUCTS = np.einsum("cik,dil->cdikl", DIRECTIONS, DIRECTIONS).reshape(216, -1)
_NOTHING = 1e-3  # share of the information that nobody needs to take out


def in_residual(phi: Array, shaking: Array) -> Array:
    """Covariance (6, 6) of what noise of the motion leaves in the residual at phi (10,).

    Args:
        shaking: covariance (6, 6) of linear [m/s^2] and angular acceleration [rad/s^2] in a row.
    """
    levers = (DIRECTIONS @ phi).T
    return np.asarray(levers @ shaking @ levers.T)


def spurious(shaking: Array, wrench_noise: Array, samples: float) -> Array:
    """M (10, 10): information that noise of the motion brings.

    Args:
        shaking: see `in_residual`. Noise of joints moves and turns the sensor at once.
        wrench_noise: (6,) of one raw sample [N, N m]; samples: raw samples in the window.
    """
    share = np.multiply.outer(shaking, samples / wrench_noise**2)
    return (share.ravel() @ _PRODUCTS).reshape(PARAMETERS, PARAMETERS)


def freed(marginal: Marginal, false: Array) -> Marginal:
    """The marginal without false information M (10, 10).

    The free fit of the answer is ``H^-1 A'y``, of the covariance ``H^-1 S H^-1``.
    """
    if np.sum(marginal.unconstrained_fit[1] * false) < _NOTHING:  # the sum of all shares below
        return marginal
    upper = marginal.matrix
    lengths = np.linalg.norm(upper, axis=0)
    floor = _RANK * np.diag(np.where(lengths > 0.0, lengths, 1.0))
    root = np.asarray(np.linalg.qr(np.concatenate([upper, floor]), mode="r"))
    kept, vectors = _kept(np.linalg.solve(root.T, np.linalg.solve(root.T, false).T))
    # S = root' root, H = root' V kept V' root, H S^-1 H = (kept V' root)' (kept V' root)
    pulled = vectors.T @ np.linalg.solve(root.T, upper.T @ marginal.target)
    pulled[kept == _OPEN_WEIGHT] = 0.0
    new = np.column_stack([kept[:, None] * (vectors.T @ root), pulled])
    out = np.zeros_like(marginal.upper)
    out[:PARAMETERS] = np.linalg.qr(new, mode="r")
    out[PARAMETERS, PARAMETERS] = marginal.upper[PARAMETERS, PARAMETERS]
    return Marginal(out, marginal.state_rows)


def solved(information: Array, vector: Array, false: Array | None) -> tuple[Array, Array]:
    """Answer (k,) of normal equations and the information (k, k) about it, without false
    information M (10, 10) about the first ten states, if any.

    In a direction that is left open the answer stays that of the noisy equations.
    """
    if false is None:
        return np.linalg.solve(information, vector), information
    root = np.linalg.cholesky(information)
    half = np.linalg.solve(root, np.pad(false, (0, len(information) - PARAMETERS)))
    kept, vectors = _kept(np.linalg.solve(root, half.T))
    turned = root @ vectors
    freed_of = np.where(kept == _OPEN_WEIGHT, 1.0, kept)
    answer = np.linalg.solve(turned.T, np.linalg.solve(turned, vector) / freed_of)
    return answer, (turned * kept**2) @ turned.T


def _kept(share: Array) -> tuple[Array, Array]:
    """What is kept (k,) of each direction, and the directions, in columns (k, k)."""
    values, vectors = np.linalg.eigh(0.5 * (share + share.T))
    return np.where(values > _LARGEST, _OPEN_WEIGHT, 1.0 - np.maximum(values, 0.0)), vectors
