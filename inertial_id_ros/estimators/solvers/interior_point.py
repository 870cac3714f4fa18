# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Interior-point steps for least squares over positive semidefinite 4x4 matrices.

`body_manifold` leaves a point that its own steps cannot improve, although it is not the optimum,
along this path: it works on the pseudo-inertia itself, where the problem is convex. `log_det` looks
for a point within the cone, where the path with a positive weight ends. Primal-dual steps in the
scaling of Nesterov and Todd (1997), with Mehrotra's corrector (1992).
"""

from __future__ import annotations

import numpy as np

from ...inertia import Array
from .triangle_vector import DIAGONAL, SIDE, SVEC_SIZE, smat, svec

_BACK = 0.99  # part of the way to the boundary of the cone


class InteriorPath:
    """Points ``Y > 0`` on the way to ``min |A svec(Y) - t|^2 + weight (tr Y - log det Y)``.

    With weight 0 that is least squares over ``Y >= 0``. The state is a factor P of ``Y = P P'`` and
    the dual matrix seen from it, ``P' S P``; on the path ``P' S P`` is a multiple of the identity,
    which falls to ``weight``. The weight may be lowered on the way.

    Args:
        tensor: (n, 4, 4) rows of A as symmetric matrices; target: t (n,).
        start: (4, 4) positive definite.

    Attributes:
        factor: P (4, 4) with ``Y = P P'``.
    """

    def __init__(self, tensor: Array, target: Array, start: Array, weight: float = 0.0) -> None:
        self._tensor, self._target, self.weight = tensor, target, weight
        self._step = 0.0
        self.factor = np.linalg.cholesky(start)
        matrix = svec(self.factor.T @ tensor @ self.factor)
        residual = matrix[:, DIAGONAL].sum(axis=1) - target
        slope = 2.0 * (matrix.T @ residual)
        center = max(abs(float(slope[DIAGONAL].mean())), 0.1 * float(np.abs(slope).max()), 1e-3,
                     weight)
        self._dual = center * np.eye(SIDE)

    @property
    def point(self) -> Array:
        """The present Y (4, 4), positive definite."""
        return self.factor @ self.factor.T

    @property
    def gap(self) -> float:
        """``<S, Y>``; for weight 0 and once S is feasible: how far the optimum is at most."""
        return float(np.trace(self._dual))

    @property
    def arrived(self) -> bool:
        """Whether the end of the path, for a positive weight, is near enough for Newton's method.

        The last step was a full one, after which S is feasible, and P' S P is about the weight.
        """
        ratio = np.linalg.eigvalsh(self._dual) / self.weight
        return self._step == 1.0 and bool(np.all(np.abs(ratio - 1.0) < 0.5))

    def advance(self) -> bool:
        """Take one step along the path; False where rounding does not allow any."""
        values, axes = np.linalg.eigh(self._dual)
        if not values[0] > 1e-16 * values[-1]:
            return False
        s = np.sqrt(values)
        scaling = self.factor @ (axes / np.sqrt(s))  # Y = scaling s scaling', S likewise
        matrix = svec(scaling.T @ self._tensor @ scaling)
        level = svec(np.diag(s))
        linear = self.weight * svec(scaling.T @ scaling)
        residual = matrix @ level - self._target
        half = np.sqrt(0.5)
        q, r = np.linalg.qr(np.concatenate([matrix, half * np.eye(SVEC_SIZE)]))
        top, bottom = q[:len(matrix)], q[len(matrix):]

        def directions(wanted: Array) -> tuple[Array, Array]:
            """Changes of Y and S, scaled, that together change the products by ``wanted``."""
            pull = half * (level + wanted - linear)
            change = np.linalg.solve(r, bottom.T @ pull - top.T @ residual)
            return smat(change), smat(wanted - change)

        mean = float(values.mean())
        to_y, to_s = directions(-level)
        step = min(1.0, _reach(to_y, s), _reach(to_s, s))
        ahead = float(np.sum((np.diag(s) + step * to_y) * (np.diag(s) + step * to_s))) / SIDE
        aim = max(mean * min(max((ahead / mean) ** 3, 1e-6), 1.0), self.weight)
        product = to_y @ to_s
        wanted = aim * np.eye(SIDE) - np.diag(values) - 0.5 * (product + product.T)
        to_y, to_s = directions(svec(2.0 * wanted / (s[:, None] + s)))
        step = min(1.0, _BACK * _reach(to_y, s), _BACK * _reach(to_s, s))
        try:
            root = np.linalg.cholesky(np.diag(s) + step * to_y)
        except np.linalg.LinAlgError:
            return False
        self._step, self.factor = step, scaling @ root
        self._dual = root.T @ (np.diag(s) + step * to_s) @ root
        return True


def _reach(direction: Array, s: Array) -> float:
    """Largest step t (at most 1e3) with ``diag(s) + t direction >= 0``."""
    root = 1.0 / np.sqrt(s)
    smallest = float(np.linalg.eigvalsh(direction * root[:, None] * root)[0])
    return 1.0 / max(-smallest, 1e-3)
