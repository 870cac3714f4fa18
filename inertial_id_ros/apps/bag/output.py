# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What programs print and write. Files are checked before a long run, and written completely or not
at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InvalidSetting, printable
from ...estimate import Estimate
from ...extras import optional_packages
from ...io.files import strict_json, user_path, write_atomically
from ..report.results import (
    BAD,
    GOOD,
    Cell,
    Identification,
    Table,
    diagnose,
    parameter_table,
    sensor_table,
    sentence,
)

if TYPE_CHECKING:  # files are written without it
    from rich.console import Console

_COLORS = {"bad": "red", "fair": "yellow", "good": "green"}
_LEVELS = {"error": "red", "warning": "yellow", "info": "cyan"}


def console(**options: Any) -> Console:
    """A console of rich (raises MissingPackage)."""
    with optional_packages("printing the result"):
        from rich.console import Console
    return Console(**options)


def print_report(result: Identification, title: str) -> None:
    """Print the tables, the findings and, last, the verdict: what came out, why, what to do."""
    outcome, found, out = result.outcome, diagnose(result), console()
    lines = [f"{as_markup(title)}: {result.duration:.1f} s recorded"]
    if isinstance(outcome, Estimate):
        print_table(out, parameter_table(outcome))
        if outcome.residual_rms.any():  # joint torques know no channels of a sensor
            print_table(out, sensor_table(outcome))
        lines.append(f"{outcome.samples} samples, {outcome.window:.1f} s, {outcome.method} "
                     f"estimator ({outcome.weighting} weighting), "
                     f"frame {as_markup(outcome.frame_id)}"
                     + (", object apart from the tool" if outcome.tool_apart else ""))
    else:
        lines += [f"  {as_markup(topic)}: {count}" for topic, count in result.counts.items()]
    lines += [f"[{_LEVELS[f.level]}]{f.level}[/]: {as_markup(f.text)}" for f in result.findings]
    lines += [f"[cyan]note[/]: {as_markup(text)}" for text in result.notes]
    style = {GOOD: "bold green", BAD: "bold red"}.get(found.tone, "bold yellow")
    lines.append(f"[{style}]{as_markup(f'{found.word}: {found.said}')}[/]")
    if found.tone != GOOD:
        known = {sentence(f.text) for f in result.findings}  # they stand above already
        lines += [f"  why: {as_markup(text)}" for text in found.reasons if text not in known]
        lines += [f"  to do: {as_markup(text)}" for text in found.mends]
    for line in lines:
        out.print(line, highlight=False)


def as_markup(text: str) -> str:
    """A text that may hold names from outside, for a console of rich."""
    with optional_packages("printing the result"):
        from rich.markup import escape
    return escape(printable(text))


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
    out = [path and user_path(path) for path in wanted.values()]
    taken = {user_path(path).resolve(): what for what, path in read.items() if path}
    for option, path in zip(wanted, out, strict=True):
        if path is None:
            continue
        real, why = path.resolve(), ""
        if path.exists() and not path.is_file():
            why = "is a folder or no regular file"
        elif not os.access(path if path.exists() else path.parent, os.W_OK) or not os.access(
                path.parent, os.W_OK | os.X_OK):
            why = f"cannot be written: {path.parent} does not exist, or permission denied"
        for at, what in taken.items():
            if real == at or (at in real.parents and real.exists()):
                why = why or f"would overwrite {what}"
        if why:
            raise InvalidSetting(f"{option} {path} {why}; name another file")
        taken[real] = f"the file of {option}"
    return out


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


def result_json(result: Identification, recording: Path) -> dict[str, Any]:
    """The JSON report (SI units, sensor axes), with the estimate over time as `history`."""
    tree = result.outcome.to_json()
    said = [*tree["diagnostics"], *(f.text for f in result.findings), *result.notes]
    history = []
    for time, outcome, _ in result.history:
        known = {"sigma": outcome.sigma.tolist() if isinstance(outcome, Estimate) else None,
                 "verdict": None, **outcome.to_json()}
        history.append({"stamp": outcome.stamp_ns * 1e-9, "t": time, **{
            key: known.get(key) for key in (
                "sigma", "verdict", "mass", "com", "inertia_com", "valid")}})
    return {**tree, "diagnostics": list(dict.fromkeys(said)),
            "findings": [{"name": f.name, "level": f.level, "text": f.text}
                         for f in result.findings],
            "recording": str(recording), "duration": result.duration, "messages": result.counts,
            "history": history}
