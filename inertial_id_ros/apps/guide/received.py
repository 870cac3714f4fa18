# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The messages of the last minute, and what they say of wrench and motion."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from ...findings import FindingLog
from ...inertia import Array
from ...io import cdr
from ...io.messages import DynamicJointStates, stamp_ns
from ...kinematics.motion import Motion, MotionSource
from ...kinematics.motion_source import MotionSelector
from ...kinematics.robot_description import parse_urdf, root_link
from ...settings import Settings
from ...signals.message_adapter import (
    DYNAMIC_JOINT_STATES,
    JOINT_STATES,
    ROBOT_DESCRIPTION,
    STATIC_TRANSFORMS,
    TRANSFORMS,
    WRENCH,
    InputTopic,
)
from ...signals.ring_buffer import SampleRing

_KEPT_NS = 60_000_000_000  # of messages
_FLOOD = 200_000  # messages of a topic at most
Decode = Callable[[bytes], Any]
_ENOUGH = 5  # samples of which a rate can be told
_PERIOD_NS = 20_000_000  # of readings


@dataclass(frozen=True, eq=False)
class Stream:
    """The samples of one topic.

    Attributes:
        topic: its full name; publishers: names of the nodes that publish it.
        arrivals: (n,) times of arrival by the clock of ROS [ns]; stamps: (n,) of the samples [ns].
        rows: (n, k) numbers of the samples, k may be 0.
        names: of the k columns, or the frame of a wrench as the only one.
    """

    topic: str
    publishers: tuple[str, ...] = ()
    arrivals: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    stamps: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    rows: Array = field(default_factory=lambda: np.empty((0, 0)))
    names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.arrivals)

    @cached_property
    def rate(self) -> float:
        """Samples a second [Hz], by their arrival; 0 where too few came."""
        if len(self) < _ENOUGH:
            return 0.0
        return float((len(self) - 1) / max((self.arrivals[-1] - self.arrivals[0]) * 1e-9, 1e-9))

    @cached_property
    def lag(self) -> float:
        """Median time from the stamp to the arrival [s]; NaN without samples."""
        if not len(self):
            return float("nan")
        return float(np.median(self.arrivals - self.stamps)) * 1e-9


class Stretch(NamedTuple):
    """Readings and motion at n times.

    Attributes:
        stamps: (n,) [ns]; readings: (n, 6) means of the wrench around them [N, N m].
        motion: of the sensor at these times.
        samples: raw samples behind a reading, on average.
    """

    stamps: np.ndarray
    readings: Array
    motion: Motion
    samples: float

    @property
    def time(self) -> Array:
        """Times (n,) since the first [s]."""
        return np.asarray((self.stamps - self.stamps[0]) * 1e-9) if len(self.stamps) else (
            np.empty(0))


