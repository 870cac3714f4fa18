# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The command line: runs the sources, prints a line for each, and keeps every run."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from inertial_id_ros.errors import InertialIdError

from ..records import Records, Row, read
from ..run import RESULTS, setting_changes
from . import tables
from .identify import FIELDS, run
from .paths import KINDS, LENGTHS
from .payloads import FAMILIES
from .recordings import Draw
from .sources import SOURCES
from .summary import HEADER, line, summarise

Task = tuple[str, int]  # source and seed


def main(arguments: list[str] | None = None) -> int:
    """Entry point; returns the exit status (2: wrong use)."""
    parser = make_parser("benchmarks.accuracy.real_sensors", __doc__, "real_sensors")
    parser.add_argument("--plain", action="store_true",
                        help="leave out the settings that a user of each sensor would choose")
    options = parser.parse_args(arguments)
    try:
        changes, records = start(options, {"plain": options.plain}, FIELDS)
    except (InertialIdError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(HEADER)
    work = partial(_run, draw=draw_of(options), changes=changes, plain=options.plain)
    for name, rows in run_sources(options, records, work):
        print(line(name, summarise(rows)), flush=True)
    tables.write(Path(options.output))
    return 0


def _run(task: Task, draw: Draw, changes: dict[str, Any], plain: bool) -> list[Row]:
    return [run(*task, draw, changes, plain)]


# ---- what the two command lines share ------------------------------------------------------------

def make_parser(name: str, text: str | None, folder: str) -> argparse.ArgumentParser:
    """Options that choose runs."""
    parser = argparse.ArgumentParser(prog=name, description=text)
    parser.add_argument("--sources", nargs="+", default=list(SOURCES), choices=list(SOURCES),
                        metavar="NAME", help=f"of {', '.join(SOURCES)}; default: all")
    parser.add_argument("--runs", type=int, default=20, help="for each source")
    parser.add_argument("--seed", type=int, default=1000, help="of the first run")
    parser.add_argument("--seconds", type=float, nargs="+", default=list(LENGTHS),
                        help="lengths of the recordings, of which each run draws one")
    parser.add_argument("--motions", nargs="+", default=list(KINDS), choices=KINDS,
                        help="of which each run draws one")
    parser.add_argument("--speed", type=float, default=0.0,
                        help="mean angular speed [rad/s]; default: drawn, too")
    parser.add_argument("--objects", default="composites", choices=list(FAMILIES))
    parser.add_argument("--set", "--settings", nargs="+", default=[], metavar="SETTING=VALUE",
                        dest="changes", help="settings of the identification")
    parser.add_argument("--workers", "--jobs", type=int, default=1, help="processes")
    parser.add_argument("--resume", action="store_true",
                        help="go on with the runs in the folder, e.g. after an interrupt")
    parser.add_argument("--output", default=str(RESULTS / folder),
                        help="folder of the runs and tables")
    return parser


def draw_of(options: argparse.Namespace) -> Draw:
    """What the options let each run draw from."""
    speeds = (options.speed, options.speed) if options.speed else None
    return Draw(options.objects, tuple(options.seconds), tuple(options.motions), speeds)


def start(options: argparse.Namespace, more: dict[str, Any],
          fields: tuple[str, ...]) -> tuple[dict[str, Any], Records]:
    """Changed settings, and the file of runs (raises ValueError, InvalidSetting)."""
    changes = setting_changes(options.changes)
    asked = {"settings": changes, "seconds": options.seconds, "motions": options.motions,
             "speed": options.speed, "objects": options.objects, **more}
    return changes, Records(Path(options.output), asked, options.resume, fields)


def run_sources(options: argparse.Namespace, records: Records,
                work: Callable[[Task], list[Row]]) -> Iterator[tuple[str, list[Row]]]:
    """Rows of each source in turn, also on the disk as they come."""
    seeds = range(options.seed, options.seed + options.runs)
    there = [r for r in read(records.path) if r["seed"] in seeds]
    done = {(r["source"], r["seed"]) for r in there}
    todo = {name: [(name, seed) for seed in seeds if (name, seed) not in done]
            for name in options.sources}
    results = map_tasks(work, [task for tasks in todo.values() for task in tasks], options.workers)
    for name, tasks in todo.items():
        rows = [r for r in there if r["source"] == name]
        for _ in tasks:
            new = next(results)
            records.add(new)
            rows += new
        yield name, rows


def map_tasks(work: Callable[[Task], list[Row]], tasks: list[Task],
              workers: int) -> Iterator[list[Row]]:
    """Results in the order of the tasks."""
    if workers == 1:
        yield from map(work, tasks)
        return
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        yield from pool.imap(work, tasks, chunksize=2)
