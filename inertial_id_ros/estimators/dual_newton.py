"""Least distance to the cone of positive semidefinite 4x4 matrices, by Newton's method on its dual.

The dual of ``min |z|^2  s.t.  M(z) = smat(offset + matrix z) >= 0`` is

    min  phi(S) = |matrix' s|^2 / 4 + offset' s,   s = svec(S),  S >= 0,

with ``z = matrix' s / 2`` and the gradient M(z). At the optimum S has as many columns as M(z) has
zero eigenvalues, one or two of four: with ``S = Y Y'`` few variables are left, without constraints
(Burer and Monteiro 2003). A stationary Y is the optimum if M(z) >= 0; where it is not, the
eigenvector tells which column Y lacks. Some six steps of 4 or 8 variables, two from
the answer before, take less time than the interior-point solver, which stays for what this does not
bring to an end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inertia import Array
from ..small_systems import eigen, identity
from .semidefinite import SIDE, SVEC_SIZE, Nearest, smat, svec

_STEPS = 30
_GAP = 1e-11  # relative; a step after that brings rounding
_HALVINGS = 12
# Twice the symmetric matrices whose inner products with S are svec(S).
_TWICE = 2.0 * np.stack([smat(e) for e in np.eye(SVEC_SIZE)])


class Found(NamedTuple):
    """The nearest point, and Y (4, r) of the dual."""

    nearest: Nearest
    factor: Array


def nearest(offset: Array, matrix: Array, start: Array | None = None) -> Found | None:
    """The nearest point for offset (10,), whose matrix is not positive, and matrix (10, n).

    Args:
        start: Y (4, r) to begin with, of a problem like this one.

    Returns:
        None where it was not found.
    """
    half = 0.5 * (matrix @ matrix.T)
    factor = _begin(half, offset) if start is None else start
    s = svec(factor @ factor.T)
    for _ in range(_STEPS):
        pull = half @ s
        square = 0.5 * float(s @ pull)  # |z|^2
        gradient = smat(pull + offset)
        of_factor = 2.0 * (gradient @ factor)
        if np.abs(of_factor * factor).sum() <= _GAP * (1.0 + square):
            values, vectors = eigen(gradient)
            # What a shift by that much along S would gain at most.
            if values[0] >= -_GAP * (1.0 + square) / max(float(s @ s) ** 0.5, 1.0):
                lower = -square - float(offset @ s)
                return Found(Nearest(0.5 * (matrix.T @ s), max(0.0, lower)), factor)
            if factor.shape[1] == SIDE:
                return None
            column = vectors[:, :1] * _scaled(half, pull + offset, vectors[:, 0])
            factor = np.concatenate([factor, column], axis=1)
            s = svec(factor @ factor.T)
            continue
        value = square + float(offset @ s)
        following = _step(factor, half, offset, gradient, of_factor, value)
        if following is None:
            return None
        factor, s = following
    return None


def _begin(half: Array, offset: Array) -> Array:
    """A column for each negative eigenvalue of the matrix at z = 0, each as if it were alone."""
    values, vectors = eigen(smat(offset))
    columns = vectors[:, :max(int(np.sum(values < 0.0)), 1)]
    return columns * [_scaled(half, offset, c) for c in columns.T]


def _scaled(half: Array, slope: Array, direction: Array) -> float:
    """Length at which a column (4,) along a direction leaves phi lowest, of itself."""
    s = svec(direction[:, None] * direction)
    return max(-float(slope @ s) / max(float(s @ half @ s), 1e-300), 0.0) ** 0.5


def _step(factor: Array, half: Array, offset: Array, gradient: Array, of_factor: Array,
          value: float) -> tuple[Array, Array] | None:
    """The factor (4, r) and its s (10,) after a step of Newton's method that lowers phi; None: none
    does."""
    columns = factor.shape[1]
    slope = (_TWICE @ factor).reshape(SVEC_SIZE, -1)  # of svec(Y Y')
    hessian = slope.T @ half @ slope
    hessian += np.kron(2.0 * gradient, identity(columns)) if columns > 1 else 2.0 * gradient
    # Negative curvature is turned round; turning Y within its columns changes nothing.
    values, vectors = eigen(hessian)
    size = np.abs(values)
    along = (vectors.T @ of_factor.ravel()) / np.maximum(size, 1e-300)
    along *= size > 1e-13 * size.max()
    change = -(vectors @ along).reshape(factor.shape)
    promise = float((change * of_factor).sum())
    step = 1.0
    for _ in range(_HALVINGS):
        new = factor + step * change
        s = svec(new @ new.T)
        allowed = value + 1e-4 * step * promise + 1e-15 * abs(value)
        if 0.5 * float(s @ (half @ s)) + float(offset @ s) <= allowed:
            return new, s
        step *= 0.5
    return None
