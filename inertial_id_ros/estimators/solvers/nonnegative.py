# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Nonnegative least squares with a Tikhonov term, for many variables and few rows.

``min |G m - t|^2 / 2 + mu |m|^2 / 2,  m >= 0`` with ten rows and hundreds of point masses. With the
residual ``y = t - G m`` the optimum is ``m = max(0, G' y) / mu``, so the dual has ten unknowns. It
is strongly convex and piecewise quadratic, and Newton's method on it ends after finitely many
steps, each a change of the active set (masses above zero) and one 10 x 10 system.
"""

from __future__ import annotations

import numpy as np

from ...inertia import Array

MAX_STEPS = 50


def nonnegative_least_squares(columns: Array, target: Array, mu: float,
                              start: Array | None = None) -> tuple[Array, Array]:
    """The masses (n,) and the residual (k,), ``target - columns @ masses``.

    Args:
        columns: G (k, n), few rows.
        target: t (k,).
        mu: Tikhonov weight, positive.
        start: (k,) a residual to start from, e.g. of the problem before.
    """
    residual = target if start is None else start
    pull = np.maximum(columns.T @ residual, 0.0)
    for _ in range(MAX_STEPS):
        active = pull > 0.0
        chosen = columns[:, active]
        # (1 + G G'/mu)^-1 target by eigenvectors: strong directions keep all their digits
        values, vectors = np.linalg.eigh(chosen @ chosen.T)
        newton = vectors @ (mu / (mu + np.maximum(values, 0.0)) * (target @ vectors))
        pull_there = np.maximum(columns.T @ newton, 0.0)
        if np.array_equal(pull_there > 0.0, active):
            return pull_there / mu, newton
        step = _step_length(columns, target, mu, residual, pull, newton - residual)
        if step == 0.0:
            break
        residual = residual + step * (newton - residual)
        pull = np.maximum(columns.T @ residual, 0.0)
    try:
        return _by_primal_active_set(columns, target, mu)
    except RuntimeError:  # its limit of iterations: the last Newton point is the best there is
        return pull / mu, residual


def _step_length(columns: Array, target: Array, mu: float, residual: Array, pull: Array,
                 direction: Array) -> float:
    """The largest of 1, 1/2, 1/4, ... at which the dual falls as its slope promises; 0: none."""

    def dual(y: Array, positive: Array) -> float:
        """The dual objective at a residual y (k,), with its nonnegative pull (n,) on the masses."""
        return float(0.5 * y @ y + 0.5 * positive @ positive / mu - target @ y)

    value = dual(residual, pull)
    slope = float((residual + columns @ pull / mu - target) @ direction)
    step = 1.0
    while step > 1e-6:
        there = residual + step * direction
        if dual(there, np.maximum(columns.T @ there, 0.0)) <= value + 1e-4 * step * slope:
            return step
        step *= 0.5
    return 0.0


def _by_primal_active_set(columns: Array, target: Array, mu: float) -> tuple[Array, Array]:
    """Lawson-Hanson, for a mu so small that the dual is all corners; few masses are active then."""
    from scipy.optimize import nnls  # loads slowly, and is rarely asked

    n = columns.shape[1]
    masses, _ = nnls(np.concatenate([columns, np.sqrt(mu) * np.eye(n)]),
                     np.concatenate([target, np.zeros(n)]), maxiter=30 * n)
    return masses, target - columns @ masses
