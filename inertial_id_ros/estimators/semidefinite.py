# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Symmetric matrices as vectors.

``svec`` holds the columns of the upper triangle, one after the other, with the off-diagonal entries
times sqrt(2), as Clarabel orders them: inner products of vectors are those of the matrices.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..inertia import Array

SIDE = 4  # of a pseudo-inertia
SVEC_SIZE = SIDE * (SIDE + 1) // 2


@cache
def _triangle(side: int) -> tuple[np.ndarray, np.ndarray, Array]:
    """Rows, columns and factors of the entries of a triangle vector."""
    cols, rows = np.tril_indices(side)
    return rows, cols, np.where(rows == cols, 1.0, np.sqrt(2.0))


def svec(matrices: Array) -> Array:
    """Triangle vectors (..., s (s + 1) / 2) of symmetric matrices (..., s, s)."""
    rows, cols, scale = _triangle(matrices.shape[-1])
    return matrices[..., rows, cols] * scale


def smat(vectors: Array) -> Array:
    """Symmetric matrices (..., s, s) of triangle vectors (..., s (s + 1) / 2)."""
    side = int(np.sqrt(2 * vectors.shape[-1]))
    rows, cols, scale = _triangle(side)
    out = np.empty((*vectors.shape[:-1], side, side))
    out[..., rows, cols] = out[..., cols, rows] = vectors / scale
    return out


UNIT = svec(np.eye(SIDE))
