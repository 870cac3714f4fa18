# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Serialised messages as samples, without building message objects, which takes much longer. CDR
(XCDR1) as ROS 2 writes it: four bytes of encapsulation, the second of which tells the byte order,
then fields aligned to their own size, counted from after the encapsulation."""

import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..inertia import PARAMETER_NAMES, Array
from . import inputs
from .inputs import Edges, InputTopic, JointStates, Samples, StatedPayload, Wrenches

START = 4
PAYLOAD = ("mass", "cog.x", "cog.y", "cog.z")
ENTRIES = PARAMETER_NAMES[4:]
INERTIA = tuple(f"inertia.{entry}" for entry in ENTRIES)
Interfaces = dict[tuple[str, str], float]  # numbers by joint or sensor, and interface
Numbers = tuple[float, ...]


class Reader:
    """Reads the fields of a serialised message one after the other (raises ValueError)."""

    def __init__(self, data: bytes) -> None:
        if len(data) < START or data[0] != 0 or data[1] > 1:
            raise ValueError(f"it begins with 0x{data[:START].hex()}, not as plain CDR does")
        self._data, self._at, self._order = data, START, "<" if data[1] else ">"

    def _numbers(self, kind: str, size: int) -> tuple[Any, ...]:
        """Numbers of a format of `struct`, of which the first is aligned to so many bytes."""
        begin = self._at + -(self._at - START) % size
        try:
            numbers = struct.unpack_from(self._order + kind, self._data, begin)
        except struct.error:
            raise ValueError("it is cut off") from None
        self._at = begin + struct.calcsize(self._order + kind)
        return numbers

    def stamp(self) -> int:
        """A stamp [ns]."""
        seconds, nanoseconds = self._numbers("iI", 4)
        return int(seconds * 1_000_000_000 + nanoseconds)

    def count(self) -> int:
        """The length of a text or a sequence."""
        return int(self._numbers("I", 4)[0])

    def text(self) -> str:
        """A text."""
        size = self.count()
        given = self._data[self._at:self._at + size]
        self._at += size
        if len(given) < size or given[-1:] != b"\0":
            raise ValueError("a text that does not end")
        return str(given[:-1], "utf-8")

    def texts(self) -> tuple[str, ...]:
        """A sequence of texts."""
        return tuple([self.text() for _ in range(self.count())])

    def doubles(self, count: int) -> Numbers:
        """So many doubles, of which none are not aligned."""
        return self._numbers(f"{count}d", 8) if count else ()


def text(data: bytes) -> str:
    """The content of a serialised std_msgs/String (raises ValueError)."""
    return Reader(data).text()


class Sample(NamedTuple):
    """One sample: kind of `Samples`, stamp [ns], and their fields: labels, and rows of arrays."""

    kind: Callable[..., Samples]
    stamp: int
    labels: tuple[Any, ...]
    rows: tuple[Numbers, ...]


def _wrench(reader: Reader) -> list[Sample]:
    return [Sample(Wrenches, reader.stamp(), (reader.text(),), (reader.doubles(6),))]


def _joint_state(reader: Reader) -> list[Sample]:
    stamp, _frame, names = reader.stamp(), reader.text(), reader.texts()
    positions, _speeds, efforts = [reader.doubles(reader.count()) for _ in range(3)]
    rows = (positions, efforts) if len(efforts) == len(names) else (positions,)
    return [Sample(JointStates, stamp, (names,), rows)]


def _transforms(reader: Reader) -> list[Sample]:
    return [Sample(Edges, reader.stamp(), (reader.text(), reader.text()), (reader.doubles(7),))
            for _ in range(reader.count())]


# The samples in messages of a topic (raise ValueError).
READERS = {inputs.WRENCH: _wrench, inputs.JOINT_STATES: _joint_state,
           inputs.TRANSFORMS: _transforms, inputs.STATIC_TRANSFORMS: _transforms}


class Decoded(NamedTuple):
    """What messages of a topic hold."""

    samples: list[Samples]  # of each stream one block, in the order of the messages
    damaged: int  # number of messages that cannot be used
    why: str  # of the last of them


def decode(topic: InputTopic, messages: Sequence[bytes], times: Sequence[int] | None = None
           ) -> Decoded:
    """What messages of a topic of `READERS` hold; times: other stamps than they have [ns]."""
    streams: dict[tuple[Any, ...], list[Sample]] = {}
    damaged, why = 0, ""
    for k, data in enumerate(messages):
        try:
            for sample in READERS[topic](Reader(data)):
                sample = sample if times is None else sample._replace(stamp=times[k])
                streams.setdefault((*sample.labels, *map(len, sample.rows)), []).append(sample)
        except ValueError as error:
            damaged, why = damaged + 1, str(error)
    return Decoded([some[0].kind(
        np.array([sample.stamp for sample in some], dtype=np.int64), *some[0].labels,
        *(np.array(rows, dtype=float) for rows in zip(*(sample.rows for sample in some),
                                                      strict=True)))
        for some in streams.values()], damaged, why)


class StateReader:
    """Reads messages of drivers that state a payload, those of `PAYLOADS`, one after the other."""

    def __init__(self) -> None:
        self._keys: list[tuple[str, ...]] = []  # of values that come without them

    def payload(self, message: Any, name: str) -> StatedPayload | None:
        """The payload that a message states, under a name among interfaces; None: none."""
        message = getattr(message, "inertia_load", message)
        if hasattr(message, "inertia"):
            return StatedPayload(message.header.frame_id.lstrip("/"),
                                 inertia_numbers(message.inertia))
        values = payload_among(self.interfaces(message), name)
        return None if values is None else StatedPayload("", values)

    def interfaces(self, message: Any) -> Interfaces:
        """What a control_msgs/DynamicJointState says, or a Float64Values by the Keys before it."""
        if hasattr(message, "keys"):
            self._keys = [key.rpartition("/")[::2] for key in message.keys]
        if hasattr(message, "joint_names"):
            return {(name, kind): float(value) for name, some
                    in zip(message.joint_names, message.interface_values, strict=False)
                    for kind, value in zip(some.interface_names, some.values, strict=False)}
        return {(name, kind): float(value) for (name, kind), value
                in zip(self._keys, getattr(message, "values", ()), strict=False)}


def payload_among(values: Interfaces, name: str) -> Array | None:
    """Mass, centre of mass and inertia about it (10,), zero where it is not stated, of the payload
    that a driver states under a name; None: it states none."""
    if any((name, kind) not in values for kind in PAYLOAD):
        return None
    # A driver that publishes no inertia does not compensate that of the payload.
    return np.array([values.get((name, kind), 0.0) for kind in PAYLOAD + INERTIA])


def inertia_numbers(i: Any) -> Array:
    """Mass, centre of mass and inertia about it (10,) of a geometry_msgs/Inertia."""
    return np.array([i.m, i.com.x, i.com.y, i.com.z, *(getattr(i, name) for name in ENTRIES)])
