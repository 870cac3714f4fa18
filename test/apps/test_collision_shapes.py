# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Shapes that may not meet: hulls for the search, meshes for the last word, keep-out boxes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

from inertial_id_ros.apps.excitation.arm import Arm
from inertial_id_ros.apps.excitation.limits import Excess, Limits
from inertial_id_ros.apps.excitation.objective import RobotInformation
from inertial_id_ros.apps.excitation.optimise import Basis, SearchEffort, dense_times, plan_motion
from inertial_id_ros.errors import InvalidData, InvalidModel
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.reference import description_reference

ROBOT = """<robot name="r">
<link name="base"><collision><origin xyz="0 0 0"/><geometry>
<mesh filename="package://robot/{}.stl"/></geometry></collision></link>
<link name="mid">{}</link><link name="arm">{}<collision><origin xyz="0.5 0 0.5"/><geometry>
<box size="0.2 0.1 0.1"/></geometry></collision></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="mid"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="100" velocity="2"/></joint>
<joint name="lift" type="prismatic"><parent link="mid"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="100" velocity="2"/></joint></robot>"""
BODY = ('<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" '
        'iyz="0"/></inertial>')


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A cup of 2 m with walls of 0.1 m, open at the top, and a ball, as meshes of a package."""
    (tmp_path / "robot").mkdir()
    walls = [((2.0, 2.0, 0.1), (0.0, 0.0, -0.95)), ((0.1, 2.0, 2.0), (0.95, 0.0, 0.0)),
             ((0.1, 2.0, 2.0), (-0.95, 0.0, 0.0)), ((2.0, 0.1, 2.0), (0.0, 0.95, 0.0)),
             ((2.0, 0.1, 2.0), (0.0, -0.95, 0.0))]
    cup = trimesh.util.concatenate([
        trimesh.creation.box(size, trimesh.transformations.translation_matrix(at))
        for size, at in walls])
    cup.export(tmp_path / "robot" / "cup.stl")
    trimesh.creation.icosphere(subdivisions=3, radius=0.3).export(tmp_path / "robot" / "ball.stl")
    return tmp_path


def make_arm(place: Path, mesh: str, **more: object) -> Arm:
    return Arm(ROBOT.format(mesh, BODY, BODY), "arm", packages=[place], **more)  # type: ignore[arg-type]


def test_a_hull_is_no_farther_than_its_mesh(place: Path) -> None:
    """A sphere's distance to a box that stands upright beside it is known."""
    shapes = make_arm(place, "ball").collision_shapes()
    q = np.array([[0.3, -0.5], [0.0, -0.2], [1.0, 0.4]])
    height = 0.5 + q[:, 1]
    nearest = np.stack([np.full(3, 0.4), np.zeros(3), np.clip(0.0, height - 0.05, height + 0.05)])
    exact = np.linalg.norm(nearest, axis=0) - 0.3
    found = shapes.distances(q)[:, 0]
    assert (found >= exact - 1e-9).all()  # the mesh is inscribed in the sphere
    np.testing.assert_allclose(found, exact, atol=0.01)


def test_a_link_inside_a_hollow_one_is_free_where_the_motion_starts_there(place: Path) -> None:
    """The box stands 0.3 m from a wall, and in the middle of the cup's hull."""
    shapes = make_arm(place, "cup").collision_shapes(start=np.zeros(2))
    free = shapes.distances(np.zeros((1, 2)))[0]
    assert free == pytest.approx([0.3], abs=1e-6)
    assert not shapes.near(np.zeros((1, 2))).any()
    assert shapes.near(np.array([[0.0, -1.38]])).all()


def test_a_box_of_the_world_is_kept_out_of(place: Path) -> None:
    """A wall 0.15 m above the arm; the root stands where it stands, and may touch it."""
    wall = np.array([[-2.0, -2.0, 0.7], [2.0, 2.0, 0.8]])
    arm = make_arm(place, "ball", keep_out=[wall])
    shapes = arm.collision_shapes(clearance=0.02)
    assert [pair[1] for pair in shapes.pairs] == ["arm_0", "keep-out box 1"]
    assert shapes.distances(np.zeros((1, 2)))[0, 1] == pytest.approx(0.15)
    assert shapes.near(np.array([[0.0, 0.12], [0.0, 0.14]]))[:, 1].tolist() == [False, True]


def test_a_box_that_is_always_in_the_way_is_an_error(place: Path) -> None:
    """Links that touch in every pose are neighbours; a box is meant as it stands."""
    arm = make_arm(place, "ball", keep_out=[np.array([[-2.0, -2.0, -2.0], [2.0, 2.0, 2.0]])])
    with pytest.raises(InvalidData, match="arm_0 and keep-out box 1"):
        plan(arm, Limits(), SearchEffort(starts=1, iterations=1))


def test_boxes_need_shapes_of_the_links(place: Path) -> None:
    with pytest.raises(InvalidModel, match="cannot be kept out"):
        make_arm(place, "nowhere", keep_out=[np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])])


def test_links_that_no_moving_joint_parts_are_not_compared(place: Path) -> None:
    shapes = make_arm(place, "ball")
    assert len(shapes.collision_shapes(active=[0, 1]).pairs) == 1
    assert len(shapes.collision_shapes(active=[]).pairs) == 0


def plan(arm: Arm, limits: Limits, effort: SearchEffort):  # noqa: ANN201
    model = RobotModel.from_urdf(arm.urdf)
    told = RobotInformation(model, description_reference(model), np.full(2, 0.5))
    return plan_motion(Basis(4.0, 3), np.zeros(2), np.arange(2), told,
                       Excess(arm, limits, np.zeros(2)), 100.0, effort)


@pytest.mark.slow
def test_a_plan_stays_below_a_wall_that_another_crosses(place: Path) -> None:
    """The wall hangs in the way of the plan without one: which optimum many iterations lead to is
    decided by rounding."""
    limits = Limits(tool_speed=2.0, link_speed=2.0)
    effort = SearchEffort(starts=1, iterations=15)

    def heights(boxes: list[np.ndarray]) -> np.ndarray:
        found = plan(make_arm(place, "ball", keep_out=boxes), limits, effort)
        return found.motion(dense_times(4.0)).q[:, 1] + 0.55

    wall = (0.55 + heights([]).max()) / 2.0
    assert wall > 0.56  # which leaves the arm room below
    below = heights([np.array([[-2.0, -2.0, wall], [2.0, 2.0, wall + 0.2]])])
    assert below.max() <= wall - 0.01  # the clearance
    assert np.ptp(below) > 0.3
