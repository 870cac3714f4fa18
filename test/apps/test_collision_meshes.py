# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Collision meshes that a description names: which are read, and by whom."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import trimesh

from inertial_id_ros.apps.excitation import collision_shapes
from inertial_id_ros.apps.excitation.arm import Arm

ROBOT = """<robot name="r">
<link name="a"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
<link name="b"/><link name="c"><collision><origin xyz="0 0 0.4"/><geometry>
<mesh filename="{}" scale="0.5 0.5 0.5"/></geometry></collision></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="k" type="revolute"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


def arm(name: str, place: Path) -> Arm:
    """With the folder of packages `share`, and `allowed` for files."""
    return Arm(ROBOT.format(name), "c", packages=[place / "share"], folders=[place / "allowed"])


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The mesh of a cube of 0.4 m in several places."""
    for folder in ("share/robot/meshes", "allowed", "secret"):
        (tmp_path / folder).mkdir(parents=True)
        for kind in ("stl", "obj", "ply", "off"):
            trimesh.creation.box((0.4, 0.4, 0.4)).export(tmp_path / folder / f"m.{kind}")
    (tmp_path / "share" / "robot" / "m.stl").symlink_to(tmp_path / "secret" / "m.stl")
    return tmp_path


@pytest.mark.parametrize("name", [
    "package://robot/meshes/m.stl", "package://robot/m.stl", "package://robot/meshes/m.ply",
    "file://{}/allowed/m.obj", "file://{}/allowed/m.off", "file://{}/share/robot/meshes/m.stl"])
def test_meshes_in_allowed_places_are_read_at_their_scale(place: Path, name: str) -> None:
    """The cube, at half its size and 0.4 m above a box of 0.1 m, is 0.25 m away from it."""
    found = arm(name.format(place), place)
    assert found.unchecked == ""
    assert found.collision_shapes().distances(np.zeros((1, 2)))[0] == pytest.approx([0.25])


@pytest.mark.parametrize(("name", "said"), [
    ("file://{}/secret/m.stl", "name its folder in --mesh-folders"),
    ("file://{}/allowed/../secret/m.stl", "name its folder in --mesh-folders"),
    ("package://robot/../../secret/m.stl", "names no file in a package"),
    ("package://other/m.stl", "was not found in the installed packages"),
    ("{}/allowed/m.stl", "allowed: file, package"), ("file:///dev/zero", "--mesh-folders"),
    ("file://{}/allowed/m.dae", "does not exist"), ("file://{}/allowed/pipe.stl", "not exist"),
    ("file://{}/allowed/x.dae", "allowed: stl"), ("file://{}/allowed/bad.ply", "cannot be read"),
    ("file://{}/allowed/nan.off", "enclose no volume"), ("", "allowed: file, package")])
def test_others_are_not_and_the_warning_says_why(place: Path, name: str, said: str) -> None:
    os.mkfifo(place / "allowed" / "pipe.stl")
    (place / "allowed" / "x.dae").write_text("<COLLADA/>")
    (place / "allowed" / "nan.off").write_text("OFF\n3 1 3\n0 0 nan\n1 0 0\n0 1 0\n3 0 1 2\n")
    sound = (place / "allowed" / "m.ply").read_bytes()
    (place / "allowed" / "bad.ply").write_bytes(sound[:-30])
    found = arm(name.format(place), place)
    assert found.unchecked.startswith("collision shapes cannot be loaded (")
    assert said in found.unchecked


def test_a_mesh_with_too_many_faces_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch
                                               ) -> None:
    monkeypatch.setattr(collision_shapes, "MAX_FACES", 11)
    assert "12 faces; at most 11" in arm("package://robot/m.stl", place).unchecked
