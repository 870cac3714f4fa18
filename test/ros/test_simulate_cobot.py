# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node simulate_cobot as a process: rates, stamps, latched topics, clean exit, user errors; and
what it offers when it is commanded: trajectories and payload."""

import signal
import sys
from concurrent.futures import Future

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import DynamicJointState
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from rclpy.action import ActionClient
from ros_process import Client, Executions, RosProcess, own_domain, turned
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from inertial_id_ros.apps.simulation.cobot import load_description
from inertial_id_ros.apps.simulation.motion import Trajectory
from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.inertia import transform_phi
from inertial_id_ros.ros import motion_execution
from inertial_id_ros.ros.motion_execution import Ended, trajectory_message

NODE = (sys.executable, "-m", "inertial_id_ros.cli", "simulate_cobot")
ACTION = "joint_trajectory_controller/follow_joint_trajectory"
DRILL, NAMES = PAYLOADS["drill"], load_description().joint_names
RESTING = 0.01  # rad/s


def seconds(stamp):
    return stamp.sec + 1e-9 * stamp.nanosec


def row(wrench):
    return [getattr(part, axis) for part in (wrench.force, wrench.torque) for axis in "xyz"]


# ---- commanded -----------------------------------------------------------------------------------

class Cobot:
    """The node as a process, and what it publishes."""

    def __init__(self) -> None:
        domain = own_domain()
        self.process = RosProcess(
            domain, *NODE, "--motion", "commanded", "--payload", "drill", "--rate", "200",
            "--noise", "0,0", "--encoder-noise", "0", "--tilt", "10,0")
        self.process.wait_for_text("drill")  # latched topics are heard by who comes later
        self.client = Client(domain)
        self.joints = self.client.listen(JointState, "joint_states", 10)
        self.wrenches = self.client.listen(WrenchStamped, "wrench", 10)
        self.client.spin_until(lambda: self.joints and self.wrenches)
        self.fault, self.executions = "", Executions(self.client, ACTION)
        self.end = self.executions.end

    @property
    def pose(self) -> np.ndarray:
        return np.array(self.joints[-1].position)

    def spin_until_faster(self, speed: float) -> None:
        seen = len(self.joints)
        self.client.spin_until(lambda: any(
            np.abs(m.velocity).max() > speed for m in self.joints[seen:]))

    def spin_to_rest(self) -> None:
        seen = len(self.joints)
        self.client.spin_until(lambda: len(self.joints) > seen + 5 and np.abs(
            self.joints[-1].velocity).max() < RESTING)

    def push(self, force: float) -> None:
        self.client.publish("/simulate_cobot/push", Wrench(force=Vector3(x=force)))

    def motion(self, angle: float) -> Trajectory:
        """The wrist turns from where it is."""
        return turned(self.pose, 4, angle, 1.5, NAMES)

    def run(self, motion: Trajectory) -> Future[Ended]:
        """A motion on its way."""
        return self.executions.run(motion, lambda: (), lambda: self.fault, 1.0)


@pytest.fixture(scope="module")
def cobot():
    made = Cobot()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(motion_execution, "DELAY", 1.0)  # it may be late where the machine is busy
        yield made
    made.executions.close()
    made.client.close()
    status, text = made.process.stop(signal.SIGTERM)
    assert status == 0 and "Traceback" not in text


def test_latched_topics_reach_a_late_listener(cobot):
    statics = cobot.client.listen(TFMessage, "/tf_static")
    urdf = cobot.client.listen(String, "/robot_description")
    cobot.client.spin_until(lambda: statics and urdf)
    assert urdf[0].data == load_description().urdf
    assert [(t.header.frame_id, t.child_frame_id) for t in statics[0].transforms] == [
        ("world", "base_link"), ("wrist_3_link", "tool0"), ("wrist_3_link", "ft_sensor")]
    assert statics[0].transforms[0].transform.rotation.x == pytest.approx(np.sin(np.radians(5.0)))


@pytest.mark.alone
@pytest.mark.slow
def test_an_aborted_motion_is_at_rest_within_three_tenths_of_a_second(cobot):
    ended = cobot.run(cobot.motion(-0.6))
    cobot.spin_until_faster(0.3)
    stamp, cobot.fault = cobot.joints[-1].header.stamp, "enough"
    found, cobot.fault = cobot.end(ended), ""
    cobot.spin_to_rest()
    assert found == Ended("enough")
    moving = [seconds(m.header.stamp) - seconds(stamp) for m in cobot.joints
              if np.abs(m.velocity).max() >= RESTING]
    assert max(moving) < 0.3, "by the robot's own stamps"


@pytest.mark.slow
def test_of_goals_that_come_at_once_one_is_accepted(cobot):
    """As threads of an executor may judge several at a time, of many points each."""
    cobot.spin_to_rest()
    stamps = np.linspace(0.0, 0.4, 400)
    still = Trajectory(stamps, np.tile(cobot.pose, (400, 1)), *np.zeros((2, 400, 6)), NAMES)
    goal = FollowJointTrajectory.Goal(trajectory=trajectory_message(still))
    action = ActionClient(cobot.client.node, FollowJointTrajectory, ACTION)
    cobot.client.spin_until(action.server_is_ready)
    for _ in range(4):
        answers = [action.send_goal_async(goal) for _ in range(6)]
        cobot.client.spin_until(  # a service that was just found may lose an answer
            lambda answers=answers: sum(one.done() for one in answers) > 4)
        accepted = [one.result() for one in answers if one.done() and one.result().accepted]
        assert len(accepted) <= 1
        for ended in [one.get_result_async() for one in accepted]:
            cobot.client.spin_until(ended.done)
            assert ended.result().status == GoalStatus.STATUS_SUCCEEDED
    action.destroy()


@pytest.mark.slow
def test_a_push_acts_on_the_wrench_until_the_next_one(cobot):
    cobot.push(80.0)
    cobot.client.spin_until(lambda: abs(cobot.wrenches[-1].wrench.force.x) > 60.0)
    cobot.push(0.0)
    cobot.client.spin_until(lambda: abs(cobot.wrenches[-1].wrench.force.x) < 60.0)


@pytest.mark.slow
def test_a_stated_payload_is_subtracted_from_the_wrench_and_stated(cobot):
    service = pytest.importorskip("ur_msgs.srv").SetPayload
    cobot.spin_to_rest()
    about_flange = transform_phi(DRILL.phi, np.eye(3), np.array([0.0, 0.0, 0.04]))
    com = (about_flange[1:4] / about_flange[0]).tolist()
    stated = cobot.client.listen(DynamicJointState, "dynamic_joint_states", 10)
    assert cobot.client.call(service, "/io_and_status_controller/set_payload", service.Request(
        mass=DRILL.mass, center_of_gravity=Vector3(x=com[0], y=com[1], z=com[2]))).success
    seen, at = len(stated), len(cobot.wrenches)
    cobot.client.spin_until(lambda: len(stated) > seen + 2 and len(cobot.wrenches) > at + 40)
    np.testing.assert_allclose(row(cobot.wrenches[-1].wrench), 0.0, atol=1e-3)
    values = dict(zip(stated[-1].interface_values[0].interface_names,
                      stated[-1].interface_values[0].values, strict=True))
    assert values["mass"] == pytest.approx(DRILL.mass, rel=1e-6)
    assert values["cog.z"] == pytest.approx(com[2], rel=1e-6)
