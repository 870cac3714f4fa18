# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Reads rosbag2 recordings (mcap and sqlite3) without ROS; errors say what is wrong with a file."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import RecordingError
from ...extras import optional_packages
from ...io.files import user_path
from ...io.messages import DEFINITIONS
from ...limits import MAX_BAG_BYTES, MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from rosbags.interfaces import Connection
    from rosbags.typesys.store import Typestore

_STORAGE_SUFFIXES = (".mcap", ".db3")
_MCAP_MAGIC = b"\x89MCAP0\r\n"


@dataclass(frozen=True)
class RecordedTopic:
    """One topic of a recording."""

    name: str
    type: str
    count: int


class RawMessage(NamedTuple):
    """A serialised message: topic, log time [ns], CDR bytes."""

    topic: str
    log_time: int
    data: bytes


class Message(NamedTuple):
    """A deserialised message: topic, log time [ns], and an object with the message's fields."""

    topic: str
    log_time: int
    content: Any


class BagReader:
    """A rosbag2 recording opened for reading; use as a context manager.

    Args:
        path: folder with ``metadata.yaml``, folder with one storage file, or a bare ``.mcap`` or
            ``.db3`` file.

    Raises:
        RecordingError: missing, cut off, or not a recording; the text says which.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = user_path(path)
        self.notes: list[str] = []
        self._foreign: dict[str, Typestore] = {}
        with optional_packages("reading a recording"):  # the node may lack rosbags
            from rosbags.rosbag2 import Reader
        try:
            storage = self._locate()
            damage = _find_damage(storage)
            if not damage:
                self._reader = Reader(storage)
                self._reader.open()
                self._use_the_services_of_metadata()
        except RecordingError:
            raise
        except Exception as error:  # damaged files raise errors of many kinds
            raise RecordingError(_describe_error(self.path, error)) from error
        if damage:
            raise RecordingError(f"recording {self.path} cannot be read: {damage}")

    def _use_the_services_of_metadata(self) -> None:
        """Have topics read of which metadata.yaml states another quality of service than the
        storage: rosbags matches them by it, and such topics would be empty."""
        stated = {(c.topic, c.msgtype): c.ext for c in self._reader.connections}
        for storage in getattr(self._reader.storage, "storages", ()):
            storage.connections[:] = [c._replace(ext=stated.get((c.topic, c.msgtype), c.ext))
                                      for c in storage.connections]

    def _locate(self) -> Path:
        """The folder or file to hand to the reader."""
        path = self.path
        if not path.exists():
            raise RecordingError(f"recording {path} does not exist")
        if path.is_file():
            if path.name == "metadata.yaml":
                return path.parent
            _check_suffix(path)
            return path
        if not path.is_dir():
            raise RecordingError(f"{path} is neither a folder nor a regular file")
        if (path / "metadata.yaml").is_file():
            return path
        files = sorted(f for f in path.iterdir() if f.suffix in _STORAGE_SUFFIXES)
        if not files:
            raise RecordingError(f"folder {path} is not a rosbag2 recording: it holds neither "
                                 "metadata.yaml nor a .mcap or .db3 file")
        if len(files) > 1:
            raise RecordingError(f"folder {path} has no metadata.yaml but {len(files)} storage "
                                 f"files; run 'ros2 bag reindex {path}', or name one of the files")
        self.notes.append(f"{path} has no metadata.yaml; reading {files[0].name} alone")
        return files[0]

    def __enter__(self) -> BagReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the files; harmless when repeated."""
        if self._reader.is_open:
            self._reader.close()

    @property
    def topics(self) -> tuple[RecordedTopic, ...]:
        """All topics, sorted by name; a topic recorded with two types appears twice."""
        counts: dict[tuple[str, str], int] = {}
        for c in self._reader.connections:
            counts[c.topic, c.msgtype] = counts.get((c.topic, c.msgtype), 0) + c.msgcount
        return tuple(RecordedTopic(name, kind, n) for (name, kind), n in sorted(counts.items()))

    @property
    def start(self) -> int:
        """Log time of the first message [ns]; 0 for an empty recording."""
        return self._reader.start_time if self._reader.message_count else 0

    @property
    def duration(self) -> float:
        """Seconds from the first to the last message."""
        return max(0, self._reader.duration - 1) * 1e-9 if self._reader.message_count else 0.0

    def raw_of(self, types: Mapping[str, str]) -> Iterator[RawMessage]:
        """Serialised messages of topics (type by name) in the order of their log times; what has
        another type under such a name is left out.

        Raises:
            RecordingError: the file is damaged further on.
        """
        wanted = set(types.items())
        return self._read_messages(lambda c: (c.topic, c.msgtype) in wanted)

    def messages(self, topics: Mapping[str, str],
                 decoders: Mapping[str, Callable[[bytes], Any]] | None = None) -> Iterator[Message]:
        """Deserialised messages of the topics (type by name) in the order of their log times.

        Args:
            decoders: by type, in place of the general decoder.

        Raises:
            RecordingError: a message cannot be decoded, or the file is damaged further on.
        """
        for message in self.raw_of(topics):
            yield self.decode(message, topics[message.topic], decoders or {})

    def decode(self, message: RawMessage, kind: str,
               decoders: Mapping[str, Callable[[bytes], Any]]) -> Message:
        """Deserialise a message of that type.

        Standard message definitions are used in place of those in the file, so that a broken or
        unknown type elsewhere in the recording does no harm; for a type that is not standard, as of
        a robot's driver, the file's.

        Args:
            decoders: by type, in place of the general decoder.

        Raises:
            RecordingError: it cannot be decoded.
        """
        try:
            content = (decoders[kind](message.data) if kind in decoders
                       else self._types(kind).deserialize_cdr(message.data, kind))
        except Exception as error:  # a cut payload raises struct, index or decoding errors
            raise RecordingError(
                f"a message of {message.topic} ({kind}) at "
                f"{(message.log_time - self.start) * 1e-9:.3f} s cannot be decoded: {error}"
            ) from error
        return Message(message.topic, message.log_time, content)

    def _types(self, kind: str) -> Typestore:
        """Definitions that hold this type: standard ones or, for a type that is none, those of the
        file (raises errors of many kinds where these are broken)."""
        if kind in standard_types().types:
            return standard_types()
        if kind not in self._foreign:
            from rosbags.interfaces import MessageDefinitionFormat

            text = next((c.msgdef.data for c in self._reader.connections if c.msgtype == kind
                         and c.msgdef.format is MessageDefinitionFormat.MSG), "")
            if not text:
                raise ValueError(f"the file does not define the type {kind}")
            self._foreign[kind] = _types_with(text, kind)
        return self._foreign[kind]

    def _read_messages(self, chooses: Callable[[Connection], bool]) -> Iterator[RawMessage]:
        """Messages of the connections that are chosen (raises RecordingError)."""
        chosen = [c for c in self._reader.connections if chooses(c)]
        if not chosen:
            return
        try:
            for connection, log_time, data in self._reader.messages(connections=chosen):
                if len(data) > MAX_MESSAGE_BYTES:
                    raise ValueError(f"a message of {connection.topic} has {len(data)} bytes; at "
                                     f"most {MAX_MESSAGE_BYTES} are allowed")
                yield RawMessage(connection.topic, log_time, data)
        except Exception as error:  # as in the constructor: the damage may lie further on
            raise RecordingError(_describe_error(self.path, error)) from error


