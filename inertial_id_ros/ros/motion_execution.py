# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Execution of one planned motion through a trajectory controller, watched all the time.

Nothing is sent before the trajectory has been checked at the joint positions that hold then. While
the arm may move, whatever `find_fault` finds, a fault in this program included, cancels the goal,
and the controller brings the arm to rest. A goal without an answer outlives its motion: whenever
the controller accepts it, it is cancelled at once. If this process is killed, nothing cancels: the
controller then ends the trajectory, which is a few seconds long at most and ends at rest. None of
this replaces the emergency stop and a person who watches (SECURITY.md).
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient, get_action_names_and_types
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.task import Future
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ..apps.simulation.motion import Trajectory
from ..errors import printable
from .conversions import duration_message
from .program import message_type
from .ros_client import NoAnswer, RosClient

ACTION_TYPE, ENDING = "control_msgs/action/FollowJointTrajectory", "/follow_joint_trajectory"
PERIOD = 0.02  # s between two looks at everything that would stop the motion
# s without new joint states, after which it is not known where the arm is: a controller that stops
# in 0.2 s then brings it to rest within 0.3 s.
SILENCE = 0.1
DEVIATION = 0.1  # rad that a joint may be away from where the trajectory has it
DELAY = 0.25  # s that a controller may be behind the trajectory
READY = 3.0  # s until controller and joint states are there
ANSWER = 2.0  # s that the controller may take to accept, or to stop
LATE = 1.0  # s that a motion may take longer than planned
SLOWER = 0.1  # by which stamps may run more slowly than the steady clock, as those of a simulation
SLOWEST = 0.05  # of the programmed speed; a robot that is slower stands


class Ended(NamedTuple):
    """How a motion ended."""

    reason: str = ""  # why it was not made to its end, in one sentence; empty: it was
    is_at_rest: bool = True  # False if the controller has not said that the motion ended


