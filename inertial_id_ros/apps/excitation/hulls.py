# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Convex hulls that stand for meshes where distances are asked for again and again.

A hull contains its mesh, and so do the hulls of all its slices together. Slices follow a bent or
hollow link more closely.
"""

from __future__ import annotations

import coal
import numpy as np

from ...inertia import Array

_SLICES = 6  # of a mesh along its longest extent


def hulls(shape: coal.CollisionGeometry, sliced: bool) -> list[coal.CollisionGeometry]:
    """The convex hull of a mesh, or those of its slices; of another shape, itself.

    A mesh or slice without volume stays a mesh.
    """
    if not isinstance(shape, coal.BVHModelBase):
        return [shape]
    corners = np.array(shape.vertices())
    groups = _slices(corners, _edges(shape)) if sliced else [corners]
    try:
        return [coal.Convex.convexHull(_points(group), True, "Qt") for group in groups]
    except RuntimeError:  # all in one plane
        return [shape]


def _slices(corners: Array, edges: np.ndarray) -> list[Array]:
    """Points (k, 3) of each slice of a mesh: its corners, and where its edges are cut."""
    axis = int(np.argmax(np.ptp(corners, axis=0)))
    planes = np.linspace(corners[:, axis].min(), corners[:, axis].max(), _SLICES + 1)
    ends = corners[edges]  # (e, 2, 3)
    out = []
    for low, high in zip(planes[:-1], planes[1:], strict=True):
        inside = (corners[:, axis] >= low) & (corners[:, axis] <= high)
        out.append(np.vstack([corners[inside], *(_cut(ends, axis, at) for at in (low, high))]))
    return [group for group in out if len(group)]


def _cut(ends: Array, axis: int, at: float) -> Array:
    """Points (k, 3) where edges, ends (e, 2, 3), pass a plane across an axis."""
    first, last = ends[:, 0], ends[:, 1]
    passing = (first[:, axis] - at) * (last[:, axis] - at) < 0.0
    first, last = first[passing], last[passing]
    part = (at - first[:, axis]) / (last[:, axis] - first[:, axis])
    return first + part[:, None] * (last - first)


def _edges(mesh: coal.BVHModelBase) -> np.ndarray:
    """Edges (e, 2) of all triangles, as indices of corners."""
    triangles = np.array([[mesh.tri_indices(k)[i] for i in range(3)]
                          for k in range(mesh.num_tris)])
    return np.unique(np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)), axis=0)


def _points(rows: Array) -> coal.StdVec_Vec3s:
    """Points as coal takes them."""
    out = coal.StdVec_Vec3s()
    for row in rows:
        out.append(row)
    return out
