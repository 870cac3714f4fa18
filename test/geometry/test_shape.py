# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Shapes against closed forms and trimesh, and the errors a user can make."""

import os
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import trimesh
from problems import pose_at
from scipy.spatial.transform import Rotation

from inertial_id_ros.errors import InvalidData
from inertial_id_ros.geometry import mesh as mesh_module
from inertial_id_ros.geometry.mesh import load_mesh, resolve_resource
from inertial_id_ros.geometry.shape import (
    POINTS,
    shape_from_mesh,
    shape_from_primitive,
    shape_from_settings,
)
from inertial_id_ros.inertia import body_from_phi, is_consistent, phi_from_pinocchio
from inertial_id_ros.settings import Settings

POSE = np.eye(4)
POSE[:3, :3] = Rotation.from_euler("xyz", [0.3, -0.5, 1.1]).as_matrix()
POSE[:3, 3] = [0.05, -0.02, 0.15]


@pytest.mark.parametrize(("kind", "size", "tolerance"), [
    ("box", (0.1, 0.06, 0.2), 1e-10), ("sphere", (0.07,), 5e-3), ("cylinder", (0.03, 0.2), 5e-3)])
def test_a_filled_primitive_has_the_moments_of_its_closed_form(kind, size, tolerance):
    shape = shape_from_primitive(kind, size, POSE)
    solid = {"box": pin.Inertia.FromBox, "sphere": pin.Inertia.FromSphere,
             "cylinder": pin.Inertia.FromCylinder}[kind](1.0, *size)
    want = phi_from_pinocchio(pin.SE3(POSE).act(solid).toDynamicParameters())
    scale = np.abs(want).max()
    np.testing.assert_allclose(shape.unit_phi, want, atol=tolerance * scale * 0.1, rtol=tolerance)
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


@pytest.mark.parametrize("kind, size", [("box", (0.1, 0.06, 0.2)), ("cylinder", (0.005, 0.3))])
def test_the_ellipsoid_encloses_the_shape_and_is_about_the_smallest(kind, size):
    shape = shape_from_primitive(kind, size, POSE)
    everything = np.concatenate([shape.surface, shape.points])
    lifted = np.hstack([everything, np.ones((len(everything), 1))])
    inside = np.einsum("ni,ij,nj->n", lifted, shape.ellipsoid, lifted)
    assert inside.min() >= -1e-2
    semiaxes = 1.0 / np.sqrt(np.linalg.eigvalsh(-shape.ellipsoid[:3, :3]))
    volume = 4.0 / 3.0 * np.pi * semiaxes.prod()
    # Smallest about a box: semi-axes sqrt(3) half lengths; cylinder: sqrt(3/2) r, sqrt(3) h/2.
    x = size
    smallest = {"box": lambda: 4 / 3 * np.pi * 3**1.5 * np.prod(x) / 8,
                "cylinder": lambda: 4 / 3 * np.pi * 1.5 * x[0] ** 2 * 3**0.5 * x[1] / 2}[kind]()
    assert volume == pytest.approx(smallest, rel=0.02)


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


def test_an_open_mesh_has_no_inside():
    mesh = trimesh.creation.box()
    mesh.update_faces(np.arange(len(mesh.faces)) > 0)
    with pytest.raises(InvalidData, match="watertight"):
        shape_from_mesh(mesh, np.eye(4))


def _filled(mesh: trimesh.Trimesh) -> tuple[np.ndarray, np.ndarray]:
    """Grid points (n, 3), and which of them are inside."""
    axes = mesh_module.grid_axes(mesh.bounds, abs(mesh.volume) / POINTS)
    return mesh_module.grid_points(axes), mesh_module.is_interior(np.asarray(mesh.triangles), axes)


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


def test_several_primitives_of_the_settings_are_one_shape() -> None:
    """Two boxes that overlap fill what a longer one fills."""
    both = shape_from_settings(Settings().replace({
        "shape.type": "box", "shape.size": (0.2, 0.1, 0.1, 0.2, 0.1, 0.1),
        "shape.center": (0.0, 0.0, 0.1, 0.1, 0.0, 0.1)}).shape)
    whole = shape_from_primitive("box", [0.3, 0.1, 0.1], pose_at([0.05, 0.0, 0.1]))
    assert both is not None and len(both.ellipsoids) == 2
    assert both.volumes.sum() == pytest.approx(whole.volumes.sum(), rel=0.03)
    np.testing.assert_allclose(both.unit_phi, whole.unit_phi, atol=1e-3)
    for form in both.place(pose_at([0.0, 0.3, 0.0])).ellipsoids:
        assert form.shape == (4, 4)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("wrong", [
    {"shape.size": (0.1, 0.1, 0.1, 0.2)}, {"shape.size": ()}, {"shape.rpy": (0.1,) * 6},
    {"shape.size": (0.1,) * 6},  # without a centre of each
    {"shape.size": (0.1,) * 6, "shape.center": (0.0, 0.0, 0.1)},
    *({"shape.size": size} for size in (
        (0.2, 615045.0, 0.3), (1e17, 1.0, 1.0), (1e-10, 0.2, 0.2))),
    *({"shape.center": (far, 0.0, 0.0)} for far in (1e6, 1e200))])
def test_numbers_that_do_not_fit_or_that_no_robot_carries_are_refused(
        wrong: dict[str, tuple[float, ...]]) -> None:
    settings = Settings().replace({"shape.type": "box", "shape.size": (0.1, 0.1, 0.1), **wrong})
    with pytest.raises(InvalidData):
        shape_from_settings(settings.shape)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder, a package, and a package that is a link."""
    for name in ("folder", "share/robot"):
        (tmp_path / name).mkdir(parents=True)
        trimesh.creation.box((0.1, 0.1, 0.1)).export(tmp_path / name / "x.stl")
    (tmp_path / "share" / "linked").symlink_to(tmp_path / "folder")
    return tmp_path


def test_files_and_packages_are_read(place: Path) -> None:
    roots = (place / "elsewhere", place / "share")
    for resource in ("package://robot/x.stl", "package://linked/x.stl", f"{place}/folder/x.stl",
                     f"file://{place}/folder/x.stl"):
        assert len(load_mesh(resolve_resource(resource, roots)).faces) == 12


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


@pytest.mark.parametrize("resource", [
    "http://h/x.stl", "file://host{0}/folder/x.stl", "package://~root/x.stl",
    "package://robot:1/x.stl", "package://robot/..", "FILE", "", "file://[x"])
def test_other_addresses_are_refused(place: Path, resource: str) -> None:
    with pytest.raises(InvalidData):
        load_mesh(resolve_resource(resource.format(place), (place / "share",)))


def test_meshes_that_could_name_other_files_are_points_or_too_large_are_refused(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("x.dae", "x.gltf", "x.3mf", "x"):
        (tmp_path / name).write_text("x")
        with pytest.raises(InvalidData, match="stl, ply, obj, off"):
            load_mesh(tmp_path / name)
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "x.stl")
    monkeypatch.setattr(mesh_module, "MAX_MESH_BYTES", 100)
    with pytest.raises(InvalidData, match="100"):
        load_mesh(tmp_path / "x.stl")
    trimesh.PointCloud(np.eye(3)).export(tmp_path / "scan.ply")
    with pytest.raises(InvalidData):
        load_mesh(tmp_path / "scan.ply")
    os.mkfifo(tmp_path / "pipe.stl")
    with pytest.raises(InvalidData, match="pipe.stl"):
        load_mesh(tmp_path / "pipe.stl")
