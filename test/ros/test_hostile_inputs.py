# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node as a process, given hostile descriptions, shapes, frames and names."""

import signal
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from geometry_msgs.msg import Point, TransformStamped  # noqa: E402
from node_client import (  # noqa: E402
    NODE,
    PARAMETERS,
    current_findings,
    play_until_valid,
    wait_for_finding,
    wait_for_valid,
    wait_until_cleared,
)
from ros_process import LATCHED, Robot, Stage, wait_until  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402

from inertial_id_ros.action import Identify  # noqa: E402
from inertial_id_ros.limits import (  # noqa: E402
    MAX_REQUEST_POINTS,
    MAX_URDF_ELEMENTS,
)
from inertial_id_ros.msg import InertialParameters  # noqa: E402
from inertial_id_ros.srv import SetShape  # noqa: E402

SEND_GOAL = Identify.Impl.SendGoalService
LOOKS = '<visual><geometry><box size="1 1 1"/></geometry></visual>'


def children(pid):
    """Processes that a process has started (Linux)."""
    return [child for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()]


def points_request(count):
    rows = np.random.default_rng(0).uniform(-0.05, 0.05, (count, 3)) + [0.0, 0.0, 0.1]
    return SetShape.Request(points=[Point(x=x, y=y, z=z) for x, y, z in rows.tolist()])


def memory(pid):
    """Resident memory [MB] (Linux)."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 1e6


def test_a_large_description_is_used_and_a_bloated_one_is_refused_by_name():
    with Stage() as stage:
        stage.start_node(estimator__rate=4.0)
        robot = Robot(stage.client)
        robot.publish_description()
        urdf = robot.cobot.urdf
        many = " ".join(f'a{k}="1"' for k in range(50_000))
        stage.client.publish("/robot_description",
                             String(data=urdf.replace("<robot ", f"<robot {many} ", 1)), LATCHED)
        wait_for_finding(stage, "robot_description_invalid", "attributes in one element")
        large = urdf.replace("</link>", LOOKS * 20_000 + "</link>", 1)
        stage.client.publish("/robot_description", String(data=large), LATCHED)
        wait_until_cleared(stage, "robot_description_invalid")
        robot.play(4.0)
        message = wait_for_valid(stage)
        assert message.inertia.m == pytest.approx(robot.cobot.payload.mass, rel=0.02)


def test_estimates_and_signals_go_on_while_a_description_is_read():
    with Stage() as stage:
        node = stage.start_node(estimator__rate=10.0)
        robot = Robot(stage.client)
        robot.publish_description()
        play_until_valid(stage, robot)
        got = stage.client.listen(InertialParameters, PARAMETERS)
        slow = "<robot>" + LOOKS * (MAX_URDF_ELEMENTS // 4)  # takes the parser a while
        for _ in range(3):
            stage.client.publish("/robot_description", String(data=slow), LATCHED)
        wait_until(lambda: children(node.process.pid))
        before = len(got)
        stage.client.spin_until(lambda: len(got) >= before + 2)
        stage.client.publish("/robot_description", String(data=slow), LATCHED)
        wait_until(lambda: children(node.process.pid))
        running = children(node.process.pid)
        status, text = node.stop(signal.SIGTERM)
        assert status == 0 and "Traceback" not in text
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in running))


def test_a_large_set_of_points_becomes_a_shape_and_a_larger_one_is_refused():
    with Stage() as stage:
        stage.start_node(estimator__rate=4.0)
        robot = Robot(stage.client)
        robot.publish_description()
        play_until_valid(stage, robot)
        call = stage.client.call
        refused = call(SetShape, f"{NODE}/set_shape", points_request(MAX_REQUEST_POINTS + 1))
        assert not refused.success and f"at most {MAX_REQUEST_POINTS}" in refused.message
        answer = call(SetShape, f"{NODE}/set_shape", points_request(30_000))
        assert answer.success and answer.message.startswith("shape 'points'"), answer.message
        assert call(SetShape, f"{NODE}/set_shape").message == "the shape is forgotten"


def test_a_goal_with_points_without_end_is_rejected():
    with Stage() as stage:
        stage.start_node(estimator__rate=4.0)
        robot = Robot(stage.client)
        robot.publish_description()
        play_until_valid(stage, robot)
        goal = SEND_GOAL.Request()
        goal.goal.shape.points = points_request(MAX_REQUEST_POINTS + 1).points
        assert not stage.client.call(SEND_GOAL, f"{NODE}/identify/_action/send_goal", goal).accepted
        wait_for_finding(stage, "goal.rejected", f"at most {MAX_REQUEST_POINTS} are allowed")


def test_frames_without_end_cost_little_and_the_robot_is_still_known():
    with Stage() as stage:
        node = stage.start_node(estimator__rate=4.0)
        robot = Robot(stage.client)
        robot.publish_description()
        play_until_valid(stage, robot)
        before = memory(node.process.pid)
        for k in range(4):
            message = TFMessage()
            for n in range(2000):
                edge = TransformStamped(child_frame_id=f"flood_{k}_{n}")
                edge.header.frame_id, edge.header.stamp.sec = "base_link", 1_800_000_000
                edge.transform.rotation.w = 1.0
                message.transforms.append(edge)
            stage.client.publish("/tf", message, 10)
            stage.client.publish("/tf_static", message, LATCHED)
            wait_for_valid(stage, 2)
        assert memory(node.process.pid) - before < 30.0  # it was 1000
        robot.play(2.0)
        wait_for_valid(stage, 2)
        assert "samples_invalid.transforms" not in current_findings(stage)


def test_a_frame_that_forges_a_log_line_is_printed_as_one():
    forged = "tool0\n[ERROR] forged\x1b[31m"
    with Stage() as stage:
        node = stage.start_node(estimator__rate=4.0, wrench__sensor_frame="ft_sensor")
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(2.0, frame=forged)
        found = wait_for_finding(stage, "sensor_frame.replaced", r"tool0\n[ERROR] forged\x1b[31m")
        assert all(text.isprintable() for text in found.values())
        node.wait_for_text(r"tool0\n[ERROR] forged\x1b[31m")
        _, text = node.stop()
        assert forged not in text and "\x1b" not in text
