# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The last minutes of serialised messages, in memory of bounded size."""

from __future__ import annotations

import heapq
from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain, islice, starmap
from operator import attrgetter
from typing import NamedTuple

_HEADER_BYTES = 14  # of a packed message beside its own: topic, time, length
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
    """Many messages that follow each other, packed: as objects they need several times the memory.

    Args:
        messages: (topic, time [ns], bytes) of each, at least one.
    """

    def __init__(self, messages: Sequence[tuple[int, int, bytes]]) -> None:
        topics, times, data = zip(*messages, strict=True)
        self._topics, self._times = array("h", topics), array("q", times)
        self._sizes = array("I", map(len, data))
        self._data = b"".join(data)
        self.newest_ns, self.size = times[-1], len(self._data) + _HEADER_BYTES * len(data)

    def messages(self) -> Iterator[LoggedMessage]:
        at = 0
        for topic, time_ns, size in zip(self._topics, self._times, self._sizes, strict=True):
            yield LoggedMessage(topic, time_ns, self._data[at:at + size])
            at += size


class MessageLog:
    """Keeps messages until they are too old or too many, the oldest first.

    One thread adds messages, another may take a snapshot meanwhile. Messages of latched topics,
    which come once, are kept whatever their age.

    Args:
        duration: of what is kept [s]; most_bytes: that it may need, latched messages apart.

    Attributes:
        forgets: whether messages were dropped since the log began.
    """

    def __init__(self, duration: float, most_bytes: int) -> None:
        self._duration_ns, self._most_bytes = round(duration * 1e9), most_bytes
        # Whole chunks, and the messages since; replaced as a whole, for who takes a snapshot.
        self._kept: tuple[list[_Chunk], list[tuple[int, int, bytes]]] = [], []
        self._bytes = self._new_bytes = self._newest_ns = 0
        self._latched: deque[LoggedMessage] = deque()
        self._latched_bytes = 0
        self.forgets = False

    def add(self, topic: int, time_ns: int, data: bytes) -> None:
        """Add a message that arrived at a time [ns] not before that of the last."""
        self._newest_ns = time_ns = max(time_ns, self._newest_ns + 1)
        self._kept[1].append((topic, time_ns, data))
        self._new_bytes += _HEADER_BYTES + len(data)
        if self._new_bytes >= _CHUNK_BYTES:
            self._pack(time_ns)

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

    def _pack(self, now_ns: int) -> None:
        """Pack the newest messages, and drop chunks that are too old, or beyond the limit of
        bytes."""
        chunks = [*self._kept[0], _Chunk(self._kept[1])]
        self._bytes += chunks[-1].size
        while len(chunks) > 1 and (chunks[0].newest_ns < now_ns - self._duration_ns
                                   or self._bytes > self._most_bytes):
            self._bytes -= chunks.pop(0).size
            self.forgets = True
        self._kept, self._new_bytes = (chunks, []), 0

    @property
    def has_messages(self) -> bool:
        """Whether any were added, latched ones apart."""
        return any(self._kept)

    def snapshot(self) -> Iterator[LoggedMessage]:
        """The messages at the time of the call, in the order of time."""
        chunks, newest = self._kept
        count = len(newest)
        messages = chain(chain.from_iterable(chunk.messages() for chunk in chunks),
                         starmap(LoggedMessage, islice(newest, count)))
        by_time = attrgetter("time_ns")
        return heapq.merge(sorted(self._latched, key=by_time), messages, key=by_time)
