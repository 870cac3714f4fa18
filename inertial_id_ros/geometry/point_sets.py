# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Sets of points: which stand for the rest, whether they enclose a volume, and the ellipsoid about
them.

`equivalent_box` is the uniform box with the mass and the inertia of a body: a picture of what the
inertia means.
"""

from __future__ import annotations

import numpy as np

from ..inertia import Array, Body, principal_moments

DIRECTIONS = 1000  # in which the outermost points are looked for
_AT_ONCE = 20  # directions


def farthest_points(cloud: Array, count: int) -> np.ndarray:
    """Indices of `count` points of cloud (n, 3), each as far as possible from those before."""
    chosen = [int(squared_distances(cloud, cloud.mean(axis=0)).argmax())]
    distance = squared_distances(cloud, cloud[chosen[0]])
    for _ in range(min(count, len(cloud)) - 1):
        chosen.append(int(distance.argmax()))
        np.minimum(distance, squared_distances(cloud, cloud[chosen[-1]]), out=distance)
    return np.array(chosen)


def squared_distances(points: Array, point: Array) -> Array:
    """Squared distances (n,) of points (n, 3) from a point (3,)."""
    x, y, z = points.T - point[:, None]
    return np.asarray(x * x + y * y + z * z)


def merge_points(points: Array, volumes: Array, count: int) -> tuple[Array, Array]:
    """At most `count` points (m, 3) and their volumes (m,) in place of more.

    Points in the same cell of a cubic grid become one at their centroid, with the sum of their
    volumes: mass and centre of mass stay exact, moments of inertia to the square of the cell.
    """
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    pitch = float(np.cbrt(np.maximum(size, size.max() / count).prod() / count))
    while True:
        cells = np.floor((points - low) / pitch).astype(np.int64)
        label = (cells[:, 0] << 42) + (cells[:, 1] << 21) + cells[:, 2]
        found, index = np.unique(label, return_inverse=True)
        if len(found) <= count:
            break
        pitch *= 1.1
    total = np.bincount(index, volumes).astype(float)
    centroids = np.stack([np.bincount(index, volumes * x) for x in points.T], axis=1)
    return centroids / total[:, None], total


def outermost_points(points: Array) -> Array:
    """Those (m, 3) of points (n, 3) that lie farthest in one of DIRECTIONS directions, spread
    evenly about the middle of their bounding box."""
    low, high = points.min(axis=0), points.max(axis=0)
    scaled = (points - 0.5 * (low + high)) / np.maximum(high - low, 1e-12)
    height = 1.0 - (2.0 * np.arange(DIRECTIONS) + 1.0) / DIRECTIONS
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(DIRECTIONS)  # the golden angle
    across = np.sqrt(1.0 - height**2)
    directions = np.stack([across * np.cos(turn), across * np.sin(turn), height], axis=1)
    columns, reach = np.ascontiguousarray(scaled.T), np.empty((_AT_ONCE, len(points)))
    chosen = np.empty(DIRECTIONS, dtype=int)
    for k in range(0, DIRECTIONS, _AT_ONCE):  # one buffer: fresh memory costs more than sums
        np.matmul(directions[k:k + _AT_ONCE], columns, out=reach)
        chosen[k:k + _AT_ONCE] = reach.argmax(axis=1)
    return points[np.unique(chosen)]


def has_volume(points: Array) -> bool:
    """Whether points (n, 3) do not all lie in one plane."""
    spans = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(spans[2] >= 1e-9 * max(spans[0], 1e-12))


def enclosing_ellipsoid(points: Array, tolerance: float = 1e-3) -> tuple[Array, Array]:
    """Centre (3,) and matrix (3, 3) of the smallest ellipsoid about points (Khachiyan 1996)."""
    n, d = points.shape
    lifted = np.concatenate([points.T, np.ones((1, n))])
    weights = np.full(n, 1.0 / n)
    for _ in range(20_000):
        distance = np.einsum("in,ij,jn->n", lifted,
                             np.linalg.inv((lifted * weights) @ lifted.T), lifted)
        far = int(distance.argmax())
        excess = distance[far] - d - 1.0
        if excess < tolerance * (d + 1.0):
            break
        step = excess / ((d + 1.0) * (distance[far] - 1.0))
        weights *= 1.0 - step
        weights[far] += step
    center = points.T @ weights
    spread = (points - center).T * weights @ (points - center)
    matrix = np.linalg.inv(spread) / d
    # Scale so that every point is inside, which the iteration only reaches in the limit.
    worst = np.einsum("ni,ij,nj->n", points - center, matrix, points - center).max()
    return center, matrix / worst


def ellipsoid_form(center: Array, matrix: Array) -> Array:
    """Q (4, 4) with ``[x; 1]' Q [x; 1] >= 0`` inside ``(x - center)' matrix (x - center) <= 1``."""
    out = np.empty((4, 4))
    out[:3, :3] = -matrix
    out[:3, 3] = out[3, :3] = matrix @ center
    out[3, 3] = 1.0 - center @ matrix @ center
    return out


# For a box, ``I_x = m (b^2 + c^2) / 12``: its squared lengths are 6 / m times this matrix times the
# principal moments.
_FROM_MOMENTS = np.ones((3, 3)) - 2.0 * np.eye(3)
_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
_EDGES = np.array([(a, b) for a in range(8) for b in range(a + 1, 8)
                   if np.abs(_CORNERS[a] - _CORNERS[b]).sum() == 2.0])
_TENSOR = np.eye(6)[[0, 1, 2, 1, 3, 4, 2, 4, 5]]  # (9, 6): from (xx, xy, xz, yy, yz, zz) to I


def equivalent_box(body: Body) -> tuple[Array, Array]:
    """Lengths (3,) [m] and axes (3, 3) of the uniform box with the body's mass and inertia.

    The triangle inequalities of a possible body make all lengths real.
    """
    moments, axes = principal_moments(body.inertia_com)
    return np.sqrt(np.maximum(6.0 / body.mass * _FROM_MOMENTS @ moments, 0.0)), axes


def box_interval(body: Body, covariance: Array, deviations: float) -> tuple[Array, Array]:
    """Lengths (3,) [m] of the equivalent box, less and plus so many standard deviations.

    The squared lengths are linearised, not the lengths: those of a flat body have no derivative.

    Args:
        covariance: (10, 10) of mass, centre of mass, and inertia about it (`PARAMETER_NAMES`).
    """
    moments, axes = principal_moments(body.inertia_com)
    squares = 6.0 / body.mass * _FROM_MOMENTS @ moments
    products = np.einsum("ik,jk->kij", axes, axes).reshape(3, 9)  # times I they are the moments
    of_moments = products @ _TENSOR
    jacobian = np.column_stack([-squares, 6.0 * _FROM_MOMENTS @ of_moments]) / body.mass
    chosen = [0, *range(4, 10)]
    variances = np.einsum("ki,ij,kj->k", jacobian, covariance[np.ix_(chosen, chosen)], jacobian)
    half = deviations * np.sqrt(np.maximum(variances, 0.0))
    return np.sqrt(np.maximum(squares - half, 0.0)), np.sqrt(np.maximum(squares + half, 0.0))


def box_edges(centre: Array, lengths: Array, axes: Array) -> Array:
    """The twelve edges (12, 2, 3) of a box."""
    return np.asarray((centre + (0.5 * lengths * _CORNERS) @ axes.T)[_EDGES])
