"""The command line: runs sources, prints a line for each, and keeps every run."""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from inertial_id_ros.errors import InertialIdError

from ..records import Row
from ..run import setting_changes
from .identify import run
from .paths import LENGTHS
from .sources import SOURCES
from .summary import HEADER, line, summarise


def main(arguments: list[str] | None = None) -> int:
    """Entry point; returns the exit status (2: wrong use)."""
    options = _parser().parse_args(arguments)
    try:
        changes = setting_changes(options.settings)
    except (InertialIdError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(HEADER)
    kept: list[Row] = []
    for name, rows in _all(options, changes):
        print(line(name, summarise(rows)), flush=True)
        kept += rows
        if options.output:
            _write(Path(options.output), kept)
    return 0


def _all(options: argparse.Namespace, changes: dict[str, Any]) -> Iterator[tuple[str, list[Row]]]:
    """Rows of each source in turn."""
    seeds = range(options.seed, options.seed + options.runs)
    work = partial(_run, changes=changes, lengths=tuple(options.seconds))
    if options.jobs == 1:
        for name in options.sources:
            yield name, [work((name, seed)) for seed in seeds]
        return
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for name in options.sources:
            yield name, pool.map(work, [(name, seed) for seed in seeds], chunksize=2)


def _run(task: tuple[str, int], changes: dict[str, Any], lengths: tuple[float, ...]) -> Row:
    return run(*task, changes, lengths)


def _write(path: Path, rows: list[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    names = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, restval="")
        writer.writeheader()
        writer.writerows({k: f"{v:.9g}" if isinstance(v, float) else v for k, v in row.items()}
                         for row in rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmarks.accuracy.real_sensors", description=__doc__)
    parser.add_argument("--sources", nargs="+", default=list(SOURCES), choices=list(SOURCES),
                        metavar="NAME", help=f"of {', '.join(SOURCES)}; default: all")
    parser.add_argument("--runs", type=int, default=20, help="for each source")
    parser.add_argument("--seed", type=int, default=1000, help="of the first run")
    parser.add_argument("--seconds", type=float, nargs="+", default=list(LENGTHS),
                        help="lengths of the recordings, of which each run draws one")
    parser.add_argument("--settings", nargs="+", default=[], metavar="SETTING=VALUE",
                        help="settings of the identification")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--output", default="", help="CSV file of all runs")
    return parser
