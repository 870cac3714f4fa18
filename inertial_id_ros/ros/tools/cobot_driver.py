# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the driver of a commanded simulated cobot offers, under the names of ur_robot_driver.

- ``joint_trajectory_controller/follow_joint_trajectory``, as that controller has it. A cancelled
  goal comes to rest within 0.2 s.
- ``io_and_status_controller/set_payload`` (ur_msgs, where it is installed): the payload that the
  driver knows is subtracted from the wrench, and stated on ``dynamic_joint_states``.
- ``~/protective_stop`` (std_msgs/Bool, latched): a push that is too large brings the arm to rest
  and aborts the goal; ``~/unlock`` (std_srvs/Trigger) allows motion again.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from ...apps.simulation.cobot import STATED_POINT, SimulatedCobot
from ...apps.simulation.motion import CommandedMotion, Trajectory
from ...errors import InvalidData, MissingPackage
from ...inertia import PARAMETER_NAMES, Array, Body, phi_from_body, tensor_from_six, transform_phi
from ..conversions import LATCHED, time_message
from ..program import find_type, message_type

ACTION = "joint_trajectory_controller/follow_joint_trajectory"
SET_PAYLOAD, PAYLOAD_TOPIC = "io_and_status_controller/set_payload", "dynamic_joint_states"
_PERIOD = 0.01  # s between two checks of a goal
_TELL = 0.1  # s between two messages about the payload
_START = 0.05  # rad, between a trajectory's start and the arm
_TOOL0_Z = -0.04  # m, of the flange in the sensor's frame


