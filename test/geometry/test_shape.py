# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Shapes against closed forms and trimesh, and the errors a user can make."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

from inertial_id_ros.errors import InvalidShape
from inertial_id_ros.geometry.shape import (
    shape_from_mesh,
    shape_from_points,
    shape_from_primitive,
    shape_from_settings,
)
from inertial_id_ros.inertia import body_from_phi, is_consistent, phi_from_body, transform_phi
from inertial_id_ros.settings import Settings

POSE = np.eye(4)
POSE[:3, :3] = Rotation.from_euler("xyz", [0.3, -0.5, 1.1]).as_matrix()
POSE[:3, 3] = [0.05, -0.02, 0.15]


def closed_form(kind, size):
    """Mass 1 kg, centre (3,) and tensor about it (3, 3) of a solid primitive, axis along z."""
    if kind == "box":
        x, y, z = np.square(size)
        return 1.0, np.zeros(3), np.diag([y + z, x + z, x + y]) / 12.0
    if kind == "sphere":
        return 1.0, np.zeros(3), 0.4 * size[0] ** 2 * np.eye(3)
    r, h = size
    if kind == "cylinder":
        side = (3.0 * r * r + h * h) / 12.0
        return 1.0, np.zeros(3), np.diag([side, side, 0.5 * r * r])
    side = 3.0 * (4.0 * r * r + h * h) / 80.0
    return 1.0, np.array([0.0, 0.0, -0.25 * h]), np.diag([side, side, 0.3 * r * r])


@pytest.mark.parametrize(("kind", "size", "tolerance"), [
    ("box", (0.1, 0.06, 0.2), 1e-10), ("sphere", (0.07,), 5e-3), ("cylinder", (0.03, 0.2), 5e-3),
    ("cone", (0.05, 0.12), 5e-3)])
def test_a_filled_primitive_has_the_moments_of_its_closed_form(kind, size, tolerance):
    shape = shape_from_primitive(kind, size, POSE)
    want = transform_phi(phi_from_body(*closed_form(kind, size)), POSE[:3, :3], POSE[:3, 3])
    scale = np.abs(want).max()
    np.testing.assert_allclose(shape.unit_phi, want, atol=tolerance * scale * 0.1, rtol=tolerance)
    np.testing.assert_allclose(shape.uniform(2.5), 2.5 * shape.unit_phi)
    assert is_consistent(shape.unit_phi)


def test_a_mesh_has_the_moments_that_trimesh_integrates():
    mesh = trimesh.creation.annulus(r_min=0.02, r_max=0.05, height=0.08)
    shape = shape_from_mesh(mesh, POSE)
    placed = mesh.copy()
    placed.apply_transform(POSE)
    placed.density = 1.0 / placed.volume
    body = body_from_phi(shape.unit_phi)
    np.testing.assert_allclose(body.com, placed.center_mass, atol=1e-9)
    np.testing.assert_allclose(body.inertia_com, placed.moment_inertia, atol=1e-9)
    assert not shape.bounding
    # No point lies in the hole.
    local = (shape.points - POSE[:3, 3]) @ POSE[:3, :3]
    assert np.hypot(local[:, 0], local[:, 1]).min() > 0.02 * 0.99


def test_a_mesh_turned_inside_out_is_the_same_body():
    mesh = trimesh.creation.box(extents=(0.1, 0.1, 0.2))
    flipped = mesh.copy()
    flipped.invert()
    np.testing.assert_allclose(shape_from_mesh(flipped, POSE).unit_phi,
                               shape_from_mesh(mesh, POSE).unit_phi, atol=1e-12)


@pytest.mark.parametrize("kind, size", [("box", (0.1, 0.06, 0.2)), ("cone", (0.05, 0.12)),
                                        ("cylinder", (0.005, 0.3))])
