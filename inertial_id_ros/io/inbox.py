# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Serialised messages between the thread that receives them and the thread that decodes them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..inertia import Array
from ..settings import Settings
from . import decoding
from .input_topics import DYNAMIC_PAYLOAD, ROBOT_DESCRIPTION, STATIC_TRANSFORMS, InputTopic
from .sample_blocks import Edges, Samples

MOST = 256_000_000  # bytes that may wait


@dataclass
class Received:
    """What came on a topic: number of messages, and the steady time of the last one [s]."""

    count: int = 0
    arrived: float = field(default_factory=time.monotonic)


class Inbox:
    """One thread adds, another one takes.

    Attributes:
        received: by topic; lost: number of messages for which there was no room.
    """

    def __init__(self, topics: Iterable[InputTopic]) -> None:
        self.received = {topic: Received() for topic in topics}
        self.lost = 0
        self._waiting: dict[InputTopic, deque[bytes]] = {topic: deque() for topic in self.received}
        self._added = self._taken = 0  # bytes; one thread counts up the one, one the other

    def add(self, topic: InputTopic, data: bytes) -> None:
        """Add a message; it is lost where there is no room."""
        received = self.received[topic]
        received.count += 1
        received.arrived = time.monotonic()
        if self._added - self._taken > MOST:
            self.lost += 1
            return
        self._added += len(data)
        self._waiting[topic].append(data)

    def take(self) -> dict[InputTopic, list[bytes]]:
        """The messages of each topic that wait."""
        out = {topic: [queue.popleft() for _ in range(len(queue))]
               for topic, queue in self._waiting.items() if queue}
        self._taken += sum(map(len, sum(out.values(), [])))
        return out


@dataclass
class Inputs:
    """What messages hold.

    Attributes:
        samples: by stream; fixed: transforms that stay.
        description: the newest robot description, or None.
        payload: mass [kg], centre of mass (3,) [m] and inertia about it (6,) [kg m^2] that the
            driver states, in the frame of the sensor; None: it states none.
        others: the newest message of each topic that is not decoded here.
        damaged: number of messages that cannot be used, and why the last cannot, by topic.
    """

    samples: list[Samples] = field(default_factory=list)
    fixed: list[Edges] = field(default_factory=list)
    description: str | None = None
    payload: Array | None = None
    others: dict[InputTopic, bytes] = field(default_factory=dict)
    damaged: dict[InputTopic, tuple[int, str]] = field(default_factory=dict)


def decode(messages: Mapping[InputTopic, list[bytes]], settings: Settings) -> Inputs:
    """The content of serialised messages by topic."""
    out, driver = Inputs(), settings.precompensated
    for topic, some in messages.items():
        if topic is ROBOT_DESCRIPTION:
            try:
                out.description = decoding.text(some[-1])
            except ValueError as error:
                out.damaged[topic] = 1, str(error)
            continue
        if topic not in decoding.LEARN:
            out.others[topic] = some[-1]
            continue
        apart = topic is DYNAMIC_PAYLOAD  # of another controller than the samples
        decoded = decoding.decode(topic, some[-1:] if apart else some, settings)
        if topic is STATIC_TRANSFORMS:
            out.fixed += [edges for edges in decoded.samples if isinstance(edges, Edges)]
        elif not apart:
            out.samples += decoded.samples
        if decoded.payload is not None and driver.source == "dynamic_joint_states" and (
                apart or not driver.topic):
            out.payload = decoded.payload
        if decoded.damaged:
            out.damaged[topic] = decoded.damaged, decoded.why
    return out
