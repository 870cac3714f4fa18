# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A first look at causes: which are worth a climb, and from where."""

from __future__ import annotations

import numpy as np

from ..model.newton_euler import GRAVITY, static_wrench
from ..motion.motion import Array
from .fit import Fit

MOST, LEAST = 2, 0.0  # members; gain of each
_SLOW = 0.15  # share of the noise that is slow, on average over the modes
_CLEAR = 0.002  # noise of the accelerations, as share of the power of what they make


def likely(fit: Fit, columns: Array, least: float = LEAST) -> list[tuple[int, Array]]:
    """The members of a grid whose linear part gains most beside a fit, the noise being as it is.

    Args:
        columns: (k, 6, s, q) modes of the wrench for each member, by values of unit deviation.
        least: logarithm of the evidence that each must gain.

    Returns:
        Number of each, and its values (q,).
    """
    s = fit.solution
    count, q = columns.shape[2:]
    weighted = (columns * s.weight[..., None, None]).reshape(-1, count * q)
    taken = (s.inverse @ (s.Xw.T @ weighted)).T.reshape(count, q, -1)
    B = weighted.T.reshape(count, q, -1)
    normal = B @ B.transpose(0, 2, 1) - taken @ taken.transpose(0, 2, 1) + np.eye(q)
    slope = B @ s.residual
    half = np.linalg.solve(normal, slope[..., None])[..., 0]
    gain = 0.5 * ((slope * half).sum(1) - np.linalg.slogdet(normal)[1])
    return [(int(k), half[k]) for k in np.argsort(-gain)[:MOST] if gain[k] > least]


def is_motion_clear(fit: Fit) -> bool:
    """True if noise of the accelerations is small against what they make of the wrench.

    Else the noisy columns seem to weigh less than they do (errors in variables), and everything
    that takes a share of the inertia away would be believed.
    """
    s, rows = fit.solution, fit.rows
    made = rows.A @ fit.phi - static_wrench(fit.phi, -rows.level @ GRAVITY)
    noise = np.repeat(s.spectrum[:, 1:2] * np.exp(fit.log_noise[:, 1]), 3, 1)
    return bool((noise * s.weight**2).sum() < _CLEAR * np.square(made * s.weight).sum())


def is_explained(fit: Fit) -> bool:
    """True if slow noise is small against that of sensor and motion: nothing slow is hidden."""
    s = fit.solution
    parts = s.spectrum * np.exp(fit.log_noise)[:, None]  # (2, k, c)
    share = parts[..., 2:].sum(2) / parts.sum(2)
    return bool(share.mean(1).max() < _SLOW)
