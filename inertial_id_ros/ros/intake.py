# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What has arrived, as the identifier takes it, and what of it cannot be used."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from rclpy.serialization import deserialize_message

from ..errors import InertialIdError
from ..identify.beliefs import stated_by_driver
from ..identify.identifier import Identifier
from ..inertia import Array
from ..io.decoding import inertia_numbers
from ..io.inbox import Inbox, decode
from ..io.input_topics import FRANKA_PAYLOAD, InputTopic
from ..io.sample_blocks import JointStates, Samples, Wrenches
from ..kinds import Finding, made
from .compat import message_type


class Notes:
    """Findings of the node itself; any thread may set or clear one of a name of its own."""

    def __init__(self) -> None:
        self._findings: dict[str, Finding] = {}

    def say(self, name: str, why: str = "", **numbers: Any) -> None:
        """Set a finding with what its sentence needs, or clear it where nothing is given."""
        if why or numbers:
            self._findings[name] = made(name, why=why, **numbers)
        else:
            self._findings.pop(name, None)

    def all(self) -> tuple[Finding, ...]:
        """All of them."""
        return tuple(self._findings.copy().values())


class Intake:
    """Hands an identifier all but the samples, in its thread.

    Attributes:
        newest: stamp of the newest sample of the load [ns]; frame: that the wrench names.
    """

    def __init__(self, identifier: Identifier, notes: Notes) -> None:
        self._identifier, self._notes = identifier, notes
        self.newest, self.frame = 0, ""
        self._stated: Array | None = None
        self._damaged: dict[str, int] = {}

    def take(self, inbox: Inbox) -> list[Samples]:
        """Empty an inbox; returns the samples."""
        settings = self._identifier.settings
        inputs = decode(inbox.take(), settings)
        for edges in inputs.fixed:
            for row in edges.rows:
                self._identifier.add_static_transform(edges.parent, edges.child, row[:3], row[3:])
        if inputs.description is not None:
            self._use_description(inputs.description)
        load = Wrenches if settings.load.source == "wrench" else JointStates
        for samples in inputs.samples:
            if isinstance(samples, load):
                self.newest = int(samples.stamps[-1])
            if isinstance(samples, Wrenches):
                self.frame = samples.frame_id.lstrip("/")
        for topic, (count, why) in inputs.damaged.items():
            name = topic.setting.partition(".")[0]
            self._damaged[name] = self._damaged.get(name, 0) + count
            self._notes.say(f"message_malformed.{name}", why, count=self._damaged[name])
        if inputs.payload is not None:
            self._use_payload("", inputs.payload)
        for topic, data in inputs.others.items():
            self._use_payload(*_stated(topic, data))
        if inbox.lost:
            self._notes.say("overload", count=inbox.lost)
        return inputs.samples

    def _use_description(self, urdf: str) -> None:
        try:
            self._identifier.set_robot_description(urdf)
        except InertialIdError as error:
            self._notes.say("robot_description_invalid", str(error))
        else:
            self._notes.say("robot_description_invalid")

    def _use_payload(self, frame: str, stated: Array) -> None:
        """Believe that the driver compensates a payload: mass, centre of mass and inertia about it
        (10,) in a frame (empty: of the sensor)."""
        identifier = self._identifier
        if self._stated is not None and np.array_equal(stated, self._stated):
            return
        try:
            phi = stated_by_driver(stated, frame, identifier.settings, identifier.streams)
        except InertialIdError as error:  # tried again with the next message
            self._notes.say("payload_not_added", str(error))
            return
        self._stated = stated
        self._notes.say("payload_not_added")
        identifier.believe(replace(identifier.beliefs, compensated=phi))


def _stated(topic: InputTopic, data: bytes) -> tuple[str, Array]:
    """Frame and payload (10,) that a serialised message states."""
    message = deserialize_message(data, message_type(topic.type))
    if topic is FRANKA_PAYLOAD:
        message = message.inertia_load
    return message.header.frame_id, inertia_numbers(message.inertia)
