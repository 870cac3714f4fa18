# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Node ``simulate_cobot``: a simulated cobot with the topics of `apps.simulation.write`. A wrench
on ``~/push`` acts on the payload, in axes and about the origin of the sensor, until the next one
comes. With ``--motion commanded`` it also offers, under the names of ur_robot_driver:

- ``joint_trajectory_controller/follow_joint_trajectory``, as that controller has it. A cancelled
  goal comes to rest within 0.2 s.
- ``io_and_status_controller/set_payload`` (ur_msgs, where it is installed): the payload that the
  driver knows is subtracted from the wrench, and stated on ``dynamic_joint_states``.
"""

import sys
import time
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import Wrench
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node

from ...apps.simulation.cobot import Scenario
from ...apps.simulation.motion import CommandedMotion, Trajectory
from ...apps.simulation.write import Topic, by_time, parse, topics_of
from ...cli import Parser
from ...errors import InvalidData
from ...inertia import Body, move_body, phi_from_body, six_from_tensor, tensor_from_six
from ...io.decoding import ENTRIES, INERTIA, PAYLOAD
from ...model.newton_euler import regressor
from ..conversions import LATCHED, coordinates, time_message
from ..program import find_type, message_type, spin, start_ros, stop_flag

NAME = "simulate_cobot"
ACTION = "joint_trajectory_controller/follow_joint_trajectory"
DEPTH = 100  # samples kept for a receiver on a machine that is busy for a moment
MAX_LAG = 0.5  # s behind schedule after which time is left out rather than sent in a burst
BLOCK, STATED_PERIOD = 0.02, 0.1  # s between blocks of samples, messages about the payload
PERIOD = 0.01  # s between checks of a goal
TOOL0_Z = -0.04  # m, of the flange in the sensor's frame


class SimulateCobotNode(Node):
    """Publishes a simulated cobot in real time, with what its driver offers where its motion is
    commanded (raises InvalidSetting: no control_msgs)."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(NAME)
        self.scenario, payload = scenario, scenario.carried
        self._push, self._known = np.zeros(6), 0.0 * payload.phi
        # What touches the payload bears, and what the driver knows of it and subtracts.
        scenario.effects.append(lambda _, at: np.asarray(
            -self._push - regressor(at.a_g, at.omega, at.alpha) @ self._known))
        self.create_subscription(Wrench, "~/push", self._take_push, 1)
        self.get_logger().info(f"{scenario.motion} with payload '{payload.name}' "
                               f"({payload.mass:.3f} kg) at {scenario.rate:g} Hz")
        # Of the next sample; and the steady time [s] and the stamp [ns] of sample 0. Stamps are
        # times of the schedule, not of publication, which jitters.
        self._number, self._start, self._stamp = 0, time.monotonic(), time.time_ns()
        topics = topics_of(scenario.record(1.0 / scenario.rate, self._stamp))
        self._publishers_by_topic = {
            topic.name: self.create_publisher(message_type(topic.type), topic.name,
                                              LATCHED if topic.latched else DEPTH)
            for topic in topics}
        self._publish([topic for topic in topics if topic.latched])
        if isinstance(scenario.path, CommandedMotion):
            self._offer_driver(scenario.path)
        self.create_timer(BLOCK, self._publish_samples)

    def _take_push(self, message: Wrench) -> None:
        self._push[:] = coordinates([message.force, message.torque]).ravel()

    def _publish_samples(self) -> None:
        """Publish the samples that have become due."""
        rate = self.scenario.rate
        late = time.monotonic() - self._start - self._number / rate
        if late > MAX_LAG:
            self._start, self._stamp = self._start + late, self._stamp + round(late * 1e9)
            self.get_logger().warning("behind schedule; the arm stood still meanwhile")
        count = int((time.monotonic() - self._start) * rate) + 1 - self._number
        if count > 0:
            self._publish(topics_of(self.scenario.samples(self._number, count, self._stamp)))
            self._number += count

    def _publish(self, topics: list[Topic]) -> None:
        for _, topic, data in by_time(topics):
            self._publishers_by_topic[topic].publish(data)

    def _offer_driver(self, motion: CommandedMotion) -> None:
        """The action and the service of a driver, and the payload that it states."""
        action = message_type("control_msgs/action/FollowJointTrajectory", "--motion commanded")
        self._result, self._motion = action.Result, motion
        self._goal: Trajectory | None = None
        self._stated = Body(0.0, np.zeros(3), np.zeros((3, 3)))  # about the flange
        self._server = ActionServer(
            self, action, ACTION, self._follow, goal_callback=self._take_goal,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=MutuallyExclusiveCallbackGroup())  # one goal is judged at a time
        if (service := find_type("ur_msgs/srv/SetPayload")) is not None:
            self.create_service(service, "io_and_status_controller/set_payload", self._set_payload)
        self._payload_publisher = self.create_publisher(
            message_type("control_msgs/msg/DynamicJointState"), "dynamic_joint_states", 10)
        self.create_timer(STATED_PERIOD, self._state_payload)

    def _take_goal(self, request: Any) -> GoalResponse:
        """Accept one goal at a time, of this arm."""
        message, names = request.trajectory, self.scenario.robot.joint_names
        try:
            if self._goal is not None:
                raise InvalidData("a trajectory is being followed")
            order = [list(message.joint_names).index(name) for name in names]
            stamps = np.array([p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec
                               for p in message.points])
            parts = np.array([[getattr(point, name) for point in message.points]
                              for name in ("positions", "velocities", "accelerations")])
            if (len(stamps) < 2 or parts.shape != (3, len(stamps), len(names))
                    or not (np.diff(stamps) > 0.0).all() or not np.isfinite(parts).all()):
                raise InvalidData("it lacks positions, velocities, accelerations or growing times")
            self._goal = Trajectory(stamps - stamps[0], *parts[:, :, order])
        except (InvalidData, ValueError) as error:
            self.get_logger().warning(f"trajectory rejected: {error}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _follow(self, handle: Any) -> Any:
        """Follow an accepted goal to its end, in a thread of the executor; gives its result."""
        assert self._goal is not None
        end, is_stopped = self._motion.follow(self._goal) + self._goal.duration, False
        while self._motion.newest < end and self.context.ok():
            time.sleep(PERIOD)
            if handle.is_cancel_requested and not is_stopped:
                end, is_stopped = self._motion.stop(), True
        (handle.canceled if is_stopped else handle.succeed)()
        self._goal = None
        return self._result(error_code=self._result.SUCCESSFUL)

    def _set_payload(self, request: Any, response: Any) -> Any:
        """Subtract this payload, given about the flange, from now on."""
        self._stated = Body(float(request.mass), coordinates([request.center_of_gravity])[0],
                            tensor_from_six([getattr(request, name) for name in ENTRIES]))
        self._known = phi_from_body(*move_body(
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


def main() -> int:
    """Run the node until SIGINT or SIGTERM (raises InvalidSetting: an option is not allowed)."""
    scenario, _ = parse(Parser(prog=NAME, description="A simulated cobot with a wrist sensor."),
                        start_ros(NAME, sys.argv[1:]))
    stop, executor = stop_flag(), MultiThreadedExecutor(4)
    try:
        executor.add_node(SimulateCobotNode(scenario))
        spin(executor, stop)
    finally:
        rclpy.try_shutdown()
        executor.shutdown()
    return 0
