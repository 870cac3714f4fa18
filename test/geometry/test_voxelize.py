# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Points inside closed meshes against closed forms and solid angles."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

from inertial_id_ros.geometry.point_sets import grid_points, is_interior
from inertial_id_ros.geometry.shape import INTERIOR_POINTS, MAX_GRID, grid_axes


def _filled(mesh: trimesh.Trimesh) -> tuple[np.ndarray, np.ndarray]:
    """Grid points (n, 3), and which of them are inside."""
    axes = grid_axes(mesh.bounds, abs(mesh.volume))
    return grid_points(axes), is_interior(np.asarray(mesh.triangles), axes)


def _turned(mesh: trimesh.Trimesh) -> trimesh.Trimesh:
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_euler("xyz", [0.3, -0.5, 1.1]).as_matrix()
    mesh.apply_transform(pose)
    return mesh


def test_a_turned_box_is_filled_exactly() -> None:
    size = np.array([0.1, 0.06, 0.2])
    mesh = _turned(trimesh.creation.box(extents=size))
    points, inside = _filled(mesh)
    back = Rotation.from_euler("xyz", [0.3, -0.5, 1.1]).inv().apply(points)
    margin = (np.abs(back) - 0.5 * size).max(axis=1)
    clear = np.abs(margin) > 1e-6 * size.max()
    assert clear.sum() > 5000
    np.testing.assert_array_equal(inside[clear], margin[clear] < 0.0)


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


def test_an_uneven_mesh_agrees_with_solid_angles() -> None:
    rng = np.random.default_rng(0)
    mesh = trimesh.creation.torus(0.05, 0.02, major_sections=23, minor_sections=17)
    mesh.vertices = mesh.vertices * (1.0 + 0.02 * rng.normal(size=mesh.vertices.shape))
    points, inside = _filled(_turned(mesh))
    some = rng.choice(len(points), 400, replace=False)
    winding = _winding(points[some], np.asarray(mesh.triangles))
    np.testing.assert_array_equal(inside[some], np.round(winding) > 0)
    assert 0.1 < inside.mean() < 0.9


def _winding(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Winding numbers (n,) by solid angles (Van Oosterom and Strackee 1983)."""
    a, b, c = (triangles[None, :, k] - points[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    top = np.einsum("nmi,nmi->nm", a, np.cross(b, c))
    bottom = (la * lb * lc + (a * b).sum(2) * lc + (b * c).sum(2) * la + (c * a).sum(2) * lb)
    return np.arctan2(top, bottom).sum(axis=1) / (2.0 * np.pi)


def test_the_grid_of_a_thin_diagonal_shell_stays_bounded() -> None:
    axes = grid_axes([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], 1e-5)
    assert 0.4 * MAX_GRID < np.prod([len(a) for a in axes]) <= MAX_GRID
