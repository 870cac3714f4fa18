# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Result files, and the report that `identify_bag` prints.

Files are checked before a long run, and written completely or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InvalidSetting, printable
from ...estimate import Estimate
from ...extras import optional_packages
from ...findings import Finding
from ...io.files import replace_file, strict_json, user_path
from ...model.tool import Tool, save_tool
from ..report.diagnosis import BAD, GOOD, Diagnosis, sentence
from ..report.page import Cell, Table, parameter_table, sensor_table
from ..report.results import Identification, Snapshot

if TYPE_CHECKING:  # files are written without it
    from rich.console import Console

_COLORS = {"bad": "red", "fair": "yellow", "good": "green"}


def print_report(console: Console, result: Identification, title: str, found: Diagnosis
                 ) -> None:
    """Print the tables, the findings and, last, the verdict with what to do."""
    outcome = result.outcome
    if isinstance(outcome, Estimate):
        console.print(as_markup(title), highlight=False)
        print_table(console, parameter_table(outcome))
        if np.any(outcome.residual_rms):  # joint torques know no channels of a sensor
            print_table(console, sensor_table(outcome))
        console.print(
            f"{outcome.samples} samples, {outcome.window:.1f} s of {result.duration:.1f} s "
            f"recorded, {outcome.method} estimator ({outcome.weighting} weighting), "
            f"frame {as_markup(outcome.frame_id)}"
            + (", object apart from the tool" if outcome.tool_apart else ""), highlight=False)
    else:
        console.print(f"{as_markup(title)}: {result.duration:.1f} s", highlight=False)
        for topic, count in result.counts.items():
            console.print(f"  {as_markup(topic)}: {count}", highlight=False)
    for line in finding_lines(result.findings, result.notes):
        console.print(line, highlight=False)
    for line in verdict_lines(found, {f.text for f in result.findings}):
        console.print(line, highlight=False)


def verdict_lines(found: Diagnosis, printed: Collection[str]) -> list[str]:
    """The verdict of the report in marked-up lines: what came out, why, and what to do.

    Args:
        printed: sentences that stand above already.
    """
    if found.tone == GOOD:
        return [f"[bold green]{found.word}[/]: {as_markup(found.said)}"]
    style = "bold red" if found.tone == BAD else "bold yellow"
    known = {sentence(text) for text in printed}
    return [f"[{style}]{as_markup(f'{found.word}: {found.said}')}[/]",
            *(f"  why: {as_markup(text)}" for text in found.reasons if text not in known),
            *(f"  to do: {as_markup(text)}" for text in found.mends)]


def as_markup(text: str) -> str:
    """A text that may hold names from outside, for a console of rich."""
    with optional_packages("printing the result"):
        from rich.markup import escape
    return escape(printable(text))


def finding_lines(findings: Sequence[Finding], notes: Sequence[str]) -> list[str]:
    """One marked-up line for each finding and note."""
    colors = {"error": "red", "warning": "yellow", "info": "cyan"}
    return [*(f"[{colors[f.level]}]{f.level}[/]: {as_markup(f.text)}" for f in findings),
            *(f"[cyan]note[/]: {as_markup(text)}" for text in notes)]


def print_table(console: Console, table: Table) -> None:
    """Print a table of a report, in the colours of its cells."""
    with optional_packages("printing the result"):
        from rich.table import Table as Grid
    grid = Grid(title=as_markup(table.caption), title_justify="left")
    for k, head in enumerate(table.heads):
        grid.add_column(as_markup(head), justify="right" if k else "left")
    for row in table.rows:
        grid.add_row(*(f"[{_COLORS.get(cell.tone, 'default')}]{as_markup(cell.text)}[/]"
                       if isinstance(cell, Cell) else as_markup(cell) for cell in row))
    console.print(grid)


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


def result_json(result: Identification, recording: Path) -> dict[str, Any]:
    """The JSON report (SI units, sensor axes), with the estimate over time as `history`."""
    tree = result.outcome.to_json()
    said = [*tree["diagnostics"], *(f.text for f in result.findings), *result.notes]
    tree["diagnostics"] = list(dict.fromkeys(said))
    tree["findings"] = [{"name": f.name, "level": f.level, "text": f.text}
                        for f in result.findings]
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
