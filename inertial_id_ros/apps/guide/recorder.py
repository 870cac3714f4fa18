# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What arrives while the guide listens: samples, and wrench and motion of the sensor."""

from __future__ import annotations

import threading
from collections import Counter, deque
from typing import Any

import numpy as np

from ...errors import InertialIdError
from ...io import inputs
from ...io.decoding import READERS, decode, text
from ...io.files import user_path
from ...io.inputs import Edges, InputTopic, JointStates, Samples, Wrenches
from ...kinds import made
from ...model.history import LONGEST, History, Window
from ...motion.frames import place_of
from ...motion.robot import link_names, parse_urdf, read_description
from ...motion.source import Streams
from ...settings import Settings

MOST = 100_000  # messages of a topic, and blocks of samples, that are kept


class Recorder:
    """The inputs of the identification since `begin`, by the settings of the node.

    For any thread: one adds messages to `waiting`, by topic with the time of arrival by the clock
    that stamps are of [ns]; whoever asks has them decoded.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings, self._problem, self._lock = settings, "", threading.Lock()
        self.waiting = {topic: deque[tuple[int, bytes]](maxlen=MOST) for topic in (
            inputs.input_topics(settings)) if topic not in inputs.PAYLOADS.values()}
        self._pose: dict[str, float] = {}
        self._kept: deque[tuple[float, Samples]] = deque(maxlen=MOST)  # with their ages [s]
        self._streams, self._history = Streams(settings), History()
        if file := settings.robot_description.file:
            self._streams.set_robot_description(read_description(user_path(file)))

    def begin(self) -> None:
        """Forget the samples."""
        self.update()
        with self._lock:
            self._streams, self._history = self._streams.emptied(), History()
            self._kept.clear()

    def update(self) -> None:
        """Decode what has arrived."""
        with self._lock:
            for topic, waiting in self.waiting.items():
                if messages := [waiting.popleft() for _ in range(len(waiting))]:
                    self._add(topic, messages[-1][0], [data for _, data in messages])
            restarts = self._streams.restarts
            motion, stamps, rows = self._streams.advance()
            if self._streams.restarts != restarts:
                self._history = History()
            self._history.append(motion, stamps, self._streams.sign * rows)

    def _add(self, topic: InputTopic, arrival_ns: int, messages: list[bytes]) -> None:
        """Add what messages hold, the last of which arrived then."""
        if topic not in READERS:
            try:
                self._streams.set_robot_description(text(messages[-1]))
                self._problem = ""
            except (InertialIdError, ValueError) as error:
                self._problem = str(error)
            return
        for some in decode(topic, messages).samples:
            if topic is inputs.STATIC_TRANSFORMS and isinstance(some, Edges):
                for row in some.rows.tolist():
                    self._streams.frames.fix(some.parent, some.child, place_of(row[:3], row[3:]))
                continue
            self._streams.add(some)
            self._kept.append((1e-9 * (arrival_ns - int(some.stamps[-1])), some))
            if isinstance(some, JointStates):
                self._pose.update(zip(some.names, some.positions[-1].tolist(), strict=False))

    @property
    def pose(self) -> dict[str, float]:
        """Where each joint is now [rad or m]."""
        self.update()
        return self._pose.copy()

    @property
    def description(self) -> str:
        """The robot description; empty: there is none."""
        return self._streams.urdf

    def window(self) -> Window:
        """Wrench and motion, of no bin where they are not known together."""
        self.update()
        with self._lock:
            return self._history.window(self._history.end, LONGEST)

    def wrench(self, last_ns: int = 0) -> np.ndarray:
        """The newest readings (n, 6), of so long a time [ns]; 0: all that are kept."""
        self.update()
        with self._lock:
            rows = [some for _, some in self._kept if isinstance(some, Wrenches)]
        newest = rows[-1].stamps[-1] if rows else 0
        return np.concatenate([np.empty((0, 6)), *(
            some.rows[some.stamps > newest - last_ns] if last_ns else some.rows for some in rows)])

    def place_in_root(self, frame: str) -> np.ndarray:
        """(4, 4) from axes of a frame to those of the description's root (raises UnknownFrame)."""
        root = link_names(parse_urdf(self.description))[0]
        with self._lock:
            return np.array(self._streams.tree().place(root, frame.lstrip("/"))[0].homogeneous)

    def facts(self) -> dict[str, Any]:
        """The fields of `checks.Snapshot` about wrench, joints and motion of the sensor."""
        omega = self.window().motion.omega
        with self._lock:
            streams, kept, problem = self._streams, list(self._kept), self._problem
            missing, chain = streams.missing(), streams.chain.names if streams.chain else ()
            findings = tuple(made(*some) for some in streams.findings())
            # A driver of Universal Robots expresses its wrench about the TCP, and publishes that.
            tree, tcp, far = streams.tree(), f"{streams.frame}_controller", 0.0
            if streams.frame.endswith("tool0") and tcp in tree:
                far = float(np.linalg.norm(tree.place(streams.frame, tcp)[0].translation))
        counts = Counter[tuple[str, ...]]()
        for _, some in kept:
            if isinstance(some, JointStates):
                counts[some.names] += len(some.stamps)
        return {
            "wrench": self.wrench(), "joints": max(counts.values(), default=0),
            "joint_names": tuple(self.pose),
            "speed": float(np.sqrt(np.square(omega).sum(axis=1).mean())) if len(omega) else None,
            "ages": {what: float(np.median(ages)) for what, kind in (
                ("wrench", Wrenches), ("joint states", JointStates))
                if (ages := [age for age, some in kept if isinstance(some, kind)])},
            "chain": chain, "beyond": _joints_beyond(streams.urdf, chain) if chain else (),
            "frame": streams.frame, "tcp": far, "findings": findings,
            "missing": problem or missing}


def _joints_beyond(urdf: str, chain: tuple[str, ...]) -> tuple[str, ...]:
    """Joints of a description that only all joints of a chain carry."""
    model = parse_urdf(urdf)
    numbers = {model.getJointId(name) for name in chain}
    return tuple(model.names[j] for j in range(1, model.njoints)
                 if j not in numbers and numbers <= set(model.supports[j]))
