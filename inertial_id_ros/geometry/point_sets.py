# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Sets of points: those that stand for the rest, and the ellipsoid about them."""

import numpy as np
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.distance import cdist

from ..errors import InvalidData
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


def corners(points: Array) -> Array:
    """Corners (m, 3) of the convex hull of points (n, 3) (raises InvalidData: fewer than four, or
    all in one plane)."""
    try:
        return points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        raise InvalidData(f"{len(points)} points enclose no volume; at least four that are not in "
                           "one plane are needed") from None


def enclosing_ellipsoid(points: Array) -> Array:
    """Q (4, 4) with ``[x; 1]' Q [x; 1] >= 0`` in the smallest ellipsoid about points (n, 3), the
    form of Wensing et al. 2017, eqs 22 and 23: ``|A x + b| <= 1`` at all points, with the largest
    det A (Boyd, Vandenberghe 2004, section 8.4.1), in units of their bounding box."""
    with optional_packages("an ellipsoid about a shape"):
        import cvxpy as cp

    points = corners(points)
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