def make_stretch(stamps: np.ndarray, wrench: Array, source: MotionSource, early_ns: int = 0
                 ) -> Stretch:
    """Readings of 20 ms each, where the motion is known.

    Args:
        stamps: (n,) of the wrench [ns], increasing; wrench: (n, 6) [N, N m].
        early_ns: by how much the stamps of the wrench are early [ns].
    """
    period = (stamps + early_ns) // _PERIOD_NS
    number, inverse, count = np.unique(period, return_inverse=True, return_counts=True)
    sums = np.column_stack([np.bincount(inverse, weights=wrench[:, c]) for c in range(6)])
    means: Array = sums / count[:, None]
    middle = (number * _PERIOD_NS + _PERIOD_NS // 2).astype(np.int64)
    motion = source.motion_at(middle)
    known = motion.valid
    return Stretch(middle[known], means[known], motion.part(known),
                   float(count.mean()) if len(count) else 0.0)


class Received:
    """Messages as they came, each with its time of arrival; `add` may be called from any thread.

    Args:
        settings: of the node, which name frames, sensor and gravity.
        decoders: of types that are not among `io.cdr.DECODERS`, by name.
    """

    def __init__(self, settings: Settings, decoders: Mapping[str, Decode] | None = None) -> None:
        self.settings = settings
        self._decoders = {**cdr.DECODERS, **(decoders or {})}
        self._logs: dict[InputTopic, deque[tuple[int, bytes]]] = {}
        self._lock = threading.Lock()
        self.urdf = ""  # where a file gives it

    def add(self, topic: InputTopic, arrival_ns: int, data: bytes) -> None:
        """Keep a message; what is older than a minute is forgotten, but not what is latched."""
        with self._lock:
            log = self._logs.setdefault(topic, deque(maxlen=_FLOOD))
            log.append((arrival_ns, data))
            while not topic.latched and arrival_ns - log[0][0] > _KEPT_NS:
                log.popleft()

    def taken(self, topic: InputTopic, first_ns: int = 0, last_ns: int = 2**63 - 1
              ) -> list[tuple[int, Any]]:
        """Times of arrival and messages that came between two times; damaged ones are left out."""
        with self._lock:
            newest_first = reversed(self._logs.get(topic, ()))
            log = list(newest_first if topic.latched else takewhile(
                lambda entry: entry[0] >= first_ns, newest_first))
        out = []
        for arrival, data in reversed(log):
            if topic.latched or arrival <= last_ns:
                try:
                    out.append((arrival, self._decoders[topic.type](data)))
                except ValueError:
                    continue
        return out

    def wrench(self, name: str, publishers: tuple[str, ...], first_ns: int, last_ns: int
               ) -> Stream:
        """The wrenches of a time, as they came."""
        if self.settings.dynamic_joint_states.topic:
            parts = [(arrival, stamp, part.wrench) for arrival, stamp, part in
                     self._parts(first_ns, last_ns) if part.wrench is not None]
            return _stream(name, publishers, parts, (self.settings.wrench.sensor_frame,), 6)
        messages = self.taken(WRENCH, first_ns, last_ns)
        frame = (messages[-1][1].frame_id,) if messages else ()
        return _stream(name, publishers, [(a, m.stamp_ns, m.force + m.torque)
                                          for a, m in messages], frame, 6)

    def joints(self, name: str, publishers: tuple[str, ...], first_ns: int, last_ns: int
               ) -> Stream:
        """The joint positions of a time, as they came; of the layout that came last."""
        samples = self._joint_samples(first_ns, last_ns)
        names = samples[-1][2] if samples else ()
        rows = [(a, s, p) for a, s, n, p in samples if n == names and len(p) == len(n)]
        return _stream(name, publishers, rows, names, len(names))

    def transforms(self, name: str, publishers: tuple[str, ...], first_ns: int, last_ns: int
                   ) -> Stream:
        """The times of the transforms of the link that is told most seldom, as they came."""
        by_child: dict[str, list[tuple[int, int, tuple[()]]]] = {}
        for arrival, edges in self.taken(TRANSFORMS, first_ns, last_ns):
            for edge in edges:
                by_child.setdefault(edge.child, []).append((arrival, edge.stamp_ns, ()))
        seldom = min(by_child.values(), key=len, default=[])
        return _stream(name, publishers, seldom, (), 0)

    def motion(self, first_ns: int, last_ns: int) -> MotionSelector:
        """What the joint states and transforms of a time say of motion."""
        selector = MotionSelector(self.settings, FindingLog())
        urdf = self.description
        if urdf:
            selector.streams.set_robot_description(urdf)
        for _, edges in self.taken(STATIC_TRANSFORMS):
            for edge in edges:
                selector.streams.take_static_transform(edge.parent, edge.child, edge.translation,
                                               edge.quaternion)
        for _, stamp, names, positions in self._joint_samples(first_ns, last_ns):
            selector.streams.take_joint_state(stamp, names, positions)
        for _, edges in self.taken(TRANSFORMS, first_ns, last_ns):
            for edge in edges:
                selector.streams.take_transform(*edge)
        return selector

    def stretch(self, first_ns: int, last_ns: int) -> Stretch | None:
        """Wrench and motion of a time; None where the motion is not known."""
        wrench = self.wrench("", (), first_ns, last_ns)
        selector = self.motion(first_ns, last_ns)
        source = selector.select_source(self.sensor_frame, _ring(wrench))
        if source is None or not len(wrench):
            return None
        order = np.argsort(wrench.stamps, kind="stable")
        return make_stretch(wrench.stamps[order], wrench.rows[order], source)

    def chain(self, first_ns: int, last_ns: int) -> tuple[tuple[str, ...], tuple[str, ...], str]:
        """The joints that move the frame of the wrench, those that move something behind it, and
        what is missing to know that, in words."""
        selector = self.motion(first_ns, last_ns)
        wrench = self.wrench("", (), first_ns, last_ns)
        source = selector.select_source(self.sensor_frame, _ring(wrench))
        if source is None:
            return (), (), selector.missing.text if selector.missing else "not known"
        joints = selector.streams.joint_names
        return joints, _beyond(self.description, joints) if joints else (), ""

    def place_in_root(self, frame: str, first_ns: int, last_ns: int) -> Array:
        """(4, 4) from axes of a frame to those of the description's root, as a time tells it
        (raises UnknownFrame)."""
        selector = self.motion(first_ns, last_ns)
        selector.select_source(self.sensor_frame, _ring(self.wrench("", (), first_ns, last_ns)))
        out = np.eye(4)
        out[:3, :3], out[:3, 3], _ = selector.streams.lookup(
            root_link(parse_urdf(self.description)), frame.lstrip("/"))
        return out

    @property
    def description(self) -> str:
        """The robot description; empty: none was received."""
        messages = self.taken(ROBOT_DESCRIPTION)
        return self.urdf or (str(messages[-1][1].data) if messages else "")

    @property
    def sensor_frame(self) -> str:
        """The frame of the wrench; empty: not known."""
        if self.settings.wrench.sensor_frame:
            return self.settings.wrench.sensor_frame
        messages = self.taken(WRENCH)
        return str(messages[-1][1].frame_id).lstrip("/") if messages else ""

    def newest_positions(self) -> dict[str, float]:
        """The last position of each joint [rad or m]."""
        out: dict[str, float] = {}
        for _, _, names, positions in self._joint_samples(0, 2**63 - 1)[-50:]:
            out.update(zip(names, positions, strict=False))
        return out

    def _joint_samples(self, first_ns: int, last_ns: int
                       ) -> list[tuple[int, int, tuple[str, ...], tuple[float, ...]]]:
        """Arrival, stamp, names and positions of the joint states of a time."""
        if self.settings.dynamic_joint_states.topic:
            return [(a, s, part.names, part.positions) for a, s, part in
                    self._parts(first_ns, last_ns) if part.names]
        return [(a, m.stamp_ns, tuple(m.names), tuple(m.positions))
                for a, m in self.taken(JOINT_STATES, first_ns, last_ns)]

    def _parts(self, first_ns: int, last_ns: int) -> list[tuple[int, int, Any]]:
        """Arrival, stamp and parts of the dynamic joint states of a time."""
        states = DynamicJointStates(self.settings.dynamic_joint_states)
        return [(a, stamp_ns(m.header.stamp), states.split(m.joint_names, m.interface_values))
                for a, m in self.taken(DYNAMIC_JOINT_STATES, first_ns, last_ns)]


def _stream(topic: str, publishers: tuple[str, ...], samples: list[tuple[int, int, Any]],
            names: tuple[str, ...], width: int) -> Stream:
    """A stream of arrival, stamp and row of each sample."""
    rows: Array = np.array([row for _, _, row in samples], dtype=float).reshape(len(samples), width)
    return Stream(topic, publishers, np.array([a for a, _, _ in samples], dtype=np.int64),
                  np.array([s for _, s, _ in samples], dtype=np.int64),
                  rows, names) if samples else Stream(topic, publishers)


def _ring(wrench: Stream) -> SampleRing:
    """The wrenches of a stream, as the choice of a source of motion wants them."""
    ring = SampleRing(6, max(len(wrench), 2))
    for stamp, row in zip(wrench.stamps.tolist(), wrench.rows, strict=True):
        ring.append(stamp, row)
    return ring


def _beyond(urdf: str, chain: tuple[str, ...]) -> tuple[str, ...]:
    """Joints of a description that only all joints of a chain carry."""
    model = parse_urdf(urdf)
    numbers = {model.getJointId(name) for name in chain}
    return tuple(model.names[j] for j in range(1, model.njoints)
                 if j not in numbers and numbers <= set(model.supports[j]))
