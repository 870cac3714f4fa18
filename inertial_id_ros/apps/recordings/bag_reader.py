# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Reads rosbag2 recordings (mcap and sqlite3) without ROS; errors say what is wrong with a file."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import RecordingError
from ...extras import optional_packages
from ...io.files import user_path
from ...limits import MAX_BAG_BYTES, MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore

SUFFIXES = (".mcap", ".db3")
MCAP_MAGIC = b"\x89MCAP0\r\n"


@dataclass(frozen=True)
class RecordedTopic:
    """One topic of a bag."""

    name: str
    type: str
    count: int


class RawMessage(NamedTuple):
    """A serialised message: topic, log time [ns], CDR bytes."""

    topic: str
    log_time: int
    data: bytes


class BagReader:
    """A rosbag2 recording opened for reading; use as a context manager.

    Args:
        path: folder with ``metadata.yaml``, folder with one storage file, or a bare ``.mcap`` or
            ``.db3`` file.

    Attributes:
        notes: choices that were made.

    Raises:
        RecordingError: missing, cut off, or not a recording; the text says which.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = user_path(path)
        self.notes: list[str] = []
        self._types: dict[str, Typestore] = {}
        with optional_packages("reading a recording"):  # the node may lack rosbags
            from rosbags.rosbag2 import Reader
        storage = self._locate()
        damage = _damage(storage)
        if damage:
            raise RecordingError(f"recording {self.path} cannot be read: {damage}")
        try:
            self._reader = Reader(storage)
            self._reader.open()
            self._use_the_services_of_metadata()
        except Exception as error:  # damaged files raise errors of many kinds
            raise RecordingError(_describe_error(self.path, error)) from error

    def _locate(self) -> Path:
        """The folder or file to hand to the library (raises RecordingError)."""
        path = self.path
        if not path.exists():
            raise RecordingError(f"recording {path} does not exist")
        if path.is_file():
            if path.name != "metadata.yaml":
                _check_suffix(path)
                return path
            path = path.parent
        if not path.is_dir():
            raise RecordingError(f"{path} is neither a folder nor a regular file")
        files = sorted(f for f in path.iterdir() if f.suffix in SUFFIXES)
        metadata = path / "metadata.yaml"
        if metadata.is_file() and not (len(files) == 1 and _names_no_storage(metadata)):
            return path
        if not files:
            raise RecordingError(f"folder {path} is not a rosbag2 recording: it holds neither "
                                 "metadata.yaml nor a .mcap or .db3 file")
        if len(files) > 1:
            raise RecordingError(f"folder {path} has no metadata.yaml but {len(files)} storage "
                                 f"files; run 'ros2 bag reindex {path}', or name one of the files")
        self.notes.append(f"{path} has no metadata.yaml that names the kind of its file; reading "
                          f"{files[0].name} alone")
        return files[0]

    def _use_the_services_of_metadata(self) -> None:
        """Have topics read of which metadata.yaml states another quality of service than the
        storage: rosbags matches them by it, and such topics would be empty."""
        stated = {(c.topic, c.msgtype): c.ext for c in self._reader.connections}
        for storage in getattr(self._reader.storage, "storages", ()):
            storage.connections[:] = [c._replace(ext=stated.get((c.topic, c.msgtype), c.ext))
                                      for c in storage.connections]

    def __enter__(self) -> BagReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
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

    def messages(self, types: Mapping[str, str]) -> Iterator[RawMessage]:
        """Serialised messages of topics (type by name) in the order of their log times; what has
        another type under such a name is left out.

        Raises:
            RecordingError: the file is damaged further on.
        """
        wanted = set(types.items())
        chosen = [c for c in self._reader.connections if (c.topic, c.msgtype) in wanted]
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

    def decode(self, message: RawMessage, kind: str) -> Any:
        """The content of a message, with the fields of its type: by standard definitions or, for
        others, as of a robot's driver, by those of the file (raises RecordingError)."""
        try:
            if kind not in self._types:
                self._types[kind] = self._store(kind)
            return self._types[kind].deserialize_cdr(message.data, kind)
        except Exception as error:  # a cut payload raises struct, index or decoding errors
            raise RecordingError(
                f"a message of {message.topic} ({kind}) at "
                f"{(message.log_time - self.start) * 1e-9:.3f} s cannot be decoded: {error}"
            ) from error

    def _store(self, kind: str) -> Typestore:
        """Definitions that hold this type (raises errors of many kinds)."""
        from rosbags.interfaces import MessageDefinitionFormat
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore

        store = get_typestore(Stores.ROS2_JAZZY)
        if kind not in store.types:
            text = next((c.msgdef.data for c in self._reader.connections if c.msgtype == kind
                         and c.msgdef.format is MessageDefinitionFormat.MSG), "")
            if not text:
                raise ValueError(f"the file does not define the type {kind}")
            store.register({name: fields for name, fields in get_types_from_msg(text, kind).items()
                            if name not in store.types})
        return store


def _names_no_storage(metadata: Path) -> bool:
    """True where metadata.yaml names no plugin that stores the messages."""
    for line in metadata.read_text(encoding="utf-8", errors="replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "storage_identifier":
            return not value.strip(" \"'")
    return True


def _check_suffix(path: Path) -> None:
    """Raise RecordingError where a file is no mcap or sqlite3 file by its name."""
    if path.suffix == ".bag":
        raise RecordingError(f"{path} is a ROS 1 bag; convert it with "
                             f"'rosbags-convert --src {path} --dst {path.with_suffix('')}'")
    if path.suffix not in SUFFIXES:
        raise RecordingError(f"{path} is not a recording; allowed: a rosbag2 folder, a .mcap or "
                             ".db3 file, a table (.csv, .tsv, .txt, .npz, .parquet) or the folder "
                             "of a LeRobot dataset")


def _describe_error(path: Path, error: Exception) -> str:
    """One sentence that says why the recording cannot be read."""
    reason = " ".join(str(error).split())[:500].rstrip(".") or type(error).__name__
    return f"recording {path} cannot be read: {reason}"


def _damage(storage: Path) -> str:
    """What is wrong with the sizes and ends of a recording's files; empty if nothing is."""
    files = storage.iterdir() if storage.is_dir() else [storage]
    found = (_damage_of(f) for f in sorted(files) if f.suffix in SUFFIXES)
    return next(filter(None, found), "")


def _damage_of(file: Path) -> str:
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
        stream.seek(max(0, size - len(MCAP_MAGIC)))
        tail = stream.read()
    if file.suffix == ".mcap" and head.startswith(MCAP_MAGIC) and tail != MCAP_MAGIC:
        return (f"{file.name} is cut off (no end record after {size} bytes); repair it with "
                f"'mcap recover {file.name} -o new.mcap'")
    if file.suffix == ".db3" and len(head) == 32:
        page_size, pages = struct.unpack_from(">H10xI", head, 16)
        expected = pages * (65536 if page_size == 1 else page_size)
        if head.startswith(b"SQLite format 3\0") and size < expected:
            return (f"{file.name} is cut off ({size} of {expected} bytes); repair it with "
                    f"'sqlite3 {file.name} .recover'")
    return ""
