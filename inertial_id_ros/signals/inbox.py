# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The queue of samples: callbacks append, the thread that owns the identifier takes them out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..findings import FindingLog
from ..io import messages
from ..io.sample_blocks import Block

_INBOX = 400_000  # samples that may wait; beyond that, they are dropped, and a finding says so
_INBOX_BYTES = 256_000_000  # of serialised messages that may wait
(WRENCH, JOINT_STATE, TRANSFORM, STATIC_TRANSFORM, REMOVED_PAYLOAD, ZEROING, FINDING,
 PUBLISHERS) = range(8)
Handlers = Mapping[int, Callable[..., Any]]
_MESSAGES = {WRENCH: messages.WRENCH, JOINT_STATE: messages.JOINT_STATE,
             TRANSFORM: messages.TRANSFORMS, STATIC_TRANSFORM: messages.STATIC_TRANSFORMS}


class Inbox:
    """The append-only side of the pipeline; its methods may be called from another thread.

    Attributes:
        entered, taken: number of samples so far that were put into the queue, and taken out.
    """

    def __init__(self, log: FindingLog) -> None:
        self._incoming = log
        self._inbox: deque[tuple[int, tuple[Any, ...] | bytes]] = deque()
        self._bytes_in = self._bytes_out = 0  # one thread counts up the one, one the other
        self.entered = self.taken = 0  # samples so far: put into the queue, and out of it

    def _put(self, kind: int, *sample: Any) -> None:
        """Append a sample; it is lost where there is no room."""
        if self._has_room():
            self._inbox.append((kind, sample))
            self.entered += 1

    def _has_room(self) -> bool:
        """Whether another sample may wait; counts a finding where not."""
        if len(self._inbox) < _INBOX and self._bytes_in - self._bytes_out < _INBOX_BYTES:
            return True
        self._incoming.count("overload", "samples lost because processing is too slow", "error")
        return False

    @property
    def _waiting(self) -> int:
        """Number of samples in the queue."""
        return len(self._inbox)

    def _drop_waiting(self) -> None:
        """Forget the samples in the queue."""
        self._inbox.clear()
        self._bytes_out, self.taken = self._bytes_in, self.entered

    def take_block(self, block: Block) -> bool:
        """Take many samples at once, as if they had been added one by one.

        For the thread that owns the identifier. False, and nothing is taken, where the samples must
        be added one by one.
        """
        return False

    def _hand_over(self, count: int, handlers: Handlers) -> None:
        """Take samples out, oldest first, and hand each to the handler of its kind."""
        for _ in range(count):
            kind, sample = self._inbox.popleft()
            self.taken += 1
            if isinstance(sample, tuple):
                handlers[kind](*sample)
            else:
                self._bytes_out += len(sample)
                messages.take_serialized(_MESSAGES[kind], sample, handlers[kind], self._incoming)

    def add_serialized(self, kind: int, data: bytes) -> None:
        """A serialised message, to be decoded when its turn comes.

        Args:
            kind: WRENCH (geometry_msgs/WrenchStamped), JOINT_STATE (sensor_msgs/JointState),
                TRANSFORM or STATIC_TRANSFORM (tf2_msgs/TFMessage).
        """
        if self._has_room():
            self._bytes_in += len(data)
            self._inbox.append((kind, data))
            self.entered += 1

    def add_wrench(self, stamp_ns: int, frame_id: str, force: Sequence[float],
                   torque: Sequence[float]) -> None:
        """A wrench sample: force (3,) [N] and torque (3,) [N m] as the driver publishes them."""
        self._put(WRENCH, stamp_ns, frame_id, force, torque)

    def add_joint_state(self, stamp_ns: int, names: Sequence[str], positions: Sequence[float],
                        efforts: Sequence[float] = ()) -> None:
        """Joint positions by name [rad or m]; efforts [N m or N] matter to joint torques only."""
        self._put(JOINT_STATE, stamp_ns, names, positions, efforts)

    def add_transform(self, stamp_ns: int, parent: str, child: str,
                      translation: Sequence[float], quaternion: Sequence[float]) -> None:
        """A moving transform: pose of child in parent, quaternion x, y, z, w."""
        self._put(TRANSFORM, stamp_ns, parent, child, translation, quaternion)

    def add_static_transform(self, parent: str, child: str, translation: Sequence[float],
                             quaternion: Sequence[float]) -> None:
        """A fixed transform: pose of child in parent, quaternion x, y, z, w."""
        self._put(STATIC_TRANSFORM, parent, child, translation, quaternion)

    def add_removed_payload(self, frame_id: str, mass: float, com: Sequence[float],
                            inertia: Sequence[float]) -> None:
        """The payload that the driver removes now: mass [kg], com (3,) [m] and inertia about it
        (6,) [kg m^2] in a frame (empty: the sensor's)."""
        self._put(REMOVED_PAYLOAD, frame_id, (mass, *com, *inertia))

    def add_zeroing(self, reason: str) -> None:
        """The driver has zeroed the sensor: what was measured before counts no more."""
        self._put(ZEROING, reason)

    def add_publishers(self, text: str) -> None:
        """Several publishers send the wrench, or the states of the same joints, from now on, as the
        text says; empty: only one."""
        self._put(PUBLISHERS, text)

    def add_finding(self, name: str, level: str, text: str) -> None:
        """Something about the input that deserves attention."""
        self._put(FINDING, name, level, text)
