"""Samples on their way in: callbacks append, the thread that owns the pipeline takes them out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .blocks import Block
from .findings import FindingLog

_INBOX = 400_000  # samples that may wait; a node that falls this far behind says so
(WRENCH, JOINT_STATE, TRANSFORM, STATIC_TRANSFORM, REMOVED_PAYLOAD, ZEROING, FINDING) = range(7)
Handlers = Mapping[int, Callable[..., Any]]


class Intake:
    """The append-only side of the pipeline; its methods may be called from another thread."""

    def __init__(self, log: FindingLog) -> None:
        self._overload = log
        self._inbox: deque[tuple[int, tuple[Any, ...]]] = deque(maxlen=_INBOX)

    def _put(self, kind: int, *sample: Any) -> None:
        if len(self._inbox) == _INBOX:
            self._overload.count("overload", "samples lost because processing is too slow", "error")
        self._inbox.append((kind, sample))

    @property
    def _waiting(self) -> int:
        return len(self._inbox)

    def take_block(self, block: Block) -> bool:
        """Take many samples at once, as if they had been added one by one and handed over; False,
        and nothing is taken, where they must be. Belongs to the thread that owns the pipeline."""
        return False

    def _hand_over(self, count: int, handlers: Handlers) -> None:
        """Take samples out, oldest first, and hand each to the handler of its kind."""
        for _ in range(count):
            kind, sample = self._inbox.popleft()
            handlers[kind](*sample)

    def add_wrench(self, stamp_ns: int, frame_id: str, force: Sequence[float],
                   torque: Sequence[float]) -> None:
        """A wrench sample: force (3,) [N] and torque (3,) [N m] as the driver publishes them."""
        self._put(WRENCH, stamp_ns, frame_id, force, torque)

    def add_joint_state(self, stamp_ns: int, names: Sequence[str], positions: Sequence[float],
                        efforts: Sequence[float] = ()) -> None:
        """Joint positions by name [rad or m]; efforts [N m or N] matter to joint torques only."""
        self._put(JOINT_STATE, stamp_ns, names, positions)

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

    def add_finding(self, name: str, level: str, text: str) -> None:
        """Something about the input that deserves attention."""
        self._put(FINDING, name, level, text)
