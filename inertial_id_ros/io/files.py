# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Small files: of limited size, written completely or not at all, and one line for every error. A
document is JSON with a format name, a version and a content."""

import json
import math
import os
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from typing import Any

import yaml

from ..errors import DamagedFile, InvalidSetting, printable
from ..limits import MAX_JSON_BYTES, MAX_YAML_BYTES

Content = dict[str, Any]


def user_path(path: str | Path) -> Path:
    """The path that a user wrote, with ``~`` and ``~user`` replaced, where there is such a user."""
    return Path(os.path.expanduser(path))


def config_file(name: str) -> Path:
    """A settings file by its path, or its name in the folder `config` (raises InvalidSetting)."""
    path = user_path(name)
    if path.exists() or path.suffix or len(path.parts) > 1:
        return path
    prefixes = filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))
    folders = (Path(__file__).resolve().parents[2] / "config",
               *(Path(prefix) / "share/inertial_id_ros/config" for prefix in prefixes))
    there = {file.stem: file for folder in reversed(folders) for file in folder.glob("*.yaml")}
    if name not in there:
        raise InvalidSetting(f"--config is '{name}'; it must be a YAML file, or one of: "
                             + ", ".join(sorted(there)))
    return there[name]


def write_atomically(path: Path, text: str) -> None:
    """Replace a file in one step, whole even after a loss of power (raises OSError)."""
    temporary = path.with_name(f".partial-{secrets.token_hex(8)}{path.suffix}")
    try:
        with temporary.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_text(path: Path, limit: int) -> str:
    """The text of a file of at most `limit` bytes (raises DamagedFile; OSError: not readable)."""
    with path.open("rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise DamagedFile(f"it has more than {limit} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise DamagedFile("it is not text") from None


def check_outputs(wanted: Mapping[str, Path | None],
                  read: Mapping[str, Path | None]) -> list[Path | None]:
    """Check the files to write, by option, before a long run; returns their paths in the same order
    (raises InvalidSetting: one cannot be written, or would replace what is read)."""
    out = {option: path and user_path(path) for option, path in wanted.items()}
    for option, path in out.items():
        if path is None:
            continue
        taken = [what for what, file in read.items() if file and path.exists()
                 and path.resolve().is_relative_to(user_path(file).resolve())]
        why = f"would overwrite {taken[0]}" if taken else ""
        if path.exists() and not path.is_file():
            why = "is a folder or no regular file"
        elif not os.access(path.parent, os.W_OK | os.X_OK):
            why = f"cannot be written: {path.parent} does not exist, or permission denied"
        if why:
            raise InvalidSetting(f"{option} {path} {why}; name another file")
    return list(out.values())


def report_file(folder: Path, recording: Path) -> Path:
    """A new file for a recording's report in a folder, perhaps numbered; the folder is made, where
    it can be (`check_outputs`)."""
    path = user_path(folder)
    with suppress(OSError):
        path.mkdir(parents=True, exist_ok=True)
    name = recording.resolve().name
    names = chain([f"{name}.html"], (f"{name}-{k}.html" for k in count(2)))
    return next(file for file in map(path.joinpath, names) if not file.exists())


def print_written(*paths: Path | None) -> None:
    """Say which files were written; None: it was not asked for."""
    for path in filter(None, paths):
        print(f"wrote {printable(str(path))}")


def write_document(path: Path, kind: str, version: int, content: Content) -> None:
    """Write a document with this content, whole or not at all (raises OSError)."""
    write_json(path, {"format": kind, "version": version, "content": content})


def write_json(path: Path, tree: Any) -> None:
    """Write a tree as JSON, null in place of NaN, whole or not at all, in a folder that need not be
    there (raises OSError)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(without_nonfinite(tree), indent=1, allow_nan=False) + "\n")


def read_document(path: Path, kind: str, version: int) -> Content:
    """The content of a document of a kind and version (raises DamagedFile; OSError: unreadable)."""
    tree = read_report(path)
    found, content = tree.get("version"), tree.get("content")
    if tree.get("format") != kind or not isinstance(content, dict):
        raise DamagedFile(f"it is no '{kind}' file")
    if found != version:
        raise DamagedFile(f"it has version {str(found)[:20]}; this program reads version {version}")
    return content


def read_report(path: Path) -> Content:
    """The mapping in a JSON file, None in place of NaN (raises DamagedFile, OSError)."""
    try:
        tree = json.loads(read_text(path, MAX_JSON_BYTES), parse_constant=lambda word: None)
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"it is not valid JSON ({' '.join(str(error).split())})") from None
    if not isinstance(tree, dict):
        raise DamagedFile("it holds no mapping")
    return tree


def without_nonfinite(value: Any) -> Any:
    """A tree with None in place of numbers that are not finite."""
    if isinstance(value, dict):
        return {key: without_nonfinite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nonfinite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class _Loader(yaml.SafeLoader):
    """Safe YAML that also reads 1e-6 as a number, which YAML 1.1 takes for text."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+$"),
    list("-+.0123456789"))


def parse_yaml(text: str) -> Any:
    """The values in a YAML text (raises DamagedFile: no YAML, or not accepted)."""
    try:
        return yaml.load(text, _Loader)
    except Exception as error:  # of any kind, as of what looks like a date and is none
        raise DamagedFile(f"it is not valid YAML: {' '.join(str(error).split()):.250}") from None


def assignments(texts: Iterable[str], known: Sequence[str] = ()) -> dict[str, Any]:
    """Values by name, of texts NAME=VALUE that --set gives; known: all names (empty: any; raises
    InvalidSetting)."""
    out = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in (known or [name]):
            raise InvalidSetting(f"--set {text[:200]}: expected NAME=VALUE {', '.join(known)}")
        try:
            out[name] = parse_yaml(value) if value else ""
        except DamagedFile as error:
            raise InvalidSetting(f"--set {text[:200]}: {error}") from error
    return out


def read_yaml(path: Path, what: str) -> Any:
    """The values in a YAML file, which errors call `what` (raises InvalidSetting: unusable)."""
    try:
        return parse_yaml(read_text(path, MAX_YAML_BYTES))
    except OSError as error:
        raise InvalidSetting(f"{what} cannot be read: {error.strerror}") from error
    except DamagedFile as error:
        raise InvalidSetting(f"{what} cannot be used: {error}") from error
