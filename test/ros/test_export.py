# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A robot description with the payload in it reaches the node again."""

import numpy as np
import payload_documents as read
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from node_client import NODE, com_of, get_estimate, tensor_of, wait_for_valid  # noqa: E402
from ros_process import LATCHED, Robot, Stage  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from inertial_id_ros.apps.export_payload import main  # noqa: E402
from inertial_id_ros.srv import Save  # noqa: E402


@pytest.mark.slow
def test_a_robot_that_is_published_with_its_payload_keeps_the_estimate(tmp_path, capsys):
    """Another robot would forget the data."""
    with Stage() as stage:
        stage.start_node(state__directory=str(tmp_path), estimator__rate=4.0)
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(6.0)
        wait_for_valid(stage)
        saved = stage.client.call(Save, f"{NODE}/save", Save.Request(name="bottle"))
        assert saved.success, saved.message
        before = get_estimate(stage).parameters
        arm = tmp_path / "arm.urdf"
        arm.write_text(robot.cobot.urdf)
        assert main([str(tmp_path / "saves" / "bottle.json"), "--format", "urdf_robot", "--robot",
                     str(arm)]) == 0
        urdf = capsys.readouterr().out
        body = read.pinocchio_link(urdf, "payload")
        assert body.mass == pytest.approx(before.inertia.m, rel=0.02)
        np.testing.assert_allclose(body.com, com_of(before.inertia), atol=2e-3)
        np.testing.assert_allclose(body.inertia_com, tensor_of(before.inertia), atol=2e-3)
        stage.client.publish("/robot_description", String(data=urdf), LATCHED)
        robot.play(2.0)
        after = wait_for_valid(stage, 4)
        assert after.samples > before.samples > 1000
