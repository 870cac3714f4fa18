# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Sets of points: those that stand for the rest, and the ellipsoid about them."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.distance import cdist

from ..inertia import Array


def farthest_points(cloud: Array, count: int) -> np.ndarray:
    """Indices of `count` points of cloud (n, 3), each as far as possible from those before."""
    chosen, distance = list[int](), cdist(cloud, [cloud.mean(axis=0)], "sqeuclidean")
    for k in range(min(count, len(cloud))):
        chosen.append(int(distance.argmax()))
        to_it = cdist(cloud, cloud[chosen[-1:]], "sqeuclidean")
        distance = np.minimum(distance, to_it) if k else to_it
    return np.array(chosen)


def directions(height: Array, turn: Array) -> Array:
    """Unit vectors (n, 3), evenly spread where height and turn (n,) are, in [0, 1)."""
    z = 2.0 * height - 1.0
    flat, angle = np.sqrt(1.0 - z * z), 2.0 * np.pi * turn
    return np.column_stack([flat * np.cos(angle), flat * np.sin(angle), z])


def spiral(count: int) -> Array:
    """Unit vectors (count, 3) along a spiral from pole to pole, by the golden angle."""
    k = np.arange(count) + 0.5
    return directions(k / count, k * 0.5 * (np.sqrt(5.0) - 1.0))


def outermost_points(points: Array) -> Array:
    """Those (m, 3) of points (n, 3) that lie farthest in one of 1000 directions, spread evenly
    about the middle of their bounding box."""
    low, high = points.min(axis=0), points.max(axis=0)
    scaled = (points - 0.5 * (low + high)) / np.maximum(high - low, 1e-12)
    chosen = [(scaled @ part.T).argmax(axis=0) for part in np.split(spiral(1000), 50)]
    return points[np.unique(chosen)]


def has_volume(points: Array) -> bool:
    """True if points (n, 3) are at least four that do not all lie in one plane."""
    if len(points) < 4:
        return False
    spans = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(spans[2] >= 1e-9 * max(spans[0], 1e-12))


def enclosing_ellipsoid(points: Array) -> Array:
    """Q (4, 4) with ``[x; 1]' Q [x; 1] >= 0`` in the smallest ellipsoid about points (n, 3)
    (Khachiyan 1996); Wensing et al. 2017, eqs 22 and 23, use this form."""
    points = points[ConvexHull(points).vertices]
    points = points[farthest_points(points, 200)]
    n, d = points.shape
    lifted = np.concatenate([points.T, np.ones((1, n))])
    weights = np.full(n, 1.0 / n)
    for _ in range(20_000):
        distance = np.einsum("in,ij,jn->n", lifted,
                             np.linalg.inv((lifted * weights) @ lifted.T), lifted)
        far = int(distance.argmax())
        excess = distance[far] - d - 1.0
        if excess < 1e-3 * (d + 1.0):
            break
        step = excess / ((d + 1.0) * (distance[far] - 1.0))
        weights *= 1.0 - step
        weights[far] += step
    center = points.T @ weights
    matrix = np.linalg.inv((points - center).T * weights @ (points - center)) / d
    # Scale so that every point is inside, which the iteration only reaches in the limit.
    matrix /= np.einsum("ni,ij,nj->n", points - center, matrix, points - center).max()
    side = matrix @ center
    return np.block([[-matrix, side[:, None]], [side[None], 1.0 - center @ side]])
