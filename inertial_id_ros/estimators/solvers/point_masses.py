# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Nonnegative masses and free biases that fit small triangular factors, norms squared or not.

``min sum_i |F_i [b; P m; -1]| + lambda |m|,  m >= 0``. Squared, that is one nonnegative
least-squares problem once the biases are eliminated. A norm that is not squared is
``min over t of |r|^2 / (2 t) + t / 2`` with t = |r| at the optimum, so reweighted least squares
descends; the residual norms hardly depend on m, so a handful of rounds suffice. Each round gives
a dual point too (the residuals over their weights), which bounds the distance to the optimum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inertia import PARAMETERS, Array
from ...linalg import triangular_factor
from .nonnegative import nonnegative_least_squares

# Rounds end when primal and dual objective agree to this part.
RELATIVE_GAP = 1e-8
MAX_ROUNDS = 200
# Rounds without progress after which rounding, not the method, holds the gap open.
MAX_IDLE_ROUNDS = 5
# A norm below this part of the objective counts as this part: its weight would be infinite.
SMALLEST_NORM = 1e-9


class Optimum(NamedTuple):
    """Masses (n,), biases (k,), and the weight of |m|^2 against squared rows at the optimum."""

    masses: Array
    bias: Array
    tikhonov: float


def least_sum_of_squares(factors: list[Array], columns: Array, regularization: float) -> Optimum:
    """Masses and biases that minimise the sum of the squared norms.

    Args: as of `least_sum_of_norms`.
    """
    masses, bias, _ = _solve_reweighted(factors, columns, np.ones(len(factors)), regularization)
    return Optimum(masses, bias, regularization)


def least_sum_of_norms(factors: list[Array], columns: Array, regularization: float) -> Optimum:
    """Masses and biases that minimise the sum of the norms, not squared.

    Args:
        factors: each (rows, k + 11) with columns ``[B (k) | A (10) | y]``; k may be zero.
        columns: (10, n) from masses to phi.
        regularization: lambda, positive.
    """
    norms = np.array([np.linalg.norm(f[:, -1]) for f in factors])
    norms = np.maximum(norms, 1e-3 * norms.sum())
    size = 1.0
    residual: Array | None = None
    best = Optimum(np.zeros(columns.shape[1]), np.zeros(factors[0].shape[1] - 11), 0.0)
    least, idle = np.inf, 0
    for _ in range(MAX_ROUNDS):
        masses, bias, residual = _solve_reweighted(factors, columns, norms, regularization / size,
                                                   residual)
        point = np.concatenate([bias, columns @ masses, [-1.0]])
        rows = [f @ point for f in factors]
        found = np.array([np.linalg.norm(r) for r in rows])
        found_size = float(np.linalg.norm(masses))
        primal = float(found.sum()) + regularization * found_size
        idle = 0 if primal < (1.0 - RELATIVE_GAP) * least else idle + 1
        if primal < least:
            least = primal
            best = Optimum(masses, bias, regularization * float(np.linalg.norm(norms)) / size)
        gap = primal - _dual_bound(factors, rows, norms, found, size, found_size)
        if gap <= RELATIVE_GAP * primal or idle == MAX_IDLE_ROUNDS:
            break
        norms = np.maximum(found, SMALLEST_NORM * primal)
        size = max(found_size, SMALLEST_NORM * primal / regularization)
    return best


def _solve_reweighted(factors: list[Array], columns: Array, norms: Array, mu: float,
                      start: Array | None = None) -> tuple[Array, Array, Array]:
    """Masses, biases and residual of ``sum |F_i ...|^2 / (2 t_i) + mu |m|^2 / 2``."""
    matrix, target, above = _eliminate_bias(
        np.concatenate([f / np.sqrt(t) for f, t in zip(factors, norms, strict=True)]))
    masses, residual = nonnegative_least_squares(matrix @ columns, target, mu, start)
    k = len(above)
    bias = np.linalg.solve(above[:, :k], above[:, -1] - above[:, k:-1] @ (columns @ masses))
    return masses, bias, residual


def _eliminate_bias(rows: Array) -> tuple[Array, Array, Array]:
    """Least squares in phi alone from rows (n, k + 11), columns ``[B (k) | A (10) | y]``.

    Returns:
        matrix (10, 10) and target (10,) in phi, and the rows (k, k + 11) that give the biases.
    """
    upper = triangular_factor(rows)
    k = rows.shape[1] - PARAMETERS - 1
    inside = slice(k, k + PARAMETERS)
    return upper[inside, inside], upper[inside, -1], upper[:k]


def _dual_bound(factors: list[Array], rows: list[Array], norms: Array, found: Array, size: float,
                found_size: float) -> float:
    """A lower bound of the optimum: the dual objective at residual over weight, made feasible."""
    shrink = min(1.0, float(np.min(norms / np.maximum(found, 1e-300))),
                 size / max(found_size, 1e-300))
    return shrink * sum(float(-r @ f[:, -1]) / t
                        for r, f, t in zip(rows, factors, norms, strict=True))
