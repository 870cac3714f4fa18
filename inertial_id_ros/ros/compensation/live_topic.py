# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""``~/wrench_compensated``: for each wrench that comes, from the callback that receives it."""

from __future__ import annotations

from collections.abc import Sequence

from geometry_msgs.msg import WrenchStamped

from ...identification.compensation.live_compensation import LiveCompensation
from ...io import cdr
from ...limits import MAX_JOINTS, MAX_TRANSFORMS
from ..services.lifecycle import ManagedNode
from .wrench_bytes import in_other_frame, patched, serialized

_DEPTH = 100  # messages for a subscriber that is late


class LiveTopic:
    """Publishes compensated wrenches while anybody subscribes.

    All methods belong to the executor's thread. Damaged messages are ignored here: the thread that
    owns the identifier finds and reports them.
    """

    def __init__(self, node: ManagedNode, live: LiveCompensation) -> None:
        self._live = live
        self._publisher = node.create_lifecycle_publisher(
            WrenchStamped, "~/wrench_compensated", _DEPTH)
        # decoders of their own: those of the module belong to the identifier's thread
        self._wrench: cdr.Decoder[cdr.Wrench] = cdr.Decoder(cdr.wrench.learn)
        self._joint_state: cdr.Decoder[cdr.JointState] = cdr.Decoder(cdr.joint_state.learn)
        self._transforms: cdr.Decoder[list[cdr.Edge]] = cdr.Decoder(cdr.transforms.learn)

    def look(self) -> None:
        """Begin or stop with the subscribers."""
        wanted = self._publisher.get_subscription_count() > 0
        if wanted and not self._live.is_on:
            self._live.begin()
        elif not wanted and self._live.is_on:
            self._live.end()

    def take_wrench(self, data: bytes) -> None:
        """Compensate and publish a serialised geometry_msgs/WrenchStamped."""
        if not self._live.is_on:
            return
        try:
            stamp_ns, frame_id, force, torque = self._wrench(data)
        except ValueError:
            return
        out = self._live.compensate(stamp_ns, frame_id, force + torque)
        if out is not None:
            frame = self._live.target_frame
            self._publisher.publish(in_other_frame(data, frame.encode(), out) if frame
                                    else patched(data, out))

    def take_joint_state(self, data: bytes) -> None:
        """Take a serialised sensor_msgs/JointState in."""
        if not self._live.is_on:
            return
        try:
            stamp_ns, names, positions, _ = self._joint_state(data)
        except ValueError:
            return
        if len(names) <= MAX_JOINTS:
            self._live.add_joint_state(stamp_ns, names, positions)

    def take_transforms(self, data: bytes) -> None:
        """Take a serialised tf2_msgs/TFMessage in, where the motion comes from there."""
        if not (self._live.is_on and self._live.uses_transforms):
            return
        try:
            edges = self._transforms(data)
        except ValueError:
            return
        if len(edges) <= MAX_TRANSFORMS:
            for edge in edges:
                self._live.add_transform(*edge)

    def add_joint_state(self, stamp_ns: int, names: Sequence[str],
                        positions: Sequence[float]) -> None:
        """Take a joint state in that is no message of its own."""
        if self._live.is_on:
            self._live.add_joint_state(stamp_ns, tuple(names), positions)

    def add_wrench(self, stamp_ns: int, frame_id: str, force: Sequence[float],
                   torque: Sequence[float]) -> None:
        """Compensate a wrench that is no message of its own, and publish it as one."""
        if not self._live.is_on:
            return
        out = self._live.compensate(stamp_ns, frame_id, (*force, *torque))
        if out is not None:
            frame = self._live.target_frame or frame_id
            self._publisher.publish(serialized(stamp_ns, frame.encode(), out))
