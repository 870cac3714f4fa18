# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The last minutes of serialised messages, in memory of bounded size."""

from __future__ import annotations

import heapq
import struct
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter, itemgetter
from typing import NamedTuple

MARK = -1  # number of the topic of marks
RESTORE = "restore"  # text of the mark at which what was learnt before is in the checkpoint
_HEADER = struct.Struct("<hqqI")  # topic, time [ns], place, bytes that follow
_CHUNK_BYTES = 250_000  # dropped as a whole when it is too old
_LARGE = 10_000  # bytes of a mark that is worth a look at what all need
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
        self.newest_ns = self.count = self.place = 0

    def messages(self) -> Iterator[LoggedMessage]:
        packed, at = bytes(self.packed), 0
        while at < len(packed):
            topic, time_ns, place, size = _HEADER.unpack_from(packed, at)
            at += _HEADER.size
            yield LoggedMessage(topic, time_ns, place, packed[at:at + size])
            at += size


@dataclass
class _Mark:
    """Something that happened when so many samples had been processed."""

    place: int
    text: bytes
    is_checkpoint: bool = False
    packed: bytes = b""  # of a checkpoint, once it is packed


class MessageLog:
    """Keeps messages until they are too old or too many, the oldest first.

    One thread adds messages, another marks, a third may take a snapshot meanwhile. Messages of
    latched topics, which come once, are kept whatever their age. A checkpoint, which holds what was
    learnt from all before it, is kept as long as all messages behind it.

    Args:
        duration: of what is kept [s]; most_bytes: that it may need, latched messages apart.

    Attributes:
        forgets: whether messages were dropped since the log began.
        has_messages: whether any were added, latched ones and marks apart.
    """

    def __init__(self, duration: float, most_bytes: int) -> None:
        self._duration_ns, self._most_bytes = round(duration * 1e9), most_bytes
        self._chunks: deque[_Chunk] = deque([_Chunk()])
        self._bytes = self._newest_ns = 0
        self._latched: deque[LoggedMessage] = deque()
        self._latched_bytes = 0
        self._marks: deque[_Mark] = deque()
        self._lost = -1  # place of the last message that was dropped
        self._since_checkpoint = 0  # bytes
        self._checked_ns: int | None = None  # arrival of the newest message at the last checkpoint
        self.forgets = self.has_messages = False

    def add(self, topic: int, time_ns: int, place: int, data: bytes) -> None:
        """Add a message that arrived at a time [ns] not before that of the last."""
        newest = self._chunks[-1]
        self._newest_ns = newest.newest_ns = max(time_ns, self._newest_ns + _BETWEEN)
        if self._checked_ns is None:
            self._checked_ns = self._newest_ns
        newest.place = place
        newest.packed += _HEADER.pack(topic, self._newest_ns, place, len(data)) + data
        newest.count += 1
        self.has_messages |= topic != MARK
        self._bytes += _HEADER.size + len(data)
        self._since_checkpoint += _HEADER.size + len(data)
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
            old = self._latched.popleft()
            self._latched_bytes -= len(old.data)
            self._lose(old.place)

    def mark(self, place: int, text: str) -> None:
        """Note that something happened when so many samples had been processed."""
        mark = _Mark(place, text.encode())
        if all(m == mark for m in self._newest_marks()):
            return  # nothing has happened since
        if len(mark.text) > _LARGE and len(mark.text) + self._marked_bytes > self._most_bytes // 2:
            self._lose(place - 1)  # the next checkpoint holds what it did
        else:
            self._marks.append(mark)

    def _newest_marks(self) -> list[_Mark | None]:
        """The last three marks; None for those that are not there."""
        marks = list(islice(reversed(self._marks.copy()), 3))
        return [*marks, *[None] * (3 - len(marks))]

    @property
    def _marked_bytes(self) -> int:
        """Bytes that marks and checkpoints need."""
        return sum(len(m.text) + len(m.packed) for m in self._marks.copy())

    def _lose(self, place: int) -> None:
        """Take into account that something which was done at a place, or arrived, is not kept."""
        self._lost, self.forgets = max(self._lost, place), True
        self._drop_marks()

    @property
    def needs_checkpoint(self) -> bool:
        """Whether the last one is so old that messages behind it may soon be dropped."""
        return self._checked_ns is not None and (
            (self.forgets and not self._marks)
            or self._newest_ns - self._checked_ns >= self._duration_ns // 2
            or self._since_checkpoint >= self._most_bytes // 4)

    def add_checkpoint(self, place: int, data: bytes) -> Callable[[], None]:
        """Keep what was learnt when so many samples had been processed; gives a function that
        packs it and lets it go, which takes a fraction of a second, in any thread, once."""
        mark = _Mark(place, RESTORE.encode(), is_checkpoint=True)
        self._checked_ns, self._since_checkpoint = self._newest_ns, 0
        self._marks.append(mark)
        waiting = [data]
        del data

        def pack() -> None:
            packed = zlib.compress(waiting.pop(), 1)
            if len(packed) <= self._most_bytes // 3:  # there must be room for messages
                mark.packed = packed

        return pack

    def _drop_old(self, now_ns: int) -> None:
        """Drop whole chunks that are too old, or beyond the limit of bytes."""
        marked = self._marked_bytes
        while len(self._chunks) > 1 and (
                self._chunks[0].newest_ns < now_ns - self._duration_ns
                or self._bytes + marked > self._most_bytes):
            dropped = self._chunks.popleft()
            self._bytes -= len(dropped.packed)
            self._lose(dropped.place)
            marked = self._marked_bytes

    def _drop_marks(self) -> None:
        """Drop the marks that say nothing without what came before them: those before the first
        checkpoint behind which all messages are there."""
        with suppress(IndexError):  # another thread has dropped the last of them
            while not self._is_first(self._marks[0]):
                self._marks.popleft()

    def _is_first(self, mark: _Mark) -> bool:
        """Whether a mark is a checkpoint behind which all messages are there."""
        return mark.is_checkpoint and mark.place > self._lost

    def snapshot(self) -> tuple[Iterator[LoggedMessage], bytes]:
        """The messages at the time of the call, in the order of time, with the marks behind what
        had been processed; and the packed checkpoint at the mark `RESTORE`, or nothing.

        Where messages were dropped, the marks begin with the first checkpoint behind which all are
        there; without any, there are none.
        """
        checkpoint, begun = b"", not self.forgets
        marks = []
        for mark in list(self._marks):
            if not begun and self._is_first(mark) and mark.packed:
                begun, checkpoint = True, mark.packed
            elif mark.is_checkpoint:
                continue
            if begun:
                marks.append((mark.place, mark.text))
        marks.sort(key=itemgetter(0))
        counted = [(chunk, chunk.count) for chunk in list(self._chunks)]
        messages = (m for chunk, count in counted for m in islice(chunk.messages(), count))
        return _with_marks(heapq.merge(list(self._latched), messages, key=attrgetter("time_ns")),
                           marks), checkpoint


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
