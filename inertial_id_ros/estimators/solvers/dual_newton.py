# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Least distance to the cone of positive semidefinite 4x4 matrices, by Newton's method on its dual.

The dual of ``min |z|^2  s.t.  M(z) = smat(offset + matrix z) >= 0`` is

    min  phi(S) = |matrix' s|^2 / 4 + offset' s,   s = svec(S),  S >= 0,

with ``z = matrix' s / 2`` and the gradient M(z). At the optimum S has as many columns as M(z) has
zero eigenvalues, one or two of four: with ``S = Y Y'`` few variables are left, without constraints
(Burer and Monteiro 2003). A stationary Y is the optimum if M(z) >= 0; where it is not, the
eigenvector tells which column Y lacks. Some six steps of mostly 4 variables take less time than the
interior-point solver, which stays for what this does not bring to an end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ...inertia import Array
from ...linalg import identity, symmetric_eigen
from .semidefinite import Nearest
from .triangle_vector import SIDE, SVEC_SIZE, smat, svec

_STEPS = 30
_GAP = 1e-11  # relative; a step after that brings rounding
_HALVINGS = 12
_THIN = 1e-4  # share of the longest direction of Y below which another is none
# Twice the symmetric matrices whose inner products with S are svec(S).
_TWICE = 2.0 * np.stack([smat(e) for e in np.eye(SVEC_SIZE)])


class Found(NamedTuple):
    """The nearest point, and Y (4, r) of the dual."""

    nearest: Nearest
    factor: Array


class _Point(NamedTuple):
    """Y (4, r), s (10,), ``half @ s`` (10,), ``|z|^2`` and ``offset' s``."""

    factor: Array
    s: Array
    pull: Array
    square: float
    linear: float


def solve_by_dual(offset: Array, matrix: Array, start: Array | None = None) -> Found | None:
    """Solve the least-distance problem by Newton's method on its dual.

    Args:
        offset: (10,), of a matrix that is not positive semidefinite; matrix: (10, n).
        start: Y (4, r) to begin with, of a problem like this one.

    Returns:
        None where it was not found.
    """
    half = 0.5 * (matrix @ matrix.T)
    factor = _first_factor(half, offset) if start is None else _drop_parallel_columns(start)
    point = _make_point(factor, half, offset)
    for _ in range(_STEPS):
        slope = point.pull + offset
        gradient = smat(slope)
        of_factor = 2.0 * (gradient @ point.factor)
        small = _GAP * (1.0 + point.square)
        if float(np.abs(of_factor * point.factor).sum()) <= small:
            values, vectors = symmetric_eigen(gradient)
            # What a shift by that much along S would gain at most.
            if values[0] >= -small / max(float(point.s @ point.s) ** 0.5, 1.0):
                lower = -point.square - point.linear
                return Found(Nearest(0.5 * (matrix.T @ point.s), max(0.0, lower)), point.factor)
            if point.factor.shape[1] == SIDE:
                return None
            column = vectors[:, :1] * _best_length(half, slope, vectors[:, 0])
            point = _make_point(np.concatenate([point.factor, column], axis=1), half, offset)
            continue
        following = _line_search(point, half, offset, gradient, of_factor)
        if following is None:
            return None
        point = following
    return None


def _make_point(factor: Array, half: Array, offset: Array) -> _Point:
    """The point of a factor Y; a single column is first scaled to where phi is lowest."""
    s = svec(factor @ factor.T)
    pull = half @ s
    square, linear = 0.5 * float(s @ pull), float(offset @ s)
    if factor.shape[1] == 1 and linear < 0.0 < square:  # with more columns it slows Newton down
        stretch = -0.5 * linear / square
        factor, s, pull = stretch**0.5 * factor, stretch * s, stretch * pull
        square, linear = stretch**2 * square, stretch * linear
    return _Point(factor, s, pull, square, linear)


def _drop_parallel_columns(factor: Array) -> Array:
    """Y with as many columns as it has independent directions."""
    if factor.shape[1] == 1:
        return factor
    values, vectors = symmetric_eigen(factor.T @ factor)
    return factor @ vectors[:, values > _THIN**2 * values[-1]]


def _first_factor(half: Array, offset: Array) -> Array:
    """A first Y: a column for each negative eigenvalue at z = 0, as long as if it were alone."""
    values, vectors = symmetric_eigen(smat(offset))
    columns = vectors[:, :max(int(np.sum(values < 0.0)), 1)]
    return columns * [_best_length(half, offset, c) for c in columns.T]


def _best_length(half: Array, slope: Array, direction: Array) -> float:
    """Length of a column (4,) along a direction that minimises phi when the others stay."""
    s = svec(direction[:, None] * direction)
    return max(-float(slope @ s) / max(float(s @ half @ s), 1e-300), 0.0) ** 0.5


def _line_search(point: _Point, half: Array, offset: Array, gradient: Array,
                 of_factor: Array) -> _Point | None:
    """The point after a Newton step, halved until it lowers phi; None where none does."""
    change = _newton_step(point.factor, half, gradient, of_factor)
    promise = float((change * of_factor).sum())
    value = point.square + point.linear
    step = 1.0
    for _ in range(_HALVINGS):
        new = _make_point(point.factor + step * change, half, offset)
        if new.square + new.linear <= value + 1e-4 * step * promise + 1e-15 * abs(value):
            return new
        step *= 0.5
    return None


def _newton_step(factor: Array, half: Array, gradient: Array, of_factor: Array) -> Array:
    """Newton's step (4, r), downhill."""
    columns = factor.shape[1]
    slope = (_TWICE @ factor).reshape(SVEC_SIZE, -1)  # of svec(Y Y')
    hessian = slope.T @ half @ slope
    if columns == 1:
        hessian += 2.0 * gradient
        _, change, info = lapack.dposv(hessian, of_factor)
        if info == 0:
            return -change
    else:
        hessian += np.kron(2.0 * gradient, identity(columns))
    # Negative curvature is turned round; turning Y within its columns changes nothing.
    values, vectors = symmetric_eigen(hessian)
    size = np.abs(values)
    along = (vectors.T @ of_factor.ravel()) / np.maximum(size, 1e-300)
    along *= size > 1e-13 * size.max()
    return -(vectors @ along).reshape(factor.shape)
