# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Small symmetric and triangular systems by LAPACK called directly.

For the ten to thirty unknowns of a timer tick the checks and conversions around
`numpy.linalg.solve` take several times as long as the arithmetic.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from .inertia import Array
from .lapack import blas, lapack

# NumPy 1.21, which Ubuntu 22.04 has, takes one matrix at a time.
_TAKES_STACKS = np.lib.NumpyVersion(np.__version__) >= "1.22.0"


@cache
def identity(size: int) -> Array:
    """The identity (size, size), for reading only."""
    out = np.eye(size)
    out.flags.writeable = False
    return out


def inverse(matrix: Array) -> Array:
    """Inverse of a symmetric positive definite matrix (n, n); raises LinAlgError if singular."""
    _, out, info = lapack.dposv(matrix, identity(len(matrix)))
    return out if info == 0 else np.linalg.inv(matrix)


def solve(matrix: Array, vector: Array) -> Array:
    """Solution of a symmetric positive definite system; raises LinAlgError if singular."""
    _, out, info = lapack.dposv(matrix, vector)
    return out if info == 0 else np.linalg.solve(matrix, vector)


def solve_upper(upper: Array, right: Array, transposed: bool = False) -> Array:
    """Solution of an upper triangular system, or of its transpose.

    Raises:
        LinAlgError: a zero on the diagonal.
    """
    if not upper.diagonal().all():
        raise np.linalg.LinAlgError("Singular matrix")
    # Unlike LAPACK's dtrtrs, OpenBLAS does not begin threads for small systems here.
    return blas.dtrsm(1.0, upper, right, trans_a=int(transposed))


def symmetric_eigen(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues (n,), ascending, and eigenvectors (n, n) of a symmetric matrix.

    Raises:
        LinAlgError: no convergence.
    """
    values, vectors, info = lapack.dsyev(matrix)
    if info != 0:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return values, vectors


_BLOCK = 32  # columns that LAPACK likes to reflect at once


def triangular_factor(rows: Array, overwrite: bool = False) -> Array:
    """Upper triangular (min(n, k), k) with the same sums of squares as rows (n, k), which may be
    destroyed on the way.

    LAPACK is called directly: for the small systems of a timer tick that takes a quarter of the
    time of `numpy.linalg.qr`.
    """
    n, width = rows.shape
    if n == 0 or width == 0:
        return np.zeros((min(n, width), width))
    reflected = lapack.dgeqrf(rows, lwork=_BLOCK * width, overwrite_a=overwrite)[0]
    height = min(n, width)
    return reflected[:height] * _upper(height, width)


def cholesky_factor(matrix: Array) -> Array | None:
    """Upper triangular factor (n, n) of a symmetric matrix; None where that is not positive
    definite."""
    upper, info = lapack.dpotrf(matrix, lower=0, clean=1)
    return upper if info == 0 else None


@cache
def _upper(height: int, width: int) -> Array:
    """Mask (height, width) of the upper triangle, for reading only."""
    return np.triu(np.ones((height, width)))


def triangular_factors(rows: Array) -> Array:
    """Square triangular factors (..., w, w) of rows (..., n, w)."""
    n, width = rows.shape[-2:]
    upper = _qr(rows, "r")
    if n >= width:
        return upper
    padded = np.zeros((*rows.shape[:-2], width, width))
    padded[..., :n, :] = upper
    return padded


def orthonormal_bases(matrices: Array) -> Array:
    """Orthonormal bases (..., n, w) of the columns of matrices (..., n, w) with n >= w."""
    return _qr(matrices, "reduced")


def _qr(matrices: Array, mode: str) -> Array:
    """R of the factorisation by `numpy.linalg.qr` in mode ``r``, else Q."""
    if not _TAKES_STACKS and matrices.ndim > 2:
        return np.stack([_qr(matrix, mode) for matrix in matrices])
    return np.asarray(np.linalg.qr(matrices, mode="r") if mode == "r"
                      else np.linalg.qr(matrices)[0])