class CobotDriver:
    """Serves a commanded cobot.

    Args:
        node: of the simulated cobot.

    Raises:
        MissingPackage: control_msgs is not installed.
    """

    def __init__(self, node: Node, cobot: SimulatedCobot) -> None:
        kind: Any = find_type("control_msgs/action/FollowJointTrajectory")
        if kind is None or cobot.commanded is None:
            raise MissingPackage("control_msgs is not installed, which a commanded arm needs; "
                                 "choose another motion")
        self._node, self._cobot, self._kind = node, cobot, kind
        self._motion: CommandedMotion = cobot.commanded
        self._is_busy = False
        self._stopped = ""  # why a protective stop holds
        self._stated = Body(cobot.settings.stated_mass,
                            np.array([0.0, 0.0, STATED_POINT - _TOOL0_Z]), np.zeros((3, 3)))
        self._server = ActionServer(
            node, kind, ACTION, self._follow, goal_callback=self._take_goal,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup())
        self._stop_publisher = node.create_publisher(Bool, "~/protective_stop", LATCHED)
        self._stop_publisher.publish(Bool(data=False))
        node.create_service(Trigger, "~/unlock", self._unlock)
        if (service := find_type("ur_msgs/srv/SetPayload")) is not None:
            node.create_service(service, SET_PAYLOAD, self._set_payload)
        self._payload_publisher = node.create_publisher(
            message_type("control_msgs/msg/DynamicJointState"), PAYLOAD_TOPIC, 10)
        node.create_timer(_TELL, self._state_payload)

    # ---- protective stop -------------------------------------------------------------------------

    def watch(self, push: Array) -> None:
        """Come to rest where a push (6,) is too large, and refuse motions until unlocked."""
        force = float(np.linalg.norm(push[:3]))
        if 0.0 < self._cobot.settings.stop_force < force and not self._stopped:
            self._stopped = f"protective stop: a push of {force:.0f} N"
            self._motion.stop()
            self._stop_publisher.publish(Bool(data=True))

    def _unlock(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._stopped, response.success = "", True
        self._stop_publisher.publish(Bool(data=False))
        return response

    # ---- trajectories ----------------------------------------------------------------------------

    def _take_goal(self, request: Any) -> GoalResponse:
        """Accept what a controller would: one goal at a time, of this arm, from where it is."""
        try:
            if self._is_busy or self._stopped:
                raise InvalidData(self._stopped or "a trajectory is being followed")
            self._read(request.trajectory)
        except InvalidData as error:
            self._node.get_logger().warning(f"trajectory rejected: {error}")
            return GoalResponse.REJECT
        self._is_busy = True
        return GoalResponse.ACCEPT

    def _read(self, message: Any) -> Trajectory:
        """The trajectory of a message, joints in the order of the arm.

        Raises:
            InvalidData: not a trajectory of this arm, or not from where it is.
        """
        names = self._cobot.joint_names
        if sorted(message.joint_names) != sorted(names):
            raise InvalidData(f"joints are {', '.join(message.joint_names)}; those of this arm are "
                              + ", ".join(names))
        order = [message.joint_names.index(name) for name in names]
        parts = [np.array([getattr(point, name) for point in message.points], dtype=float)
                 for name in ("positions", "velocities", "accelerations")]
        stamps = np.array([p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec
                           for p in message.points])
        if (len(stamps) < 2 or any(part.shape != (len(stamps), len(names)) for part in parts)
                or not (np.diff(stamps) > 0.0).all() or not np.isfinite(parts).all()):
            raise InvalidData("positions, velocities, accelerations or growing times are missing")
        q, dq, ddq = (part[:, order] for part in parts)
        trajectory = Trajectory(stamps - stamps[0], q, dq, ddq)
        off = np.abs(trajectory.positions[0] - self._motion(self._motion.newest).q[0])
        if off.max() > _START:
            raise InvalidData(f"it starts {off.max():.3f} rad from where {names[off.argmax()]} is")
        return trajectory

    def _follow(self, handle: Any) -> Any:
        """Follow an accepted goal to its end, in a thread of the executor; gives its result."""
        trajectory, result = self._read(handle.request.trajectory), self._kind.Result
        end = self._motion.follow(trajectory) + trajectory.duration
        while self._motion.newest < end and not self._stopped and self._node.context.ok() and (
                not handle.is_cancel_requested):
            time.sleep(_PERIOD)
        if handle.is_cancel_requested:
            rest = self._motion.stop()
            while self._motion.newest < rest and self._node.context.ok():
                time.sleep(_PERIOD)
            handle.canceled()
        elif self._stopped:
            handle.abort()
        else:
            handle.succeed()
        self._is_busy = False
        code = result.PATH_TOLERANCE_VIOLATED if self._stopped else result.SUCCESSFUL
        return result(error_code=code, error_string=self._stopped)

    # ---- payload ---------------------------------------------------------------------------------

    def _set_payload(self, request: Any, response: Any) -> Any:
        """Subtract this payload, given about the flange, from now on."""
        com = request.center_of_gravity
        inertia = tensor_from_six([getattr(request, name) for name in PARAMETER_NAMES[4:]])
        self._stated = Body(float(request.mass), np.array([com.x, com.y, com.z]), inertia)
        self._cobot.stated_phi = np.zeros(10) if request.mass <= 0.0 else transform_phi(
            phi_from_body(*self._stated), np.eye(3), np.array([0.0, 0.0, _TOOL0_Z]))
        response.success = True
        return response

    def _state_payload(self) -> None:
        """Publish what is subtracted, as ur_robot_driver does."""
        kind = self._payload_publisher.msg_type
        body, message = self._stated, kind(joint_names=["payload"])
        message.header.stamp = time_message(self._node.get_clock().now().nanoseconds)
        message.interface_values = [message_type("control_msgs/msg/InterfaceValue")(
            interface_names=["mass", "cog.x", "cog.y", "cog.z",
                             *(f"inertia.{name}" for name in PARAMETER_NAMES[4:])],
            values=[float(body.mass), *body.com.tolist(),
                    *body.inertia_com[np.triu_indices(3)].tolist()])]
        self._payload_publisher.publish(message)
