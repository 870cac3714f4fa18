# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Meshes that a request may name, and files that are too large or lead elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import trimesh

from inertial_id_ros.errors import InvalidShape
from inertial_id_ros.geometry import mesh, shape
from inertial_id_ros.geometry.mesh import resolve_allowed


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An allowed folder, a package, a folder beside them, and links from both into that."""
    for name in ("allowed", "secret", "share/robot"):
        (tmp_path / name).mkdir(parents=True)
        trimesh.creation.box((0.1, 0.1, 0.1)).export(tmp_path / name / "x.stl")
    (tmp_path / "allowed" / "link.stl").symlink_to(tmp_path / "secret" / "x.stl")
    (tmp_path / "allowed" / "out").symlink_to(tmp_path / "secret")
    (tmp_path / "share" / "robot" / "link.stl").symlink_to(tmp_path / "secret" / "x.stl")
    (tmp_path / "share" / "linked").symlink_to(tmp_path / "secret")
    return tmp_path


def test_allowed_places_are_read(place: Path) -> None:
    roots, folders = (place / "share",), (place / "allowed",)
    assert resolve_allowed(f"file://{place}/allowed/x.stl", roots, folders).is_file()
    assert resolve_allowed("package://robot/x.stl", roots, folders).is_file()


@pytest.mark.parametrize("resource", [
    "file://{0}/secret/x.stl", "file://{0}/allowed/../secret/x.stl",
    "file://{0}/allowed/%2e%2e/secret/x.stl", "file://{0}/allowed/link.stl",
    "file://{0}/allowed/out/x.stl", "{0}/allowed/x.stl", "allowed/x.stl", "http://h/x.stl",
    "file://host{0}/allowed/x.stl", "package://robot/../../secret/x.stl",
    "package://../secret/x.stl", "package://robot/..%2f..%2fsecret/x.stl", "package://robot/..",
    "package://~root/x.stl", "package://robot:1/x.stl", "file://{0}/share/../secret/x.stl", "FILE",
    "", "\x00", "file://\x00", "file://[x"])
def test_all_others_are_refused(place: Path, resource: str) -> None:
    with pytest.raises(InvalidShape):
        path = resolve_allowed(resource.format(place), (place / "share",), (place / "allowed",))
        mesh.load_mesh(path)


def test_a_package_may_be_installed_by_links(place: Path) -> None:
    """As colcon's --symlink-install does: to files, and to folders, of the sources."""
    roots = (place / "elsewhere", place / "share")
    for resource in ("package://robot/link.stl", "package://linked/x.stl",
                     "package://robot/meshes/../link.stl", f"file://{place}/share/robot/link.stl"):
        path = resolve_allowed(resource, roots, (place / "allowed",))
        assert path.samefile(place / "secret" / "x.stl")
        assert len(mesh.load_mesh(path).faces) == 12


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


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("size", "center"), [
    ((0.2, 615045.0, 0.3), 0.0), ((1e17, 1.0, 1.0), 0.0), ((1e-10, 0.2, 0.2), 0.0),
    ((0.1, 0.1, 0.1), 1e6), ((0.1, 0.1, 0.1), 1e200)])
def test_shapes_that_no_robot_carries_are_refused(size: tuple[float, ...], center: float) -> None:
    pose = np.eye(4)
    pose[0, 3] = center
    with pytest.raises(InvalidShape, match="allowed: "):
        shape.shape_from_primitive("box", size, pose)
