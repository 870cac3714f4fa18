# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Serialised messages as samples, without building message objects, which takes much longer. CDR
(XCDR1) as ROS 2 writes it: four bytes of encapsulation, the second of which tells the byte order,
then fields aligned to their own size, counted from after the encapsulation."""

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..inertia import PARAMETER_NAMES, Array
from . import inputs
from .inputs import Edges, InputTopic, JointStates, Samples, StatedPayload, Wrenches

START, SECOND = 4, 1_000_000_000  # bytes of encapsulation; ns
PAYLOAD = ("mass", "cog.x", "cog.y", "cog.z")
ENTRIES = PARAMETER_NAMES[4:]
INERTIA = tuple(f"inertia.{entry}" for entry in ENTRIES)
Interfaces = dict[tuple[str, str], float]  # numbers by joint or sensor, and interface
Numbers = tuple[float, ...]
# Kind, place of the stamp, labels, and places of the rows of arrays, in a message.
Sample = tuple[Callable[..., Samples], slice, tuple[Any, ...], tuple[slice, ...]]


class Reader:
    """Finds the fields of a serialised message one after the other (raises ValueError).

    Attributes:
        order: of the bytes of a number, as in `struct`.
        said: bytes of lengths and texts so far: messages that have the same there have their
            numbers at the same places.
    """

    def __init__(self, data: bytes) -> None:
        if len(data) < START or data[0] != 0 or data[1] > 1:
            raise ValueError(f"it begins with 0x{data[:START].hex()}, not as plain CDR does")
        self._data, self._at, self.order = data, START, "<" if data[1] else ">"
        self.said = [slice(0, 2)]

    def place(self, size: int, align: int = 1) -> slice:
        """Where the next field is, of so many bytes, aligned to so many."""
        begin = self._at + -(self._at - START) % align
        self._at = begin + size
        if self._at > len(self._data):
            raise ValueError("it is cut off")
        return slice(begin, self._at)

    def count(self) -> int:
        """The length of a text or a sequence."""
        self.said.append(self.place(4, 4))
        return int(struct.unpack_from(self.order + "I", self._data, self._at - 4)[0])

    def text(self) -> str:
        """A text."""
        self.said.append(self.place(self.count()))
        given = self._data[self.said[-1]]
        if given[-1:] != b"\0":
            raise ValueError("a text that does not end")
        return str(given[:-1], "utf-8")

    def doubles(self, count: int) -> slice:
        """Where so many doubles are; none are not aligned."""
        return self.place(8 * count, 8 if count else 1)


def _wrench(reader: Reader) -> list[Sample]:
    return [(Wrenches, reader.place(8, 4), (reader.text(),), (reader.doubles(6),))]


def _joint_state(reader: Reader) -> list[Sample]:
    stamp, _frame = reader.place(8, 4), reader.text()
    names = tuple([reader.text() for _ in range(reader.count())])
    positions, _speeds, efforts = [reader.doubles(reader.count()) for _ in range(3)]
    is_whole = efforts.stop - efforts.start == 8 * len(names)
    return [(JointStates, stamp, (names,), (positions, efforts) if is_whole else (positions,))]


def _transforms(reader: Reader) -> list[Sample]:
    return [(Edges, reader.place(8, 4), (reader.text(), reader.text()), (reader.doubles(7),))
            for _ in range(reader.count())]


# The samples in messages of a topic (raise ValueError).
READERS = {inputs.WRENCH: _wrench, inputs.JOINT_STATES: _joint_state,
           inputs.TRANSFORMS: _transforms, inputs.STATIC_TRANSFORMS: _transforms}


def read(topic: InputTopic, data: bytes) -> list[tuple[Any, int, tuple[Any, ...], Numbers]]:
    """The samples in one message of a topic of `READERS` (raises ValueError): kind, stamp [ns],
    labels, first row."""
    reader, out = Reader(data), []
    for kind, stamp, labels, (row, *_) in READERS[topic](reader):
        seconds, nanoseconds = struct.unpack(reader.order + "iI", data[stamp])
        out.append((kind, seconds * SECOND + nanoseconds, labels,
                    struct.unpack(f"{reader.order}{(row.stop - row.start) // 8}d", data[row])))
    return out


def decode(topic: InputTopic, messages: Sequence[bytes], times: Sequence[int] | None = None
           ) -> tuple[list[Samples], int, str]:
    """The samples in messages of a topic of `READERS`, of each stream one block, in the order of
    the messages; the number of messages that cannot be used, and why the last of them cannot;
    times: other stamps than they have [ns]."""
    streams: dict[tuple[Any, ...], list[tuple[np.ndarray, ...]]] = {}
    sizes, waits = np.array([len(data) for data in messages]), np.ones(len(messages), bool)
    damaged, why = 0, ""
    while waits.any():  # those with the length and the texts of the first of them, at once
        first = int(waits.argmax())
        try:
            reader = Reader(messages[first])
            samples = READERS[topic](reader)
        except ValueError as error:
            damaged, why, waits[first] = damaged + 1, str(error), False
            continue
        some, said = np.flatnonzero(waits & (sizes == sizes[first])), np.r_[tuple(reader.said)]
        joined = b"".join([messages[k] for k in some.tolist()])
        data = np.frombuffer(joined, np.uint8).reshape(len(some), -1)
        alike = (data[:, said] == data[0, said]).all(axis=1)
        some, data = some[alike], data[alike]
        waits[some] = False
        for kind, stamp, labels, rows in samples:
            stamps, *values = (data[:, part].copy().view(reader.order + of)
                               for part, of in ((stamp, "i4"), *((row, "f8") for row in rows)))
            streams.setdefault((kind, labels, *(row.stop - row.start for row in rows)), []).append((
                some, np.asarray(times)[some] if times is not None else
                stamps @ [SECOND, 1], *(value.astype(float) for value in values)))
    out = []
    for (kind, labels, *_), parts in streams.items():
        number, *columns = map(np.concatenate, zip(*parts, strict=True))
        order = np.argsort(number, kind="stable")
        stamps, *values = (column[order] for column in columns)
        out.append(kind(stamps, *labels, *values))
    return out, damaged, why


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