class MotionExecution:
    """One motion on its way; another motion needs another one.

    Args:
        node: spun by an executor in another thread than that of `run`, which calls what follows.
        motion: from rest to rest; action, joint_states: full names of action and topic.
        check: what is wrong with it from where the joints are, a sentence each.
        find_fault: what else must stop it, in one sentence; empty: nothing.
        silence: longest time without new joint states [s].
        speed: share of the programmed speed at which the robot moves.

    Raises InvalidSetting: control_msgs is not installed."""

    def __init__(self, node: Node, motion: Trajectory, action: str, joint_states: str,
                 check: Callable[[], Sequence[str]],
                 find_fault: Callable[[], str] = lambda: "", silence: float = SILENCE,
                 speed: Callable[[], float] = lambda: 1.0) -> None:
        self._kind = message_type(ACTION_TYPE, "a motion by a program")
        self._node, self._motion, self._action, self._check = node, motion, action, check
        self._find_fault, self._silence, self._speed = find_fault, silence, speed
        self._lock = threading.Lock()  # around what the answers of the controller change
        self._handle: Any = None
        self._withdrawn, self._ended = False, Ended()
        self._settled = threading.Event()
        self._settled.set()  # as long as nothing was sent
        self._states: dict[str, tuple[float, float]] = {}  # joint -> position, since when
        # Of each publisher: the last stamp [ns], and least time from a stamp to its arrival [s].
        self._stamps: dict[tuple[str, ...], tuple[int, float]] = {}
        self._progress: float | None = None  # s of the trajectory; None: it does not move
        self._looked = time.monotonic()
        self._client = ActionClient(node, self._kind, action)
        self._joints = node.create_subscription(
            JointState, joint_states, self._take_joint_states, qos_profile_sensor_data)

    def run(self) -> Ended:
        """Check, send and monitor the trajectory, and cancel it on a fault.

        Returns when the controller reports the end, or does not confirm a cancellation in time.
        """
        end = time.monotonic() + READY
        while (problem := self._find_problem()) and time.monotonic() < end:
            time.sleep(PERIOD)
        if problem := problem or "; ".join(self._check()):
            return Ended(printable(problem))
        self._settled.clear()
        # In the thread of the executor: an answer during the call would confuse the client.
        self._node.executor.create_task(self._send)
        sent = time.monotonic()
        while not self._settled.wait(PERIOD):
            try:
                problem = self._find_problem()
            except Exception as error:  # a fault of this program is a fault
                problem = f"fault: {type(error).__name__}: {error}"
            if not problem and self._progress is None and time.monotonic() - sent > ANSWER:
                problem = f"the controller has not answered for {ANSWER:g} s"
            if not problem and (self._progress or 0.0) > self._motion.duration + LATE:
                problem = f"the motion has not ended {LATE:g} s after its time"
            if problem:
                break
        else:
            return self._ended
        with self._lock:
            self._withdrawn = True
            if self._handle is not None:
                self._handle.cancel_goal_async()
        return Ended(printable(problem), self._settled.wait(ANSWER))

    @property
    def is_settled(self) -> bool:
        """True if the controller can move the arm for this goal no more: it was not sent, was
        rejected, has ended, or its controller is gone."""
        return self._settled.is_set() or not self._client.server_is_ready()

    def close(self) -> None:
        """Release what belongs to the node, once `is_settled`: nobody else could cancel a goal that
        is accepted late."""
        self._node.destroy_subscription(self._joints)
        self._client.destroy()

    def _send(self) -> None:
        """Send the trajectory, unless it was withdrawn before."""
        if self._withdrawn:
            self._settled.set()
            return
        self._client.send_goal_async(self._kind.Goal(
            trajectory=trajectory_message(self._motion), goal_time_tolerance=duration_message(LATE)
            )).add_done_callback(self._take_answer)

    def _take_answer(self, future: Future) -> None:
        """The controller accepts or rejects the goal; one that was withdrawn meanwhile ends."""
        handle: Any = future.result()
        with self._lock:
            if handle is None or not handle.accepted:
                self._ended = Ended("the controller rejected the trajectory, which starts where "
                                    "the joint states have the arm; its log says more")
                self._settled.set()
                return
            self._handle, self._progress = handle, 0.0
            handle.get_result_async().add_done_callback(self._take_result)
            if self._withdrawn:
                handle.cancel_goal_async()

    def _take_result(self, future: Future) -> None:
        """The controller says how the goal ended."""
        ended: Any = future.result()
        if ended.status != GoalStatus.STATUS_SUCCEEDED:
            self._ended = Ended(printable("the controller ended the motion: " + (
                ended.result.error_string or f"error {ended.result.error_code}")))
        self._settled.set()

    def _find_problem(self) -> str:
        """What must stop the motion, in one sentence; empty where nothing must."""
        now, names = time.monotonic(), self._motion.joint_names
        step, self._looked = now - self._looked, now
        if self._progress is not None:
            self._progress += step * max(self._speed(), SLOWEST)
        if not self._client.server_is_ready():
            return f"there is no controller that offers '{self._action}'"
        actual, heard = np.array([self._states.get(name, (0.0, -np.inf)) for name in names]).T
        # Joint states that came while this process was held up wait to be taken.
        if heard.min() < now - max(step - 2.0 * PERIOD, 0.0) - self._silence:
            return (f"it is not known where {names[int(np.argmin(heard))]} is: no new joint states "
                    f"for {self._silence:.2g} s (their publisher, or this computer, was late; "
                    "--silence allows longer)")
        if self._progress is not None:
            # The motion began before the controller's answer was noticed.
            planned = self._motion.sample(np.linspace(
                self._progress - (now - heard.min()) - DELAY, self._progress + DELAY, 16)).q
            off = np.maximum(planned.min(axis=0) - actual, actual - planned.max(axis=0))
            if off.max() > DEVIATION:
                return (f"{names[int(np.argmax(off))]} is {off.max():.2f} rad from where the "
                        "trajectory has it: blocked, slowed down, joint states that stand still or "
                        "name joints in another order, or a computer that is too busy")
        return self._find_fault()

    def _take_joint_states(self, message: JointState) -> None:
        """Note where joints are; a stamp that stands still is no news. By stamps, a state that a
        busy machine brings late is as old as it is."""
        names, now = tuple(message.name), time.monotonic()
        stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
        last, least = self._stamps.get(names, (0, np.inf))
        if stamp:
            if stamp == last:
                return
            least = min(least + SLOWER * 1e-9 * (stamp - last), now - 1e-9 * stamp)
            self._stamps[names], now = (stamp, least), 1e-9 * stamp + least
        for name, position in zip(names, message.position, strict=False):
            if np.isfinite(position):
                self._states[name] = float(position), now


def find_controllers(node: Node, client: RosClient, only: str = "") -> dict[str, tuple[str, ...]]:
    """The controllers that take trajectories, or the one of that name: joints, empty where they are
    not known, by the name of the action without its ending."""
    out: dict[str, tuple[str, ...]] = {}
    for action, types in get_action_names_and_types(node):
        name = action.removesuffix(ENDING)
        if ACTION_TYPE in types and name != action and (
                not only or name.lstrip("/") == only.lstrip("/")):
            try:
                out[name] = tuple(client.parameters(name, ["joints"]).get("joints") or ())
            except NoAnswer:
                out[name] = ()
    return out


def trajectory_message(motion: Trajectory) -> JointTrajectory:
    """The trajectory, to begin when it arrives."""
    return JointTrajectory(joint_names=list(motion.joint_names), points=[
        JointTrajectoryPoint(positions=q.tolist(), velocities=dq.tolist(),
                             accelerations=ddq.tolist(), time_from_start=duration_message(t))
        for t, q, dq, ddq in zip(motion.stamps.tolist(), *motion[1:4], strict=True)])
