# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the simulated cobot offers when it is commanded: trajectories, payload, protective stop."""

from __future__ import annotations

import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("control_msgs.action")
from geometry_msgs.msg import Wrench, WrenchStamped  # noqa: E402
from ros_process import LATCHED, Client, RosProcess, own_domain  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Bool  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from inertial_id_ros.apps.excitation.motions import PlannedMotion, RestToRest  # noqa: E402
from inertial_id_ros.apps.simulation.description import load_description  # noqa: E402
from inertial_id_ros.apps.simulation.payload import load_payload  # noqa: E402
from inertial_id_ros.inertia import transform_phi  # noqa: E402
from inertial_id_ros.ros import motion_execution  # noqa: E402
from inertial_id_ros.ros.motion_execution import Ended, MotionExecution  # noqa: E402

ACTION = "joint_trajectory_controller/follow_joint_trajectory"
NAMES = load_description().joint_names
RESTING = 0.01  # rad/s
pytestmark = [pytest.mark.alone, pytest.mark.slow]


class Cobot:
    """The node as a process, and what it publishes."""

    def __init__(self) -> None:
        domain = own_domain()
        self.process = RosProcess(
            domain, sys.executable, "-m", "inertial_id_ros.ros.tools.simulate_cobot", "--motion",
            "commanded", "--payload", "drill", "--rate", "200", "--noise", "0,0",
            "--encoder-noise", "0")
        self.client = Client(domain)
        self.joints = self.client.listen(JointState, "joint_states", 10)
        self.wrenches = self.client.listen(WrenchStamped, "wrench", 10)
        self.stops = self.client.listen(Bool, "/simulate_cobot/protective_stop", LATCHED)
        self.client.spin_until(lambda: self.joints and self.wrenches and self.stops)
        self.fault, self.threads = "", ThreadPoolExecutor(1)
        self.executions: list[MotionExecution] = []

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

    def motion(self, turn: float, duration: float = 1.5) -> PlannedMotion:
        """The wrist turns from where it is."""
        goal = self.pose
        goal[4] += turn
        path = RestToRest(np.stack([self.pose, goal]), np.array([duration]),
                          np.array([0.5 * duration]))
        t = np.linspace(0.0, duration, 60)
        q, dq, ddq = path.at(t)
        dq[[0, -1]] = ddq[[0, -1]] = 0.0
        return PlannedMotion(NAMES, t, q, dq, ddq)

    def run(self, motion: PlannedMotion) -> Future[Ended]:
        """A motion on its way."""
        execution = MotionExecution(self.client.node, motion, ACTION, "joint_states",
                                    lambda *_: (), lambda: self.fault, silence=1.0)
        self.executions.append(execution)
        return self.threads.submit(execution.run)

    def end(self, ended: Future[Ended]) -> Ended:
        self.client.spin_until(ended.done)
        return ended.result()


@pytest.fixture(scope="module")
def cobot():
    made = Cobot()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(motion_execution, "DELAY", 1.0)  # it may be late where the machine is busy
        yield made
    made.threads.shutdown()
    for execution in made.executions:
        execution.close()
    made.client.close()
    assert made.process.stop()[0] == 0


def test_a_trajectory_is_followed_to_its_end(cobot):
    motion = cobot.motion(0.3)
    assert cobot.end(cobot.run(motion)) == Ended()
    cobot.spin_to_rest()
    np.testing.assert_allclose(cobot.pose, motion.positions[-1], atol=1e-6)


def test_an_aborted_motion_is_at_rest_within_three_tenths_of_a_second(cobot):
    ended = cobot.run(cobot.motion(-0.6))
    cobot.spin_until_faster(0.3)
    stamp, cobot.fault = cobot.joints[-1].header.stamp, "enough"
    found, cobot.fault = cobot.end(ended), ""
    cobot.spin_to_rest()
    assert found == Ended("enough")
    begun = stamp.sec + 1e-9 * stamp.nanosec
    moving = [m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec - begun for m in cobot.joints
              if np.abs(m.velocity).max() >= RESTING]
    assert max(moving) < 0.3, "by the robot's own stamps"


def test_a_push_makes_a_protective_stop_until_it_is_unlocked(cobot):
    cobot.spin_to_rest()
    ended = cobot.run(cobot.motion(0.6))
    cobot.spin_until_faster(0.1)
    push = Wrench()
    push.force.x = 80.0
    cobot.client.publish("/simulate_cobot/push", push)
    found = cobot.end(ended)
    assert "80 N" in found.reason and found.is_at_rest
    cobot.client.spin_until(lambda: cobot.stops[-1].data)
    cobot.spin_to_rest()
    assert cobot.end(cobot.run(cobot.motion(0.1))).was_rejected
    cobot.client.publish("/simulate_cobot/push", Wrench())
    cobot.client.spin_until(lambda: abs(cobot.wrenches[-1].wrench.force.x) < 60.0)
    assert cobot.client.call(Trigger, "/simulate_cobot/unlock").success
    assert cobot.end(cobot.run(cobot.motion(0.1))) == Ended()


def test_a_stated_payload_is_subtracted_from_the_wrench_and_told(cobot):
    from control_msgs.msg import DynamicJointState

    service = pytest.importorskip("ur_msgs.srv").SetPayload
    cobot.spin_to_rest()
    truth = load_payload("drill")
    about_flange = transform_phi(truth.phi, np.eye(3), np.array([0.0, 0.0, 0.04]))
    com = about_flange[1:4] / about_flange[0]
    request = service.Request(mass=truth.mass)
    request.center_of_gravity.x, request.center_of_gravity.y, request.center_of_gravity.z = (
        com.tolist())
    told = cobot.client.listen(DynamicJointState, "dynamic_joint_states", 10)
    assert cobot.client.call(service, "/io_and_status_controller/set_payload",
                             request).success
    seen = time.monotonic() + 0.5
    cobot.client.spin_until(lambda: time.monotonic() > seen and told)
    f, t = cobot.wrenches[-1].wrench.force, cobot.wrenches[-1].wrench.torque
    np.testing.assert_allclose([f.x, f.y, f.z, t.x, t.y, t.z], 0.0, atol=1e-3)
    values = dict(zip(told[-1].interface_values[0].interface_names,
                      told[-1].interface_values[0].values, strict=True))
    assert values["mass"] == pytest.approx(truth.mass, rel=1e-6)
    assert values["cog.z"] == pytest.approx(com[2], rel=1e-6)
