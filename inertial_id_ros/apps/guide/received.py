# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The messages of the last minute as streams, and as wrench and motion of the sensor."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...identify.answers import MISSING
from ...inertia import Array
from ...io.decoding import decode, text
from ...io.input_topics import (
    DYNAMIC_JOINT_STATES,
    JOINT_STATES,
    ROBOT_DESCRIPTION,
    STATIC_TRANSFORMS,
    TRANSFORMS,
    WRENCH,
    InputTopic,
)
from ...io.sample_blocks import Edges, JointStates, Samples, Wrenches
from ...kinds import finding_of
from ...model.history import LONGEST, History, Window
from ...motion.description import link_names, parse_urdf
from ...motion.frames import place_of
from ...motion.source import Streams
from ...settings import Settings

KEPT_NS = 60_000_000_000  # of messages
NEWEST_NS = 1_000_000_000  # of messages that tell where the robot is now
FLOOD = 200_000  # messages of a topic at most
ENOUGH = 5  # samples by which a rate is known
ALWAYS = 2**63 - 1
OF_WRENCH, OF_JOINTS = (WRENCH, DYNAMIC_JOINT_STATES), (JOINT_STATES, DYNAMIC_JOINT_STATES)
SAMPLED = (WRENCH, JOINT_STATES, TRANSFORMS, DYNAMIC_JOINT_STATES)


@dataclass(frozen=True, eq=False)
class Stream:
    """The samples of one topic.

    Attributes:
        arrivals: (m,) times at which its messages arrived, by the clock of ROS [ns].
        stamps: (n,) of the samples [ns]; rows: (n, k) numbers of the samples.
        names: of the columns, or the frame of a wrench alone.
    """

    arrivals: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    stamps: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    rows: Array = field(default_factory=lambda: np.empty((0, 0)))
    names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.stamps)

    @property
    def rate(self) -> float:
        """Samples a second [Hz], by their arrival; 0 where too few came."""
        if len(self) < ENOUGH:
            return 0.0
        return float((len(self) - 1) / max((self.arrivals[-1] - self.arrivals[0]) * 1e-9, 1e-9))

    @property
    def lag(self) -> float:
        """Median time from the stamp to the arrival [s]; NaN without samples."""
        if not len(self):
            return float("nan")
        # Apart, as of two numbers of 10^18 only the difference is known to a nanosecond.
        return 1e-9 * float(int(np.median(self.arrivals - self.arrivals[0]))
                            - int(np.median(self.stamps - self.arrivals[0])))


