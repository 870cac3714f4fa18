# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Execution of one planned motion, for whoever has to judge whether it is safe.

    RESTING -> ASKING -> SENDING -> MOVING -> DONE
                  |         |          |
               REFUSED  WITHDRAWING -> STOPPING -> STOPPED
                            |            |  ^
                            +-> UNKNOWN <+--+  a goal that is accepted after all is cancelled

`TRANSITIONS` is all there is: what is not in it changes nothing. Nothing is sent before its user
allows motions, a person has confirmed, and the trajectory has been checked at the joint
positions that hold then. While the arm may move, everything in `find_problem` is looked at every
`PERIOD`; whatever it finds, a fault in this program included, cancels the goal, and the controller
brings the arm to rest. A goal without an answer outlives its motion: the execution is kept until
`is_settled`. If this process is killed, nothing cancels: the controller then ends the
trajectory, which is a few seconds long at most and ends at rest.

What this does not replace: the emergency stop, the limits and the collision detection of the robot
itself, and a person who watches (SECURITY.md).

Below it, a planned motion as messages: for a controller, and for RViz.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path
from rclpy.action import ActionClient
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from rclpy.task import Future
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ..apps.excitation.arm import Arm
from ..apps.excitation.motions import PlannedMotion
from ..errors import MissingPackage, printable
from ..inertia import Array
from .compat import find_type, message_type
from .conversions import duration_message, time_message

TRAJECTORY, PATH, DISPLAY = (f"identify_payload/{name}" for name in (
    "next_trajectory", "next_path", "display_planned_path"))
_DISPLAY_TYPE = "moveit_msgs/msg/DisplayTrajectory"
_LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
_PATH_STEP = 0.05  # s between two poses of the path


def trajectory_message(motion: PlannedMotion) -> JointTrajectory:
    """The trajectory, to begin when it arrives."""
    return JointTrajectory(joint_names=list(motion.joint_names), points=[
        JointTrajectoryPoint(positions=q.tolist(), velocities=dq.tolist(),
                             accelerations=ddq.tolist(), time_from_start=duration_message(t))
        for t, q, dq, ddq in zip(motion.stamps.tolist(), motion.positions, motion.velocities,
                                 motion.accelerations, strict=True)])


class MotionDisplay:
    """Shows the next motion, latched: as a trajectory, as a path of the payload's frame, and as
    what MoveIt displays where moveit_msgs is installed.

    Args:
        node: that publishes; arm: that moves.
    """

    def __init__(self, node: Node, arm: Arm) -> None:
        self._node, self._arm = node, arm
        self._trajectory = node.create_publisher(JointTrajectory, TRAJECTORY, _LATCHED)
        self._path = node.create_publisher(Path, PATH, _LATCHED)
        self._kind: Any = find_type(_DISPLAY_TYPE)
        self._display = (None if self._kind is None
                         else node.create_publisher(self._kind, DISPLAY, _LATCHED))

    def show(self, motion: PlannedMotion, start: Array) -> None:
        """Publish a motion from a pose (joints,) of all joints of the arm."""
        trajectory = trajectory_message(motion)
        self._trajectory.publish(trajectory)
        self._path.publish(self._path_message(motion, start))
        if self._display is not None:
            message = self._kind()
            message.trajectory_start.joint_state = JointState(
                name=list(self._arm.joint_names), position=start.tolist())
            message.trajectory = [message_type("moveit_msgs/msg/RobotTrajectory")(
                joint_trajectory=trajectory)]
            self._display.publish(message)

    def _path_message(self, motion: PlannedMotion, start: Array) -> Path:
        """Poses of the frame that carries the payload."""
        times = np.linspace(0.0, motion.duration, int(motion.duration / _PATH_STEP) + 2)
        q = motion.of_all(self._arm, start, times).q
        now = self._node.get_clock().now().nanoseconds
        message = Path()
        message.header.frame_id, message.header.stamp = self._arm.root, time_message(now)
        for t, (position, quaternion) in zip(times, self._arm.poses(q), strict=True):
            pose = PoseStamped()
            pose.header.frame_id = self._arm.root
            pose.header.stamp = time_message(now + round(1e9 * float(t)))
            at, turn = pose.pose.position, pose.pose.orientation
            at.x, at.y, at.z = position.tolist()
            turn.x, turn.y, turn.z, turn.w = quaternion.tolist()
            message.poses.append(pose)
        return message


