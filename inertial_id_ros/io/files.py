# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Small files of this package: of limited size, and written completely or not at all.

A document is JSON with a format name, a version and a content.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from ..errors import DamagedFile, InvalidSetting
from ..limits import MAX_JSON_BYTES, MAX_REPORT_BYTES

_LONGEST_PATH, _LONGEST_NAME = 4000, 255  # bytes that file systems take
PARTIAL = ".partial-"  # begins the names of temporary files
Content = dict[str, Any]


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


def config_file(name: str) -> Path:
    """A settings file by its path, or by its name in the package's folder `config`.

    Raises:
        InvalidSetting: there is none of that name.
    """
    path = user_path(Path(name))
    folders = [Path(__file__).resolve().parents[2] / "config", *(
        Path(prefix) / "share" / "inertial_id_ros" / "config"
        for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if prefix)]
    if path.exists() or path.suffix or len(path.parts) > 1:
        return path
    there = {file.stem: file for folder in reversed(folders) for file in folder.glob("*.yaml")}
    if name not in there:
        known = f", or one of: {', '.join(sorted(there))}" if there else ""
        raise InvalidSetting(f"--config is '{name}'; it must be a YAML file{known}")
    return there[name]


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """A temporary file beside a path, which replaces the file there in one step when the block ends
    well: even a loss of power leaves the old file or the new one, whole (raises OSError).

    The file has the rights that the umask and the folder give to any new file.
    """
    temporary = path.with_name(f"{PARTIAL}{secrets.token_hex(8)}{path.suffix}")
    handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        yield temporary
        os.fsync(handle)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)


def write_atomically(path: Path, text: str) -> None:
    """Replace a file in one step, as `replace_file` does (raises OSError)."""
    with replace_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


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


def format_document(kind: str, version: int, content: Content) -> str:
    """The text of a document with this content."""
    return json.dumps({"format": kind, "version": version, "content": content}, indent=1,
                      allow_nan=False) + "\n"


def read_document(path: Path, kind: str, version: int, limit: int = MAX_JSON_BYTES) -> Content:
    """The content of a document.

    Args:
        version: of the content; limit: most bytes that the file may have.

    Raises:
        DamagedFile: the file is not such a document; the text says why.
        OSError: not readable.
    """
    tree = _parse(path, limit)
    if not isinstance(tree, dict) or tree.get("format") != kind:
        raise DamagedFile(f"it is no '{kind}' file")
    found, content = tree.get("version"), tree.get("content")
    if type(found) is not int or found != version:  # true and 1.0 are no versions
        raise DamagedFile(f"it has version {str(found)[:20]}; this program reads version {version}")
    if not isinstance(content, dict):
        raise DamagedFile("it has no content")
    return content


def read_report(path: Path) -> Content:
    """The mapping in a JSON file without version and checksum (raises DamagedFile, OSError)."""
    tree = _parse(path, MAX_REPORT_BYTES)
    if not isinstance(tree, dict):
        raise DamagedFile("it holds no mapping")
    return tree


def _parse(path: Path, limit: int) -> Any:
    """The tree of a JSON file (raises DamagedFile, OSError)."""
    try:
        return json.loads(read_text(path, limit), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"it is not valid JSON ({' '.join(str(error).split())})") from None


def strict_json(tree: Any, indent: int) -> str:
    """A tree as JSON text, with null in place of numbers that JSON cannot hold."""
    return json.dumps(without_nonfinite(tree), indent=indent, allow_nan=False) + "\n"


def without_nonfinite(value: Any) -> Any:
    """A tree with None in place of numbers that are not finite."""
    if isinstance(value, dict):
        return {key: without_nonfinite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nonfinite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")
