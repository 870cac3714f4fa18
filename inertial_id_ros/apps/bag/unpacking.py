"""Compressed parts of a recording, unpacked no further than they may be.

rosbags unpacks all there is and compares with the declared size afterwards: a few kilobytes can
stand for more than any memory or disk holds. `bound_unpacking` puts the functions of this module
in the places where rosbags keeps its own: the table by names of chunk compressions, and the module
by which the reader of folders unpacks messages and files.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Any, BinaryIO

from lz4.frame import LZ4FrameDecompressor
from rosbags.rosbag2 import reader, storage_mcap

from ...limits import MAX_CHUNK_BYTES, MAX_MESSAGE_BYTES, MAX_UNPACKED_BYTES

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_FRAMES: dict[str, Callable[[], Any]] = {
    "lz4": LZ4FrameDecompressor, "zstd": zstd.ZstdDecompressor}


def unpacked(data: bytes, compression: str, limit: int, what: str) -> bytes:
    """What one or several frames of ``lz4`` or ``zstd`` hold; what: they are, for the errors.

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


def unpacked_chunk(compression: str, data: bytes, size: int) -> bytes:
    """A chunk of an mcap file that declares `size` bytes (raises ValueError and others)."""
    if size > MAX_CHUNK_BYTES:
        raise ValueError(f"a chunk has {size} bytes; at most {MAX_CHUNK_BYTES} are allowed")
    return unpacked(data, compression, size, "a chunk")


class _Limited:
    """A file that is read up to a number of bytes; beyond them, ValueError."""

    def __init__(self, file: Any, limit: int) -> None:
        self._file, self._limit, self._left = file, limit, limit

    def read(self, size: int) -> bytes:
        data: bytes = self._file.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise ValueError(f"a compressed file unpacks to more than {self._limit} bytes")
        return data

    def __enter__(self) -> _Limited:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._file.close()


class _BoundedZstd:
    """The two functions of the zstd module that the reader of folders uses."""

    @staticmethod
    def decompress(data: bytes) -> bytes:
        return unpacked(data, "zstd", MAX_MESSAGE_BYTES, "a message")

    @staticmethod
    def open(file: BinaryIO, mode: str) -> _Limited:
        return _Limited(zstd.open(file, mode), MAX_UNPACKED_BYTES)  # type: ignore[call-overload]


def bound_unpacking() -> None:
    """Have rosbags unpack by the functions of this module from now on."""
    for name in _FRAMES:
        storage_mcap.DECOMPRESSORS[name] = partial(unpacked_chunk, name)
    reader.zstd = _BoundedZstd  # type: ignore[assignment]
