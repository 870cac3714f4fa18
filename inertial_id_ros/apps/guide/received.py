# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The messages of the last minute, and what they say of wrench and motion."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...findings import FindingLog
from ...inertia import Array
from ...io import cdr
from ...io.dynamic_joint_state import DynamicJointStates
from ...io.messages import stamp_ns
from ...kinematics.motion_source import MotionSelector
from ...kinematics.robot_description import parse_urdf
from ...settings import Settings
from ...signals.input_topics import (
    DYNAMIC_JOINT_STATES,
    JOINT_STATES,
    ROBOT_DESCRIPTION,
    STATIC_TRANSFORMS,
    TRANSFORMS,
    WRENCH,
    InputTopic,
)
from ...signals.ring_buffer import SampleRing
from .seen import Stream
from .stretch import Stretch, make_stretch

_KEPT_NS = 60_000_000_000  # of messages
_FLOOD = 200_000  # messages of a topic at most
Decode = Callable[[bytes], Any]


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
            log = list(self._logs.get(topic, ()))
        out = []
        for arrival, data in log:
            if topic.latched or first_ns <= arrival <= last_ns:
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
            selector.set_robot_description(urdf)
        for _, edges in self.taken(STATIC_TRANSFORMS):
            for edge in edges:
                selector.take_static_transform(edge.parent, edge.child, edge.translation,
                                               edge.quaternion)
        for _, stamp, names, positions in self._joint_samples(first_ns, last_ns):
            selector.take_joint_state(stamp, names, positions)
        for _, edges in self.taken(TRANSFORMS, first_ns, last_ns):
            for edge in edges:
                selector.take_transform(*edge)
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
        joints = selector.joint_names
        return joints, _beyond(self.description, joints) if joints else (), ""

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