ACTION_TYPE = "control_msgs/action/FollowJointTrajectory"
PERIOD = 0.02  # s between two looks at everything that would stop the motion
SILENCE = 0.1  # s without new joint states after which it is not known where the arm is,
# or so many of their periods, if that is less, and at least so long: a busy computer keeps it, and
# a controller that stops in 0.2 s brings the arm to rest within 0.3 s
SHORTEST, PERIODS = 0.07, 8.0
_COUNTED = 20  # joint states by which their period is told
DEVIATION = 0.1  # rad that a joint may be away from where the trajectory has it
DELAY = 0.25  # s that a controller may be behind the trajectory
CONFIRMATION = 120.0  # s that a person may take
ANSWER = 2.0  # s that the controller may take to accept, or to stop
LATE = 1.0  # s that a motion may take longer than planned


class State(Enum):
    """Where a motion stands; the value says it for a person."""

    RESTING = "no motion was asked for"
    ASKING = "waits for confirmation"
    SENDING = "sent to the controller, which has not answered"
    MOVING = "the controller follows the trajectory"
    WITHDRAWING = "to be stopped as soon as the controller answers"
    STOPPING = "the controller was told to stop"
    DONE = "the motion was made"
    REFUSED = "the motion was not made"
    STOPPED = "the motion was stopped"
    UNKNOWN = "the controller does not say that it stopped: use the emergency stop"


class Event(Enum):
    """What may happen."""

    ASKED = "a motion is asked for, and allowed"
    FORBIDDEN = "motions are not allowed, or the check finds something"
    CONFIRMED = "a person confirms, and the check at this moment finds nothing"
    DECLINED = "a person declines"
    ACCEPTED = "the controller accepts the goal"
    REJECTED = "the controller rejects the goal"
    SUCCEEDED = "the controller says that it reached the end"
    ENDED = "the controller says that it aborted or cancelled the goal"
    STOP = "anything that must stop the motion: `find_problem`, Ctrl-C, a fault"
    NO_ANSWER = "the time for the present state is over"


ENDS = frozenset({State.DONE, State.REFUSED, State.STOPPED, State.UNKNOWN})

TRANSITIONS: Mapping[tuple[State, Event], State] = {
    (State.RESTING, Event.ASKED): State.ASKING,
    (State.RESTING, Event.FORBIDDEN): State.REFUSED,
    (State.RESTING, Event.STOP): State.REFUSED,
    (State.ASKING, Event.CONFIRMED): State.SENDING,
    (State.ASKING, Event.DECLINED): State.REFUSED,
    (State.ASKING, Event.FORBIDDEN): State.REFUSED,
    (State.ASKING, Event.STOP): State.REFUSED,
    (State.ASKING, Event.NO_ANSWER): State.REFUSED,
    (State.SENDING, Event.ACCEPTED): State.MOVING,
    (State.SENDING, Event.REJECTED): State.REFUSED,
    (State.SENDING, Event.STOP): State.WITHDRAWING,
    (State.SENDING, Event.NO_ANSWER): State.WITHDRAWING,
    (State.MOVING, Event.SUCCEEDED): State.DONE,
    (State.MOVING, Event.ENDED): State.STOPPED,
    (State.MOVING, Event.STOP): State.STOPPING,
    (State.MOVING, Event.NO_ANSWER): State.STOPPING,
    (State.WITHDRAWING, Event.ACCEPTED): State.STOPPING,
    (State.WITHDRAWING, Event.REJECTED): State.STOPPED,
    (State.WITHDRAWING, Event.NO_ANSWER): State.UNKNOWN,
    (State.STOPPING, Event.SUCCEEDED): State.STOPPED,
    (State.STOPPING, Event.ENDED): State.STOPPED,
    (State.STOPPING, Event.NO_ANSWER): State.UNKNOWN,
    (State.UNKNOWN, Event.ACCEPTED): State.STOPPING,  # long after it was sent: the arm would move
    (State.UNKNOWN, Event.REJECTED): State.STOPPED,
    (State.UNKNOWN, Event.ENDED): State.STOPPED,
    (State.UNKNOWN, Event.SUCCEEDED): State.STOPPED,
}
# How long each state may last [s]; MOVING besides as long as the trajectory.
DEADLINES = {State.ASKING: CONFIRMATION, State.SENDING: ANSWER, State.WITHDRAWING: ANSWER,
             State.STOPPING: ANSWER, State.MOVING: LATE}
_WATCHED = (State.ASKING, State.SENDING, State.MOVING)


