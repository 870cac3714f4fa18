# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Speeds and heights of links, by MuJoCo's velocities of points on them."""

from __future__ import annotations

import mujoco
import numpy as np

from inertial_id_ros.apps.excitation.arm import Arm, CarriedLoad
from inertial_id_ros.apps.simulation.description import SENSOR_FRAME, load_description

BOX = np.array([[-0.3, -0.2, 0.0], [0.1, 0.2, 0.4]])


def test_speed_and_height_of_the_payloads_box_are_those_of_its_corners_by_mujoco():
    arm = Arm(load_description().urdf, SENSOR_FRAME, CarriedLoad(box=BOX))
    spec = mujoco.MjSpec.from_string(load_description().urdf)
    spec.compiler.fusestatic = False
    for k, corner in enumerate(np.stack(np.meshgrid(*BOX.T), axis=-1).reshape(-1, 3)):
        spec.body(SENSOR_FRAME).add_site(name=f"corner{k}", pos=corner)
    model = spec.compile()
    data, velocity = mujoco.MjData(model), np.zeros(6)
    rng = np.random.default_rng(3)
    q, dq = rng.uniform(-2.0, 2.0, (20, 6)), rng.normal(size=(20, 6))
    found = arm.links.links_at(q, dq)
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


def test_a_link_is_never_faster_than_told_by_mujoco():
    """Points on the rims of each cylinder of the description."""
    arm = Arm(load_description().urdf, SENSOR_FRAME)
    model = mujoco.MjModel.from_xml_string(load_description().urdf)
    data, rng = mujoco.MjData(model), np.random.default_rng(4)
    turn = np.linspace(0.0, 2.0 * np.pi, 60)
    for _ in range(10):
        data.qpos[:], data.qvel[:] = rng.uniform(-2.0, 2.0, 6), rng.normal(size=6)
        mujoco.mj_forward(model, data)
        told = arm.links.links_at(data.qpos[None], data.qvel[None])
        for geom in range(model.ngeom):
            body = model.geom_bodyid[geom]
            if body == 0 or model.geom_type[geom] != mujoco.mjtGeom.mjGEOM_CYLINDER:
                continue
            radius, half = model.geom_size[geom][:2]
            for end in (-half, half):
                rim = np.column_stack([radius * np.cos(turn), radius * np.sin(turn),
                                       np.full(len(turn), end)])
                points = rim @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
                jacobian, turning = np.zeros((3, 6)), np.zeros((3, 6))
                fastest = 0.0
                for point in points:
                    mujoco.mj_jac(model, data, jacobian, turning, point, body)
                    fastest = max(fastest, float(np.linalg.norm(jacobian @ data.qvel)))
                assert fastest <= told.speed[0, body - 1] * (1.0 + 1e-9)
                assert points[:, 2].min() >= told.height[0, body - 1] - 1e-9


def test_only_a_link_that_turns_about_the_vertical_does_not_rise():
    arm = Arm(load_description().urdf, SENSOR_FRAME)
    assert dict(zip(arm.links.names, arm.links.rises.tolist(), strict=True)) == {
        "shoulder_link": False, "upper_arm_link": True, "forearm_link": True,
        "wrist_1_link": True, "wrist_2_link": True, "wrist_3_link": True}
