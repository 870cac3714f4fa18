# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a recording may cost while it is read: compressed parts are unpacked no further than they
may be, and its SQLite file is read as tables.

rosbags unpacks all there is and compares with the declared size afterwards: a few kilobytes can
stand for more than any memory or disk holds. `BoundedReader` reads with the functions of this
module instead. rosbags has no public place for them: it looks its own up among the globals of two
of its modules, so these are loaded a second time, for this reader alone.
"""

from __future__ import annotations

import struct
import sys
from bisect import bisect_left
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from importlib.util import find_spec, module_from_spec
from operator import attrgetter, itemgetter
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

from ...extras import optional_packages
from ...limits import MAX_CHUNK_BYTES, MAX_MESSAGE_BYTES, MAX_UNPACKED_BYTES

with optional_packages("reading a recording"):
    import apsw
    from lz4.frame import LZ4FrameDecompressor
    from rosbags.rosbag2.storage_sqlite3 import Sqlite3Reader
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

_LONGEST_VALUE = MAX_MESSAGE_BYTES  # of a table
_FRAMES: dict[str, Callable[[], Any]] = {
    "lz4": LZ4FrameDecompressor, "zstd": zstd.ZstdDecompressor}


def unpack(data: bytes, compression: str, limit: int, what: str) -> bytes:
    """Unpack one or several frames.

    Args:
        compression: ``lz4`` or ``zstd``.
        limit: bytes that they may hold.
        what: the data are, for the errors.

    Raises:
        ValueError: more than `limit` bytes, or the data end early; other errors: damaged data.
    """
    parts, size = [], 0
    while data:
        frame = _FRAMES[compression]()
        parts.append(frame.decompress(data, max_length=limit - size + 1))
        size += len(parts[-1])
        if size > limit:
            raise ValueError(f"{what} unpacks to more than {limit} bytes")
        if not frame.eof:
            raise ValueError(f"{what} ends within its compressed data")
        data = frame.unused_data
    return parts[0] if len(parts) == 1 else b"".join(parts)


def unpack_chunk(compression: str, data: bytes, size: int) -> bytes:
    """Unpack a chunk of an mcap file that declares `size` bytes (raises as `unpack`)."""
    if size > MAX_CHUNK_BYTES:
        raise ValueError(f"a chunk has {size} bytes; at most {MAX_CHUNK_BYTES} are allowed")
    return unpack(data, compression, size, "a chunk")


class _LimitedFile:
    """A file of which at most a number of bytes can be read; beyond them, ValueError."""

    def __init__(self, file: Any, limit: int) -> None:
        self._file, self._limit, self._left = file, limit, limit

    def read(self, size: int) -> bytes:
        data: bytes = self._file.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise ValueError(f"a compressed file unpacks to more than {self._limit} bytes")
        return data

    def __enter__(self) -> _LimitedFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._file.close()


class _BoundedZstd:
    """The two functions of the zstd module that the reader of folders uses."""

    @staticmethod
    def decompress(data: bytes) -> bytes:
        return unpack(data, "zstd", MAX_MESSAGE_BYTES, "a message")

    @staticmethod
    def open(file: BinaryIO, mode: str) -> _LimitedFile:
        return _LimitedFile(zstd.open(file, mode), MAX_UNPACKED_BYTES)  # type: ignore[call-overload]


def _load_again(name: str) -> Any:
    """A second copy of a module: its globals may be changed without effect on other programs."""
    spec = find_spec(name)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_mcap = _load_again("rosbags.rosbag2.storage_mcap")
_mcap.DECOMPRESSORS |= {name: partial(unpack_chunk, name) for name in _FRAMES}
_mcap.parse_qos = lru_cache(_mcap.parse_qos)  # most topics have the same, and YAML is read slowly
_reader = _load_again("rosbags.rosbag2.reader")
_reader.zstd = _BoundedZstd

if TYPE_CHECKING:
    from rosbags.interfaces import Connection
    from rosbags.rosbag2.reader import DirectoryReader, Reader
    from rosbags.rosbag2.storage_mcap import ChunkInfo, McapReader
else:
    DirectoryReader, Reader = _reader.DirectoryReader, _reader.Reader
    McapReader = _mcap.McapReader

_CHUNK = struct.Struct("<BQQQQI")  # operation, length, first and last time, unpacked size, checksum
_RECORD, _MESSAGE = struct.Struct("<BQ"), struct.Struct("<HIQQ")
_IS_MESSAGE = 0x05
_RawMessage = tuple["Connection", int, bytes]


class ChunkReader(McapReader):
    """Reads an mcap file chunk by chunk, in half the time of one heap of all its chunks."""

    def messages(self, connections: Collection[Connection], start: int | None = None,
                 stop: int | None = None) -> Generator[_RawMessage, None, None]:
        """Messages of these connections in the order of their log times (raises errors of many
        kinds)."""
        channels = {connection.id: connection for connection in connections}
        chunks = [chunk for chunk in self.chunks
                  if any(chunk.channel_count.get(channel, 0) for channel in channels)]
        if start is not None or stop is not None or not self.chunks:
            yield from super().messages(connections, start, stop)
            return
        chunks.sort(key=attrgetter("message_start_time", "chunk_start_offset"))
        ends = [*(chunk.message_start_time for chunk in chunks[1:]), _mcap.MAXSIZE]
        waiting: list[_RawMessage] = []  # of chunks that overlap
        for chunk, end in zip(chunks, ends, strict=True):
            waiting += self._messages_of(chunk, channels)
            waiting.sort(key=itemgetter(1))
            certain = bisect_left(waiting, end, key=itemgetter(1))
            yield from waiting[:certain]
            del waiting[:certain]

    def _messages_of(self, chunk: ChunkInfo, channels: dict[int, Connection]
                     ) -> Iterator[_RawMessage]:
        """Messages of a chunk within its times."""
        records = self._unpacked(chunk)
        first, last = chunk.message_start_time, chunk.message_end_time
        at, size = 0, len(records)
        while at < size:
            kind, length = _RECORD.unpack_from(records, at)
            begin, at = at + _RECORD.size, at + _RECORD.size + length
            if at > size:
                raise ValueError("a chunk ends within a record")
            if kind == _IS_MESSAGE:
                if length < _MESSAGE.size:
                    raise ValueError(f"a message has a record of {length} bytes")
                channel, _, time, _ = _MESSAGE.unpack_from(records, begin)
                if first <= time <= last and channel in channels:
                    yield channels[channel], time, records[begin + _MESSAGE.size:at]

    def _unpacked(self, chunk: ChunkInfo) -> bytes:
        """The records of a chunk."""
        assert self.bio is not None
        self.bio.seek(chunk.chunk_start_offset)
        *_, checksum = _CHUNK.unpack(_mcap.read_exact(self.bio, _CHUNK.size))
        self.bio.seek(chunk.chunk_start_offset + _CHUNK.size + 4 + len(chunk.compression) + 8)
        packed = _mcap.read_exact(self.bio, chunk.compressed_size)
        records: bytes = _mcap.decompress(packed, chunk.compression, chunk.uncompressed_size,
                                          checksum)
        return records


class TableReader(Sqlite3Reader):
    """Reads an SQLite file through connections that are restricted to its tables.

    A view in place of a table is a program that the file brings along, and may never end. Tables
    are read as they are; a value is at most a message long.
    """

    def open(self) -> None:
        """Open the file (raises ReaderError, and errors of apsw)."""
        with _restricted_connections():
            super().open()


@contextmanager
def _restricted_connections() -> Iterator[None]:
    """Restrict the connections that are made meanwhile: the reader makes two of its own."""
    apsw.connection_hooks.append(_restrict)
    try:
        yield
    finally:
        apsw.connection_hooks.remove(_restrict)


def _restrict(connection: apsw.Connection) -> None:
    """Limit the length of values on a connection, and what its statements may do."""
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    connection.authorizer = _allow_only_tables


def _allow_only_tables(operation: int, first: str | None, second: str | None, database: str | None,
                       view: str | None) -> int:
    """SQLite's authorizer: it refuses what a view or a trigger reads, and recursion."""
    refused = view is not None or operation == apsw.SQLITE_RECURSIVE
    return apsw.SQLITE_DENY if refused else apsw.SQLITE_OK


class _BoundedDirectoryReader(DirectoryReader):
    """Reads folders, also those whose metadata.yaml states another quality of service than the
    storage: without that, such topics would be empty.

    Attributes:
        differing: names of these topics.
    """

    STORAGE_PLUGINS = {"mcap": ChunkReader, "sqlite3": TableReader}

    def open(self) -> None:
        """Open the files (raises ReaderError, and errors of the storage)."""
        super().open()
        self.differing: set[str] = set()
        known = [(c.topic, c.msgtype, c.ext) for c in self.connections]
        by_topic = {(c.topic, c.msgtype): c.ext for c in self.connections}
        for connections in (storage.connections for storage in self.storages):
            for place, c in enumerate(connections):
                key = c.topic, c.msgtype
                if key in by_topic and (*key, c.ext) not in known:
                    connections[place] = c._replace(ext=by_topic[key])
                    self.differing.add(c.topic)


class BoundedReader(Reader):
    """As `rosbags.rosbag2.Reader`, with bounds on what a file unpacks to and what it may run."""

    STORAGE_PLUGINS = {"dir": _BoundedDirectoryReader, ".mcap": ChunkReader,
                       ".db3": TableReader}