@lru_cache(maxsize=1)
def standard_types() -> Typestore:
    """Definitions for recordings that hold none: standard messages, of which those that are read
    here are the same in all releases, and `DEFINITIONS`. Shared: do not register into it."""
    with optional_packages("a recording"):  # imported late: it takes a fifth of a second
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    for name, definition in DEFINITIONS.items():
        store.register(get_types_from_msg(definition, name))
    return store


def _types_with(definition: str, kind: str) -> Typestore:
    """The standard definitions, and beside them what a definition in a file adds."""
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    store.register({name: fields for name, fields in get_types_from_msg(definition, kind).items()
                    if name not in store.types})
    return store


def _check_suffix(path: Path) -> None:
    """Raise RecordingError where a file is no mcap or sqlite3 file by its name."""
    if path.suffix == ".bag":
        raise RecordingError(f"{path} is a ROS 1 bag; convert it with "
                             f"'rosbags-convert --src {path} --dst {path.with_suffix('')}'")
    if path.suffix not in _STORAGE_SUFFIXES:
        raise RecordingError(f"{path} is not a recording; allowed: a rosbag2 folder, a .mcap or a "
                             ".db3 file")


def _describe_error(path: Path, error: Exception) -> str:
    """One sentence that says why the recording cannot be read."""
    reason = " ".join(str(error).split())[:500].rstrip(".") or type(error).__name__
    return f"recording {path} cannot be read: {reason}"


def _find_damage(storage: Path) -> str:
    """What is wrong with the sizes and ends of a recording's files; empty if nothing is."""
    files = storage.iterdir() if storage.is_dir() else [storage]
    found = (_find_file_damage(f) for f in sorted(files) if f.suffix in _STORAGE_SUFFIXES)
    return next(filter(None, found), "")


def _find_file_damage(file: Path) -> str:
    """What is wrong with the size or end of a file, as when the recorder was killed; empty if
    nothing is. (SQLite reads zeros beyond the end without an error.)"""
    if not file.is_file():  # a named pipe would be waited for
        return f"{file.name} is no regular file"
    size = file.stat().st_size
    if size == 0:
        return f"{file.name} is empty"
    if size > MAX_BAG_BYTES:
        return f"{file.name} has {size} bytes; at most {MAX_BAG_BYTES} are allowed"
    with file.open("rb") as stream:
        head = stream.read(32)
        stream.seek(max(0, size - len(_MCAP_MAGIC)))
        tail = stream.read()
    if file.suffix == ".mcap" and head.startswith(_MCAP_MAGIC) and tail != _MCAP_MAGIC:
        return (f"{file.name} is cut off (no end record after {size} bytes); repair it with "
                f"'mcap recover {file.name} -o new.mcap'")
    if file.suffix == ".db3" and len(head) == 32:
        page_size, pages = struct.unpack_from(">H10xI", head, 16)
        expected = pages * (65536 if page_size == 1 else page_size)
        if head.startswith(b"SQLite format 3\0") and size < expected:
            return (f"{file.name} is cut off ({size} of {expected} bytes); repair it with "
                    f"'sqlite3 {file.name} .recover'")
    return ""
