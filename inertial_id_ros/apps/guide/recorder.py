# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What arrives while the guide listens: messages, and what they tell of wrench and motion."""

import math
from collections import deque
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from ...errors import InertialIdError
from ...identify.identifier import BATCH
from ...io import inputs
from ...io.decoding import READERS, Reader, decode
from ...io.files import user_path
from ...io.inputs import InputTopic, split_by_time
from ...kinds import made
from ...model.history import LONGEST, History, Window
from ...motion.frames import place_of
from ...motion.robot import link_names, model_of, read_description
from ...motion.source import Streams
from ...settings import Settings

MOST = 100_000  # messages of a topic that are kept
RECENT = 0.2  # s, in which each joint has said where it is


class Heard(NamedTuple):
    """What messages tell."""

    streams: Streams
    window: Window  # wrench and motion, of no bin where they are not known together
    problem: str  # why the newest robot description cannot be used; empty: it can

    def place_in_root(self, frame: str) -> np.ndarray:
        """(4, 4) from axes of a frame to those of the description's root (raises UnknownFrame)."""
        root = link_names(model_of(self.streams.urdf)[0])[0]
        return np.array(self.streams.tree().place(root, frame.lstrip("/"))[0].homogeneous)


class Recorder:
    """The inputs of the identification since `begin`, by the settings of the node.

    Attributes:
        messages: by topic, as they are serialised, with the time of arrival by the clock that
            stamps are of [ns]. Any thread may append; whoever asks has them decoded.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings, self._pose = settings, dict[str, float]()
        self.messages = {topic: deque[tuple[int, bytes]](maxlen=MOST) for topic in (
            inputs.input_topics(settings)) if topic in READERS or topic is inputs.ROBOT_DESCRIPTION}

    def begin(self) -> None:
        """Forget everything but what is latched, and where the joints are."""
        self.pose()
        for topic, messages in self.messages.items():
            if not topic.latched:
                messages.clear()

    def samples(self, topic: InputTopic, seconds: float = math.inf) -> list[Any]:
        """Samples of a topic, of messages that arrived in the last so many seconds."""
        messages = self.messages[topic].copy()
        begin = messages[-1][0] - 1e9 * seconds if messages else 0.0
        newest = takewhile(lambda message: message[0] > begin, reversed(messages))
        return decode(topic, [data for _, data in newest][::-1])[0]

    def pose(self) -> dict[str, float]:
        """Where each joint is now [rad or m]."""
        for some in self.samples(inputs.JOINT_STATES, RECENT):
            self._pose.update(zip(some.names, some.positions[-1].tolist(), strict=False))
        return self._pose.copy()

    def wrench(self, seconds: float = math.inf) -> np.ndarray:
        """Readings (n, 6) of the last so many seconds, by arrival and by stamps."""
        return np.concatenate([np.empty((0, 6)), *(
            some.rows[some.stamps > some.stamps[-1] - 1e9 * seconds]
            for some in self.samples(inputs.WRENCH, seconds))])

    def read(self) -> Heard:
        """What all messages tell."""
        streams, history, problem = Streams(self._settings), History(), ""
        if file := self._settings.robot_description.file:
            streams.set_robot_description(read_description(user_path(file)))
        for _, data in tuple(self.messages.get(inputs.ROBOT_DESCRIPTION, ())):  # more may come
            try:
                streams.set_robot_description(Reader(data).text())
                problem = ""
            except (InertialIdError, ValueError) as error:
                problem = str(error)
        for edge in self.samples(inputs.STATIC_TRANSFORMS):
            for row in edge.rows:
                streams.frames.fix(edge.parent, edge.child, place_of(row[:3], row[3:]))
        moving = [some for topic in self.messages if topic in READERS and not topic.latched
                  for some in self.samples(topic)]
        for part in split_by_time(moving, BATCH):
            for some in part:
                streams.add(some)
            restarts = streams.restarts
            motion, stamps, rows, _ = streams.advance()
            if streams.restarts != restarts:
                history = History()
            history.append(motion, stamps, streams.sign * rows)
        return Heard(streams, history.window(history.end, LONGEST), problem)

    def facts(self) -> dict[str, Any]:
        """The fields of `checks.Snapshot` about wrench, joints and motion of the sensor."""
        heard, ages = self.read(), dict[str, float]()
        for what, topic in (("wrench", inputs.WRENCH), ("joint states", inputs.JOINT_STATES)):
            messages = self.messages[topic].copy()
            arrived, said = (decode(topic, [data for _, data in messages], times)[0]
                             for times in ([time for time, _ in messages], None))
            if late := [a.stamps - b.stamps for a, b in zip(arrived, said, strict=True)]:
                ages[what] = 1e-9 * float(np.median(np.concatenate(late)))
        streams, omega = heard.streams, heard.window.motion.omega
        # A driver of Universal Robots expresses its wrench about the TCP, and publishes that.
        tree, tcp, far = streams.tree(), f"{streams.frame}_controller", 0.0
        if streams.frame.endswith("tool0") and tcp in tree:
            far = float(np.linalg.norm(tree.place(streams.frame, tcp)[0].translation))
        return {
            "wrench": self.wrench(), "ages": ages,
            "joints": max((len(s.stamps) for s in self.samples(inputs.JOINT_STATES)), default=0),
            "speed": float(np.sqrt(np.square(omega).sum(axis=1).mean())) if len(omega) else None,
            "chain": streams.chain.names if streams.chain else (), "frame": streams.frame,
            "tcp": far, "findings": tuple(made(*some) for some in streams.findings()),
            "missing": heard.problem or streams.missing()}
