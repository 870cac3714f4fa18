# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Points inside closed meshes against closed forms and solid angles."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from inertial_id_ros.geometry.point_sets import grid_points, is_interior
from inertial_id_ros.geometry.shape import INTERIOR_POINTS, MAX_GRID, grid_axes


def _filled(mesh: trimesh.Trimesh) -> tuple[np.ndarray, np.ndarray]:
    """Grid points (n, 3), and which of them are inside."""
    axes = grid_axes(mesh.bounds, abs(mesh.volume))
    return grid_points(axes), is_interior(np.asarray(mesh.triangles), axes)


@pytest.mark.parametrize("axis", range(3))
def test_a_box_whose_edges_lie_under_grid_columns_is_filled(axis: int) -> None:
    size = np.roll([0.2, 0.1, 0.1], axis)
    points, inside = _filled(trimesh.creation.box(extents=size))
    assert inside.all() and abs(len(points) - INTERIOR_POINTS) < 0.15 * INTERIOR_POINTS


def test_a_tube_and_a_cavity_stay_empty() -> None:
    tube = trimesh.creation.annulus(r_min=0.02, r_max=0.05, height=0.08, sections=200)
    points, inside = _filled(tube)
    radius = np.hypot(points[:, 0], points[:, 1])
    np.testing.assert_array_equal(inside, (radius > 0.02) & (radius < 0.05 * np.cos(np.pi / 200)))
    hole = trimesh.creation.box(extents=(0.05, 0.05, 0.05))
    hole.invert()
    hollow = trimesh.util.concatenate([trimesh.creation.box(extents=(0.1, 0.1, 0.1)), hole])
    points, inside = _filled(hollow)
    np.testing.assert_array_equal(inside, np.abs(points).max(axis=1) > 0.025)


def test_touching_and_overlapping_bodies_are_filled() -> None:
    """Two sheets that share a face, and a ball around the end of one: a count of crossings
    leaves parts of them out."""
    lower = trimesh.creation.box(bounds=[[0.0, 0.0, 0.0], [0.2, 0.1, 0.004]])
    upper = trimesh.creation.box(bounds=[[0.0, 0.0, 0.004], [0.2, 0.1, 0.03]])
    points, inside = _filled(trimesh.util.concatenate([lower, upper]))
    assert inside.all() and len(points) > 3000
    ball = trimesh.creation.icosphere(subdivisions=4, radius=0.05)
    points, inside = _filled(trimesh.util.concatenate([lower, upper, ball]))
    within = (np.linalg.norm(points, axis=1) < 0.0495) | (
        (points > [0.0, 0.0, 0.0]) & (points < [0.2, 0.1, 0.03])).all(axis=1)
    without = (np.linalg.norm(points, axis=1) > 0.05) & (
        (points < [0.0, 0.0, 0.0]) | (points > [0.2, 0.1, 0.03])).any(axis=1)
    assert inside[within].all() and not inside[without].any()


def test_the_grid_of_a_thin_diagonal_shell_stays_bounded() -> None:
    axes = grid_axes([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], 1e-5)
    assert 0.4 * MAX_GRID < np.prod([len(a) for a in axes]) <= MAX_GRID
