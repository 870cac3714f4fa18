# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node on an rclpy without the events executor (Humble): on a stand-in, which lacks it."""

import sys

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.action")
from action_msgs.msg import GoalStatus  # noqa: E402
from node_client import NODE, PARAMETERS, wait_for_valid  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from ros_process import Robot, RosProcess, Stage  # noqa: E402

from inertial_id_ros.action import Identify  # noqa: E402
from inertial_id_ros.msg import InertialParameters  # noqa: E402
from inertial_id_ros.srv import Save  # noqa: E402

MAIN = """
import sys
sys.modules["rclpy.experimental"] = None
from inertial_id_ros.ros import compat
make = compat.make_executor
def made():
    executor = make()
    print("executor:", type(executor).__name__, flush=True)
    return executor
compat.make_executor = made
from inertial_id_ros.ros.main import main
raise SystemExit(main())
"""


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    with Stage() as stage:
        process = RosProcess(
            stage.domain, sys.executable, "-c", MAIN, "--ros-args", "-p",
            f"state.directory:={tmp_path_factory.mktemp('state')}")
        stage.processes.append(process)
        process.wait_for_text("executor: SingleThreadedExecutor")
        stage.client.listen(InertialParameters, PARAMETERS)
        stage.robot = Robot(stage.client)
        stage.robot.publish_description()
        stage.robot.play(6.0)
        yield stage


def test_it_identifies_the_payload(stage):
    message, payload = wait_for_valid(stage), stage.robot.cobot.payload
    assert message.inertia.m == pytest.approx(payload.mass, rel=0.02)


def test_a_service_whose_answer_comes_later_answers(stage):
    answer = stage.client.call(Save, f"{NODE}/save", Save.Request(name="older"))
    assert answer.success, answer.message


def test_a_goal_with_kept_data_is_reached(stage):
    actions = ActionClient(stage.client.node, Identify, f"{NODE}/identify")
    stage.client.spin_until(actions.server_is_ready)
    sent = actions.send_goal_async(Identify.Goal(keep_data=True, timeout=20.0))
    stage.client.spin_until(sent.done)
    stage.robot.play(3.0)  # on a busy machine the estimate has become old by now
    result = sent.result().get_result_async()
    stage.client.spin_until(result.done)
    actions.destroy()
    assert result.result().status == GoalStatus.STATUS_SUCCEEDED, result.result().result.message


def test_it_ends_as_ever(stage):
    status, text = stage.processes[0].stop()
    assert status == 0 and "Traceback" not in text, text
