# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Least squares over positive definite 4x4 matrices, kept inside by a log-determinant barrier.

`BarrierFit` minimises ``|A svec(Z) - t|^2 + w (tr Z - log det Z)`` by Newton steps in the frame of
a factor ``Z = P P'``, where the Hessian of the barrier is the identity. Over w the function is
self-concordant, so that damped steps converge from anywhere (Boyd, Vandenberghe 2004, section
9.6); few are needed where w falls in stages from a weight at which ``Z = 1`` is almost the optimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from ..inertia import Array
from .reference_body import SIDE, UNIT, smat, svec

STAGE = 0.2  # factor from one weight to the next
# Squared Newton decrement over w at which the optimum of a weight on the way, of the last one, is
# reached.
NEAR, CENTERED = 0.5, 1e-12
_SHORTEST = 0.3  # of an axis after a step: one near the wall of the cone takes many to come back
_STEPS = 50  # at one weight


class Step(NamedTuple):
    """A Newton step: the factor P (4, 4) it starts from, and the change of Z in its frame.

    Attributes:
        residual: (n,) ``A svec(Z) - t`` at the start.
        change: (4, 4) from the identity, of the length that lowers the objective most.
        triangle: (10, 10) upper factor of half the Hessian at the start.
        decrement: squared Newton decrement, twice what the full step promises.
    """

    factor: Array
    residual: Array
    change: Array
    triangle: Array
    decrement: float


class BarrierFit:
    """``|A svec(Z) - t|^2 + w (tr Z - log det Z)`` over ``Z > 0``.

    Args:
        tensor: (n, 4, 4) rows of A as symmetric matrices; target: t (n,).
    """

    def __init__(self, tensor: Array, target: Array) -> None:
        self._tensor, self._target = tensor, target

    def weights_down_to(self, last: float) -> Iterator[float]:
        """Weights from where ``Z = 1`` is almost the optimum, one `STAGE` after another."""
        matrix = svec(self._tensor)
        weight = float(np.linalg.norm(2.0 * matrix.T @ (matrix @ UNIT - self._target)))
        while weight > last:
            yield weight
            weight *= STAGE
        yield last

    def newton(self, weight: float, factor: Array) -> Step:
        """The Newton step of one weight from ``Z = factor factor'``."""
        matrix, pull = svec(factor.T @ self._tensor @ factor), factor.T @ factor
        residual, root = matrix @ UNIT - self._target, np.sqrt(0.5 * weight)
        upper = np.asarray(np.linalg.qr(np.block([
            [matrix, -residual[:, None]],
            [root * np.eye(len(UNIT)), root * (UNIT - svec(pull))[:, None]]]), mode="r"))
        triangle, side = upper[:len(UNIT), :-1], upper[:len(UNIT), -1]
        z = np.linalg.solve(triangle, side)
        change, across = smat(z), matrix @ z
        slope = 2.0 * float(residual @ across) + weight * float(np.sum(pull * change))
        length = _best_length(slope, float(across @ across), weight, np.linalg.eigvalsh(change))
        return Step(factor, residual, length * change, triangle, 2.0 * float(side @ side))

    def find_center(self, weight: float, factor: Array, tolerance: float = CENTERED) -> Step:
        """The step at the optimum of one weight, from ``Z = factor factor'``."""
        for _ in range(_STEPS):
            step = self.newton(weight, factor)
            if step.decrement <= tolerance * weight:
                break
            factor = factor @ np.linalg.cholesky(np.eye(SIDE) + step.change)
        return step


def _best_length(slope: float, square: float, weight: float, values: Array) -> float:
    """The t > 0 that minimises ``slope t + square t^2 - weight sum log(1 + t values)``."""
    def derivative(t: float) -> float:
        return slope + 2.0 * square * t - weight * float(np.sum(values / (1.0 + t * values)))

    top = min((1.0 - _SHORTEST) / max(-float(values.min()), 1e-3), 1e3)
    if derivative(top) <= 0.0:
        return top
    if derivative(0.0) >= 0.0:  # rounding: this is the optimum
        return 0.0
    return float(brentq(derivative, 0.0, top, xtol=1e-12, rtol=1e-3))
