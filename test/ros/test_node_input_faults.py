# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node as a process, with inputs that contradict each other or the arm."""

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("inertial_id_ros.msg")
import rclpy  # noqa: E402
from geometry_msgs.msg import WrenchStamped  # noqa: E402
from node_client import PARAMETERS, hears, wait_for_finding  # noqa: E402
from ros_process import Robot, Stage, play_until, wait_until, wrench_message  # noqa: E402

from inertial_id_ros.msg import InertialParameters  # noqa: E402


class OtherNode:
    """A second publisher of the wrench, in a node of its own."""

    def __init__(self, stage):
        self.node = rclpy.create_node("other_sensor", context=stage.client.context)
        self.publisher = self.node.create_publisher(WrenchStamped, "/wrench", 100)
        wait_until(lambda: self.publisher.get_subscription_count() > 0)

    def publish(self, stamp):
        self.publisher.publish(wrench_message(stamp + 1_000_000, "ft_sensor", np.zeros(6)))


def test_two_publishers_of_the_wrench_are_named_and_nothing_wrong_is_published():
    """Nobody has to reset the node afterwards."""
    with Stage() as stage:
        node = stage.start_node(wrench__sensor="ideal")
        got = stage.client.listen(InertialParameters, PARAMETERS, 100)
        robot, other = Robot(stage.client), OtherNode(stage)
        robot.publish_description()
        robot.play(4.0, each=other.publish)
        wait_for_finding(stage, "streams_mixed.wrench")
        node.wait_for_text("on '/wrench': /client, /other_sensor")
        assert not any(m.valid for m in got)
        other.node.destroy_node()
        truth = robot.cobot.payload.mass
        play_until(robot.play, lambda: hears(
            stage, lambda: got[-1].valid and abs(got[-1].inertia.m - truth) < 0.02))
        assert all(abs(m.inertia.m - truth) < 0.05 * truth for m in got if m.valid)
