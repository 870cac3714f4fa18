# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Removes the information that noise of the motion seems to bring.

Positions of joints are noisy, and so are the accelerations in the regressor: a little, after the
low-pass, but at rest there is nothing else. With noise N in it, independent of the wrench, the
regressor A = A0 + N makes the normal equations ``S phi = A'y`` of ``S = H + M``: M, the information
that the noise seems to bring, pulls phi towards zero, and the arm that rests is sure to carry
nothing. ``H phi = A'y`` is not pulled (Fuller, Measurement Error Models, 1987, section 2.2).
"""

from __future__ import annotations

import numpy as np

from ...inertia import PARAMETERS, Array
from ...linalg import cholesky_factor, solve, solve_upper, symmetric_eigen, triangular_factor
from ..newton_euler import ACCELERATION_REGRESSORS, acceleration_wrenches
from ..problem import Marginal

# A direction in which the noise holds more than this share of the information is left open (see
# `_split_directions`): the rest of it is smaller than what is not known of the noise.
_LARGEST, _OPEN_WEIGHT = 0.5, 1e-3
_RANK = 1e-9
_FLOOR = np.arange(PARAMETERS, 2 * PARAMETERS), np.arange(PARAMETERS)  # a diagonal below a factor
# Products (216, 100) of the regressor's changes, of two accelerations in each channel.
_PRODUCTS = np.einsum("cik,dil->cdikl", ACCELERATION_REGRESSORS,
                      ACCELERATION_REGRESSORS).reshape(216, -1)
NO_MOTION_NOISE = np.zeros((6, 6))  # covariance of accelerations that are exact
_NEGLIGIBLE = 1e-3  # share of the information that need not be removed


def motion_noise_covariance(phi: Array, acceleration_covariance: Array) -> Array:
    """Covariance (6, 6) of the wrench residual due to noise of the motion, at phi (10,).

    Args:
        acceleration_covariance: (6, 6) of linear [m/s^2] and angular acceleration [rad/s^2] in a
            row; noise of joints moves and turns the sensor at once.
    """
    wrenches = acceleration_wrenches(phi)
    return np.asarray(wrenches @ acceleration_covariance @ wrenches.T)


def noise_information(acceleration_covariance: Array, wrench_noise: Array,
                      samples: float, eliminated: Array | None = None) -> Array:
    """M (10, 10): information that noise of the motion seems to bring.

    Args:
        acceleration_covariance: see `motion_noise_covariance`.
        wrench_noise: (6,) of one raw sample [N, N m]; samples: raw samples in the window.
        eliminated: (6, 3, 10) multiples of the linear acceleration that were taken from the
            regressor of each channel, and their noise with them; None: nothing was.
    """
    weight = samples / wrench_noise**2
    if eliminated is None:
        share = np.multiply.outer(acceleration_covariance, weight)
        return (share.ravel() @ _PRODUCTS).reshape(PARAMETERS, PARAMETERS)
    noisy = ACCELERATION_REGRESSORS.transpose(1, 0, 2).copy()  # (6 channels, 6, 10)
    noisy[:, :3] -= eliminated
    weighted = weight[:, None, None] * (acceleration_covariance @ noisy)
    return np.asarray(noisy.reshape(-1, PARAMETERS).T @ weighted.reshape(-1, PARAMETERS))


def remove_noise_information(marginal: Marginal, of_noise: Array) -> Marginal:
    """The marginal less the information M (10, 10) that noise of the motion seems to bring.

    The unconstrained fit of the answer is ``H^-1 A'y``, of the covariance ``H^-1 S H^-1``.
    """
    if np.vdot(marginal.unconstrained_fit[1], of_noise) < _NEGLIGIBLE:  # the sum of all shares
        return marginal
    return remove_information(marginal, of_noise, np.zeros(PARAMETERS), _LARGEST, _OPEN_WEIGHT)


def remove_information(marginal: Marginal, of_noise: Array, phi: Array, largest: float,
                       open_weight: float) -> Marginal:
    """The marginal less information M (10, 10), with the same gradient at phi (10,).

    With S the information of the marginal and ``H = S - M``, the optimum ``phi - H^-1 gradient``
    has the covariance ``H^-1 S H^-1``.

    Args:
        largest, open_weight: see `_split_directions`; in an open direction the optimum stays at
            phi.
    """
    upper = marginal.matrix
    lengths = np.sqrt((upper * upper).sum(axis=0))
    stacked = np.zeros((2 * PARAMETERS, PARAMETERS), order="F")
    stacked[:PARAMETERS] = upper
    stacked[_FLOOR] = _RANK * np.where(lengths > 0.0, lengths, 1.0)
    root = triangular_factor(stacked, overwrite=True)
    share = solve_upper(root, solve_upper(root, of_noise, transposed=True).T, transposed=True)
    kept, is_open, vectors = _split_directions(share, largest, open_weight)
    # S = root' root, H = root' V kept V' root, H S^-1 H = (kept V' root)' (kept V' root)
    new = np.empty((PARAMETERS, PARAMETERS + 1), order="F")
    new[:, :-1] = kept[:, None] * (vectors.T @ root)
    pull = vectors.T @ solve_upper(root, upper.T @ (marginal.target - upper @ phi),
                                   transposed=True)
    pull[is_open] = 0.0
    new[:, -1] = new[:, :-1] @ phi + pull
    out = np.zeros_like(marginal.upper)
    out[:PARAMETERS] = triangular_factor(new, overwrite=True)
    out[PARAMETERS, PARAMETERS] = marginal.upper[PARAMETERS, PARAMETERS]
    return Marginal(out, marginal.state_rows)


def solve_without_noise_information(information: Array, vector: Array,
                                    of_noise: Array | None) -> tuple[Array, Array]:
    """Solve normal equations less the information M of noise about their first ten states.

    In a direction that is left open the solution stays that of the noisy equations.

    Args:
        information: (k, k); vector: (k,) right-hand side; of_noise: M (10, 10), None: none.

    Returns:
        solution (k,) and the information (k, k) about it.
    """
    if of_noise is None:
        return solve(information, vector), information
    upper = cholesky_factor(information)
    if upper is None:
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    whole = np.zeros_like(information)
    whole[:PARAMETERS, :PARAMETERS] = of_noise
    half = solve_upper(upper, whole, transposed=True)
    kept, is_open, vectors = _split_directions(solve_upper(upper, half.T, transposed=True),
                                               _LARGEST, _OPEN_WEIGHT)
    divisor = np.where(is_open, 1.0, kept)
    turned = vectors.T @ solve_upper(upper, vector, transposed=True)
    scaled = kept[:, None] * (vectors.T @ upper)
    return solve_upper(upper, vectors @ (turned / divisor)), scaled.T @ scaled


def _split_directions(share: Array, largest: float,
                      open_weight: float) -> tuple[Array, np.ndarray, Array]:
    """Split information into directions, each with a factor that takes the noise's share out of it.

    The factor is 1 less the share of the noise along that direction. Where that share is too large,
    what remains is not trusted: the direction is left open, as if the data said nothing of it.

    Args:
        share: (k, k) information of the noise, relative to all information.
        largest: share above which a direction is left open.
        open_weight: factor of an open direction, almost zero; it keeps the square of it.

    Returns:
        the factors (k,), whether each direction is left open (k,), and the directions as columns
        (k, k).
    """
    values, vectors = symmetric_eigen(0.5 * (share + share.T))
    is_open = values > largest
    return np.where(is_open, open_weight, 1.0 - np.maximum(values, 0.0)), is_open, vectors
