# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node as a process, with inputs that contradict each other or the arm."""

import time
from array import array

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("inertial_id_ros.msg")
import rclpy  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from geometry_msgs.msg import WrenchStamped  # noqa: E402
from node_client import (  # noqa: E402
    PARAMETERS,
    com_of,
    current_findings,
    wait_for_finding,
    wait_for_valid,
)
from ros_process import Robot, Stage, time_message, wait_until, wrench_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from inertial_id_ros.msg import InertialParameters  # noqa: E402


class OtherNode:
    """A second publisher of the wrench, in a node of its own."""

    def __init__(self, stage):
        self.node = rclpy.create_node("other_sensor", context=stage.client.context)
        self.publisher = self.node.create_publisher(WrenchStamped, "/wrench", 100)
        wait_until(lambda: self.publisher.get_subscription_count() > 0)

    def publish(self, stamp):
        self.publisher.publish(wrench_message(stamp + 1_000_000, "ft_sensor", np.zeros(6)))


def test_two_publishers_of_the_wrench_are_named_and_no_estimate_comes_until_one_is_gone():
    """Nobody has to reset the node afterwards."""
    with Stage() as stage:
        stage.start_node(estimator__rate=8.0)
        got = stage.client.listen(InertialParameters, PARAMETERS, 100)
        robot, other = Robot(stage.client), OtherNode(stage)
        robot.publish_description()
        said = stage.client.listen(DiagnosticArray, "/diagnostics", 100)
        robot.play(6.0, each=other.publish, speed=2.0)
        wanted = ("2 publishers send the wrench on '/wrench' at once: /client, /other_sensor; "
                  "there is no estimate until only one does")
        stage.client.spin_until(lambda: wanted in [m.status for m in got])
        stage.client.spin_until(lambda: wanted in [
            v.value for m in said for status in m.status for v in status.values])
        assert not any(m.valid for m in got)
        other.node.destroy_node()
        stage.client.spin_until(lambda: "several_publishers.wrench" not in current_findings(stage))
        robot.play(4.0, speed=2.0)
        assert wait_for_valid(stage, 2).inertia.m == pytest.approx(
            robot.cobot.payload.mass, rel=0.02)
        truth = robot.cobot.payload.mass
        assert all(abs(m.inertia.m - truth) < 0.05 * truth for m in got if m.valid)


def test_a_second_publisher_that_says_nothing_does_no_harm():
    """A driver that was killed stays among the publishers for a while."""
    with Stage() as stage:
        stage.start_node(estimator__rate=8.0)
        robot, _ = Robot(stage.client), OtherNode(stage)
        robot.publish_description()
        robot.play(4.0, speed=2.0)
        assert wait_for_valid(stage, 2).inertia.m == pytest.approx(
            robot.cobot.payload.mass, rel=0.02)
        assert "several_publishers.wrench" not in current_findings(stage)


class OtherJoints:
    """A second publisher of joint states, of zeros at a rate of its own, in a node of its own."""

    def __init__(self, stage, names, rate):
        self.node = rclpy.create_node("other_arm", context=stage.client.context)
        self.publisher = self.node.create_publisher(JointState, "/joint_states", 100)
        self._names, self._period, self._next = list(names), 1.0 / rate, 0.0
        wait_until(lambda: self.publisher.get_subscription_count() > 0)

    def publish(self, stamp):
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self._period
            message = JointState(name=self._names, position=array("d", [0.0] * len(self._names)))
            message.header.stamp = time_message(stamp + 1_000_000)
            self.publisher.publish(message)


@pytest.mark.parametrize("rate", [1.0, 10.0, 500.0])
def test_two_publishers_of_the_same_joints_are_named_at_any_rates_until_one_is_gone(rate):
    with Stage() as stage:
        stage.start_node(estimator__rate=8.0)
        got = stage.client.listen(InertialParameters, PARAMETERS, 100)
        robot = Robot(stage.client)
        other = OtherJoints(stage, robot.cobot.joint_names, rate)
        robot.publish_description()
        robot.play(10.0, each=other.publish, speed=2.0)
        wanted = ("2 publishers send the joint state on '/joint_states' at once: /client, "
                  "/other_arm; there is no estimate until only one does")
        stage.client.spin_until(lambda: wanted in [m.status for m in got])
        assert not got[-1].valid
        other.node.destroy_node()
        stage.client.spin_until(lambda: wanted not in current_findings(stage).values())
        robot.play(4.0, speed=2.0)
        assert wait_for_valid(stage, 2).inertia.m == pytest.approx(
            robot.cobot.payload.mass, rel=0.02)


def test_a_gripper_that_publishes_its_own_joints_does_no_harm():
    with Stage() as stage:
        stage.start_node(estimator__rate=8.0)
        got = stage.client.listen(InertialParameters, PARAMETERS, 100)
        robot, gripper = Robot(stage.client), OtherJoints(stage, ["left_finger"], 50.0)
        robot.publish_description()
        robot.play(6.0, each=gripper.publish, speed=2.0)
        assert wait_for_valid(stage, 2).inertia.m == pytest.approx(
            robot.cobot.payload.mass, rel=0.02)
        assert not [m.status for m in got if "publishers" in m.status]


class FreezingRobot(Robot):
    """A robot whose joint states repeat one position on request."""

    frozen = None

    def _joints(self, stamp, q):
        return super()._joints(stamp, q if self.frozen is None else self.frozen)


def test_joint_states_that_freeze_while_the_arm_moves_are_named_while_they_do():
    with Stage() as stage:
        stage.start_node(estimator__rate=8.0)
        got = stage.client.listen(InertialParameters, PARAMETERS, 100)
        robot = FreezingRobot(stage.client)
        robot.publish_description()
        robot.play(4.0, speed=2.0)
        robot.frozen = robot.truth.q[-1]
        robot.play(3.0, speed=2.0)
        assert "is frozen" in wait_for_finding(stage,
                                               "motion_frozen.joints")["motion_frozen.joints"]
        stage.client.spin_until(lambda: not got[-1].valid and "is frozen" in got[-1].status)
        robot.frozen = None
        robot.play(6.0, speed=2.0)
        wait_for_finding(stage, "motion_frozen.joints", "stood still for 3 s and then jumped by")
        message, payload = wait_for_valid(stage, 2), robot.cobot.payload
        assert message.inertia.m == pytest.approx(payload.mass, rel=0.01)
        np.testing.assert_allclose(com_of(message.inertia), payload.com, atol=2e-3)
        assert all(m.inertia.m == pytest.approx(payload.mass, rel=0.05)
                   for m in got if m.valid and not m.stale)
