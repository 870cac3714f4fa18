# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Bags as recordings: their messages become samples, a second or so at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from math import isfinite
from typing import Any

import numpy as np

from ...errors import RecordingError
from ...findings import Finding
from ...io import decoding
from ...io.input_topics import (
    DYNAMIC_PAYLOAD,
    FRANKA_PAYLOAD,
    PAYLOADS,
    ROBOT_DESCRIPTION,
    STATIC_TRANSFORMS,
    InputTopic,
)
from ...io.sample_blocks import Edges, Samples
from ...kinds import made
from ...settings import Settings
from .bag_reader import BagReader, RawMessage
from .recording import FixedFrame, Part, Recording, StatedPayload
from .topics import select_topics

TOGETHER = 2000  # messages of a part
LONGEST = 1_000_000_000  # ns of one
FIRST = 20  # messages that are looked at: the first may still hold NaN
LEAST = 1e-3  # kg; less is no payload


def read_bag(bag: BagReader, settings: Settings, asked: Collection[str] = (),
             recorded_stamps: bool = False) -> Recording:
    """An open bag as a recording.

    Args:
        asked: names of settings that the user chose for this very recording.
        recorded_stamps: use the times of recording in place of the header stamps.

    Raises:
        RecordingError: it lacks a topic, or is damaged.
    """
    notes = list(bag.notes)
    topics = select_topics(bag, settings, asked, notes)
    reader = _Parts(bag, settings, topics, recorded_stamps)
    description, fixed = reader.latched()  # live, they are there at once
    return Recording(reader.parts(), bag.duration, reader.counts, description, fixed, tuple(notes),
                     _payload_not_added(bag, settings), reader.damaged)


class _Parts:
    """Goes once through the messages of a bag; counts, damaged: as `Recording` has them."""

    def __init__(self, bag: BagReader, settings: Settings, topics: Mapping[str, InputTopic],
                 recorded_stamps: bool) -> None:
        self._bag, self._settings, self._topics = bag, settings, topics
        self._recorded_stamps = recorded_stamps
        self.counts = dict.fromkeys(topics, 0)
        self.damaged: dict[str, tuple[int, str]] = {}

    def latched(self) -> tuple[str, tuple[FixedFrame, ...]]:
        """The newest robot description that can be read, and the frames that stay."""
        description, fixed = "", list[FixedFrame]()
        for name, _, data in self._bag.messages(
                {name: t.type for name, t in self._topics.items() if t.latched}):
            self.counts[name] += 1
            if self._topics[name] is ROBOT_DESCRIPTION:
                try:
                    description = decoding.text(data)
                except ValueError as error:
                    self._note_damage(name, 1, str(error))
                continue
            for edge in decoding.decode(STATIC_TRANSFORMS, [data], self._settings).samples:
                assert isinstance(edge, Edges)
                pose = edge.rows[-1].tolist()
                fixed.append((edge.parent, edge.child, tuple(pose[:3]), tuple(pose[3:])))
        return description, tuple(fixed)

    def parts(self) -> Iterator[Part]:
        """Parts in the order of the times of recording."""
        together: list[RawMessage] = []
        for message in self._bag.messages(
                {name: t.type for name, t in self._topics.items() if not t.latched}):
            if together and (len(together) >= TOGETHER
                             or message.log_time - together[0].log_time > LONGEST):
                yield self._part(together)
                together = []
            together.append(message)
        if together:
            yield self._part(together)

    def _part(self, messages: Sequence[RawMessage]) -> Part:
        samples: list[Samples] = []
        payload, driver = None, self._settings.precompensated
        for name in dict.fromkeys(message.topic for message in messages):
            some = [message for message in messages if message.topic == name]
            self.counts[name] += len(some)
            topic = self._topics[name]
            if topic in PAYLOADS.values():
                payload = _stated_payload(self._bag, topic, some[-1], self._settings) or payload
                continue
            times = np.array([m.log_time for m in some]) if self._recorded_stamps else None
            decoded = decoding.Decoder(topic, self._settings)([m.data for m in some], times)
            self._note_damage(name, decoded.damaged, decoded.why)
            samples += decoded.samples
            if decoded.payload is not None and not driver.topic and (
                    driver.source == "dynamic_joint_states"):  # in the message of the wrench
                payload = StatedPayload("", decoded.payload)
        return Part(samples, 1e-9 * (messages[-1].log_time - self._bag.start), payload)

    def _note_damage(self, name: str, count: int, why: str) -> None:
        if count:
            self.damaged[name] = self.damaged.get(name, (0, ""))[0] + count, why


def _stated_payload(bag: BagReader, topic: InputTopic, message: RawMessage, settings: Settings
                    ) -> StatedPayload | None:
    """The payload that a message of the driver states; None: it states none (raises
    RecordingError)."""
    if topic is DYNAMIC_PAYLOAD:
        found = decoding.decode(topic, [message.data], settings).payload
        return None if found is None else StatedPayload("", found)
    content = bag.decode(message, topic.type)
    given: Any = content.inertia_load if topic is FRANKA_PAYLOAD else content
    return StatedPayload(given.header.frame_id.lstrip("/"),
                         decoding.inertia_numbers(given.inertia))


def _payload_not_added(bag: BagReader, settings: Settings) -> tuple[Finding, ...]:
    """At most one finding: a driver states a payload, which it may compensate in the wrench, and
    the settings do not say so. Only the first messages of each topic are read."""
    driver = settings.precompensated
    if settings.load.source != "wrench" or driver.source != "settings" or driver.mass:
        return ()
    for source, topic in PAYLOADS.items():
        for recorded in bag.topics:
            if recorded.type != topic.type or topic not in (DYNAMIC_PAYLOAD, FRANKA_PAYLOAD):
                continue
            try:
                first = [_stated_payload(bag, topic, message, settings) for message in islice(
                    bag.messages({recorded.name: topic.type}), FIRST)]
            except RecordingError:  # the type is not defined in the file
                continue
            masses = [float(p.values[0]) for p in first if p is not None]
            mass = next((m for m in masses if isfinite(m) and m > LEAST), 0.0)
            if mass:
                return (made("payload_not_added", why=(
                    f"{recorded.name} states that a payload of {mass:.3f} kg is configured on "
                    "the robot, whose driver compensates it in its own wrench (where that is "
                    f"this one: precompensated.source={source} and precompensated.topic="
                    f"{recorded.name}; else precompensated.source=none)")),)
    return ()
