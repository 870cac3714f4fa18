# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Points on a regular grid that fill a closed mesh.

Columns of the grid along z cross the surface; the sum of signs of the crossings below a point is
its winding number, which is positive inside. Bodies of an assembly may therefore touch, overlap or
be hollow, which a count of crossings (odd or even) does not stand.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..inertia import Array

INTERIOR_POINTS = 4000  # interior points asked for; enough for moments within a percent
MAX_GRID = 100_000  # points tried for a mesh that fills little of its box
# Columns stand aside from the grid by this part of its pitch, since those of a symmetric mesh
# would run along edges of its triangles.
_ASIDE = np.array([1.7e-7, 2.3e-7])
_PORTION = 1_000_000  # pairs of triangle and column at once


def grid_axes(bounds: ArrayLike, volume: float) -> list[Array]:
    """Coordinates [m] along x, y, z of a grid with INTERIOR_POINTS in a volume [m^3] of a box.

    Args:
        bounds: lower and upper corner (2, 3) [m] of the box.
    """
    lower, upper = np.asarray(bounds, dtype=float)
    pitch = (volume / INTERIOR_POINTS) ** (1.0 / 3.0)
    # A grid that fits the box exactly keeps the moments of boxes exact.
    counts = np.clip(np.round((upper - lower) / pitch), 1, 400).astype(int)
    while counts.prod() > MAX_GRID:  # thin diagonal shells: bound the work, not the pitch
        counts = np.maximum(counts * 4 // 5, 1)
    return [lo + (np.arange(n) + 0.5) * (hi - lo) / n
            for lo, hi, n in zip(lower, upper, counts, strict=True)]


def grid_points(axes: list[Array]) -> Array:
    """All points (n, 3) of a grid, z running fastest."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def is_interior(triangles: Array, axes: list[Array]) -> np.ndarray:
    """Which points of a grid, in the order of `grid_points`, lie inside closed surfaces.

    Args:
        triangles: (n, 3, 3) corners, counterclockwise seen from outside.
    """
    x, y, z = axes
    pitch = [a[1] - a[0] if len(a) > 1 else 1.0 for a in axes]
    change = np.zeros((len(x), len(y), len(z) + 1), dtype=np.int32)
    flat = (triangles[..., :2] - [x[0], y[0]]) / pitch[:2] - _ASIDE  # columns at whole numbers
    last = np.array([len(x), len(y)]) - 1
    first = np.maximum(np.ceil(flat.min(axis=1)), 0).astype(int)
    size = np.maximum(np.minimum(np.floor(flat.max(axis=1)), last).astype(int) - first + 1, 0)
    pairs = size.prod(axis=1)
    met = np.flatnonzero(pairs)
    for part in np.array_split(met, int(pairs.sum() // _PORTION) + 1):
        owner = np.repeat(part, pairs[part])
        number = np.arange(len(owner)) - np.repeat(np.cumsum(pairs[part]) - pairs[part],
                                                   pairs[part])
        column = first[owner] + np.stack(np.divmod(number, size[owner, 1]), axis=1)
        crossing, sign, height = _find_crossings(flat[owner], column, triangles[owner, :, 2])
        level = np.ceil((height - z[0]) / pitch[2]).clip(0, len(z)).astype(int)
        np.add.at(change, (*column[crossing].T, level), sign)
    return (np.cumsum(change[..., :-1], axis=2) > 0).ravel()


def _find_crossings(corners: Array, column: np.ndarray,
                    heights: Array) -> tuple[np.ndarray, np.ndarray, Array]:
    """Which columns (n, 2) pass through their triangle (n, 3, 2), the sign (1 enters from below)
    and the height at which they do."""
    offset = corners - column[:, None]
    following = np.roll(offset, -1, axis=1)
    # Twice the area of the triangle that each edge makes with the column.
    areas = offset[..., 0] * following[..., 1] - offset[..., 1] * following[..., 0]
    crossing = np.flatnonzero((areas > 0.0).all(axis=1) | (areas < 0.0).all(axis=1))
    areas = areas[crossing]
    total = areas.sum(axis=1)
    opposite = np.roll(areas, -1, axis=1)  # of corner i: the edge from i + 1 to i + 2
    height = (opposite * heights[crossing]).sum(axis=1) / total
    return crossing, -np.sign(total).astype(np.int32), height
