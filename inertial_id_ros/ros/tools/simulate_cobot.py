# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Node ``simulate_cobot``: a simulated cobot with the topics of `apps.simulation.write`. A wrench
on ``~/push`` acts on the payload, in axes and about the origin of the sensor, until the next one
comes. With ``--motion commanded`` it also offers, under the names of ur_robot_driver:

- ``joint_trajectory_controller/follow_joint_trajectory``, as that controller has it. A cancelled
  goal comes to rest within 0.2 s.
- ``io_and_status_controller/set_payload`` (ur_msgs, where it is installed): the payload that the
  driver knows is subtracted from the wrench, and stated on ``dynamic_joint_states``.
- ``~/protective_stop`` (std_msgs/Bool, latched): a push that is too large brings the arm to rest
  and aborts the goal; ``~/unlock`` (std_srvs/Trigger) allows motion again.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import Wrench
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.duration import Duration
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from ...apps.simulation.cobot import STATED_POINT, CobotSettings, SimulatedCobot, parse
from ...apps.simulation.motion import CommandedMotion, Trajectory
from ...apps.simulation.write import TOPICS, Messages, latched_messages, sample_messages
from ...cli import Parser, exit_status
from ...errors import InvalidData, MissingPackage
from ...inertia import Body, move_body, phi_from_body, six_from_tensor, tensor_from_six
from ...io.decoding import ENTRIES, INERTIA, PAYLOAD
from ..conversions import LATCHED, time_message
from ..program import find_type, ignore_signals, message_type, spin, start_ros, stop_flag

NAME = "simulate_cobot"
ACTION = "joint_trajectory_controller/follow_joint_trajectory"
DEPTH = 100  # samples kept for a receiver on a machine that is busy for a moment
# Samples are computed this far ahead, to share the cost of a call; less where what comes next
# depends on what the arm is told.
AHEAD, AHEAD_COMMANDED = 0.1, 0.02  # s
MAX_LAG = 0.5  # s behind schedule after which time is left out rather than sent in a burst
PERIOD, STATED_PERIOD = 0.01, 0.1  # s between checks of a goal, messages about the payload
START = 0.05  # rad, between a trajectory's start and the arm
STOP_FORCE = 50.0  # N, of a push at which the arm makes a protective stop
TOOL0_Z = -0.04  # m, of the flange in the sensor's frame


class SimulateCobotNode(Node):
    """Publishes a simulated cobot in real time."""

    ahead = AHEAD

    def __init__(self, settings: CobotSettings) -> None:
        super().__init__(NAME)
        self.cobot = SimulatedCobot(settings)
        self._publishers_by_topic = {
            topic: self.create_publisher(message_type(kind), topic,
                                         LATCHED if latched else DEPTH)
            for topic, (kind, latched) in TOPICS.items()}
        self._push = np.zeros(6)  # of what touches the payload, with the sign of the readings
        self.create_subscription(Wrench, "~/push", self._take_push, 1)

    def _take_push(self, message: Wrench) -> None:
        sign = 1.0 if self.cobot.settings.convention == "on_sensor" else -1.0
        f, t = message.force, message.torque
        self._push = sign * np.array([f.x, f.y, f.z, t.x, t.y, t.z])

    def run(self, stop: threading.Event) -> None:
        """Publish what is latched, then each sample when it is due, until stopped."""
        start, stamp = time.monotonic(), time.time_ns()  # of sample 0
        self._publish(latched_messages(self.cobot, stamp), start, stamp, stop)
        settings, payload = self.cobot.settings, self.cobot.payload
        self.get_logger().info(f"{settings.motion} with payload '{payload.name}' "
                               f"({payload.mass:.3f} kg) at {settings.rate:g} Hz")
        total, number = round(settings.duration * settings.rate) or sys.maxsize, 0
        while not stop.is_set() and number < total:
            late = time.monotonic() - start - number / settings.rate
            if late > MAX_LAG:
                start, stamp = start + late, stamp + round(late * 1e9)
                self.get_logger().warning("behind schedule; the arm stood still meanwhile")
            count = min(max(1, round(self.ahead * settings.rate)), total - number)
            block = self.cobot.samples(number, count)
            self._publish(sample_messages(self.cobot, block._replace(
                wrench=block.wrench + self._push), stamp), start, stamp, stop)
            number += count
        for topic in ("joint_states", "wrench"):
            self._publishers_by_topic[topic].wait_for_all_acked(Duration(seconds=1))

    def _publish(self, messages: Messages, start: float, first: int, stop: threading.Event) -> None:
        """Publish each message when its stamp is due; start: steady time [s] of the stamp `first`
        [ns]. Stamps are times of the schedule, not of publication, which jitters."""
        for stamp, topic, data in messages:
            due = start + 1e-9 * (stamp - first)
            if stop.wait(max(due - time.monotonic(), 0.0)):
                return
            self._publishers_by_topic[topic].publish(data)


