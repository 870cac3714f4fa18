# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the driver of a commanded simulated cobot offers, under the names of ur_robot_driver.

- ``joint_trajectory_controller/follow_joint_trajectory``, as that controller has it. A cancelled
  goal comes to rest within 0.2 s.
- ``io_and_status_controller/set_payload`` (ur_msgs, where it is installed): the payload that the
  driver knows is subtracted from the wrench, and told on ``dynamic_joint_states``.
- ``~/protective_stop`` (std_msgs/Bool, latched): a push or a joint torque that is too large brings
  the arm to rest and aborts the goal; ``~/unlock`` (std_srvs/Trigger) allows motion again.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from ...apps.simulation.cobot import STATED_POINT, Recording, SimulatedCobot
from ...apps.simulation.motion import CommandedMotion, Trajectory
from ...errors import InertialIdError, InvalidData, MissingPackage
from ...inertia import PARAMETER_NAMES, Array, Body, phi_from_body, tensor_from_six, transform_phi
from ..compat import find_type
from ..contract import LATCHED
from ..conversions import time_message

ACTION = "joint_trajectory_controller/follow_joint_trajectory"
SET_PAYLOAD, PAYLOAD_TOPIC = "io_and_status_controller/set_payload", "dynamic_joint_states"
_PERIOD = 0.01  # s between two checks of a goal
_TELL = 0.1  # s between two messages about the payload
_START = 0.05  # rad, between a trajectory's start and the arm
_PATH, _GOAL = 0.2, 0.02  # rad, tolerances
_OVERLOAD = 1.0  # of a joint's effort limit
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
        self._efforts = _effort_limits(cobot)
        self._server = ActionServer(
            node, kind, ACTION, self._follow, goal_callback=self._take_goal,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup())
        self._stop_publisher = node.create_publisher(Bool, "~/protective_stop", LATCHED)
        self._stop_publisher.publish(Bool(data=False))
        node.create_service(Trigger, "~/unlock", self._unlock)
        self._offer_payload()

    def watch(self, block: Recording, push: Array) -> None:
        """Make a protective stop where new samples are an overload, or a push is too large."""
        limit = self._cobot.settings.stop_force
        if 0.0 < limit < np.linalg.norm(push[:3]):
            self._protect(f"a push of {np.linalg.norm(push[:3]):.0f} N")
        excess = np.abs(block.truth.effort).max(axis=0) / self._efforts
        if excess.max() > _OVERLOAD:
            name = self._cobot.joint_names[int(np.argmax(excess))]
            self._protect(f"overload of {name}")

    def _protect(self, reason: str) -> None:
        """Come to rest, and refuse motions until unlocked."""
        if self._stopped:
            return
        self._stopped = f"protective stop: {reason}"
        self._motion.stop()
        self._stop_publisher.publish(Bool(data=True))

    def _unlock(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Allow motion again."""
        self._stopped, response.success = "", True
        self._stop_publisher.publish(Bool(data=False))
        return response

    # Trajectories

    def _take_goal(self, request: Any) -> GoalResponse:
        """Accept what a controller would: one goal at a time, of this arm, from where it is."""
        try:
            if self._is_busy:
                raise InvalidData("a trajectory is being followed")
            if self._stopped:
                raise InvalidData(self._stopped)
            self._read(request.trajectory)
        except InertialIdError as error:
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
        if len(stamps) < 2 or any(part.shape != (len(stamps), len(names)) for part in parts):
            raise InvalidData("the trajectory lacks points, positions, velocities or accelerations")
        if not (np.diff(stamps) > 0.0).all() or not np.isfinite(parts).all():
            raise InvalidData("times do not increase, or a number is not finite")
        trajectory = Trajectory(stamps - stamps[0], *(part[:, order] for part in parts))
        off = np.abs(trajectory.positions[0] - self._motion(self._motion.newest).q[0])
        if off.max() > _START:
            raise InvalidData(f"it starts {off.max():.3f} rad from where {names[off.argmax()]} is")
        return trajectory

    def _follow(self, handle: Any) -> Any:
        """Follow an accepted goal to its end, in a thread of the executor; gives its result."""
        trajectory = self._read(handle.request.trajectory)
        code, text = self._watch(handle, trajectory, self._motion.follow(trajectory))
        self._is_busy = False
        if handle.is_cancel_requested:
            handle.canceled()
        elif code == self._kind.Result.SUCCESSFUL:
            handle.succeed()
        else:
            handle.abort()
        return self._kind.Result(error_code=code, error_string=text)

    def _watch(self, handle: Any, trajectory: Trajectory, began: float) -> tuple[int, str]:
        """Wait until a goal, which began at a time of the motion [s], is cancelled, stopped, off
        its path, or at its end; code and text."""
        result = self._kind.Result
        while self._node.context.ok():
            time.sleep(_PERIOD)
            if self._stopped:
                return result.PATH_TOLERANCE_VIOLATED, self._stopped
            if handle.is_cancel_requested:
                rest = self._motion.stop()
                while self._motion.newest < rest and self._node.context.ok():
                    time.sleep(_PERIOD)
                return result.SUCCESSFUL, "cancelled"
            now = self._motion.newest
            off = np.abs(self._motion(now).q[0] - trajectory.sample([now - began]).q[0]).max()
            if off > _PATH:
                return result.PATH_TOLERANCE_VIOLATED, "off the path"
            if now >= began + trajectory.duration:
                return ((result.SUCCESSFUL, "") if off <= _GOAL else
                        (result.GOAL_TOLERANCE_VIOLATED, "the end was not reached"))
        return result.INVALID_GOAL, "the arm is switched off"

    # Payload

    def _offer_payload(self) -> None:
        """Serve and tell the payload, where ur_msgs and control_msgs are installed."""
        service: Any = find_type("ur_msgs/srv/SetPayload")
        told: Any = find_type("control_msgs/msg/DynamicJointState")
        values: Any = find_type("control_msgs/msg/InterfaceValue")
        if service is not None:
            self._node.create_service(service, SET_PAYLOAD, self._set_payload)
        if told is not None:
            publisher = self._node.create_publisher(told, PAYLOAD_TOPIC, 10)
            self._node.create_timer(_TELL, partial(self._tell_payload, publisher, told, values))

    def _set_payload(self, request: Any, response: Any) -> Any:
        """Subtract this payload, given about the flange, from now on."""
        com = request.center_of_gravity
        inertia = tensor_from_six([getattr(request, name) for name in PARAMETER_NAMES[4:]])
        self._stated = Body(float(request.mass), np.array([com.x, com.y, com.z]), inertia)
        self._cobot.stated_phi = _in_sensor(self._stated)
        response.success = True
        return response

    def _tell_payload(self, publisher: Any, kind: Any, values: Any) -> None:
        """Tell what is subtracted, as ur_robot_driver does."""
        body = self._stated
        message = kind(joint_names=["payload"])
        message.header.stamp = time_message(self._node.get_clock().now().nanoseconds)
        message.interface_values = [values(
            interface_names=["mass", "cog.x", "cog.y", "cog.z",
                             *(f"inertia.{name}" for name in PARAMETER_NAMES[4:])],
            values=[float(body.mass), *body.com.tolist(),
                    *body.inertia_com[np.triu_indices(3)].tolist()])]
        publisher.publish(message)


def _in_sensor(body: Body) -> Array:
    """phi (10,) about the sensor of a body that is given about the flange."""
    if not body.mass > 0.0:
        return np.zeros(10)
    return transform_phi(phi_from_body(*body), np.eye(3), np.array([0.0, 0.0, _TOOL0_Z]))


def _effort_limits(cobot: SimulatedCobot) -> Array:
    """Effort limits (k,) of the joints [N m]."""
    limits = cobot.engine.model.jnt_actfrcrange[:, 1]
    return np.where(limits > 0.0, limits, np.inf)
