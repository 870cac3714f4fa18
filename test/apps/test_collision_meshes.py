# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Collision meshes that a description names: which are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

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
    """With the folder of packages `share`."""
    return Arm(ROBOT.format(name), "c", packages=[place / "share"])


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The mesh of a cube of 0.4 m in several formats, and one that is cut off."""
    folder = tmp_path / "share" / "robot"
    folder.mkdir(parents=True)
    for kind in ("stl", "obj", "ply", "off"):
        trimesh.creation.box((0.4, 0.4, 0.4)).export(folder / f"m.{kind}")
    (folder / "cut.stl").write_bytes((folder / "m.stl").read_bytes()[:100])
    return tmp_path


@pytest.mark.parametrize("name", [
    "package://robot/m.stl", "package://robot/m.ply", "file://{}/share/robot/m.obj",
    "file://{}/share/robot/m.off"])
def test_meshes_are_read_at_their_scale(place: Path, name: str) -> None:
    """The cube, at half its size and 0.4 m above a box of 0.1 m, is 0.25 m away from it."""
    found = arm(name.format(place), place)
    assert found.unchecked == ""
    assert found.collision_shapes().distances(np.zeros((1, 2)))[0] == pytest.approx([0.25])


@pytest.mark.parametrize("name", ["package://other/m.stl", "package://robot/cut.stl", ""])
def test_a_mesh_that_cannot_be_read_is_a_warning(place: Path, name: str) -> None:
    found = arm(name, place).unchecked
    assert found.startswith("collision shapes cannot be loaded (") and Path(name).name in found
    assert "\n" not in found
