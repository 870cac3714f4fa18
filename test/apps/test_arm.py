# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The arm as a planner sees it: speeds and heights of links by MuJoCo, distances by hand."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh

from inertial_id_ros.apps.excitation.arm import Arm
from inertial_id_ros.apps.excitation.collision import Obstacle, box_obstacle
from inertial_id_ros.apps.simulation.cobot import ArmEngine
from inertial_id_ros.apps.simulation.description import SENSOR_FRAME, load_description
from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.errors import InvalidModel

URDF = load_description().urdf
BOX = np.array([[-0.3, -0.2, 0.0], [0.1, 0.2, 0.4]])
ROBOT = """<robot name="r">
<link name="base"><collision><geometry><mesh filename="package://robot/{}" scale="0.5 0.5 0.5"/>
</geometry></collision></link>
<link name="mid"/><link name="arm"><collision><origin xyz="0.5 0 0.5"/><geometry>
<box size="0.2 0.1 0.1"/></geometry></collision></link>
<joint name="turn" type="continuous"><parent link="base"/><child link="mid"/><axis xyz="0 0 1"/>
<limit effort="100" velocity="2"/></joint>
<joint name="lift" type="prismatic"><parent link="mid"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="100" velocity="2"/></joint></robot>"""


@pytest.fixture
def meshes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cup of 4 m with walls of 0.2 m, open at the top, a ball, and one that is cut off, as meshes
    of a package, which the description has at half their size."""
    folder = tmp_path / "share" / "robot"
    folder.mkdir(parents=True)
    walls = [((4.0, 4.0, 0.2), (0.0, 0.0, -1.9)), *(((0.2, 4.0, 4.0), (x, 0.0, 0.0)) for x in (
        1.9, -1.9)), *(((4.0, 0.2, 4.0), (0.0, y, 0.0)) for y in (1.9, -1.9))]
    trimesh.util.concatenate([trimesh.creation.box(
        size, trimesh.transformations.translation_matrix(at)) for size, at in walls]).export(
            folder / "cup.stl")
    trimesh.creation.icosphere(subdivisions=3, radius=0.6).export(folder / "ball.stl")
    (folder / "cut.stl").write_bytes((folder / "ball.stl").read_bytes()[:100])
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))


def points_of(box: np.ndarray) -> mujoco.MjModel:
    """The packaged arm with a site at each corner of a box on the sensor."""
    spec = mujoco.MjSpec.from_string(URDF)
    spec.compiler.fusestatic = False
    for k, corner in enumerate(np.stack(np.meshgrid(*box.T), axis=-1).reshape(-1, 3)):
        spec.body(SENSOR_FRAME).add_site(name=f"corner{k}", pos=corner)
    return spec.compile()


def test_speed_and_height_of_the_payloads_box_are_those_of_its_corners_by_mujoco() -> None:
    model, rng = points_of(BOX), np.random.default_rng(3)
    data, velocity = mujoco.MjData(model), np.zeros(6)
    q, dq = rng.uniform(-2.0, 2.0, (20, 6)), rng.normal(size=(20, 6))
    found = Arm(URDF, SENSOR_FRAME, BOX).links(q, dq)
    for i in range(len(q)):
        data.qpos[:], data.qvel[:] = q[i], dq[i]
        mujoco.mj_forward(model, data)
        speeds = []
        for site in range(model.nsite):
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, site, velocity, 0)
            speeds.append(np.linalg.norm(velocity[3:]))
        # The wrist itself is smaller than this box, and nearer to every axis.
        np.testing.assert_allclose(found.speed[i, -1], max(speeds), rtol=1e-9)
        assert found.height[i, -1] <= data.site_xpos[:, 2].min() + 1e-12


def test_motion_of_the_sensor_and_torques_are_those_of_mujoco() -> None:
    rng, payload = np.random.default_rng(5), PAYLOADS["drill"]
    q, dq, ddq = rng.uniform(-2.0, 2.0, (3, 20, 6))
    arm = Arm(URDF, SENSOR_FRAME, phi=payload.phi)
    motion = arm.motion(q, dq, ddq)
    truth = ArmEngine(URDF, payload, np.array([0.0, 0.0, -9.81])).evaluate(q, dq, ddq)
    np.testing.assert_allclose(motion.proper, truth.a_g, atol=1e-8)
    np.testing.assert_allclose(motion.omega, truth.omega, atol=1e-10)
    np.testing.assert_allclose(arm.torque(q, dq, ddq), truth.effort, atol=1e-6)


def test_shapes_are_near_from_their_distance_on(meshes: None) -> None:
    """The distance of a ball of 0.3 m to a box that stands upright beside it is known."""
    arm = Arm(ROBOT.format("ball.stl"), "arm")
    q = np.array([[0.3, -0.5], [0.0, -0.2], [1.0, 0.4]])
    above = np.maximum(np.abs(0.5 + q[:, 1]) - 0.05, 0.0)
    assert arm.shapes is not None
    for at, exact in zip(arm.configurations(q), np.hypot(0.4, above) - 0.3, strict=True):
        assert not arm.shapes.near(at[None], exact - 1e-6).any()  # the mesh is inscribed
        assert arm.shapes.near(at[None], exact + 0.01).all()


def test_a_link_inside_a_hollow_one_is_free_until_it_meets_a_wall(meshes: None) -> None:
    """The box stands 0.3 m from a wall of the cup, and in the middle of its hull."""
    arm = Arm(ROBOT.format("cup.stl"), "arm")
    assert arm.shapes is not None
    at = arm.configurations(np.array([[0.0, 0.0], [0.0, -1.38]]))
    assert arm.shapes.near(at, 0.29)[:, 0].tolist() == [False, True]
    assert arm.shapes.near(at, 0.31)[:, 0].tolist() == [True, True]


def test_obstacles_are_kept_out_of_as_they_stand(meshes: None) -> None:
    """A wall 0.15 m above the arm; the root stands where it stands, and may touch it."""
    wall = box_obstacle("wall", np.array([[-2.0, -2.0, 0.7], [2.0, 2.0, 0.8]]))
    arm = Arm(ROBOT.format("ball.stl"), "arm", obstacles=[wall])
    assert arm.shapes is not None
    assert [pair[1] for pair in arm.shapes.pairs] == ["arm_0", "wall"]
    at = arm.configurations(np.array([[0.0, 0.12], [0.0, 0.14]]))
    assert arm.shapes.near(at, 0.02)[:, 1].tolist() == [False, True]
    around = box_obstacle("around", np.array([[-2.0, -2.0, -2.0], [2.0, 2.0, 2.0]]))
    everywhere = Arm(ROBOT.format("ball.stl"), "arm", obstacles=[around])
    assert everywhere.shapes is not None and len(everywhere.shapes.pairs) == 2


@pytest.mark.parametrize("name", ["cut.stl", "nowhere.stl"])
def test_without_meshes_nothing_is_checked_and_obstacles_are_refused(meshes: None, name: str
                                                                     ) -> None:
    found = Arm(ROBOT.format(name), "arm")
    assert found.shapes is None and name in found.unchecked and "\n" not in found.unchecked
    with pytest.raises(InvalidModel):
        Arm(ROBOT.format(name), "arm", obstacles=[Obstacle("ball", "sphere", (0.1,))])
