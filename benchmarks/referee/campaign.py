# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Does the runs in two processes, and keeps each in a file as it is done."""

import csv
import multiprocessing
import sys
import time
from pathlib import Path

from . import runs

Runs = dict[tuple[str, int], runs.Numbers]  # by row and seed
Task = tuple[str, int, str]


def read(path: Path) -> Runs:
    """(row, seed): numbers of each run in a file; none where there is no file."""
    if not path.is_file():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {(row, int(seed)): {k: float(v) for k, v in (p.split("=") for p in values.split())}
                for row, seed, values in csv.reader(file)}


def _work(task: Task) -> tuple[str, int, runs.Numbers]:
    name, seed, adapter = task
    runs.ADAPTER = adapter
    begun = time.process_time()
    try:
        numbers = runs.rows()[name].work(seed)
    except Exception as error:  # a run that fails is a result, and the other ones go on
        print(f"{name} {seed}: {type(error).__name__}: {error}", file=sys.stderr)
        numbers = {"failed": 1.0}
    return name, seed, numbers | {"cpu_s": time.process_time() - begun}


def perform(tasks: list[Task], path: Path, workers: int) -> None:
    """Do the runs, each written as it is done."""
    begun = time.monotonic()
    with (path.open("a", newline="", encoding="utf-8") as file,
          multiprocessing.get_context("spawn").Pool(workers) as pool):
        writer = csv.writer(file, lineterminator="\n")
        for done, (name, seed, numbers) in enumerate(pool.imap_unordered(_work, tasks), 1):
            writer.writerow([name, seed, " ".join(f"{k}={v:.4g}" for k, v in numbers.items())])
            file.flush()
            if done % 50 == 0 or done == len(tasks):
                print(f"{done}/{len(tasks)} runs, {(time.monotonic() - begun) / 60.0:.1f} min",
                      file=sys.stderr, flush=True)
