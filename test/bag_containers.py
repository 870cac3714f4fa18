# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The containers that recordings come in, sound, or with compressed parts that lie about sizes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from lz4 import frame as lz4
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.rosbag2.writer import zstd
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_JAZZY)
_MCAP, _SQLITE = StoragePlugin.MCAP, StoragePlugin.SQLITE3
_NONE, _STORAGE = CompressionMode.NONE, CompressionMode.STORAGE
_MESSAGE, _FILE = CompressionMode.MESSAGE, CompressionMode.FILE
# Storage, part that is compressed, and how; a compressed chunk is made by the storage itself.
CONTAINERS: dict[str, tuple[StoragePlugin, CompressionMode, str]] = {
    "mcap": (_MCAP, _NONE, ""), "mcap zstd": (_MCAP, _STORAGE, "zstd"),
    "mcap lz4": (_MCAP, _STORAGE, "lz4"), "mcap messages": (_MCAP, _MESSAGE, "zstd"),
    "mcap file": (_MCAP, _FILE, "zstd"), "sqlite3": (_SQLITE, _NONE, ""),
    "sqlite3 messages": (_SQLITE, _MESSAGE, "zstd"), "sqlite3 file": (_SQLITE, _FILE, "zstd")}
CHUNKED = ("mcap zstd", "mcap lz4")
_CHUNK, _CHUNK_INDEX, _STATISTICS = 0x06, 0x08, 0x0B
_MESSAGES_A_CHUNK = 200
_BOMB = 3_000_000_000  # bytes


class Raw(NamedTuple):
    """A serialised message: topic, type, log time [ns], CDR bytes."""

    topic: str
    type: str
    time: int
    data: bytes


def write(folder: Path, messages: Sequence[Raw], container: str = "mcap",
          compress: Callable[[bytes], bytes] | None = None) -> None:
    """Write messages to a new recording, in their order.

    Args:
        compress: in place of the container's own compression of chunks.
    """
    plugin, mode, how = CONTAINERS[container]
    writer = Writer(folder, version=9, storage_plugin=plugin)
    writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        storage: Any = writer.storage
        if mode == _STORAGE:
            storage.compression, storage.compressor = how, compress or compressor(how)
        connections: dict[tuple[str, str], Any] = {}
        for k, m in enumerate(messages):
            if (m.topic, m.type) not in connections:
                connections[m.topic, m.type] = writer.add_connection(
                    m.topic, m.type, typestore=STORE)
            writer.write(connections[m.topic, m.type], m.time, m.data)
            if plugin == _MCAP and k % _MESSAGES_A_CHUNK == _MESSAGES_A_CHUNK - 1:
                storage.close_chunk()


def compressor(how: str) -> Callable[[bytes], bytes]:
    """The function that compresses a chunk."""
    return {"lz4": lz4.compress, "zstd": zstd.compress}[how]


@lru_cache(maxsize=2)
def bomb(how: str) -> bytes:
    """A few megabytes at most that unpack to three gigabytes of zeros."""
    some = bytes(10_000_000)
    if how == "zstd":
        packer = zstd.ZstdCompressor()
        return b"".join([*(packer.compress(some) for _ in range(_BOMB // len(some))),
                         packer.flush()])
    frame = lz4.LZ4FrameCompressor()
    return b"".join([frame.begin(), *(frame.compress(some) for _ in range(_BOMB // len(some))),
                     frame.flush()])


def storage_file(folder: Path) -> Path:
    """The file of a recording that holds the messages."""
    (file,) = (f for f in folder.iterdir() if f.name != "metadata.yaml")
    return file


def declare_sizes(file: Path, size: int, index: bool = True, chunk: bool = True) -> None:
    """Have all chunks of an mcap file declare that they unpack to `size` bytes.

    Args:
        index: where the index tells it; chunk: where the chunk itself does.
    """
    data = bytearray(file.read_bytes())
    for kind, start, length in records(data):
        if kind == _CHUNK and chunk:
            data[start + 16:start + 24] = struct.pack("<Q", size)
        if kind == _CHUNK_INDEX and index:
            data[start + length - 8:start + length] = struct.pack("<Q", size)
    file.write_bytes(data)


def without_index(file: Path) -> None:
    """Have an mcap file say that it has no index, as that of a recorder which writes none."""
    data = bytearray(file.read_bytes())
    end = next(start - 9 for kind, start, _ in records(data) if kind == 0x0F)  # end of the data
    del data[end + 13:]
    data += b"\x02" + struct.pack("<QQQI", 20, 0, 0, 0) + b"\x89MCAP0\r\n"
    file.write_bytes(data)


def records(data: bytes | bytearray) -> Iterator[tuple[int, int, int]]:
    """Kind, place and length of the outer records of an mcap file."""
    at = 8
    while at + 9 <= len(data) - 8:
        (length,) = struct.unpack_from("<Q", data, at + 1)
        yield data[at], at + 9, length
        at += 9 + length
