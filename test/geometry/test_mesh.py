# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Files of triangles and of points, the addresses that name them, and those that cannot be used."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import trimesh

from inertial_id_ros.errors import InvalidShape
from inertial_id_ros.geometry import mesh
from inertial_id_ros.geometry.mesh import load_mesh, resolve_resource


def test_mesh_files_and_resources_that_cannot_be_used_are_named(tmp_path):
    with pytest.raises(InvalidShape, match=r"missing\.stl does not exist"):
        load_mesh(tmp_path / "missing.stl")
    for resource, text in (("", "empty"), ("http://a/b.stl", "scheme 'http'"),
                           ("package://robot/part.stl", "not found")):
        with pytest.raises(InvalidShape, match=text):
            resolve_resource(resource, (tmp_path,))


@pytest.mark.parametrize("kind", ["npy", "xyz", "ply"])
def test_a_file_of_points_is_their_convex_hull(tmp_path, kind):
    rng = np.random.default_rng(0)
    corners = np.array(np.meshgrid([-0.05, 0.05], [-0.1, 0.1], [-0.2, 0.2])).reshape(3, 8).T
    inside = rng.uniform(-1.0, 1.0, (300, 3)) * [0.05, 0.1, 0.2]
    points = np.concatenate([inside, corners])
    file = tmp_path / f"scan.{kind}"
    if kind == "npy":
        np.save(file, np.concatenate([points, np.full((2, 3), np.nan)]))  # two without a return
    elif kind == "xyz":
        np.savetxt(file, points)
    else:
        trimesh.PointCloud(points).export(file)
    hull = load_mesh(file, scale=2.0)
    assert hull.is_watertight and hull.volume == pytest.approx(8.0 * 0.1 * 0.2 * 0.4)
    np.testing.assert_allclose(hull.bounds[1], [0.1, 0.2, 0.4])


@pytest.mark.parametrize(("points", "text"), [
    (np.zeros((3, 3)), "3 points, which enclose no volume"), (np.ones((9, 3)), "enclose no volume"),
    (np.random.default_rng(0).normal(size=(20, 3)) * [1, 1, 0], "enclose no volume"),
    (np.zeros((9, 2)), r"shape \(9, 2\)"), (np.full((9, 3), np.nan), "0 points"),
    (np.array(["a"]), "not points")])
def test_files_of_points_that_enclose_nothing_are_named(tmp_path, points, text):
    np.save(tmp_path / "scan.npy", points)
    with pytest.raises(InvalidShape, match=text):
        load_mesh(tmp_path / "scan.npy")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", ["1e300", "-1e30", "1e7"])
def test_a_mesh_of_absurd_size_is_refused_without_a_word_of_the_libraries(
        number, tmp_path):
    file = tmp_path / "m.off"
    file.write_text(f"OFF\n4 4 6\n0 0 0\n{number} 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n"
                    "3 1 2 3\n")
    with pytest.raises(InvalidShape, match="from its origin; at most"):
        load_mesh(file)
    np.save(tmp_path / "m.npy", np.array([[0, 0, 0], [float(number), 0, 0], [0, 1, 0], [0, 0, 1]]))
    with pytest.raises(InvalidShape, match="from its origin; at most"):
        load_mesh(tmp_path / "m.npy")


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


@pytest.mark.parametrize("resource", [
    "http://h/x.stl", "file://host{0}/folder/x.stl", "package://~root/x.stl",
    "package://robot:1/x.stl", "package://robot/..", "FILE", "", "file://[x"])
def test_other_addresses_are_refused(place: Path, resource: str) -> None:
    with pytest.raises(InvalidShape):
        load_mesh(resolve_resource(resource.format(place), (place / "share",)))


def test_meshes_that_could_name_other_files_or_are_too_large_are_refused(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("x.dae", "x.gltf", "x.3mf", "x"):
        (tmp_path / name).write_text("x")
        with pytest.raises(InvalidShape, match="allowed: stl, ply, obj, off"):
            mesh.load_mesh(tmp_path / name)
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "x.stl")
    monkeypatch.setattr(mesh, "MAX_MESH_BYTES", 100)
    with pytest.raises(InvalidShape, match="at most 100"):
        mesh.load_mesh(tmp_path / "x.stl")
    os.mkfifo(tmp_path / "pipe.stl")
    with pytest.raises(InvalidShape, match="does not exist"):
        mesh.load_mesh(tmp_path / "pipe.stl")


@pytest.mark.parametrize(("name", "data", "said"), [
    ("a.ply", b"ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\n"
     b"property float x\nproperty float y\nproperty float z\nend_header\n", "a.ply"),
    ("a.stl", bytes(80) + b"\xff\xff\xff\x7f", "a.stl"), ("a.npy", b"\x93NUMPY", "a.npy")])
def test_files_that_lie_about_their_size_are_refused(name: str, data: bytes, said: str,
                                                     tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InvalidShape, match=said):
        load_mesh(tmp_path / name)
