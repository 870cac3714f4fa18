# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Reads rosbag2 recordings (mcap and sqlite3) without ROS; errors say what is wrong with a file."""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
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
    """One topic of a bag, with the number of its messages."""

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
        self._store: Typestore | None = None
        with optional_packages("reading a recording"):  # the node may lack rosbags
            from rosbags.rosbag2 import Reader
        folder, files = self._locate()
        storage = folder or files[0]
        if folder and len(files) == 1 and not _names_its_storage(folder):
            storage = files[0]
            self.notes.append(f"no metadata.yaml in {self.path} names the kind of its file; "
                              f"reading {storage.name} alone")
        with _named(f"recording {self.path} cannot be read"):
            for file in files:
                _check_ends(file)
            self._reader = Reader(storage)
            self._reader.open()
            self._use_the_services_of_metadata()

    def _locate(self) -> tuple[Path | None, list[Path]]:
        """The folder, if there is one, and the files (raises RecordingError)."""
        path = self.path
        if not path.exists():
            raise RecordingError(f"recording {path} does not exist")
        if path.name == "metadata.yaml":
            path = path.parent
        if not path.is_dir():
            _check_suffix(path)
            return None, [path]
        files = sorted(f for f in path.iterdir() if f.suffix in SUFFIXES)
        if len(files) != 1 and not (path / "metadata.yaml").is_file():
            raise RecordingError(f"folder {path} has no metadata.yaml and {len(files)} .mcap or "
                                 f".db3 files; run 'ros2 bag reindex {path}', or name one file")
        return path, files

    def _use_the_services_of_metadata(self) -> None:
        """Have topics read of which metadata.yaml states another quality of service than the
        storage: rosbags matches them by it, and such topics would be empty."""
        stated = {(c.topic, c.msgtype): c.ext for c in self._reader.connections}
        for storage in getattr(self._reader.storage, "storages", ()):
            storage.connections[:] = [c._replace(ext=stated.get((c.topic, c.msgtype), c.ext))
                                      for c in storage.connections]

    def __enter__(self) -> BagReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()

    @property
    def topics(self) -> tuple[RecordedTopic, ...]:
        """All topics, sorted by name; a topic recorded with two types appears twice."""
        counts: Counter[tuple[str, str]] = Counter()
        for c in self._reader.connections:
            counts[c.topic, c.msgtype] += c.msgcount
        return tuple(RecordedTopic(*topic, n) for topic, n in sorted(counts.items()))

    @property
    def start(self) -> int:
        """Log time of the first message [ns]; 0 for an empty recording."""
        return self._reader.start_time if self._reader.message_count else 0

    @property
    def duration(self) -> float:
        """Seconds from the first to the last message."""
        return max(0, self._reader.duration - 1) * 1e-9

    def messages(self, types: Mapping[str, str]) -> Iterator[RawMessage]:
        """Serialised messages of topics (type by name) in the order of their log times; what has
        another type under such a name is left out.

        Raises:
            RecordingError: the file is damaged further on.
        """
        chosen = [c for c in self._reader.connections if types.get(c.topic) == c.msgtype]
        if not chosen:  # rosbags would read all
            return
        with _named(f"recording {self.path} cannot be read"):
            for connection, log_time, data in self._reader.messages(connections=chosen):
                if len(data) > MAX_MESSAGE_BYTES:
                    raise ValueError(f"a message of {connection.topic} has {len(data)} bytes; at "
                                     f"most {MAX_MESSAGE_BYTES} are allowed")
                yield RawMessage(connection.topic, log_time, data)

    def decode(self, message: RawMessage, kind: str) -> Any:
        """The content of a message, with the fields of its type: by standard definitions or, for
        others, as of a robot's driver, by those of the file (raises RecordingError)."""
        seconds = 1e-9 * (message.log_time - self.start)
        with _named(f"a message of {message.topic} ({kind}) at {seconds:.3f} s cannot be decoded"):
            from rosbags.typesys import Stores, get_types_from_msg, get_typestore

            store = self._store = self._store or get_typestore(Stores.ROS2_JAZZY)
            if kind not in store.types:
                text = next((c.msgdef.data for c in self._reader.connections
                             if c.msgtype == kind), "")
                if not text:
                    raise ValueError("the file does not define this type")
                store.register({name: fields for name, fields in get_types_from_msg(
                    text, kind).items() if name not in store.types})
            return store.deserialize_cdr(message.data, kind)


@contextmanager
def _named(what: str) -> Iterator[None]:
    """Errors within as one RecordingError: damaged files and messages raise many kinds."""
    try:
        yield
    except Exception as error:
        reason = " ".join(str(error).split())[:500].rstrip(".") or type(error).__name__
        raise RecordingError(f"{what}: {reason}") from error


def _names_its_storage(folder: Path) -> bool:
    """True where metadata.yaml is there and names the plugin that stores the messages."""
    file = folder / "metadata.yaml"
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    return re.search(r"storage_identifier:[ \"']*\w", text) is not None


def _check_suffix(path: Path) -> None:
    """Raise RecordingError where a file is no mcap or sqlite3 file by its name."""
    if path.suffix == ".bag":
        raise RecordingError(f"{path} is a ROS 1 bag; convert it with "
                             f"'rosbags-convert --src {path} --dst {path.with_suffix('')}'")
    if path.suffix not in SUFFIXES:
        raise RecordingError(f"{path} is not a recording; allowed: a rosbag2 folder, a .mcap or "
                             ".db3 file, a table (.csv, .tsv, .txt, .npz, .parquet) or the folder "
                             "of a LeRobot dataset")


def _check_ends(file: Path) -> None:
    """Raise ValueError where a file is empty, cut off, as when the recorder was killed, too large
    or no file. (SQLite reads zeros beyond the end without an error.)"""
    size = file.stat().st_size if file.is_file() else 0  # a named pipe would be waited for
    if not 0 < size <= MAX_BAG_BYTES:
        raise ValueError(f"{file.name} is empty or no regular file of at most {MAX_BAG_BYTES} "
                         "bytes")
    with file.open("rb") as stream:
        head = stream.read(32)
        stream.seek(max(0, size - len(MCAP_MAGIC)))
        tail = stream.read()
    if head.startswith(MCAP_MAGIC) and tail != MCAP_MAGIC:
        raise ValueError(f"{file.name} is cut off; repair it with "
                         f"'mcap recover {file.name} -o new.mcap'")
    if head.startswith(b"SQLite format 3\0") and len(head) == 32:
        page_size, pages = struct.unpack_from(">H10xI", head, 16)
        if size < pages * (65536 if page_size == 1 else page_size):
            raise ValueError(f"{file.name} is cut off; repair it with "
                             f"'sqlite3 {file.name} .recover'")
