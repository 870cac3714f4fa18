# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Interior-point steps for least squares over positive semidefinite 4x4 matrices.

Primal-dual steps in the scaling of Nesterov and Todd (1997), with Mehrotra's corrector (1992).
`body_manifold` leaves a point that its own steps cannot improve, although it is not the optimum,
along this path: it works on the pseudo-inertia itself, where the problem is convex.

`LogDetFit` looks for a point within the cone, where the path with a positive weight ends:
``min |A svec(Z) - t|^2 + gamma (tr Z - log det Z)``, Z (4, 4), which is up to constants the
logarithm of a Gaussian likelihood times a Wishart density with its mode at the identity.

Symmetric matrices are vectors of their triangles, whose inner product is that of the matrices: the
columns of the upper triangle, one after the other, with the off-diagonal entries times sqrt(2), as
Clarabel orders them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...inertia import Array

SIDE = 4  # of a pseudo-inertia
SVEC_SIZE = SIDE * (SIDE + 1) // 2
# Row and column of the entries of a pseudo-inertia's vector, and which lie on the diagonal.
COLS, ROWS = np.tril_indices(SIDE)
DIAGONAL = np.flatnonzero(ROWS == COLS)


class _Layout:
    """Where entries of symmetric matrices of a side are in their triangle vectors, and back."""

    def __init__(self, side: int) -> None:
        self.cols, self.rows = np.tril_indices(side)
        self.upper = side * self.rows + self.cols
        self.scale = np.where(self.rows == self.cols, 1.0, np.sqrt(2.0))
        self.entry = np.empty((side, side), dtype=int)
        self.entry[self.rows, self.cols] = np.arange(len(self.rows))
        self.entry[self.cols, self.rows] = np.arange(len(self.rows))
        self.share = 1.0 / self.scale[self.entry]


_OF_SIDE = {side: _Layout(side) for side in (SIDE, 6)}  # 6: spatial inertias
_OF_SIZE = {len(layout.upper): layout for layout in _OF_SIDE.values()}


def svec(matrices: Array) -> Array:
    """Triangle vectors (..., s (s + 1) / 2) of symmetric matrices (..., s, s), s = 4 or 6."""
    layout = _OF_SIDE[matrices.shape[-1]]
    if matrices.ndim == 2:  # faster, and often on a timer tick
        return matrices.ravel()[layout.upper] * layout.scale
    return matrices[..., layout.rows, layout.cols] * layout.scale


def smat(vectors: Array) -> Array:
    """Symmetric matrices (..., s, s) of triangle vectors (..., s (s + 1) / 2), s = 4 or 6."""
    layout = _OF_SIZE[vectors.shape[-1]]
    if vectors.ndim == 1:  # as above
        return vectors[layout.entry] * layout.share
    return vectors.take(layout.entry, axis=-1) / layout.scale[layout.entry]


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
