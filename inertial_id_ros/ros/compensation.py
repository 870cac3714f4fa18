# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The topics of the wrench without its payload: each wrench as it comes, and what is removed."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from geometry_msgs.msg import Inertia, WrenchStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from inertial_id_ros.msg import CompensationState

from ..findings import FindingLog
from ..identification.compensation.live_compensation import LiveCompensation, Status
from ..identification.compensation.load_latch import LoadInUse, Mode
from ..inertia import Array, body_from_phi
from ..io import cdr
from ..limits import MAX_JOINTS, MAX_TRANSFORMS
from ..settings import Settings
from ..signals.inbox import Inbox
from ..signals.message_adapter import JOINT_STATES, TRANSFORMS, WRENCH, InputTopic
from .conversions import NAN, inertia_message, time_message, vector
from .services.lifecycle import ManagedNode

_STAMP_END = 12  # bytes of encapsulation and stamp
_SIX = {0: struct.Struct(">6d"), 1: struct.Struct("<6d")}  # by the second byte
_LENGTH = {0: struct.Struct(">I"), 1: struct.Struct("<I")}
_HEADER = struct.Struct("<BBHiI")


def _numbers_at(length: int) -> int:
    """Where the numbers begin after a frame of this length in bytes, its final zero included."""
    return 4 + -(-(_STAMP_END + length) // 8) * 8


def patched(data: bytes, wrench: Sequence[float]) -> bytes:
    """A serialised wrench with other six numbers [N, N m]; stamp, frame and byte order stay.

    Args:
        data: a message that `io.cdr.wrench` accepts.
    """
    order = data[1]
    at = _numbers_at(_LENGTH[order].unpack_from(data, _STAMP_END)[0])
    return data[:at] + _SIX[order].pack(*wrench) + data[at + 48:]


def in_other_frame(data: bytes, frame: bytes, wrench: Sequence[float]) -> bytes:
    """A serialised wrench with another frame (UTF-8) and other six numbers; the stamp stays."""
    order, length = data[1], len(frame) + 1
    head = data[:_STAMP_END] + _LENGTH[order].pack(length) + frame
    return head.ljust(_numbers_at(length), b"\0") + _SIX[order].pack(*wrench)


def serialized(stamp_ns: int, frame: bytes, wrench: Sequence[float]) -> bytes:
    """A wrench as ROS 2 serialises it."""
    head = _HEADER.pack(0, 1, 0, *divmod(stamp_ns, 1_000_000_000))
    return in_other_frame(head, frame, wrench)


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

    def follow_subscribers(self) -> None:
        """Begin or stop with the subscribers."""
        wanted = self._publisher.get_subscription_count() > 0
        if wanted and not self._live.is_on:
            self._live.begin()
        elif not wanted and self._live.is_on:
            self._live.end()

    def compensate_message(self, data: bytes) -> None:
        """Publish a serialised geometry_msgs/WrenchStamped without the load; nothing while off, for
        damaged bytes, or where no load is known."""
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

    def add_joint_state_message(self, data: bytes) -> None:
        """Take a serialised sensor_msgs/JointState in, unless it has too many joints."""
        if not self._live.is_on:
            return
        try:
            stamp_ns, names, positions, _ = self._joint_state(data)
        except ValueError:
            return
        if len(names) <= MAX_JOINTS:
            self._live.add_joint_state(stamp_ns, names, positions)

    def add_transforms_message(self, data: bytes) -> None:
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

    def add_imu(self, stamp_ns: int, reading: Sequence[float]) -> None:
        """Take a reading (6,) of the IMU on the base in."""
        if self._live.is_on:
            self._live.add_imu(stamp_ns, reading)

    def add_wrench(self, stamp_ns: int, frame_id: str, force: Sequence[float],
                   torque: Sequence[float]) -> None:
        """Compensate a wrench [N, N m] that is no message of its own, and publish it as one where
        somebody listens and a load is known."""
        if not self._live.is_on:
            return
        out = self._live.compensate(stamp_ns, frame_id, (*force, *torque))
        if out is not None:
            frame = self._live.target_frame or frame_id
            self._publisher.publish(serialized(stamp_ns, frame.encode(), out))


class Tee:
    """An inbox whose wrenches and motion the live compensation takes before it."""

    def __init__(self, inbox: Inbox, live: LiveTopic) -> None:
        self._inbox, self._live = inbox, live

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inbox, name)

    def add_wrench(self, stamp_ns: int, frame_id: str, force: Sequence[float],
                   torque: Sequence[float]) -> None:
        """As `Inbox.add_wrench`."""
        self._live.add_wrench(stamp_ns, frame_id, force, torque)
        self._inbox.add_wrench(stamp_ns, frame_id, force, torque)

    def add_joint_state(self, stamp_ns: int, names: Sequence[str],
                        positions: Sequence[float]) -> None:
        """As `Inbox.add_joint_state`."""
        self._live.add_joint_state(stamp_ns, names, positions)
        self._inbox.add_joint_state(stamp_ns, names, positions)

    def add_imu(self, stamp_ns: int, frame_id: str, force: Sequence[float],
                omega: Sequence[float]) -> None:
        """As `Inbox.add_imu`."""
        self._live.add_imu(stamp_ns, (*force, *omega))
        self._inbox.add_imu(stamp_ns, frame_id, force, omega)


_LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE,
                      durability=DurabilityPolicy.TRANSIENT_LOCAL)
_PERIOD = 1.0  # s between two messages when nothing changes


class StateTopic:
    """Publishes what is removed, when that changes and once a second; from any thread."""

    def __init__(self, node: ManagedNode) -> None:
        self._publisher = node.create_lifecycle_publisher(
            CompensationState, "~/compensation_state", _LATCHED)
        self._said: tuple[object, ...] = ()
        self._due = 0.0

    def show(self, status: Status) -> None:
        """Publish a status if it is a new one, or due again."""
        now = time.monotonic()
        said = (status.mode, status.reason, status.estimate_ns, status.old, status.share == 1.0)
        if said != self._said or now >= self._due:
            self._said, self._due = said, now + _PERIOD
            self._publisher.publish(state_message(status))


def state_message(status: Status) -> CompensationState:
    """A status as a message."""
    message = CompensationState(
        mode=int(status.mode), estimate_stamp=time_message(status.estimate_ns),
        age=float(status.age), old=bool(status.old), blend=float(status.share),
        inertia=_inertia(None if status.load is None else status.load.phi), reason=status.reason)
    message.header.stamp = time_message(status.stamp_ns)
    message.header.frame_id = status.frame_id
    return message


def _inertia(phi: Array | None) -> Inertia:
    """phi (10,) as a message: NaN where it is None, zero without a mass."""
    if phi is not None and phi[0] > 0.0:
        return inertia_message(body_from_phi(phi))
    x = NAN if phi is None else 0.0
    return Inertia(m=x, com=vector((x, x, x)), ixx=x, ixy=x, ixz=x, iyy=x, iyz=x, izz=x)


_SILENT, _OLD = "compensation_silent", "compensation_old"  # findings


class CompensationTopics:
    """The topics of the compensated wrench.

    Attributes:
        taps: what takes the serialised messages of a topic, before all else does.
    """

    def __init__(self, node: ManagedNode, settings: Settings, findings: FindingLog) -> None:
        self._live, self._findings = LiveCompensation(settings), findings
        self.live = LiveTopic(node, self._live)
        self._state = StateTopic(node)
        self._lock, self._withheld = threading.Lock(), ""
        self._may_move = settings.motion.execute
        self.taps: dict[InputTopic, Callable[[bytes], Any]] = {
            WRENCH: self.live.compensate_message, JOINT_STATES: self.live.add_joint_state_message,
            TRANSFORMS: self.live.add_transforms_message}

    @property
    def is_used(self) -> bool:
        """Whether anybody listens to the compensated wrench."""
        return self._live.is_on

    @property
    def longest_wait(self) -> float:
        """Time within which samples are processed [s]: so short that a grip is seen soon where the
        compensated wrench is used, and a contact where `identify_payload` may move the arm; else
        longer, at half the cost. What freezes or changes must show within half a second; estimates
        at 2 Hz fall on such rounds."""
        return 0.1 if self._live.is_on or self._may_move else 0.25

    def use_load(self, load: LoadInUse) -> None:
        """Subtract this load from now on, but publish nothing while all is withheld; from any
        thread."""
        with self._lock:
            self._live.use(load.silenced(self._withheld) if self._withheld else load)

    def withhold(self, reason: str) -> None:
        """Publish nothing from now on for this reason, whatever load is given, as the wrench is
        about to change; empty: publish again by the load that is given next. From any thread."""
        with self._lock:
            self._withheld = reason
            if reason:
                self._live.use(LoadInUse(Mode.SILENT, reason))

    def configure(self, settings: Settings) -> None:
        """Use changed settings."""
        self._may_move = settings.motion.execute
        self._live.configure(settings.compensation)

    def follow_subscribers(self) -> None:
        """Begin or stop with the subscribers, show what is removed, and set or clear the
        findings about that; in the executor's thread."""
        self.live.follow_subscribers()
        status = self._live.status()
        self._state.show(status)
        if status.mode is Mode.SILENT and self._live.is_on:
            self._findings.set(_SILENT, "info",
                               f"the compensated wrench is silent: {status.reason}")
        else:
            self._findings.clear(_SILENT)
        if status.old and status.mode is not Mode.SILENT:
            self._findings.set(_OLD, "warning", f"the compensated wrench: {status.reason}")
        else:
            self._findings.clear(_OLD)

    def end(self, reason: str) -> None:
        """Publish nothing any more, and say why."""
        self._live.use(LoadInUse(Mode.SILENT, reason))
        self._state.show(self._live.status())

    def stop(self) -> None:
        """Stop computing; in the executor's thread."""
        self._live.end()
