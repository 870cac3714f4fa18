# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Small files of this package: of limited size, and written completely or not at all.

A document is JSON with a format name, a version, a content and the content's SHA-256, so that a
damaged file is recognised. Files written by hand may leave the checksum out.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from ..errors import DamagedFile, InvalidSetting
from ..limits import MAX_JSON_BYTES

_LONGEST_PATH, _LONGEST_NAME = 4000, 255  # bytes that file systems take


def user_path(path: str | Path) -> Path:
    """The path that a user wrote, with ``~`` replaced.

    Raises:
        InvalidSetting: no file can have this name, or there is no such user.
    """
    text = str(path)
    data = text.encode(errors="surrogateescape")
    if (b"\0" in data or len(data) > _LONGEST_PATH
            or max(map(len, data.split(b"/"))) > _LONGEST_NAME):
        raise InvalidSetting(f"path {text[:100]!r}... cannot be that of a file: it holds a zero "
                             "byte, or is too long")
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise InvalidSetting(f"path {text!r} begins with the name of no user") from None


@contextmanager
def replace_file(path: Path, mode: int = 0o644) -> Iterator[Path]:
    """A temporary file beside a path, which replaces the file there in one step when the block ends
    well (raises OSError).

    Args:
        mode: rights of the new file; those of temporary files are their owner's alone.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    temporary = Path(name)
    try:
        yield temporary
        os.fsync(handle)
        temporary.chmod(mode)
        temporary.replace(path)
    finally:
        os.close(handle)
        temporary.unlink(missing_ok=True)


def write_atomically(path: Path, text: str) -> None:
    """Replace a file in one step: even a loss of power leaves the old or the new one (raises
    OSError)."""
    with replace_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the new name, too
    finally:
        os.close(folder)


def read_text(path: Path, limit: int) -> str:
    """The text of a regular file of at most `limit` bytes.

    Raises:
        DamagedFile: something else than such a file, or not UTF-8; OSError: not readable.
    """
    # Without O_NONBLOCK a named pipe would keep the caller waiting.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise DamagedFile("it is no regular file")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise DamagedFile(f"it has more than {limit} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise DamagedFile("it is not text") from None


def format_document(kind: str, version: int, content: dict[str, Any]) -> str:
    """The text of a document with this content."""
    return json.dumps({"format": kind, "version": version, "sha256": _digest(content),
                       "content": content}, indent=1, allow_nan=False) + "\n"


def read_document(path: Path, kind: str, version: int) -> dict[str, Any]:
    """The content of a document, checked against its checksum.

    Raises:
        DamagedFile: the file is not such a document; the text says why.
        OSError: not readable.
    """
    try:
        tree = json.loads(read_text(path, MAX_JSON_BYTES), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"it is not valid JSON ({' '.join(str(error).split())})") from None
    if not isinstance(tree, dict) or tree.get("format") != kind:
        raise DamagedFile(f"it is no '{kind}' file")
    if tree.get("version") != version:
        raise DamagedFile(f"it has version {str(tree.get('version'))[:20]}; this program reads "
                          f"version {version}")
    content = tree.get("content")
    if not isinstance(content, dict):
        raise DamagedFile("it has no content")
    if "sha256" in tree and tree["sha256"] != _digest(content):
        raise DamagedFile("its content does not match its checksum")
    return content


def strict_json(tree: Any, indent: int) -> str:
    """A tree as JSON text, with null in place of numbers that JSON cannot hold."""
    return json.dumps(_replace_nonfinite(tree), indent=indent, allow_nan=False) + "\n"


def _replace_nonfinite(value: Any) -> Any:
    """A tree with None in place of numbers that are not finite."""
    if isinstance(value, dict):
        return {key: _replace_nonfinite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_nonfinite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _digest(content: dict[str, Any]) -> str:
    """SHA-256 of a document's content."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")
