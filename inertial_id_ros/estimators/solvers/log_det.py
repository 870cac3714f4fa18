# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Least squares over ``Z > 0`` with a log-determinant barrier that stays: a Wishart prior's mode.

``min |A svec(Z) - t|^2 + gamma (tr Z - log det Z)``, Z (4, 4): up to constants the logarithm of a
Gaussian likelihood times a Wishart density with its mode at the identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...inertia import Array
from .interior_point import InteriorPath
from .triangle_vector import DIAGONAL, SIDE, SVEC_SIZE, smat, svec

# Weights among which the evidence chooses, strongest first.
EVIDENCE_GAMMAS = tuple(10.0 ** np.arange(3.0, -1.1, -0.5))
_STEPS = 50
_DECREMENT = 1e-8  # squared Newton decrement, per gamma, at which the optimum is reached
_UNIT = svec(np.eye(SIDE))


class Mode(NamedTuple):
    """Factor P (4, 4) of the optimum ``Z = P P'`` in units of J0, its weight, its log evidence."""

    factor: Array
    gamma: float
    evidence: float


class LogDetFit:
    """``|A svec(Z) - t|^2 + gamma (tr Z - log det Z)`` over ``Z > 0``.

    Args:
        tensor: (n, 4, 4) rows of A as symmetric matrices; target: t (n,).
    """

    def __init__(self, tensor: Array, target: Array) -> None:
        self._tensor, self._target = tensor, target

    def find_mode(self, gamma: float) -> Mode:
        """The optimum of one weight."""
        return self.find_modes((gamma,))[0]

    def find_modes(self, gammas: Sequence[float]) -> list[Mode]:
        """The optimum for each of several weights, which must fall.

        Newton's method from far off would come to rest at the wall of the cone; primal-dual steps
        lead near each optimum first, and from one to the next.
        """
        path = InteriorPath(self._tensor, self._target, np.eye(SIDE), gammas[0])
        out = []
        for gamma in gammas:
            path.weight = gamma
            for _ in range(_STEPS):
                if not path.advance() or path.arrived:
                    break
            out.append(self._newton(gamma, path.factor))
        return out

    def _newton(self, gamma: float, factor: Array) -> Mode:
        """The optimum, by damped Newton steps from ``Z = factor factor'`` near it.

        A step is taken in the frame of the factor, where the barrier's Hessian is the identity.
        """
        weight = np.sqrt(0.5 * gamma)
        for _ in range(_STEPS):
            matrix = svec(factor.T @ self._tensor @ factor)
            residual = matrix[:, DIAGONAL].sum(axis=1) - self._target
            pull = factor.T @ factor
            system = np.zeros((len(matrix) + SVEC_SIZE, SVEC_SIZE + 1))
            system[:len(matrix), :-1], system[:len(matrix), -1] = matrix, -residual
            system[len(matrix):, :-1] = weight * np.eye(SVEC_SIZE)
            system[len(matrix):, -1] = weight * (_UNIT - svec(pull))
            upper = np.asarray(np.linalg.qr(system, mode="r"))[:SVEC_SIZE]
            z = np.linalg.solve(upper[:, :-1], upper[:, -1])
            change = smat(z)
            values, vectors = np.linalg.eigh(change)
            across = matrix @ z
            linear = 2.0 * float(residual @ across) + gamma * float(np.sum(pull * change))
            square = float(across @ across)
            decrement = 2.0 * float(upper[:, -1] @ upper[:, -1])
            if decrement <= _DECREMENT * gamma:
                break
            step = line_search(linear, square, gamma, values)
            factor = factor @ (vectors * np.sqrt(1.0 + step * values))
        from scipy.special import multigammaln  # loads slowly; other estimators do without

        logdet = 2.0 * float(np.linalg.slogdet(factor)[1])
        a = 0.5 * gamma
        # Wishart density at the mode, times the likelihood, times the width of their product.
        evidence = (-0.5 * float(residual @ residual) + a * (logdet - float(np.sum(factor**2)))
                    - multigammaln(a + 2.5, SIDE) + SIDE * (a + 2.5) * np.log(a)
                    - float(np.log(np.abs(np.diag(upper[:, :-1]))).sum()) + 2.5 * logdet)
        return Mode(factor, gamma, evidence)

    def best_mode(self) -> Mode:
        """The optimum of the weight with the largest evidence (Laplace's approximation)."""
        return max(self.find_modes(EVIDENCE_GAMMAS), key=lambda mode: mode.evidence)


def line_search(linear: float, square: float, gamma: float, values: Array) -> float:
    """Step t that lowers ``linear t + square t^2 - gamma sum log(1 + t values)``.

    One Newton iteration in t costs nothing, so the minimum is found, not just a decrease.
    """
    smallest = float(values.min())
    top = 1.0 / -smallest if smallest < 0.0 else np.inf
    low, high = 0.0, min(top, 1e3)
    t = min(1.0, 0.5 * high)
    for _ in range(40):
        scaled = values / (1.0 + t * values)
        slope = linear + 2.0 * square * t - gamma * float(scaled.sum())
        low, high = (low, t) if slope > 0.0 else (t, high)
        t_new = t - slope / (2.0 * square + gamma * float(scaled @ scaled))
        if not low < t_new < high:
            t_new = 0.5 * (low + high)
        if abs(t_new - t) <= 1e-3 * t:
            break
        t = t_new
    return t


def curvature(factor: Array) -> Array:
    """Hessian (10, 10) of ``-log det`` at ``Z = factor factor'``: ``D -> Z^-1 D Z^-1``."""
    root = np.linalg.inv(factor)
    map_ = svec(root @ smat(np.eye(SVEC_SIZE)) @ root.T)
    return map_ @ map_.T