def test_the_ellipsoid_encloses_the_shape_and_is_about_the_smallest(kind, size):
    shape = shape_from_primitive(kind, size, POSE)
    everything = np.concatenate([shape.surface, shape.points])
    lifted = np.hstack([everything, np.ones((len(everything), 1))])
    inside = np.einsum("ni,ij,nj->n", lifted, shape.ellipsoid, lifted)
    assert inside.min() >= -1e-2
    semiaxes = 1.0 / np.sqrt(np.linalg.eigvalsh(-shape.ellipsoid[:3, :3]))
    volume = 4.0 / 3.0 * np.pi * semiaxes.prod()
    # Smallest about a box: semi-axes sqrt(3) half lengths; cylinder: sqrt(3/2) r, sqrt(3) h/2;
    # cone: 27/8 of its volume (the largest cone in a ball has height 4/3 of the radius).
    x = size
    smallest = {"box": lambda: 4 / 3 * np.pi * 3**1.5 * np.prod(x) / 8,
                "cylinder": lambda: 4 / 3 * np.pi * 1.5 * x[0] ** 2 * 3**0.5 * x[1] / 2,
                "cone": lambda: 27 / 8 * np.pi * x[0] ** 2 * x[1] / 3}[kind]()
    assert volume == pytest.approx(smallest, rel=0.02)


def test_points_with_volumes_are_a_shape():
    rng = np.random.default_rng(1)
    points, volumes = rng.normal(size=(30, 3)), rng.uniform(0.5, 2.0, 30)
    shape = shape_from_points(points, volumes)
    np.testing.assert_allclose(shape.unit_phi[1:4], volumes @ points / volumes.sum())
    assert shape.volume == pytest.approx(volumes.sum())
    np.testing.assert_array_equal(shape_from_points(points).volumes, np.ones(30))


def test_settings_describe_a_shape(tmp_path):
    assert shape_from_settings(Settings().shape) is None
    settings = Settings().replace({"shape.type": "box", "shape.size": [0.1, 0.2, 0.4],
                                   "shape.center": [0.0, 0.0, 0.3],
                                   "shape.rpy": [0.0, 0.0, np.pi / 2], "shape.bounding": False})
    shape = shape_from_settings(settings.shape)
    np.testing.assert_allclose(shape.lengths, [0.2, 0.1, 0.4], atol=1e-9)
    assert shape.unit_phi[3] == pytest.approx(0.3) and not shape.bounding
    file = tmp_path / "part.stl"
    trimesh.creation.box(extents=(0.1, 0.2, 0.4)).export(file)
    settings = Settings().replace({"shape.type": "mesh", "shape.mesh": str(file)})
    shape = shape_from_settings(settings.shape)
    np.testing.assert_allclose(shape.lengths, [0.1, 0.2, 0.4], atol=1e-6)
    assert shape.name == "part.stl"


@pytest.mark.parametrize(("kind", "size", "text"), [
    ("pyramid", (1.0,), "allowed: box"), ("box", (0.1, 0.2), "3 positive sizes"),
    ("sphere", (-0.1,), "1 positive size"), ("cylinder", (0.1, np.nan), "2 positive sizes")])
def test_wrong_primitives_are_refused_with_what_is_allowed(kind, size, text):
    with pytest.raises(InvalidShape, match=text):
        shape_from_primitive(kind, size, np.eye(4))


def test_an_open_mesh_has_no_inside():
    mesh = trimesh.creation.box()
    mesh.update_faces(np.arange(len(mesh.faces)) > 0)
    with pytest.raises(InvalidShape, match="watertight"):
        shape_from_mesh(mesh, np.eye(4))


@pytest.mark.parametrize(("points", "volumes", "text"), [
    (np.zeros((3, 3)), None, "at least four"), (np.eye(4, 3), np.ones(3), "as many positive"),
    (np.random.default_rng(0).normal(size=(9, 3)) * [1, 1, 0], None, "one plane"),
    (np.full((5, 3), np.nan), None, "finite")])
def test_points_that_enclose_nothing_are_refused(points, volumes, text):
    with pytest.raises(InvalidShape, match=text):
        shape_from_points(points, volumes)
