# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A planned motion as messages: for a controller, and for RViz."""

from __future__ import annotations

from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ..apps.excitation.arm import Arm
from ..apps.excitation.next_motion.planned_motion import PlannedMotion
from ..inertia import Array
from .compat import find_type, message_type
from .conversions import time_message

TRAJECTORY, PATH, DISPLAY = (f"identify_payload/{name}" for name in (
    "next_trajectory", "next_path", "display_planned_path"))
_DISPLAY_TYPE = "moveit_msgs/msg/DisplayTrajectory"
_LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
_PATH_STEP = 0.05  # s between two poses of the path


def duration_message(seconds: float) -> Duration:
    """A duration of seconds."""
    whole, rest = divmod(round(seconds * 1e9), 1_000_000_000)
    return Duration(sec=whole, nanosec=rest)


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
        q = np.tile(start, (len(times), 1))
        q[:, [self._arm.joint_names.index(name) for name in motion.joint_names]] = motion.sample(
            times).q
        now = self._node.get_clock().now().nanoseconds
        message = Path()
        message.header.frame_id, message.header.stamp = self._arm.root, time_message(now)
        for t, (position, quaternion) in zip(times, self._arm.frame_poses(q), strict=True):
            pose = PoseStamped()
            pose.header.frame_id = self._arm.root
            pose.header.stamp = time_message(now + round(1e9 * float(t)))
            at, turn = pose.pose.position, pose.pose.orientation
            at.x, at.y, at.z = position.tolist()
            turn.x, turn.y, turn.z, turn.w = quaternion.tolist()
            message.poses.append(pose)
        return message