class MotionExecution:
    """One motion on its way through a trajectory controller; another motion needs another one.

    Everything but `abort` is called in the thread that runs the node's callbacks.

    Args:
        node: runs the client, the subscription and the timer.
        motion: from rest to rest.
        action: name of the controller's action; joint_states: name of the topic.
        allowed: whether motions are allowed at all.
        check: what is wrong with a motion from where the joints are, a sentence each
            (`check_motion`).
        find_fault: what else must stop it, in one sentence, empty where nothing: contact and
            faults that the identification reports, its silence, a protective stop.
        silence: longest time without new joint states [s]; None: as their rate allows
            (`SILENCE`). More only for drivers whose joint states are slower than 20 Hz.

    Attributes:
        state: where it stands; reason: why it is not made, or was stopped, in one sentence.
        finished: set once the state is one of `ENDS`.

    Raises:
        MissingPackage: control_msgs is not installed.
    """

    def __init__(self, node: Node, motion: PlannedMotion, action: str, joint_states: str,
                 allowed: bool, check: Callable[[PlannedMotion, dict[str, float]], tuple[str, ...]],
                 find_fault: Callable[[], str] = lambda: "", silence: float | None = None) -> None:
        kind: Any = find_type(ACTION_TYPE)
        if kind is None:
            raise MissingPackage(f"{ACTION_TYPE} is not installed, which controllers of "
                                 "trajectories take; install ros-<distribution>-control-msgs")
        self.state, self.reason = State.RESTING, ""
        self.finished = threading.Event()
        self._node, self._motion, self._allowed = node, motion, allowed
        self._check, self._find_fault = check, find_fault
        self._action, self._kind, self._silence = action, kind, silence
        self._client = ActionClient(node, kind, action)
        self._handle: Any = None
        self._is_open = False  # a goal was sent that was neither rejected nor has ended
        self._entered, self._sent, self._began = time.monotonic(), 0.0, 0.0
        self._stop_wanted = ""  # by `abort`, from any thread
        self._positions: dict[str, float] = {}
        self._heard: dict[str, float] = {}  # joint -> when its newest state arrived
        self._came: deque[float] = deque(maxlen=_COUNTED)  # when those of the first joint did
        self._looked, self._held_up = time.monotonic(), 0.0
        self._stamps: dict[tuple[str, ...], int] = {}
        self._joints = node.create_subscription(
            JointState, joint_states, self._take_joint_states, qos_profile_sensor_data)
        # Whatever happens to the clock of ROS, this timer goes on.
        self._timer = node.create_timer(PERIOD, self._look, clock=Clock(
            clock_type=ClockType.STEADY_TIME))

    def ask(self) -> None:
        """Ask a person for confirmation, where motions are allowed at all."""
        if self._allowed:
            self._happen(Event.ASKED, "")
        else:
            self._happen(Event.FORBIDDEN, "motions are not allowed: the arm is not to be moved")

    def confirm(self) -> None:
        """A person says yes: check the motion once more, from where the arm is now, and send it."""
        if self.state is not State.ASKING:
            return
        problem = self.find_problem() or "; ".join(self._check(self._motion, self._positions))
        if problem:
            self._happen(Event.FORBIDDEN, problem)
        else:
            self._happen(Event.CONFIRMED, "")

    def decline(self) -> None:
        """A person says no."""
        self._happen(Event.DECLINED, "declined")

    def abort(self, reason: str) -> None:
        """Stop, within `PERIOD`, for a reason in one sentence; from any thread."""
        self._stop_wanted = self._stop_wanted or reason or "stopped"

    @property
    def is_settled(self) -> bool:
        """True if the controller can move the arm for this goal no more: it was not sent, was
        rejected, has ended, or its controller is gone."""
        return not self._is_open or not self._client.server_is_ready()

    def close(self) -> None:
        """Release what belongs to the node; call it once `is_settled`: nobody else could cancel a
        goal that is accepted late."""
        self._node.destroy_timer(self._timer)
        self._node.destroy_subscription(self._joints)
        self._client.destroy()

    def find_problem(self) -> str:
        """What must stop the motion, in one sentence; empty where nothing must."""
        if self._stop_wanted:
            return self._stop_wanted
        if not self._client.server_is_ready():
            return f"there is no controller that offers '{self._action}'"
        now, silence = time.monotonic(), self._longest_silence()
        for name in self._motion.joint_names:
            age = now - self._heard.get(name, -np.inf) - self._held_up
            if age > silence:
                return (f"it is not known where {name} is: no new joint states for "
                        f"{silence:.2g} s (their publisher, or this computer, was late; "
                        "--silence allows longer)")
        return self._find_deviation(now) or self._find_fault()

    def _longest_silence(self) -> float:
        """Time without joint states after which it is not known where the arm is [s]."""
        if self._silence is not None:
            return self._silence
        if len(self._came) < _COUNTED:
            return SILENCE
        period = (self._came[-1] - self._came[0]) / (_COUNTED - 1)
        return min(max(PERIODS * period, SHORTEST), SILENCE)

    def _find_deviation(self, now: float) -> str:
        """Which joint is not where the trajectory has it, or had it up to `DELAY` before its state
        arrived.

        The motion began somewhen between the sending of the goal and the controller's answer.
        """
        if self.state is not State.MOVING:
            return ""
        heard = min(self._heard[name] for name in self._motion.joint_names)
        since = np.linspace(heard - self._began - DELAY, now - self._sent, 16)
        planned = self._motion.sample(since).q
        actual = np.array([self._positions[name] for name in self._motion.joint_names])
        off = np.maximum(planned.min(axis=0) - actual, actual - planned.max(axis=0))
        worst = int(np.argmax(off))
        if off[worst] <= DEVIATION:
            return ""
        return (f"{self._motion.joint_names[worst]} is {off[worst]:.2f} rad from where the "
                "trajectory has it: blocked, slowed down, joint states that stand still, or a "
                "computer that is too busy")

    def _look(self) -> None:
        """Look at everything that would stop the motion."""
        if self.state in ENDS:
            return
        # Joint states that came while this process was held up wait behind this timer.
        now = time.monotonic()
        self._looked, self._held_up = now, max(now - self._looked - PERIOD, 0.0)
        try:
            if self.state in _WATCHED or self._stop_wanted:
                problem = self._stop_wanted if self.state is State.ASKING else self.find_problem()
                if problem:
                    self._happen(Event.STOP, problem)
        except Exception as error:  # a fault of this program is a fault
            self._happen(Event.STOP, f"fault: {type(error).__name__}: {error}")
        self._look_at_clock()

    def _look_at_clock(self) -> None:
        """Whether the present state has lasted too long."""
        longest = DEADLINES.get(self.state)
        if longest is None:
            return
        if self.state is State.MOVING:
            longest += self._motion.duration
        if time.monotonic() - self._entered > longest:
            self._happen(Event.NO_ANSWER, self.reason or f"nothing came of it in {longest:.1f} s: "
                         + self.state.value)

    def _happen(self, event: Event, reason: str) -> None:
        """Go where the table says; do what the new state needs."""
        new = TRANSITIONS.get((self.state, event))
        if new is None:
            return
        self.state, self._entered = new, time.monotonic()
        self.reason = self.reason or printable(reason)
        if new is State.SENDING:
            self._send()
        elif new is State.MOVING:
            self._began = time.monotonic()
        elif new is State.STOPPING:
            self._handle.cancel_goal_async()
        if new in ENDS:
            self.finished.set()

    def _send(self) -> None:
        """Send the goal."""
        self._sent, self._is_open = time.monotonic(), True
        goal = self._kind.Goal(trajectory=trajectory_message(self._motion),
                               goal_time_tolerance=duration_message(LATE))
        self._client.send_goal_async(goal).add_done_callback(self._take_answer)

    def _take_answer(self, future: Future) -> None:
        """The controller accepts or rejects the goal."""
        handle: Any = future.result()
        if handle is None or not handle.accepted:
            self._is_open = False
            self._happen(Event.REJECTED, "the controller rejected the trajectory")
            return
        self._handle = handle
        handle.get_result_async().add_done_callback(self._take_result)
        self._happen(Event.ACCEPTED, "")

    def _take_result(self, future: Future) -> None:
        """The controller says how the goal ended."""
        answer: Any = future.result()
        self._is_open = False
        if answer.status == GoalStatus.STATUS_SUCCEEDED:
            self._happen(Event.SUCCEEDED, "")
            return
        words = answer.result.error_string or f"error {answer.result.error_code}"
        self._happen(Event.ENDED, f"the controller ended the motion: {words}")

    def _take_joint_states(self, message: JointState) -> None:
        """Note where joints are; a stamp that stands still is no news."""
        names = tuple(message.name)
        stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
        if stamp and self._stamps.get(names) == stamp:
            return
        self._stamps[names] = stamp
        now = time.monotonic()
        if self._motion.joint_names[0] in names:
            self._came.append(now)
        for name, position in zip(names, message.position, strict=False):
            if np.isfinite(position):
                self._positions[name], self._heard[name] = float(position), now
