# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node as rosdep alone installs it: with no package that only some features need."""

import sys

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.action")
from node_client import NODE, PARAMETERS, wait_for_valid  # noqa: E402
from ros_process import Robot, RosProcess, Stage  # noqa: E402
from shape_msgs.msg import SolidPrimitive  # noqa: E402
from without_packages import code_without  # noqa: E402

from inertial_id_ros.extras import EXTRAS  # noqa: E402
from inertial_id_ros.msg import InertialParameters  # noqa: E402
from inertial_id_ros.srv import SetShape  # noqa: E402

OPTIONAL = {module for modules in EXTRAS.values() for module in modules} | {"rtree", "embreex"}
MAIN = "from inertial_id_ros.ros.main import main\nraise SystemExit(main())"


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    with Stage() as stage:
        process = RosProcess(
            stage.domain, sys.executable, "-c", code_without(OPTIONAL, MAIN), "--ros-args", "-p",
            f"state.directory:={tmp_path_factory.mktemp('state')}")
        stage.processes.append(process)
        process.wait_for_text("[inertial_id_node]")
        stage.client.listen(InertialParameters, PARAMETERS)
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(6.0)
        yield stage


def test_it_identifies_the_payload_with_its_default_estimator(stage):
    message, payload = wait_for_valid(stage), Robot(stage.client).cobot.payload
    assert message.method == "density"
    assert message.inertia.m == pytest.approx(payload.mass, rel=0.02)


def test_a_shape_is_refused_with_the_package_that_it_needs(stage):
    box = SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[0.2, 0.2, 0.2])
    answer = stage.client.call(SetShape, f"{NODE}/set_shape", SetShape.Request(primitive=box))
    assert not answer.success and 'pip install "inertial-id-ros[shapes]"' in answer.message
