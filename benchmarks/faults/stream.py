# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Messages in the order of their arrival, and where they come from: simulation or a recording."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from inertial_id_ros.apps.simulation.cobot import SimulatedCobot
from inertial_id_ros.apps.simulation.payload import Payload
from inertial_id_ros.apps.simulation.settings import CobotSettings
from inertial_id_ros.errors import RecordingError
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.inertia import Array
from inertial_id_ros.settings import Settings

START_NS = 1_700_000_000_000_000_000
SECOND = 1_000_000_000
WRENCH, JOINTS, TRANSFORM = "add_wrench", "add_joint_state", "add_transform"


class Message(NamedTuple):
    """A message: when it arrives [ns], the method of Identifier, its arguments (stamp first)."""

    arrival: int
    method: str
    arguments: tuple[Any, ...]


class Truth(NamedTuple):
    """What is carried: mass [kg] and centre of mass (3,) [m] in the sensor frame."""

    mass: float
    com: Array


@dataclass(frozen=True, eq=False)
class Stream:
    """Messages of some seconds, and the truth behind them.

    Attributes:
        messages: in the order of their arrival.
        truths: (seconds from which on, truth), in order.
        prepare: gives a fresh identifier all that is latched.
        settings: changes of the defaults that the stream needs.
    """

    messages: list[Message]
    truths: tuple[tuple[float, Truth], ...]
    prepare: Callable[[Identifier], None]
    settings: dict[str, Any]

    def identifier(self, changes: dict[str, Any]) -> Identifier:
        """A fresh identifier for this stream."""
        made = Identifier(Settings().replace(self.settings | changes))
        self.prepare(made)
        return made

    def truth_at(self, seconds: float) -> Truth:
        """What is carried then."""
        return [truth for since, truth in self.truths if since <= seconds][-1]

    def sorted(self, messages: list[Message]) -> Stream:
        """The same with other messages, in the order of their arrival."""
        return replace(self, messages=sorted(messages, key=lambda m: m.arrival))

    def rewritten(self, method: str, change: Callable[[float, Message], list[Message]]) -> Stream:
        """Each message of a kind replaced by those that ``change(seconds, message)`` gives."""
        out: list[Message] = []
        for message in self.messages:
            if message.method == method:
                out += change(seconds(message), message)
            else:
                out.append(message)
        return self.sorted(out)


def seconds(message: Message) -> float:
    """Seconds of arrival since the start."""
    return (message.arrival - START_NS) / SECOND


def with_wrench(message: Message, wrench: Array) -> Message:
    """The same message with another wrench (6,)."""
    stamp, frame = message.arguments[:2]
    return message._replace(arguments=(stamp, frame, wrench[:3].tolist(), wrench[3:].tolist()))


def wrench_of(message: Message) -> Array:
    """Wrench (6,) of a message."""
    return np.array([*message.arguments[2], *message.arguments[3]])


class Simulation:
    """A simulated cobot with two payloads to choose from, moving in the same way.

    Args:
        payloads: what it may carry; seed: of noise and motion; motion: as in CobotSettings.
    """

    def __init__(self, payloads: tuple[Payload, ...], seed: int, motion: str = "point_to_point",
                 rate: float = 200.0) -> None:
        settings = CobotSettings().replace({
            "seed": seed, "motion": motion, "rate": rate, "speed": 1.2, "rest": 0.3,
            "tool_speed": 0.5, "bias": [3.0, -2.0, 4.0, 0.1, -0.2, 0.05]})
        self.rate = rate
        self._cobots = [SimulatedCobot(settings, payload=payload) for payload in payloads]
        self.truths = tuple(Truth(p.mass, np.asarray(p.com)) for p in payloads)

    def prepare(self, identifier: Identifier) -> None:
        """Give an identifier the robot description."""
        identifier.set_robot_description(self._cobots[0].urdf)

    def messages(self, first: float, last: float, carried: int) -> Iterator[Message]:
        """Messages from `first` to `last` [s] while a payload is carried."""
        cobot = self._cobots[carried]
        block = cobot.samples(round(first * self.rate), round((last - first) * self.rate))
        names, frame = cobot.joint_names, cobot.sensor_frame
        for t, q, w in zip(block.t, block.q, block.wrench, strict=True):
            stamp = START_NS + round(t * 1e9)
            yield Message(stamp, JOINTS, (stamp, names, q.tolist()))
            yield Message(stamp, WRENCH, (stamp, frame, w[:3].tolist(), w[3:].tolist()))

    def stream(self, parts: list[tuple[float, int]], end: float) -> Stream:
        """A stream that carries payload `parts[k][1]` from `parts[k][0]` [s] on."""
        messages: list[Message] = []
        edges = [since for since, _ in parts] + [end]
        for (since, carried), until in zip(parts, edges[1:], strict=True):
            messages += self.messages(since, until, carried)
        truths = tuple((since, self.truths[carried]) for since, carried in parts)
        return Stream(messages, truths, self.prepare, {})


def data_folder() -> Path:
    """Folder of the recordings (INERTIAL_ID_DATA)."""
    default = Path(__file__).resolve().parents[3] / "shared" / "data"
    return Path(os.environ.get("INERTIAL_ID_DATA", default))


def recorded(name: str, times: int) -> Stream:
    """A real recording (KUKA LBR Med, ATI Gamma; TF without translation), played several times.

    Between two passes nothing is heard for a second, in which the arm may have moved anywhere.

    Raises:
        RecordingError: it is not there.
    """
    from rosbags.highlevel import AnyReader

    folder = data_folder() / "kuka_ati_gamma" / name
    if not folder.is_dir():
        raise RecordingError(f"recording {folder} is missing (set INERTIAL_ID_DATA)")
    once: list[Message] = []
    with AnyReader([folder]) as reader:
        for connection, _, raw in reader.messages():
            content: Any = reader.deserialize(raw, connection.msgtype)
            if connection.topic == "/ft_sensor/wrench":
                f, t = content.wrench.force, content.wrench.torque
                stamp = _stamp(content.header)
                once.append(Message(stamp, WRENCH, (stamp, content.header.frame_id,
                                                    [f.x, f.y, f.z], [t.x, t.y, t.z])))
            elif connection.topic == "/tf":
                for item in content.transforms:
                    p, q = item.transform.translation, item.transform.rotation
                    stamp = _stamp(item.header)
                    once.append(Message(stamp, TRANSFORM, (
                        stamp, item.header.frame_id, item.child_frame_id, [p.x, p.y, p.z],
                        [q.x, q.y, q.z, q.w])))
    once.sort(key=lambda m: m.arrival)
    length = once[-1].arrival - once[0].arrival + SECOND
    messages = [moved(m, START_NS - once[0].arrival + k * length)
                for k in range(times) for m in once]
    truth = Truth(0.933, np.array([0.0, 0.0, 0.0439]))  # of 24 still poses of the same tool
    return Stream(messages, ((0.0, truth),), lambda identifier: None, {})


def _stamp(header: Any) -> int:
    return int(header.stamp.sec) * SECOND + int(header.stamp.nanosec)


def moved(message: Message, by: int) -> Message:
    """The same message at another time [ns], its stamp with it."""
    return Message(message.arrival + by, message.method,
                   (message.arguments[0] + by, *message.arguments[1:]))


def restamped(message: Message, by: int) -> Message:
    """The same message with another stamp."""
    return message._replace(arguments=(message.arguments[0] + by, *message.arguments[1:]))
