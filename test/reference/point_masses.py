# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Optima over nonnegative point masses by Lawson and Hanson's active sets, with a proof.

A norm that is not squared is ``min over t > 0 of |r|^2 / (2 t) + t / 2`` with t = |r| at the
optimum, so that reweighted nonnegative least squares descends. The residuals over their weights are
a dual point, which bounds the optimum from below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from inertial_id_ros.inertia import Array

ROUNDS, GAP = 300, 1e-9


class Optimum(NamedTuple):
    """Masses (n,), biases (k,), the objective there, and a lower bound of it anywhere."""

    masses: Array
    bias: Array
    objective: float
    bound: float


def least_sum_of_squares(stacks: list[Array], columns: Array, weight: float) -> Optimum:
    """``min sum_i |F_i [b; P m; -1]|^2 + weight |m|^2,  m >= 0``; args as below."""
    masses, point = _reweighted(stacks, columns, [1.0] * len(stacks), weight)
    value = sum(float(np.sum((f @ point) ** 2)) for f in stacks) + weight * float(masses @ masses)
    return Optimum(masses, point[:-11], value, value)


def least_sum_of_norms(stacks: list[Array], columns: Array, weight: float) -> Optimum:
    """``min sum_i |F_i [b; P m; -1]| + weight |m|,  m >= 0``.

    Args:
        stacks: F_i (rows, k + 11), columns ``[B (k) | A (10) | y]``; columns: P (10, n).
    """
    norms = [float(np.linalg.norm(f[:, -1])) for f in stacks]
    norms = [max(t, 1e-3 * sum(norms)) for t in norms]
    size, best = 1.0, Optimum(np.empty(0), np.empty(0), np.inf, -np.inf)
    for _ in range(ROUNDS):
        masses, point = _reweighted(stacks, columns, norms, weight / size)
        residuals = [f @ point for f in stacks]
        found = [float(np.linalg.norm(r)) + 1e-300 for r in residuals]
        found_size = float(np.linalg.norm(masses))
        shrink = min(1.0, size / found_size, *(t / f for t, f in zip(norms, found, strict=True)))
        bound = shrink * sum(float(-r @ f[:, -1]) / t
                             for r, f, t in zip(residuals, stacks, norms, strict=True))
        value = sum(found) + weight * found_size
        if value < best.objective:
            best = Optimum(masses, point[:-11], value, best.bound)
        best = best._replace(bound=max(bound, best.bound))
        if best.objective - best.bound <= GAP * best.objective:
            break
        norms, size = [max(f, 1e-9 * value) for f in found], found_size
    return best


def _reweighted(stacks: list[Array], columns: Array, norms: list[float],
                weight: float) -> tuple[Array, Array]:
    """Masses (n,) and point [b; P m; -1] that minimise ``sum |F_i ...|^2 / t_i + weight |m|^2``."""
    upper = np.linalg.qr(np.concatenate([f / np.sqrt(t) for f, t in zip(stacks, norms,
                                                                        strict=True)]), mode="r")
    k, n = upper.shape[1] - 11, columns.shape[1]
    masses, _ = nnls(np.concatenate([upper[k:k + 10, k:-1] @ columns, np.sqrt(weight) * np.eye(n)]),
                     np.concatenate([upper[k:k + 10, -1], np.zeros(n)]), maxiter=100 * n)
    bias = np.linalg.solve(upper[:k, :k], upper[:k, -1] - upper[:k, k:-1] @ (columns @ masses))
    return masses, np.concatenate([bias, columns @ masses, [-1.0]])
