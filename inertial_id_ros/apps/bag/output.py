# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Result files: checked before a long run, and written completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import InvalidSetting, printable
from ...estimate import Estimate
from ...io.files import replace_file, strict_json, user_path
from ...regression.tool import Tool, save_tool
from ..report.results import Identification, Snapshot


def check_outputs(wanted: Mapping[str, Path | None],
                  read: Mapping[str, Path | None]) -> list[Path | None]:
    """Check the files to write before a long run; returns their paths in the same order.

    Args:
        wanted: path by option; read: files and folders that are read, by what they are.

    Raises:
        InvalidSetting: one cannot be written, would replace what is read, or two are the same.
    """
    checked = {option: check_writable(path, option) for option, path in wanted.items() if path}
    taken = {user_path(path).resolve(): what for what, path in read.items() if path}
    for option, path in checked.items():
        real = path.resolve()
        for at, what in taken.items():
            if real == at or (at in real.parents and real.exists()):
                raise InvalidSetting(f"{option} {path} would overwrite {what}; name another file")
        taken[real] = f"the file of {option}"
    return [checked.get(option) for option in wanted]


def print_written(*paths: Path | None) -> None:
    """Say which files were written; None: it was not asked for."""
    for path in paths:
        if path is not None:
            print(f"wrote {printable(str(path))}")


def report_file(folder: Path, recording: Path) -> Path:
    """The file of a recording's report in a folder, which is made if missing (raises
    InvalidSetting)."""
    path = user_path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidSetting(f"--report {folder} is no folder and cannot be made: "
                             f"{error.strerror or error}") from error
    return path / f"{recording.resolve().name}.html"


def check_writable(path: Path, option: str) -> Path:
    """Check before a long run that a file can be written; returns its path.

    Raises:
        InvalidSetting: it is a folder, its folder is missing, or one may not write there.
    """
    path = user_path(path)
    folder = path.parent
    if path.is_dir():
        raise InvalidSetting(f"{option} {path} is a folder; name a file")
    if path.exists() and not path.is_file():
        raise InvalidSetting(f"{option} {path} is no regular file; name another")
    if not folder.is_dir():
        raise InvalidSetting(f"{option} {path} cannot be written: folder {folder} does not exist")
    if not os.access(folder, os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise InvalidSetting(f"{option} {path} cannot be written: permission denied")
    return path


def check_picture(path: Path) -> None:
    """Raise InvalidSetting, before a long run, where a picture is not to be written as SVG."""
    if path.suffix.lower() != ".svg":
        raise InvalidSetting(f"--plot {path} ends in '{path.suffix}'; it must end in '.svg'")


@contextmanager
def replace_when_complete(path: Path) -> Iterator[Path]:
    """A temporary file beside a path; it replaces the file there when the block ends well.

    Raises:
        InvalidSetting: the file cannot be written.
    """
    try:
        with replace_file(path) as temporary:
            yield temporary
    except OSError as error:
        raise InvalidSetting(f"{path} cannot be written: {error.strerror or error}") from error


def write_text(path: Path, text: str) -> None:
    """Write a text file, which appears when it is complete (raises InvalidSetting)."""
    with replace_when_complete(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, result: dict[str, Any]) -> None:
    """Write strict JSON: numbers that are not finite become null.

    Raises:
        InvalidSetting: the file cannot be written.
    """
    write_text(path, strict_json(result, indent=1))


def write_tool(path: Path, tool: Tool) -> None:
    """Write a tool file (raises InvalidSetting where it cannot be written)."""
    try:
        save_tool(path, tool)
    except OSError as error:
        raise InvalidSetting(f"{path} cannot be written: {error.strerror or error}") from error


def result_json(result: Identification, recording: Path, notes: Sequence[str]) -> dict[str, Any]:
    """The JSON report (SI units, sensor axes), with the estimate over time as `history`."""
    tree = result.outcome.to_json()
    said = [*tree["diagnostics"], *(f.text for f in result.findings), *notes]
    tree["diagnostics"] = list(dict.fromkeys(said))
    tree["recording"] = str(recording)
    tree["duration"] = result.duration
    tree["messages"] = result.counts
    tree["history"] = [_history_entry(item) for item in result.history]
    return tree


def _history_entry(item: Snapshot) -> dict[str, Any]:
    """One estimate of the history as JSON."""
    outcome = item.outcome
    tree = outcome.to_json()
    valid = isinstance(outcome, Estimate)
    return {"stamp": outcome.stamp_ns * 1e-9, "t": item.time, "mass": tree["mass"],
            "com": tree["com"], "inertia_com": tree["inertia_com"],
            "sigma": outcome.sigma.tolist() if isinstance(outcome, Estimate) else None,
            "valid": valid, "verdict": tree["verdict"] if valid else None}
