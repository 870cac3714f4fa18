"""Elimination of the biases from stacked rows."""

from __future__ import annotations

import numpy as np

from ...inertia import PARAMETERS, Array
from ...linalg import triangular_factor


def eliminate_bias(rows: Array) -> tuple[Array, Array, Array]:
    """Least squares in phi alone from rows (n, k + 11), columns ``[B (k) | A (10) | y]``.

    Returns:
        matrix (10, 10) and target (10,) in phi, and the rows (k, k + 11) that give the biases.
    """
    upper = triangular_factor(rows)
    k = rows.shape[1] - PARAMETERS - 1
    inside = slice(k, k + PARAMETERS)
    return upper[inside, inside], upper[inside, -1], upper[:k]


def bias_of(above: Array, phi: Array) -> Array:
    """The biases (k,) that go with phi; above is what `eliminate_bias` returned."""
    k = len(above)
    if k == 0:
        return np.zeros(0)
    return np.linalg.solve(above[:, :k], above[:, -1] - above[:, k:-1] @ phi)
