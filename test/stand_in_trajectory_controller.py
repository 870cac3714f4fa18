# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A stand-in of a trajectory controller in the test's own process, which may misbehave."""

from __future__ import annotations

import time

import numpy as np
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from sensor_msgs.msg import JointState

ACTION, JOINT_STATES = "arm_controller/follow_joint_trajectory", "arm_joint_states"
_PERIOD = 0.01  # s


class StandInController:
    """Follows trajectories exactly, and publishes joint states.

    Attributes:
        accepts: whether goals are; answers: whether a cancelled goal ends; fails: words with which
            the next goal is aborted at once.
        published: whether joint states come; moving_stamps: whether their stamps go on; follows:
            whether positions do.
        cancelled: how many goals were; goals: trajectories received.
    """

    def __init__(self, node, names: tuple[str, ...], positions: np.ndarray) -> None:
        self.accepts = self.answers = self.published = self.moving_stamps = self.follows = True
        self.fails = ""
        self.cancelled, self.goals = 0, []
        self._node, self._names = node, names
        self.positions = np.array(positions, dtype=float)
        self._handle, self._began, self._words = None, 0.0, ""
        self._publisher = node.create_publisher(JointState, JOINT_STATES, 10)
        self._server = ActionServer(
            node, FollowJointTrajectory, ACTION, self._end, goal_callback=self._take,
            handle_accepted_callback=self._begin, cancel_callback=self._cancel)
        node.create_timer(_PERIOD, self._step)

    def vanish(self) -> None:
        """Withdraw the action, as a controller that is unloaded."""
        self._server.destroy()

    def _take(self, goal) -> GoalResponse:
        return GoalResponse.ACCEPT if self.accepts else GoalResponse.REJECT

    def _cancel(self, handle) -> CancelResponse:
        self.cancelled += 1
        return CancelResponse.ACCEPT

    def _begin(self, handle) -> None:
        self._handle, self._began = handle, time.monotonic()
        self.goals.append(handle.request.trajectory)

    def _end(self, handle) -> FollowJointTrajectory.Result:
        self._handle = None
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
            t = time.monotonic() - self._began
            stamps = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in points]
            if self.follows:
                rows = np.array([p.positions for p in points])
                self.positions = np.array([np.interp(t, stamps, row) for row in rows.T])
            over = t > stamps[-1] and self.follows
            if over or self.fails or (handle.is_cancel_requested and self.answers):
                handle.execute()
        if self.published:
            message = JointState(name=list(self._names), position=self.positions.tolist())
            if self.moving_stamps:
                message.header.stamp = self._node.get_clock().now().to_msg()
            else:
                message.header.stamp.sec = 1
            self._publisher.publish(message)
