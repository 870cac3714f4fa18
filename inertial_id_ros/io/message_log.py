# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The last minutes of serialised messages, in memory of bounded size."""

from __future__ import annotations

import heapq
import struct
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

MARK = -1  # number of the topic of marks
_HEADER = struct.Struct("<HqqI")  # topic, time [ns], place, bytes that follow
_CHUNK_BYTES = 250_000  # dropped as a whole when it is too old
_BETWEEN = 16  # ns at least from one message to the next, so that marks have times of their own


class LoggedMessage(NamedTuple):
    """A serialised message.

    Attributes:
        topic: its number; `MARK` for a mark, of which data is the text.
        time_ns: of its arrival [ns]. No two messages have the same.
        place: samples that had come before it.
    """

    topic: int
    time_ns: int
    place: int
    data: bytes


class _Chunk:
    """Messages that follow each other, packed into one block of bytes."""

    def __init__(self) -> None:
        self.packed = bytearray()
        self.newest_ns = self.count = 0

    def messages(self) -> Iterator[LoggedMessage]:
        packed, at = bytes(self.packed), 0
        while at < len(packed):
            topic, time_ns, place, size = _HEADER.unpack_from(packed, at)
            at += _HEADER.size
            yield LoggedMessage(topic, time_ns, place, packed[at:at + size])
            at += size


class MessageLog:
    """Keeps messages until they are too old or too many, the oldest first.

    One thread adds messages, another marks, a third may take a snapshot meanwhile. Messages of
    latched topics, which come once, are kept whatever their age.

    Args:
        duration: of what is kept [s]; most_bytes: that it may need, latched messages apart.

    Attributes:
        forgets: whether messages were dropped since the log began.
    """

    def __init__(self, duration: float, most_bytes: int) -> None:
        self._duration_ns, self._most_bytes = round(duration * 1e9), most_bytes
        self._chunks: deque[_Chunk] = deque([_Chunk()])
        self._bytes = self._newest_ns = 0
        self._latched: deque[LoggedMessage] = deque()
        self._latched_bytes = 0
        self._marks: deque[tuple[int, bytes]] = deque()
        self.forgets = False

    def add(self, topic: int, time_ns: int, place: int, data: bytes) -> None:
        """Add a message that arrived at a time [ns] not before that of the last."""
        newest = self._chunks[-1]
        self._newest_ns = newest.newest_ns = max(time_ns, self._newest_ns + _BETWEEN)
        newest.packed += _HEADER.pack(topic, self._newest_ns, place, len(data)) + data
        newest.count += 1
        self._bytes += _HEADER.size + len(data)
        if len(newest.packed) >= _CHUNK_BYTES:
            self._chunks.append(_Chunk())
            self._drop_old(time_ns)

    def add_latched(self, topic: int, time_ns: int, place: int, data: bytes) -> None:
        """Add a message of a latched topic; a copy of one that is there is left out."""
        if any(m.topic == topic and m.data == data for m in self._latched):
            return
        self._newest_ns = max(time_ns, self._newest_ns + _BETWEEN)
        self._latched.append(LoggedMessage(topic, self._newest_ns, place, data))
        self._latched_bytes += len(data)
        while self._latched_bytes > self._most_bytes and len(self._latched) > 1:
            self._latched_bytes -= len(self._latched.popleft().data)
            self.forgets = True

    def mark(self, place: int, text: str) -> None:
        """Note that something happened when so many samples had been processed."""
        if self.forgets:  # without what came before them, they say nothing
            self._marks.clear()
        else:
            self._marks.append((place, text.encode()))

    @property
    def has_messages(self) -> bool:
        """Whether anything was added, latched messages apart."""
        return self._bytes > 0

    def _drop_old(self, now_ns: int) -> None:
        """Drop whole chunks that are too old, or beyond the limit of bytes."""
        while len(self._chunks) > 1 and (
                self._chunks[0].newest_ns < now_ns - self._duration_ns
                or self._bytes > self._most_bytes):
            self._bytes -= len(self._chunks.popleft().packed)
            self.forgets = True

    def snapshot(self) -> Iterator[LoggedMessage]:
        """The messages at the time of the call, in the order of time, and the marks behind what had
        been processed; none where messages were dropped."""
        marks = [] if self.forgets else list(self._marks)
        counted = [(chunk, chunk.count) for chunk in list(self._chunks)]
        messages = (m for chunk, count in counted for m in islice(chunk.messages(), count))
        return _with_marks(heapq.merge(list(self._latched), messages, key=attrgetter("time_ns")),
                           marks)


def _with_marks(messages: Iterable[LoggedMessage],
                marks: list[tuple[int, bytes]]) -> Iterator[LoggedMessage]:
    """Messages, and each mark before the first that had not been processed."""
    waiting, time_ns = deque(marks), 0
    for message in messages:
        while waiting and waiting[0][0] <= message.place:
            place, text = waiting.popleft()
            time_ns += 1
            yield LoggedMessage(MARK, time_ns, place, text)
        yield message
        time_ns = message.time_ns
    for place, text in waiting:
        time_ns += 1
        yield LoggedMessage(MARK, time_ns, place, text)