class CommandedCobotNode(SimulateCobotNode):
    """A simulated cobot with what its driver offers (raises MissingPackage: no control_msgs)."""

    ahead = AHEAD_COMMANDED

    def __init__(self, settings: CobotSettings) -> None:
        super().__init__(settings)
        action: Any = find_type("control_msgs/action/FollowJointTrajectory")
        if action is None:
            raise MissingPackage("control_msgs is not installed, which a commanded arm needs; "
                                 "choose another motion")
        assert isinstance(self.cobot.motion, CommandedMotion)
        self._result, self._motion = action.Result, self.cobot.motion
        self._goal: Trajectory | None = None
        self._stopped = ""  # why a protective stop holds
        self._stated = Body(settings.stated_mass,  # about the flange
                            np.array([0.0, 0.0, STATED_POINT - TOOL0_Z]), np.zeros((3, 3)))
        self._server = ActionServer(
            self, action, ACTION, self._follow, goal_callback=self._take_goal,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup())
        self._stop_publisher = self.create_publisher(Bool, "~/protective_stop", LATCHED)
        self._stop_publisher.publish(Bool(data=False))
        self.create_service(Trigger, "~/unlock", self._unlock)
        if (service := find_type("ur_msgs/srv/SetPayload")) is not None:
            self.create_service(service, "io_and_status_controller/set_payload", self._set_payload)
        self._payload_publisher = self.create_publisher(
            message_type("control_msgs/msg/DynamicJointState"), "dynamic_joint_states", 10)
        self.create_timer(STATED_PERIOD, self._state_payload)

    def _take_push(self, message: Wrench) -> None:
        """Come to rest where a push is too large, and refuse motions until unlocked."""
        super()._take_push(message)
        force = float(np.linalg.norm(self._push[:3]))
        if force > STOP_FORCE and not self._stopped:
            self._stopped = f"protective stop: a push of {force:.0f} N"
            self._motion.stop()
            self._stop_publisher.publish(Bool(data=True))

    def _unlock(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._stopped, response.success = "", True
        self._stop_publisher.publish(Bool(data=False))
        return response

    def _take_goal(self, request: Any) -> GoalResponse:
        """Accept what a controller would: one goal at a time, of this arm, from where it is."""
        try:
            if self._goal is not None or self._stopped:
                raise InvalidData(self._stopped or "a trajectory is being followed")
            self._goal = self._read(request.trajectory)
        except (InvalidData, ValueError) as error:
            self.get_logger().warning(f"trajectory rejected: {error}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _read(self, message: Any) -> Trajectory:
        """The trajectory of a message, in the order of the arm (raises InvalidData, ValueError)."""
        names = self.cobot.joint_names
        order = [list(message.joint_names).index(name) for name in names]
        stamps = np.array([p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec
                           for p in message.points])
        parts = np.array([[getattr(point, name) for point in message.points]
                          for name in ("positions", "velocities", "accelerations")])
        if (len(stamps) < 2 or parts.shape != (3, len(stamps), len(names))
                or not (np.diff(stamps) > 0.0).all() or not np.isfinite(parts).all()):
            raise InvalidData("positions, velocities, accelerations or growing times are missing")
        q, dq, ddq = parts[:, :, order]
        off = np.abs(q[0] - self._motion(self._motion.newest).q[0])
        if off.max() > START:
            raise InvalidData(f"it starts {off.max():.3f} rad from where {names[off.argmax()]} is")
        return Trajectory(stamps - stamps[0], q, dq, ddq)

    def _follow(self, handle: Any) -> Any:
        """Follow an accepted goal to its end, in a thread of the executor; gives its result."""
        assert self._goal is not None
        end = self._motion.follow(self._goal) + self._goal.duration
        while self._motion.newest < end and not self._stopped and self.context.ok() and (
                not handle.is_cancel_requested):
            time.sleep(PERIOD)
        if handle.is_cancel_requested:
            rest = self._motion.stop()
            while self._motion.newest < rest and self.context.ok():
                time.sleep(PERIOD)
            handle.canceled()
        elif self._stopped:
            handle.abort()
        else:
            handle.succeed()
        self._goal = None
        code = self._result.PATH_TOLERANCE_VIOLATED if self._stopped else self._result.SUCCESSFUL
        return self._result(error_code=code, error_string=self._stopped)

    def _set_payload(self, request: Any, response: Any) -> Any:
        """Subtract this payload, given about the flange, from now on."""
        com = request.center_of_gravity
        self._stated = Body(float(request.mass), np.array([com.x, com.y, com.z]), tensor_from_six(
            [getattr(request, name) for name in ENTRIES]))
        self.cobot.stated_phi = phi_from_body(*move_body(
            self._stated, np.eye(3), np.array([0.0, 0.0, TOOL0_Z])))
        response.success = True
        return response

    def _state_payload(self) -> None:
        """Publish what is subtracted, as ur_robot_driver does."""
        body, message = self._stated, self._payload_publisher.msg_type(joint_names=["payload"])
        message.header.stamp = time_message(self.get_clock().now().nanoseconds)
        message.interface_values = [message_type("control_msgs/msg/InterfaceValue")(
            interface_names=[*PAYLOAD, *INERTIA],
            values=[body.mass, *body.com.tolist(), *six_from_tensor(body.inertia_com).tolist()])]
        self._payload_publisher.publish(message)


def main(args: Sequence[str] | None = None) -> int:
    """Runs the node; returns the exit status (2: a setting is not allowed)."""
    arguments = list(sys.argv[1:] if args is None else args)
    return exit_status(lambda: _run(arguments))


def _run(arguments: list[str]) -> int:
    settings, _ = parse(Parser(prog=NAME, description="A simulated cobot with a wrist sensor."),
                        start_ros(NAME, arguments))
    stop, ended = stop_flag(), threading.Event()
    executor = MultiThreadedExecutor(4)
    spinning = threading.Thread(target=spin, args=(executor, ended), name="executor")
    try:
        kind = CommandedCobotNode if settings.motion == "commanded" else SimulateCobotNode
        node = kind(settings)
        executor.add_node(node)
        spinning.start()
        node.run(stop)
    finally:
        ended.set()
        if spinning.is_alive():
            spinning.join()
        rclpy.try_shutdown()
        executor.shutdown()
        ignore_signals()
    return 0
