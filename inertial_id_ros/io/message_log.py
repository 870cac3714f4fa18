# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The last minutes of serialised messages, in memory of bounded size."""

from __future__ import annotations

import heapq
import struct
from collections import deque
from collections.abc import Iterator
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

_HEADER = struct.Struct("<hqI")  # topic, time [ns], bytes that follow
_CHUNK_BYTES = 250_000  # dropped as a whole when it is too old


class LoggedMessage(NamedTuple):
    """A serialised message.

    Attributes:
        topic: its number.
        time_ns: of its arrival [ns]; no two messages have the same, latched ones apart.
    """

    topic: int
    time_ns: int
    data: bytes


class _Chunk:
    """Messages that follow each other, packed into one block of bytes."""

    def __init__(self) -> None:
        self.packed = bytearray()
        self.newest_ns = self.count = 0

    def messages(self) -> Iterator[LoggedMessage]:
        packed, at = bytes(self.packed), 0
        while at < len(packed):
            topic, time_ns, size = _HEADER.unpack_from(packed, at)
            at += _HEADER.size
            yield LoggedMessage(topic, time_ns, packed[at:at + size])
            at += size


class MessageLog:
    """Keeps messages until they are too old or too many, the oldest first.

    One thread adds messages, another may take a snapshot meanwhile. Messages of latched topics,
    which come once, are kept whatever their age.

    Args:
        duration: of what is kept [s]; most_bytes: that it may need, latched messages apart.

    Attributes:
        forgets: whether messages were dropped since the log began.
        has_messages: whether any were added, latched ones apart.
    """

    def __init__(self, duration: float, most_bytes: int) -> None:
        self._duration_ns, self._most_bytes = round(duration * 1e9), most_bytes
        self._chunks: deque[_Chunk] = deque([_Chunk()])
        self._bytes = self._newest_ns = 0
        self._latched: deque[LoggedMessage] = deque()
        self._latched_bytes = 0
        self.forgets = self.has_messages = False

    def add(self, topic: int, time_ns: int, data: bytes) -> None:
        """Add a message that arrived at a time [ns] not before that of the last."""
        newest = self._chunks[-1]
        self._newest_ns = newest.newest_ns = max(time_ns, self._newest_ns + 1)
        newest.packed += _HEADER.pack(topic, self._newest_ns, len(data)) + data
        newest.count += 1
        self.has_messages = True
        self._bytes += _HEADER.size + len(data)
        if len(newest.packed) >= _CHUNK_BYTES:
            self._chunks.append(_Chunk())
            self._drop_old(time_ns)

    def add_latched(self, topic: int, time_ns: int, data: bytes) -> None:
        """Add a message of a latched topic, of any time [ns]; a copy of one that is there is left
        out."""
        if any(m.topic == topic and m.data == data for m in self._latched):
            return
        self._latched.append(LoggedMessage(topic, time_ns, data))
        self._latched_bytes += len(data)
        while self._latched_bytes > self._most_bytes and len(self._latched) > 1:
            self._latched_bytes -= len(self._latched.popleft().data)
            self.forgets = True

    def _drop_old(self, now_ns: int) -> None:
        """Drop whole chunks that are too old, or beyond the limit of bytes."""
        while len(self._chunks) > 1 and (
                self._chunks[0].newest_ns < now_ns - self._duration_ns
                or self._bytes > self._most_bytes):
            self._bytes -= len(self._chunks.popleft().packed)
            self.forgets = True

    def snapshot(self) -> Iterator[LoggedMessage]:
        """The messages at the time of the call, in the order of time."""
        counted = [(chunk, chunk.count) for chunk in list(self._chunks)]
        messages = (m for chunk, count in counted for m in islice(chunk.messages(), count))
        by_time = attrgetter("time_ns")
        return heapq.merge(sorted(self._latched, key=by_time), messages, key=by_time)
