# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A stand-in of a trajectory controller in the test's own process, which may misbehave."""

from __future__ import annotations

import threading
import time

import numpy as np
import rclpy
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

ACTION, JOINT_STATES = "arm_controller/follow_joint_trajectory", "arm_joint_states"
_PERIOD = 0.01  # s


class StandInController:
    """Follows trajectories exactly, and publishes joint states; its attributes are set at will."""

    def __init__(self, node, names: tuple[str, ...], positions: np.ndarray) -> None:
        self.answers = True  # whether a cancelled goal ends
        self.published = self.moving_stamps = self.follows = True  # joint states, stamps, positions
        self.answers_after = 0.0  # s until a goal is accepted, see `SlowController`
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

    def _take(self, goal) -> GoalResponse:
        time.sleep(self.answers_after)
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
            self._publisher.publish(message)


class SlowController(StandInController):
    """One with a node of its own in a ROS domain, which goes on while it takes its time [s] to
    accept a goal."""

    def __init__(self, domain: int, names: tuple[str, ...], positions: np.ndarray, seconds: float
                 ) -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain,
                   signal_handler_options=SignalHandlerOptions.NO)
        self.node = rclpy.create_node("slow_controller", context=self.context)
        super().__init__(self.node, names, positions)
        self.answers_after = seconds
        self._executor = MultiThreadedExecutor(2, context=self.context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._executor.spin, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Leave the ROS graph: the action outlives a context that is shut down before it."""
        self._executor.shutdown()
        self._thread.join(10.0)
        self.vanish()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)
