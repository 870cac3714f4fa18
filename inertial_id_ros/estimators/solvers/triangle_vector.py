# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Symmetric matrices as vectors of their triangles, whose inner product is that of the matrices.

The columns of the upper triangle, one after the other, with the off-diagonal entries times sqrt(2):
Clarabel's order. Matrices of four rows are pseudo-inertias.
"""

from __future__ import annotations

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
