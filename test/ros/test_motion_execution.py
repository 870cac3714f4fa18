# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Execution of a motion, and what stops it, with a stand-in of a trajectory controller."""

import time
from concurrent.futures import Future

import numpy as np
import pytest
import rclpy
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from ros_process import Client, Executions, own_domain, turned
from sensor_msgs.msg import JointState

from inertial_id_ros.ros import motion_execution
from inertial_id_ros.ros.motion_execution import Ended

ACTION, JOINT_STATES = "arm_controller/follow_joint_trajectory", "arm_joint_states"
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


class Scene:
    """A controller and executions in one process."""

    def __init__(self) -> None:
        self.client = Client(own_domain())
        self.controller = StandInController(self.client.node, NAMES, np.zeros(3))
        self.fault, self.problems, self.speed = "", (), 1.0
        self.executions = Executions(self.client, ACTION, JOINT_STATES)
        self.end = self.executions.end

    def run(self, find_fault=None, silence: float = BUSY) -> Future[Ended]:
        """A motion on its way."""
        return self.executions.run(
            turned(np.zeros(3), 2, LENGTH, DURATION, NAMES), lambda *_: self.problems,
            find_fault or (lambda: self.fault), silence, lambda: self.speed)

    def moving(self, **options) -> Future[Ended]:
        """A motion that is well under way."""
        ended = self.run(**options)
        self.client.spin_until(lambda: self.controller.positions[2] > 0.1 * LENGTH)
        assert not ended.done()
        return ended


@pytest.fixture
def scene():
    made = Scene()
    yield made
    made.executions.close()
    made.client.close()


@pytest.mark.slow
def test_a_motion_is_made_to_its_end_as_it_was_planned(scene):
    assert scene.end(scene.run()) == Ended()
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
    ended = scene.end(scene.run())
    assert ended.reason and ended.is_at_rest
    assert not scene.controller.goals and scene.executions.made[0].is_settled


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


@pytest.mark.slow
def test_a_robot_that_is_slowed_down_takes_its_time(scene):
    """The controller scales time, as those of cobots do with their slider."""
    scene.speed = scene.controller.speed = 0.5
    begun = time.monotonic()
    assert scene.end(scene.run()) == Ended()
    assert time.monotonic() - begun > 1.9 * DURATION


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
    assert scene.executions.made[0].is_settled == vanishes


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [3.0, 7.0])
def test_a_goal_that_is_accepted_late_is_cancelled_at_once(scene, seconds):
    """Also after its end was reported: sending and withdrawing last 2 s and 4 s at most."""
    scene.controller.answers_after = seconds
    found = scene.end(scene.run())
    assert found.reason and found.is_at_rest == (seconds < 6.0)
    scene.client.spin_until(lambda: scene.controller.ended)
    assert scene.controller.cancelled == 1 and len(scene.controller.goals) == 1
    assert scene.controller.positions[2] < 0.1 * LENGTH
    scene.client.spin_until(lambda: scene.executions.made[0].is_settled)


def test_a_controller_that_aborts_is_believed(scene):
    ended = scene.moving()
    scene.controller.fails = "path tolerance violated"
    found = scene.end(ended)
    assert scene.controller.fails in found.reason and found.is_at_rest
