# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Runs the benchmark and writes its tables."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inertial_id_ros.errors import InertialIdError
from inertial_id_ros.settings import ESTIMATORS, Settings

from . import tables
from .families import objects
from .records import Records, read
from .scenarios import NEVER_WORSE, SCENARIOS, Scenario
from .trials import CORRECT_PRIOR, run

RESULTS = Path(__file__).parent / "results"
ALWAYS = (CORRECT_PRIOR,)
_PER_ANSWER, _PER_SECOND, _PER_SAMPLE = 0.01, 0.01, 3e-5  # s of processor time
Task = tuple[str, int, list[str], dict[str, Any]]


def main(arguments: list[str] | None = None) -> int:
    """Entry point; returns the exit status (2: wrong use, 1: nothing could be run)."""
    options = _parser().parse_args(arguments)
    try:
        chosen, estimators, overrides = _choices(options)
    except (InertialIdError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    tasks: list[Task] = []
    for scenario in chosen:
        if not objects(scenario.family):
            print(f"skipped {scenario.name}: its data folder is missing (set INERTIAL_ID_DATA)")
            continue
        count = options.runs or (1 if options.quick else scenario.runs)
        tasks += [(scenario.name, k, estimators, overrides) for k in range(count)]
    if not tasks:
        print("error: no scenario could be run", file=sys.stderr)
        return 1
    folder = Path(options.output)
    try:
        records = Records(folder, {"estimators": estimators, "settings": overrides}, options.resume)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    there = {(r["scenario"], r["run"]) for r in read(records.path)}
    finished = work([t for t in tasks if t[:2] not in there], records, options.workers)
    rows = read(records.path)
    if rows:
        tables.write(rows, chosen, folder)
        print(f"wrote {folder / 'summary.md'}")
    return 0 if finished else 130


def work(tasks: list[Task], records: Records, workers: int) -> bool:
    """Run tasks and record each as it is done; False where an interrupt ended it."""
    if not tasks:
        return True
    costs = [_cost(_scenario(name), len(estimators)) for name, _, estimators, _ in tasks]
    print(f"{len(tasks)} runs, about {sum(costs) / 60.0 / workers:.0f} min", file=sys.stderr)
    started, last = time.monotonic(), 0.0
    try:
        for done, part in enumerate(_map(tasks, workers), 1):
            records.add(part)
            took = time.monotonic() - started
            if took - last > (1.0 if sys.stderr.isatty() else 60.0) or done == len(tasks):
                last, left = took, took * sum(costs[done:]) / sum(costs[:done])
                print(f"{done}/{len(tasks)} runs, {took / 60.0:.1f} min, {left / 60.0:.1f} min to "
                      "go", end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr)
    except KeyboardInterrupt:
        print("\ninterrupted; the same command with --resume goes on", file=sys.stderr)
        return False
    return True


def _cost(scenario: Scenario, estimators: int) -> float:
    """Rough processor time of one run [s]; measured once, for the forecast."""
    recording = scenario.seconds * (_PER_SECOND + _PER_SAMPLE * scenario.rate)
    if scenario.source != "encoder":
        recording *= 0.3  # past the identifier's intake
    return len(objects(scenario.family)) * (_PER_ANSWER * estimators + recording)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.accuracy", description=__doc__)
    parser.add_argument("--scenario", nargs="+", default=[], metavar="NAME",
                        help="names, or beginnings of names; default: all")
    parser.add_argument("--estimator", nargs="+", default=[], metavar="NAME",
                        help=f"default: all; {' and '.join(ALWAYS)} are always there")
    parser.add_argument("--runs", type=int, default=0, help="for each object, in place of each "
                        "scenario's own number")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--quick", action="store_true", help="one run for each object")
    parser.add_argument("--set", nargs="+", default=[], metavar="SETTING=VALUE", dest="changes",
                        help="settings of the identification, e.g. kinematics.filter_window=0.2")
    parser.add_argument("--output", default=str(RESULTS), help="folder of the results")
    parser.add_argument("--resume", action="store_true",
                        help="go on with the results in the folder, e.g. after an interrupt")
    parser.add_argument("--list", action=_List, help="list scenarios and leave")
    return parser


class _List(argparse.Action):
    def __init__(self, option_strings: Any, dest: str, **kwargs: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **kwargs)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        for s in SCENARIOS.values():
            print(f"{s.name:22s} {s.group}")
        parser.exit()


def _choices(options: argparse.Namespace) -> tuple[list[Scenario], list[str], dict[str, Any]]:
    chosen = [s for s in SCENARIOS.values()
              if not options.scenario or any(s.name.startswith(n) for n in options.scenario)]
    for name in options.scenario:
        if not any(s.startswith(name) for s in SCENARIOS):
            raise ValueError(f"no scenario begins with '{name}'; --list shows them")
    known = [*ESTIMATORS, CORRECT_PRIOR]
    for name in options.estimator:
        if name not in known:
            raise ValueError(f"no estimator '{name}'; allowed: {', '.join(known)}")
    wanted = [*options.estimator] or known
    estimators = [*dict.fromkeys([*wanted, *ALWAYS])]
    overrides = setting_changes(options.changes)
    if options.runs < 0 or options.workers < 1:
        raise ValueError("--runs must not be negative and --workers at least 1")
    return chosen, estimators, overrides


def setting_changes(texts: list[str]) -> dict[str, Any]:
    """Settings from SETTING=VALUE (raises ValueError, InvalidSetting)."""
    changes = dict(_assignment(text) for text in texts)
    Settings().replace(changes)
    return changes


def _assignment(text: str) -> tuple[str, Any]:
    name, mark, value = text.partition("=")
    if not mark:
        raise ValueError(f"'{text}' is not SETTING=VALUE")
    if value in ("true", "false"):
        return name, value == "true"
    try:
        return name, float(value)
    except ValueError:
        return name, value


def _work(task: Task) -> list[dict[str, Any]]:
    name, number, estimators, overrides = task
    return run(_scenario(name), number, estimators, overrides)


def _scenario(name: str) -> Scenario:
    return SCENARIOS.get(name) or NEVER_WORSE[name]


def _map(tasks: list[Task], workers: int) -> Iterator[list[dict[str, Any]]]:
    if workers == 1:
        yield from map(_work, tasks)
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        yield from pool.imap(_work, tasks)  # in order, so that files do not depend on timing
