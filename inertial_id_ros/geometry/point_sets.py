# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Sets of points: those that stand for the rest, and the ellipsoid about them."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.distance import cdist

from ..extras import optional_packages
from ..inertia import Array


def farthest_points(cloud: Array, count: int) -> np.ndarray:
    """Indices of `count` points of cloud (n, 3), each as far as possible from those before."""
    chosen, distance = list[int](), cdist(cloud, [cloud.mean(axis=0)], "sqeuclidean")
    for k in range(min(count, len(cloud))):
        chosen.append(int(distance.argmax()))
        to_it = cdist(cloud, cloud[chosen[-1:]], "sqeuclidean")
        distance = np.minimum(distance, to_it) if k else to_it
    return np.array(chosen)


def spiral(count: int) -> Array:
    """Unit vectors (count, 3) along a spiral from pole to pole, by the golden angle."""
    k = np.arange(count) + 0.5
    z, angle = 2.0 * k / count - 1.0, np.pi * (np.sqrt(5.0) - 1.0) * k
    flat = np.sqrt(1.0 - z * z)
    return np.column_stack([flat * np.cos(angle), flat * np.sin(angle), z])


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
    """Q (4, 4) with ``[x; 1]' Q [x; 1] >= 0`` in the smallest ellipsoid about points (n, 3), the
    form of Wensing et al. 2017, eqs 22 and 23: ``|A x + b| <= 1`` at all points, with the largest
    det A (Boyd, Vandenberghe 2004, section 8.4.1), in units of their bounding box."""
    with optional_packages("an ellipsoid about a shape"):
        import cvxpy as cp

    points = points[ConvexHull(points).vertices]
    points = points[farthest_points(points, 200)]
    low, high = points.min(axis=0), points.max(axis=0)
    size, middle = 0.5 * (high - low), 0.5 * (high + low)
    A, b = cp.Variable((3, 3), PSD=True), cp.Variable((1, 3))
    cp.Problem(cp.Maximize(cp.log_det(A)), [
        cp.norm((points - middle) / size @ A + b, axis=1) <= 1.0]).solve(solver=cp.CLARABEL)
    turn = np.asarray(A.value) / size
    rows = np.column_stack([turn, np.asarray(b.value)[0] - turn @ middle])  # |rows [x; 1]| <= 1
    rows /= np.linalg.norm(points @ turn.T + rows[:, 3], axis=1).max()  # not within tolerance only
    return np.asarray(np.diag([0.0, 0.0, 0.0, 1.0]) - rows.T @ rows)
