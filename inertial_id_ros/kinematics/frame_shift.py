# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Where the frame in which a wrench is expressed lies in the sensor frame that is used.

Drivers of Universal Robots express the wrench at and in the active TCP, whose transform they
publish. Where the messages name that frame, their wrenches can be converted; without its transform
nobody knows where they act. Older drivers call it `tool0` all the same: a TCP that is not at the
flange can then only be suspected.
"""

from __future__ import annotations

import numpy as np

from ..errors import UnknownFrame
from ..findings import FindingLog
from ..inertia import Array
from .joint_motion import JointMotion
from .transform_tree import Pose, PoseSeries, TransformTree

_FLANGE, _TCP = "tool0", "tool0_controller"
_FINDING, _UNKNOWN = "sensor_frame.shifted", "sensor_frame.unknown"
_RECENT_NS = 5_000_000_000  # length of the motion that is looked at
_PERIOD_NS = 5_000_000_000  # of checks
_RETRY_NS = 200_000_000  # after which a pose that was not known is looked for again
_POSES = 15  # of which the median is taken
_LARGEST_SPREAD = 0.01  # m; frames that move more against each other are not fixed
_SHORTEST, _SMALLEST = 0.002, np.deg2rad(1.0)  # m, rad; smaller shifts are not worth a finding


class FrameShift:
    """Looks for the pose of the frame of the wrench now and then; findings say where it differs."""

    def __init__(self, findings: FindingLog) -> None:
        self._findings, self._next = findings, 0

    def check(self, newest_ns: int, used: str, said: str, joint: JointMotion | None,
              tree: TransformTree) -> Pose | None:
        """Pose of the frame that the messages name in the one that is used, to which it is fixed;
        None where they are the same, where it is not known, or was told lately.

        Args:
            newest_ns: stamp of the newest wrench; said: the frame_id of its messages.
            joint: joint states with the robot, if they give the motion; else `tree` does.
        """
        other = said if said and said != used else _TCP if used == _FLANGE else used
        if newest_ns < self._next or other == used:
            return None
        if not tree.knows(other):
            if said == _TCP:  # other names may be labels, and the frame in use the right one
                self._findings.set(_UNKNOWN, "error", f"the wrench is expressed in '{said}', the "
                                   "TCP of the robot, and no transform tells where that lies in "
                                   f"'{used}'")
            return None
        self._findings.clear(_UNKNOWN)
        tree.want(used, other)
        pose = find_fixed_pose(used, other, joint, tree)
        self._next = newest_ns + (_RETRY_NS if pose is None else _PERIOD_NS)
        if pose is None:
            return None
        self._findings.clear(_FINDING)
        distance = float(np.linalg.norm(pose.translation))
        angle = float(np.arccos(np.clip(0.5 * (np.trace(pose.rotation) - 1.0), -1.0, 1.0)))
        if distance > _SHORTEST or angle > _SMALLEST:
            self._findings.set(_FINDING, "info" if other == said else "warning", _text(
                used, other, pose, distance, angle, other == said))
        return pose if other == said else None


def _text(used: str, other: str, pose: Pose, distance: float, angle: float, is_said: bool) -> str:
    """A sentence on a frame that differs from the one used, and what follows."""
    x, y, z = np.round(1e3 * pose.translation) + 0.0  # + 0.0 makes 0.0 of -0.0
    roll, pitch, yaw = np.round(np.rad2deg(roll_pitch_yaw(pose.rotation)), 1) + 0.0
    place = f"lies {1e3 * distance:.0f} mm from '{used}' (x {x:.0f}, y {y:.0f}, z {z:.0f} mm)"
    if angle > _SMALLEST:
        place += (f" and is turned by {np.rad2deg(angle):.1f}° (roll {roll:g}, pitch {pitch:g}, "
                  f"yaw {yaw:g}°)")
    if is_said:
        return (f"the wrench is expressed in '{other}', which {place}; it is converted to "
                f"'{used}'")
    return (f"the robot's TCP '{other}' {place}: a wrench of the robot's own driver is expressed "
            f"there, whatever its frame_id, and the result then wrong; set wrench.sensor_frame to "
            f"'{other}', or the TCP of the robot to '{used}'")


def roll_pitch_yaw(turn: Array) -> Array:
    """Roll, pitch and yaw (3,) [rad] of a rotation matrix (3, 3), as URDF has them."""
    pitch = np.arctan2(-turn[2, 0], np.hypot(turn[0, 0], turn[1, 0]))
    return np.array([np.arctan2(turn[2, 1], turn[2, 2]), pitch,
                     np.arctan2(turn[1, 0], turn[0, 0])])


def find_fixed_pose(used: str, other: str, joint: JointMotion | None,
                    tree: TransformTree) -> Pose | None:
    """Pose of one frame in another that is fixed to it; None where it is not, or not known."""
    try:
        fixed = tree.static_pose(used, other)
        if fixed is not None:
            return fixed
        series = (_series_by_transforms(used, other, tree) if joint is None
                  else _series_by_joints(used, other, joint, tree))
    except UnknownFrame:
        return None
    if series is None or len(series.stamps) == 0:
        return None
    median = np.median(series.translation, axis=0)
    distance = np.linalg.norm(series.translation - median, axis=1)
    if np.median(distance) > _LARGEST_SPREAD:
        return None
    nearest = int(np.argmin(distance))
    return Pose(series.rotation[nearest], median)


def _series_by_transforms(used: str, other: str, tree: TransformTree) -> PoseSeries:
    """Recent poses of one frame in another (raises UnknownFrame)."""
    newest = tree.newest_stamp(used, other) or 0
    return _thinned(tree.series(used, other, newest - _RECENT_NS, newest + 1))


def _series_by_joints(used: str, other: str, joint: JointMotion,
                      tree: TransformTree) -> PoseSeries | None:
    """Recent poses of a frame that transforms tell, in one that the joint states tell.

    None where nothing ties the former to the robot (raises UnknownFrame).
    """
    newest = joint.newest()
    if newest is None:
        return None
    base = _tied_ancestor(other, joint, tree)
    if base is None:
        return None
    ring = joint.ring
    if not tree.moving_edges(base, other):  # fixed to a link
        pose = tree.newest(base, other)
        series = PoseSeries(ring.stamps[-1:].copy(), pose.rotation[None], pose.translation[None])
    else:
        series = _thinned(tree.series(base, other, newest - _RECENT_NS, newest + 1))
    inside = (series.stamps >= ring.stamps[0]) & (series.stamps <= newest)
    series = PoseSeries(*(part[inside] for part in series))
    poses = []
    for k, stamp in enumerate(series.stamps.tolist()):
        q = _positions(joint, stamp)
        in_root = joint.robot.pose(base, tree, q) @ Pose(series.rotation[k], series.translation[k])
        poses.append(joint.robot.pose(used, tree, q).inverse() @ in_root)
    if not poses:
        return None
    return PoseSeries(series.stamps, np.stack([p.rotation for p in poses]),
                      np.stack([p.translation for p in poses]))


def _tied_ancestor(frame: str, joint: JointMotion, tree: TransformTree) -> str | None:
    """The frame or the first one above it whose pose the joint states tell."""
    for ancestor in tree.ancestors(frame):
        try:
            joint.robot.pose(ancestor, tree, joint.ring.rows[-1].copy())
            return ancestor
        except UnknownFrame:
            continue
    return None


def _positions(joint: JointMotion, stamp: int) -> Array:
    """Joint positions (joints,) at a stamp [ns] within those of the ring, interpolated."""
    k = min(max(int(np.searchsorted(joint.ring.stamps, stamp)), 1), len(joint.ring) - 1)
    before, after = joint.ring.stamps[k - 1:k + 1].tolist()
    share = min(max((stamp - before) / max(after - before, 1), 0.0), 1.0)
    return np.asarray((1.0 - share) * joint.ring.rows[k - 1] + share * joint.ring.rows[k])


def _thinned(series: PoseSeries) -> PoseSeries:
    """A few poses of a series, evenly spread."""
    step = max(len(series.stamps) // _POSES, 1)
    return PoseSeries(*(part[::step] for part in series))
