# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the motion of the sensor comes from: robot description, joint states and transforms, checked
and stored."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from ..errors import InvalidData, UnknownFrame
from ..findings import FindingLog
from ..inertia import Array
from ..io.sample_blocks import Block, Edges
from ..limits import MAX_MOVING_FRAMES, MAX_NAME
from ..signals.ring_buffer import LATE, MISSING_JOINT, NOT_FINITE, REPEATED
from ..signals.sample_checks import STAMPS_HINT
from ..signals.stream_watch import LEVELS, DropCounters
from .frame_shift import find_fixed_pose
from .joint_motion import JointMotion, RobotFrame
from .moving_base import BaseImu
from .robot_description import link_names, parse_urdf
from .transform_tree import Pose, TransformTree

_OTHER_POSITION = 0.3  # rad or m; frames whose relative pose stays when joints move are fixed
_PENDING = 4096  # joint states kept until the sensor frame is known
_PENDING_VALUES = 200_000  # positions of theirs
_JOINT_LEVELS = {REPEATED: LEVELS[REPEATED], LATE: LEVELS[LATE]}
_TRANSFORM_LEVELS = {LATE: "info"}


class MotionStreams:
    """Stores robot description, joint states and transforms.

    Attributes:
        urdf: the robot description in use, empty where there is none; model: the same, parsed.
        tree: transforms; joint: joint states on the robot; None: they wait for the sensor frame.
        base: readings of the IMU on the base; None: there are none.
        joints_seen: names in the newest joint state; None: none came.
        unstamped: what came without stamps, in words.
    """

    def __init__(self, findings: FindingLog) -> None:
        self._findings = findings
        self.tree = TransformTree()
        self.model = None
        self.urdf = ""
        self.unstamped = ""
        self._unstamped_frames: set[str] = set()
        self._begin(None)

    def begin_stream(self) -> None:
        """Begin without samples; robot description and fixed transforms stay."""
        self.tree.begin_motion()
        self._begin(self.joint)

    def _begin(self, before: JointMotion | None) -> None:
        """Begin without joint states, but for one that `before` may hold back."""
        self._pending: deque[tuple[int, tuple[str, ...], Sequence[float]]] = deque()
        self._waiting_values = 0
        if before is not None and before.ring.held is not None:
            stamp, positions = before.ring.held  # perhaps the first after a clock that jumped
            self._wait(stamp, tuple(before.robot.joint_names), positions.tolist())
        self.joint: JointMotion | None = None
        self.base: BaseImu | None = None
        self._imu_drops = DropCounters(self._findings, "imu", "readings of the base's IMU")
        self._joint_drops = DropCounters(self._findings, "joints", "joint states", _JOINT_LEVELS)
        self._transform_drops: dict[str, DropCounters] = {}
        self.joints_seen: tuple[str, ...] | None = None

    def use_joints(self, joint: JointMotion) -> None:
        """Put joint states on a robot, first those that have waited for it."""
        self.joint = joint
        waited, self._pending, self._waiting_values = self._pending, deque(), 0
        for sample in waited:
            self.take_joint_state(*sample)

    def set_robot_description(self, urdf: str) -> None:
        """Use this URDF (raises InvalidModel; the one before stays in use)."""
        self.model, self.urdf = parse_urdf(urdf), urdf

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Joints of the robot description that move the sensor; empty where they are not known."""
        return () if self.joint is None else tuple(self.joint.robot.joint_names)

    def take_joint_state(self, stamp_ns: int, names: Sequence[str], positions: Sequence[float],
                         _efforts: Sequence[float] = ()) -> None:
        """Add a joint state, or count and drop it if it cannot be used."""
        if not len(names):
            self._findings.count("joint_states_incomplete.names",
                                 "joint states without joint names dropped")
            return
        if stamp_ns <= 0:
            self._note_missing_stamp("joints", "joint states")
            return
        key = tuple(names)
        if key != self.joints_seen:
            if max(map(len, key)) > MAX_NAME:
                self._findings.count("joint_states_incomplete.long_names",
                                     "joint states with names of more than "
                                     f"{MAX_NAME} characters dropped")
                return
            self.joints_seen = key
        if self.joint is None:
            self._wait(stamp_ns, self.joints_seen, positions)
            return
        result = self.joint.add(stamp_ns, names, positions)
        if result == MISSING_JOINT:
            absent = [j for j in self.joint.robot.joint_names if j not in names]
            self._findings.count("joint_states_incomplete", "joint states without "
                                 + (f"joint '{absent[0]}'" if absent else "positions") + " dropped",
                                 "info" if self.joint.newest() else "warning")
        elif result == NOT_FINITE:
            self._findings.count("samples_invalid.joints",
                                 "joint states with NaN or infinity dropped")
        self._joint_drops.count(result, self.joint.ring)

    def _wait(self, stamp_ns: int, names: tuple[str, ...], positions: Sequence[float]) -> None:
        """Keep a joint state until the sensor frame is known; the oldest go where they are many."""
        self._pending.append((stamp_ns, names, positions))
        self._waiting_values += len(names)
        while len(self._pending) > _PENDING or self._waiting_values > _PENDING_VALUES:
            self._waiting_values -= len(self._pending.popleft()[1])

    def take_imu(self, stamp_ns: int, frame_id: str, force: Sequence[float],
                 omega: Sequence[float]) -> None:
        """Add a reading of the IMU on the base, or count and drop it if it cannot be used."""
        if stamp_ns <= 0:
            self._note_missing_stamp("imu", "readings of the base's IMU")
            return
        if self.base is None:
            self.base = BaseImu()
        result = self.base.add(stamp_ns, frame_id.lstrip("/"), force, omega)
        if result is None:
            self._findings.count("samples_invalid.imu", "readings of the base's IMU with NaN or "
                                 "infinity dropped")
        else:
            self._imu_drops.count(result, self.base.ring)

    def take_transform(self, stamp_ns: int, parent: str, child: str,
                       translation: Sequence[float], quaternion: Sequence[float]) -> None:
        """Add a moving transform, or count and drop it if it is invalid."""
        parent, child = parent.lstrip("/"), child.lstrip("/")
        if stamp_ns <= 0:
            self._note_missing_stamp("transforms", "transforms")
            if len(self._unstamped_frames) < MAX_MOVING_FRAMES:
                self._unstamped_frames.update((parent, child))
            return
        try:
            result = self.tree.add(stamp_ns, parent, child, translation, quaternion)
        except InvalidData as error:
            self._findings.count("samples_invalid.transforms", f"dropped: {error}")
            return
        drops = self._transform_drops.get(child)
        if drops is None:
            if len(self._transform_drops) >= MAX_MOVING_FRAMES:
                del self._transform_drops[next(iter(self._transform_drops))]
            drops = self._transform_drops[child] = DropCounters(
                self._findings, "transforms", "transforms", _TRANSFORM_LEVELS)
        drops.count(result, self.tree.ring(child))

    def _note_missing_stamp(self, stream: str, what: str) -> None:
        """Count a sample without a stamp, which is dropped."""
        self._findings.count(f"stamp_missing.{stream}",
                             f"{what} without a stamp dropped: {STAMPS_HINT}")
        self.unstamped = what

    def take_static_transform(self, parent: str, child: str, translation: Sequence[float],
                              quaternion: Sequence[float]) -> None:
        """Add a fixed transform, or count and drop it if it is invalid."""
        try:
            self.tree.set_static(parent.lstrip("/"), child.lstrip("/"), translation, quaternion)
        except InvalidData as error:
            self._findings.count("samples_invalid.transforms", f"dropped: {error}")

    def fits(self, block: Block) -> bool:
        """Whether all joint states and transforms would be stored, one after the other."""
        joints, edges = block.joint_states, _strip_slashes(block.transforms)
        if joints is not None and not (
                self.joint is not None and joints.names and (joints.stamps > 0).all()
                and self.joint.fits(joints)):
            return False
        return (len({e.child for e in edges}) == len(edges)
                and all(e.stamps[0] > 0 for e in edges) and self.tree.fits(edges))

    def take_block(self, block: Block) -> None:
        """Take joint states and transforms that fit (see `fits`)."""
        if block.joint_states is not None:
            assert self.joint is not None
            self.joints_seen = block.joint_states.names
            self.joint.add_block(block.joint_states)
        for edges in _strip_slashes(block.transforms):
            self.tree.add_block(edges)

    @property
    def frames(self) -> set[str]:
        """Names of the frames in transforms and robot description."""
        links: set[str] = set() if self.model is None else set(link_names(self.model))
        return self.tree.frames() | self._unstamped_frames | links

    def fixed_pose(self, frame: str, other: str) -> Pose | None:
        """Pose of `other` in `frame`, to which it is fixed; None where it is not, or not known."""
        self.tree.want(frame, other)
        by_joints = self._pose_by_joints(frame, other)
        if by_joints is not None:
            pose, is_fixed = by_joints
            return pose if is_fixed else None
        return find_fixed_pose(frame, other, self.joint, self.tree)

    def lookup(self, target: str, source: str) -> tuple[Array, Array, int | None]:
        """Newest rotation (3, 3) and translation (3,) with ``x_target = R x_source + t``, and their
        time [ns]; None where the frames are fixed to each other."""
        if target == source:
            return np.eye(3), np.zeros(3), None
        by_joints = self._pose_by_joints(target, source)
        if by_joints is not None:
            assert self.joint is not None
            pose, is_fixed = by_joints
            return pose.rotation, pose.translation, None if is_fixed else self.joint.newest()
        pose = self.tree.newest(target, source)
        return pose.rotation, pose.translation, self.tree.newest_stamp(target, source)

    def _pose_by_joints(self, target: str, source: str) -> tuple[Pose, bool] | None:
        """Newest pose of source in target, and whether no joint moves it; None where the joint
        states do not tell it."""
        if self.joint is None or self.joint.newest() is None:
            return None
        positions = self.joint.ring.rows[-1].copy()
        try:
            pose = self._pose_between(self.joint.robot, target, source, positions)
            turned = self._pose_between(self.joint.robot, target, source,
                                        positions + _OTHER_POSITION)
        except UnknownFrame:
            return None
        return pose, bool(np.allclose(pose.rotation, turned.rotation, atol=1e-9)
                          and np.allclose(pose.translation, turned.translation, atol=1e-9))

    def _pose_between(self, robot: RobotFrame, target: str, source: str,
                      positions: Array) -> Pose:
        """Pose of source in target at joint positions (joints,) (raises UnknownFrame)."""
        world_target = robot.pose(target, self.tree, positions)
        return world_target.inverse() @ robot.pose(source, self.tree, positions)


def _strip_slashes(transforms: Sequence[Edges]) -> list[Edges]:
    """Remove the leading slash that frame names had in ROS 1."""
    return [e._replace(parent=e.parent.lstrip("/"), child=e.child.lstrip("/")) for e in transforms]