class Received:
    """Messages as they came, each with its time of arrival; `add` may be called from any thread.

    Args:
        settings: of the node, which name frames, sensor and gravity.
        urdf: robot description, where a file gives it.
    """

    def __init__(self, settings: Settings, urdf: str = "") -> None:
        self.settings, self._urdf = settings, urdf
        self._logs: dict[InputTopic, deque[tuple[int, bytes]]] = {}
        self._lock = threading.Lock()

    def add(self, topic: InputTopic, arrival_ns: int, data: bytes) -> None:
        """Keep a message; what is older than a minute is forgotten, but not what is latched."""
        with self._lock:
            log = self._logs.setdefault(topic, deque(maxlen=FLOOD))
            log.append((arrival_ns, data))
            while not topic.latched and arrival_ns - log[0][0] > KEPT_NS:
                log.popleft()

    def wrench(self, first_ns: int = 0, last_ns: int = ALWAYS) -> Stream:
        """The wrenches that came between two times."""
        return max((Stream(at, some.stamps, some.rows, (some.frame_id,))
                    for at, some in self._samples(first_ns, last_ns, OF_WRENCH)
                    if isinstance(some, Wrenches)), key=len, default=Stream())

    def joints(self, first_ns: int = 0, last_ns: int = ALWAYS) -> Stream:
        """The joint positions that came between two times, of the layout that came most."""
        return max((Stream(at, some.stamps, some.positions, some.names)
                    for at, some in self._samples(first_ns, last_ns, OF_JOINTS)
                    if isinstance(some, JointStates)), key=len, default=Stream())

    def newest_positions(self) -> dict[str, float]:
        """The last position of each joint [rad or m]."""
        return {name: position
                for _, some in self._samples(self._newest(OF_JOINTS), ALWAYS, OF_JOINTS)
                if isinstance(some, JointStates)
                for name, position in zip(some.names, some.positions[-1].tolist(), strict=True)}

    @property
    def description(self) -> str:
        """The robot description; empty: none was received."""
        for data in reversed(self._data(ROBOT_DESCRIPTION)[1]):
            with suppress(ValueError):  # damaged
                return text(data)
        return self._urdf

    def window(self, first_ns: int, last_ns: int) -> Window:
        """Wrench and motion of a time; of no bin where they are not known together."""
        streams, history = self._filled(first_ns, last_ns), History()
        motion, stamps, rows = streams.advance(finished=True)
        history.append(motion, stamps, streams.sign * rows)
        return history.window(history.end, LONGEST)

    def streams(self, first_ns: int | None = None, last_ns: int = ALWAYS) -> Streams:
        """The inputs of the identification with what came between two times; None: newly."""
        out = self._filled(self._newest(SAMPLED) if first_ns is None else first_ns, last_ns)
        out.advance(finished=True)
        return out

    def _filled(self, first_ns: int, last_ns: int) -> Streams:
        streams = Streams(self.settings)
        if self.description:
            streams.set_robot_description(self.description)
        for edge in decode(STATIC_TRANSFORMS, self._data(STATIC_TRANSFORMS)[1],
                           self.settings).samples:
            assert isinstance(edge, Edges)
            streams.add_static_transform(edge.parent, edge.child, place_of(
                edge.rows[-1, :3].tolist(), edge.rows[-1, 3:].tolist()))
        for _, some in self._samples(first_ns, last_ns):
            if isinstance(some, Wrenches):
                streams.add_wrenches(some.stamps, some.frame_id, some.rows)
            elif isinstance(some, JointStates):
                streams.add_joint_states(some.stamps, some.names, some.positions)
            else:
                streams.add_transforms(some.stamps, some.parent, some.child, some.rows)
        return streams

    def _samples(self, first_ns: int, last_ns: int, topics: Iterable[InputTopic] = SAMPLED
                 ) -> Iterator[tuple[np.ndarray, Samples]]:
        """Times of arrival and samples of what came between two times, without damaged messages
        and joint states that lack positions."""
        for topic in topics:
            arrivals, messages = self._data(topic, first_ns, last_ns)
            for some in decode(topic, messages, self.settings).samples:
                if not isinstance(some, JointStates) or some.positions.shape[1] == len(some.names):
                    yield arrivals, some

    def _newest(self, topics: Iterable[InputTopic]) -> int:
        """When the messages that tell where the robot is now began to come [ns]."""
        with self._lock:
            return max((self._logs[topic][-1][0] for topic in topics if self._logs.get(topic)),
                       default=NEWEST_NS) - NEWEST_NS

    def _data(self, topic: InputTopic, first_ns: int = 0, last_ns: int = ALWAYS
              ) -> tuple[np.ndarray, list[bytes]]:
        """Times of arrival (n,) and messages that came between two times."""
        with self._lock:
            log = [entry for entry in self._logs.get(topic, ()) if first_ns <= entry[0] <= last_ns]
        return np.array([at for at, _ in log], np.int64), [data for _, data in log]


def place_in_root(streams: Streams, frame: str) -> Array:
    """(4, 4) from axes of a frame to those of the description's root (raises UnknownFrame)."""
    root = link_names(parse_urdf(streams.urdf))[0]
    return np.array(streams.tree().place(root, frame.lstrip("/"))[0].homogeneous)


def kinematics_of(streams: Streams) -> dict[str, Any]:
    """What the inputs say of the sensor's motion: the fields of `checks.Snapshot` about it."""
    missing, chain = streams.missing(), streams.chain.names if streams.chain else ()
    return {"chain": chain, "beyond": _joints_beyond(streams.urdf, chain) if chain else (),
            "frame": streams.frame, "tcp": _distance_of_tcp(streams),
            "missing": MISSING[missing[0]].format(**missing[1]) if missing else "",
            "findings": tuple(finding_of(*some) for some in streams.findings())}


def _distance_of_tcp(streams: Streams) -> float:
    """How far the TCP lies from the frame of the wrench [m], where a driver of Universal Robots,
    which expresses its wrench about the TCP, publishes it; else 0."""
    tree, tcp = streams.tree(), f"{streams.frame}_controller"
    if not streams.frame.endswith("tool0") or tcp not in tree:
        return 0.0
    return float(np.linalg.norm(tree.place(streams.frame, tcp)[0].translation))


def _joints_beyond(urdf: str, chain: tuple[str, ...]) -> tuple[str, ...]:
    """Joints of a description that only all joints of a chain carry."""
    model = parse_urdf(urdf)
    numbers = {model.getJointId(name) for name in chain}
    return tuple(model.names[j] for j in range(1, model.njoints)
                 if j not in numbers and numbers <= set(model.supports[j]))
