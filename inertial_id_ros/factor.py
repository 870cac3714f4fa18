"""Triangular factors by Householder reflections: the same sums of squares in fewer rows."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.linalg import lapack

from .inertia import Array

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


@cache
def _upper(height: int, width: int) -> Array:
    return np.triu(np.ones((height, width)))


def triangle(rows: Array) -> Array:
    """Square triangular factors (..., w, w) of rows (..., n, w)."""
    n, width = rows.shape[-2:]
    upper = np.asarray(np.linalg.qr(rows, mode="r"))
    if n >= width:
        return upper
    padded = np.zeros((*rows.shape[:-2], width, width))
    padded[..., :n, :] = upper
    return padded
