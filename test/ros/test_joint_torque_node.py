# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node on joint torques, as a process: joint states with efforts in, the payload out."""

import time

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from array import array  # noqa: E402

from node_client import com_of, is_physical, wait_for_valid, wait_until_all_is_used  # noqa: E402
from ros_process import LATCHED, Stage, time_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from torque_arm import (  # noqa: E402
    FRAME,
    NAMES,
    URDF,
    block,  # noqa: E402
    joint_states,
    loaded,
    write_robot,
)

MASS = 2.0


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    """A node that has heard twelve seconds of motion with a payload."""
    folder = tmp_path_factory.mktemp("state")
    robot = write_robot(folder / "arm.robot")
    recorded = loaded(MASS, 1)
    with Stage() as stage:
        stage.start_node(load__robot=str(robot),
                         wrench__sensor_frame=FRAME, state__directory=str(folder))
        stage.client.publish("/robot_description", String(data=URDF), LATCHED)
        offset = time.time_ns()
        first = None
        for stamp, q, effort in joint_states(recorded):
            first = stamp if first is None else first
            message = JointState(name=list(NAMES), position=array("d", q),
                                 effort=array("d", effort))
            message.header.stamp = time_message(offset + stamp - first)
            stage.client.publish("/joint_states", message, 1000)
            time.sleep(0.0008)
        wait_until_all_is_used(stage)
        yield stage


def test_the_payload_is_found_from_efforts(stage):
    message = wait_for_valid(stage)
    truth = block(MASS)
    assert is_physical(message.inertia)
    assert message.header.frame_id == FRAME
    assert message.inertia.m == pytest.approx(MASS, rel=0.03)
    np.testing.assert_allclose(com_of(message.inertia), truth.com, atol=0.010)
