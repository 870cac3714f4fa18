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

from ..inertia import Array
from .reference_body import SIDE, UNIT, smat, svec

STAGE = 0.2  # factor from one weight to the next
# Squared Newton decrement over w at which the optimum of a weight on the way, of the last one, is
# reached.
NEAR, CENTERED = 0.5, 1e-12
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
        decrement = 2.0 * float(side @ side)
        return Step(factor, residual, smat(z) / (1.0 + np.sqrt(decrement / weight)), triangle,
                    decrement)

    def find_center(self, weight: float, factor: Array, tolerance: float = CENTERED) -> Step:
        """The step at the optimum of one weight, from ``Z = factor factor'``."""
        for _ in range(_STEPS):
            step = self.newton(weight, factor)
            if step.decrement <= tolerance * weight:
                break
            factor = factor @ np.linalg.cholesky(np.eye(SIDE) + step.change)
        return step
