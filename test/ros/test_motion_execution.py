# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Execution of a motion, and what stops it, with a stand-in of a trajectory controller; and with
the node simulate_cobot as a process: latched topics, trajectories, payload, clean exit."""

import signal
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest
import rclpy
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import DynamicJointState
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from node_client import stamp_of
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from ros_process import Client, Stage, own_domain
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String
from tf2_msgs.msg import TFMessage

from inertial_id_ros.apps.simulation.cobot import load_description
from inertial_id_ros.apps.simulation.motion import Trajectory
from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.inertia import transform_phi
from inertial_id_ros.ros import motion_execution
from inertial_id_ros.ros.guide import robot as guided
from inertial_id_ros.ros.motion_execution import Ended, MotionExecution, trajectory_message
from inertial_id_ros.ros.ros_client import RosClient
from inertial_id_ros.settings import Settings

ACTION, JOINT_STATES = "joint_trajectory_controller/follow_joint_trajectory", "arm_joint_states"
_PERIOD = 0.01  # s


class StandInController:
    """Follows trajectories exactly, and publishes joint states; its attributes are set at will."""

    def __init__(self, node, names: tuple[str, ...], positions: np.ndarray) -> None:
        self.answers = True  # whether a cancelled goal ends
        self.published = self.moving_stamps = self.follows = True  # joint states, stamps, positions
        self.answers_after = 0.0  # s until a goal is accepted
        self.late, self._waiting = 0.0, []  # s by which joint states are late; those that wait
        self.fails, self.speed = "", 1.0  # words with which a goal is aborted; share of the speed
        self.cancelled, self.ended, self.goals = 0, 0, []
        self._node, self._names = node, names
        self.positions = np.array(positions, dtype=float)
        self._handle, self._began = None, 0.0
        self._publisher = node.create_publisher(JointState, JOINT_STATES, 10)
        self._server = ActionServer(
            node, FollowJointTrajectory, ACTION, self._end, goal_callback=self._take,
            handle_accepted_callback=self._begin, cancel_callback=self._cancel,
            callback_group=ReentrantCallbackGroup())
        node.create_timer(_PERIOD, self._step)

    def vanish(self) -> None:
        """Withdraw the action, as a controller that is unloaded."""
        self._server.destroy()

    async def _take(self, goal) -> GoalResponse:
        if self.answers_after:  # it goes on meanwhile
            due = rclpy.task.Future()
            self._node.create_timer(self.answers_after, lambda: due.set_result(None))
            await due
        return GoalResponse.ACCEPT

    def _cancel(self, handle) -> CancelResponse:
        self.cancelled += 1
        return CancelResponse.ACCEPT

    def _begin(self, handle) -> None:
        self._handle, self._began = handle, time.monotonic()
        self.goals.append(handle.request.trajectory)

    def _end(self, handle) -> FollowJointTrajectory.Result:
        self._handle, self.ended = None, self.ended + 1
        if handle.is_cancel_requested:
            handle.canceled()
        elif self.fails:
            handle.abort()
        else:
            handle.succeed()
        return FollowJointTrajectory.Result(error_string=self.fails)

    def _step(self) -> None:
        """Go on along the trajectory, and publish where the joints are."""
        handle = self._handle
        if handle is not None:
            points = handle.request.trajectory.points
            t = self.speed * (time.monotonic() - self._began)
            stamps = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in points]
            if self.follows:
                rows = np.array([p.positions for p in points])
                self.positions = np.array([np.interp(t, stamps, row) for row in rows.T])
            over = t > stamps[-1] and self.follows
            if over or self.fails or (handle.is_cancel_requested and self.answers):
                handle.execute()
        if self.published:
            message = JointState(name=list(self._names), position=self.positions.tolist())
            message.header.stamp.sec = 1
            if self.moving_stamps:
                message.header.stamp = self._node.get_clock().now().to_msg()
            self._waiting.append((time.monotonic() + self.late, message))
        while self._waiting and self._waiting[0][0] <= time.monotonic():
            self._publisher.publish(self._waiting.pop(0)[1])


NAMES = ("shoulder", "elbow", "wrist")
DURATION, LENGTH = 1.2, 0.6  # s, rad
BUSY, SILENCE = 3.0, 0.4  # s without joint states: of a busy machine, and to be noticed


def turned(pose: np.ndarray, joint: int, angle: float, seconds: float, names: tuple[str, ...]
           ) -> Trajectory:
    """A motion of one joint from a pose, at rest at both ends."""
    ends = np.stack([pose, pose + angle * np.eye(len(pose))[joint]])
    still, t = np.zeros_like(ends), np.linspace(0.0, seconds, 61)
    way = Trajectory(np.array([0.0, seconds]), ends, still, still)
    return Trajectory(t, *way.sample(t), names)


class Scene:
    """A controller and the only execution of a motion in one process."""

    def __init__(self, client: Client) -> None:
        self.client, self._thread = client, ThreadPoolExecutor(1)
        self.controller = StandInController(client.node, NAMES, np.zeros(3))
        self.fault, self.problems, self.speed = "", (), 1.0

    def turn(self, find_fault=None, silence: float = BUSY) -> Future[Ended]:
        """A motion on its way."""
        self.made = MotionExecution(
            self.client.node, turned(np.zeros(3), 2, LENGTH, DURATION, NAMES), ACTION,
            JOINT_STATES, lambda *_: self.problems, find_fault or (lambda: self.fault), silence,
            lambda: self.speed)
        return self._thread.submit(self.made.run)

    def end(self, ended: Future[Ended]) -> Ended:
        """How it ends."""
        self.client.spin_until(ended.done)
        return ended.result()

    def moving(self, **options) -> Future[Ended]:
        """A motion that is well under way."""
        ended = self.turn(**options)
        self.client.spin_until(lambda: self.controller.positions[2] > 0.1 * LENGTH)
        assert not ended.done()
        return ended


@pytest.fixture
def scene():
    with closing(Client(own_domain())) as client:
        yield Scene(client)


@pytest.mark.slow
@pytest.mark.parametrize("speed", [1.0, 0.5])
def test_a_motion_is_made_to_its_end_as_it_was_planned_by_a_robot_that_is_slowed_down_too(
        scene, speed):
    """The controller scales time, as those of cobots do with their slider."""
    scene.speed = scene.controller.speed = speed
    begun = time.monotonic()
    assert scene.end(scene.turn()) == Ended()
    assert time.monotonic() - begun > 0.95 * DURATION / speed
    assert scene.controller.positions[2] == pytest.approx(LENGTH)
    sent = scene.controller.goals[0]
    assert list(sent.joint_names) == list(NAMES)
    last = sent.points[-1].time_from_start
    assert last.sec + 1e-9 * last.nanosec == pytest.approx(DURATION)


@pytest.mark.parametrize("lacking", ["check", "fault", "controller", "joint states"])
def test_nothing_is_sent_where_something_is_wrong_before(scene, monkeypatch, lacking):
    monkeypatch.setattr(motion_execution, "READY", 0.5)
    scene.problems = ("elbow would touch the crate",) if lacking == "check" else ()
    scene.fault = "protective stop" if lacking == "fault" else ""
    scene.controller.published = lacking != "joint states"
    if lacking == "controller":
        scene.controller.vanish()
    ended = scene.end(scene.turn())
    assert ended.reason and ended.is_at_rest
    assert not scene.controller.goals and scene.made.is_settled


@pytest.mark.slow
@pytest.mark.parametrize("cause", ["fault", "program", "published", "moving_stamps", "follows"])
def test_what_is_found_on_the_way_cancels_the_goal(scene, cause):
    """Faults that others find, of this program itself, and joint states that end, stand still or
    lie."""
    def fail() -> str:
        if scene.fault == "program":
            raise RuntimeError("broken")
        return scene.fault

    ended = scene.moving(find_fault=fail, silence=SILENCE if cause in (
        "published", "moving_stamps") else BUSY)
    if cause in ("fault", "program"):
        scene.fault = cause
    else:
        setattr(scene.controller, cause, False)
    found = scene.end(ended)
    assert found.reason and found.is_at_rest and scene.controller.cancelled == 1
    assert scene.controller.positions[2] < 0.95 * LENGTH
    wanted = {"fault": "fault", "program": "broken", "follows": "wrist"}.get(cause, NAMES[0])
    assert wanted in found.reason


@pytest.mark.slow
def test_joint_states_that_come_late_are_compared_at_their_stamps(scene):
    ended = scene.moving()
    scene.controller.late = 0.5
    assert scene.end(ended) == Ended()


def test_a_slider_at_zero_is_no_full_speed(scene, monkeypatch):
    made, node = [], scene.client.node
    monkeypatch.setattr(guided, "MotionExecution", lambda *args: made.append(args[-1]) or (
        SimpleNamespace(run=Ended, close=lambda: None)))
    robot = guided.Robot(SimpleNamespace(name="/node", settings=Settings(), node=node,
                                         client=RosClient(node), execution=None),
                         SimpleNamespace(silence=None))
    robot.planner = None
    robot.move(turned(np.zeros(3), 2, LENGTH, DURATION, NAMES))
    assert made[0]() == 1.0  # nothing said
    slider = node.create_publisher(Float64, "/speed_scaling", 1)
    robot.discover()
    scene.client.spin_until(lambda: slider.publish(Float64(data=0.0)) or robot.driver.speed == 0.0)
    assert made[0]() == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("vanishes", [True, False])
def test_a_controller_that_confirms_nothing_leaves_it_open_whether_the_arm_rests(
        scene, monkeypatch, vanishes):
    monkeypatch.setattr(motion_execution, "ANSWER", 0.5)
    ended = scene.moving()
    scene.controller.answers = scene.controller.follows = False
    if vanishes:
        scene.controller.vanish()
    scene.fault = "enough"
    assert not scene.end(ended).is_at_rest
    assert scene.made.is_settled == vanishes


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [3.0, 7.0])
def test_a_goal_that_is_accepted_late_is_cancelled_at_once(scene, seconds):
    """Also after its end was reported: sending and withdrawing last 2 s and 4 s at most."""
    scene.controller.answers_after = seconds
    found = scene.end(scene.turn())
    assert found.reason and found.is_at_rest == (seconds < 6.0)
    scene.client.spin_until(lambda: scene.controller.ended)
    assert scene.controller.cancelled == 1 and len(scene.controller.goals) == 1
    assert scene.controller.positions[2] < 0.1 * LENGTH
    scene.client.spin_until(lambda: scene.made.is_settled)


def test_a_controller_that_aborts_is_believed(scene):
    ended = scene.moving()
    scene.controller.fails = "path tolerance violated"
    found = scene.end(ended)
    assert scene.controller.fails in found.reason and found.is_at_rest


# ---- a simulated cobot ---------------------------------------------------------------------------

NODE = (sys.executable, "-m", "inertial_id_ros.cli", "simulate_cobot")
DRILL, JOINTS = PAYLOADS["drill"], load_description().joint_names
RESTING = 0.01  # rad/s


@pytest.fixture(scope="module")
def cobot():
    """The node as a process, and what it publishes."""
    with Stage() as stage:
        process = stage.start(
            *NODE, "--motion", "commanded", "--payload", "drill", "--rate", "200",
            "--noise", "0,0", "--encoder-noise", "0", "--tilt", "10,0")
        process.wait_for_text("drill")  # latched topics are heard by who comes later
        stage.joints = stage.client.listen(JointState, "joint_states", 10)
        stage.wrenches = stage.client.listen(WrenchStamped, "wrench", 10)
        stage.client.spin_until(lambda: stage.joints and stage.wrenches)
        yield stage
        status, text = process.stop(signal.SIGTERM)
    assert status == 0 and "Traceback" not in text


def rest_of(cobot) -> np.ndarray:
    """Where the joints rest, once they do."""
    seen = len(cobot.joints)
    cobot.client.spin_until(lambda: len(cobot.joints) > seen + 5 and np.abs(
        cobot.joints[-1].velocity).max() < RESTING)
    return np.array(cobot.joints[-1].position)


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
def test_an_aborted_motion_is_at_rest_within_three_tenths_of_a_second(cobot, monkeypatch):
    monkeypatch.setattr(motion_execution, "DELAY", 1.0)  # it may be late where the machine is busy
    faults, motion = [], turned(rest_of(cobot), 4, -0.6, 1.5, JOINTS)
    with ThreadPoolExecutor(1) as thread, closing(MotionExecution(
            cobot.client.node, motion, ACTION, "joint_states", lambda: (),
            lambda: "".join(faults), 1.0)) as execution:
        seen, ended = len(cobot.joints), thread.submit(execution.run)
        cobot.client.spin_until(lambda: any(
            np.abs(m.velocity).max() > 0.3 for m in cobot.joints[seen:]))
        stamp = stamp_of(cobot.joints[-1])
        faults.append("enough")
        cobot.client.spin_until(ended.done)
        assert ended.result() == Ended("enough")
    rest_of(cobot)
    moving = [1e-9 * (stamp_of(m) - stamp) for m in cobot.joints
              if np.abs(m.velocity).max() >= RESTING]
    assert max(moving) < 0.3, "by the robot's own stamps"


@pytest.mark.slow
def test_of_goals_that_come_at_once_one_is_accepted(cobot):
    """As threads of an executor may judge several at a time, of many points each."""
    stamps = np.linspace(0.0, 0.4, 400)
    still = Trajectory(stamps, np.tile(rest_of(cobot), (400, 1)), *np.zeros((2, 400, 6)), JOINTS)
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
    for force in (80.0, 0.0):
        cobot.client.publish("/simulate_cobot/push", Wrench(force=Vector3(x=force)))
        cobot.client.spin_until(
            lambda f=force: (abs(cobot.wrenches[-1].wrench.force.x) > 60.0) == (f > 0.0))


@pytest.mark.slow
def test_a_stated_payload_is_subtracted_from_the_wrench_and_stated(cobot):
    service = pytest.importorskip("ur_msgs.srv").SetPayload
    rest_of(cobot)
    about_flange = transform_phi(DRILL.phi, np.eye(3), np.array([0.0, 0.0, 0.04]))
    com = (about_flange[1:4] / about_flange[0]).tolist()
    stated = cobot.client.listen(DynamicJointState, "dynamic_joint_states", 10)
    assert cobot.client.call(service, "/io_and_status_controller/set_payload", service.Request(
        mass=DRILL.mass, center_of_gravity=Vector3(x=com[0], y=com[1], z=com[2]))).success
    seen, at = len(stated), len(cobot.wrenches)
    cobot.client.spin_until(lambda: len(stated) > seen + 2 and len(cobot.wrenches) > at + 40)
    wrench = cobot.wrenches[-1].wrench
    left = [getattr(part, axis) for part in (wrench.force, wrench.torque) for axis in "xyz"]
    np.testing.assert_allclose(left, 0.0, atol=1e-3)
    values = dict(zip(stated[-1].interface_values[0].interface_names,
                      stated[-1].interface_values[0].values, strict=True))
    assert values["mass"] == pytest.approx(DRILL.mass, rel=1e-6)
    assert values["cog.z"] == pytest.approx(com[2], rel=1e-6)
