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
