# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Files that programs write: checked before a long run, and written completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import chain, count
from pathlib import Path
from typing import Any

from ...errors import InvalidSetting, printable
from ...io.files import strict_json, user_path, write_atomically


def check_outputs(wanted: Mapping[str, Path | None],
                  read: Mapping[str, Path | None]) -> list[Path | None]:
    """Check the files to write before a long run; returns their paths in the same order.

    Args:
        wanted: path by option; read: files and folders that are read, by what they are.

    Raises:
        InvalidSetting: one cannot be written, or would replace what is read.
    """
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
    """A new file for a recording's report in a folder, which is made if missing; numbered where one
    of that name is there (raises InvalidSetting)."""
    path = user_path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidSetting(f"--report {folder} is no folder and cannot be made: "
                             f"{error.strerror or error}") from error
    name = recording.resolve().name
    names = chain([f"{name}.html"], (f"{name}-{k}.html" for k in count(2)))
    return next(file for file in map(path.joinpath, names) if not file.exists())


def print_written(*paths: Path | None) -> None:
    """Say which files were written; None: it was not asked for."""
    for path in filter(None, paths):
        print(f"wrote {printable(str(path))}")


def write_json(path: Path, result: dict[str, Any]) -> None:
    """Write strict JSON: numbers that are not finite become null (raises OSError)."""
    write_atomically(path, strict_json(result, indent=1))
