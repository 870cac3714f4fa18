# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Is the estimation core as good as it was? `python -m benchmarks.referee`: a table, and exit
status 1 where a bound is broken.

    python -m benchmarks.referee [ROW ...] [--runs 1] [--seeds fresh] [--csv OUT] [--resume]

Runs go to OUT as they finish. ROW: beginnings of names, or groups (accuracy, sensors, moving loads,
faults, contacts, changes, still, real, time). `--seeds N` adds N to all seeds; `fresh` takes those
of today's clock. `--baseline` judges nothing (a core that is to be compared with later).
"""

import os

for _name in ("OMP", "OPENBLAS", "MKL", "RAYON"):
    os.environ[f"{_name}_NUM_THREADS"] = "1"

import argparse
import time
from pathlib import Path

from . import runs, table
from .campaign import perform, read

HERE = Path(__file__).parent
BEFORE = HERE / "at_02cee848.csv"


def main() -> int:
    """Entry point; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.referee", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--runs", type=int, default=0, help="of each row at most")
    parser.add_argument("--seeds", default="0", help="'fresh', or what is added to all seeds")
    parser.add_argument("--csv", type=Path, default=HERE / "runs.csv", metavar="OUT")
    parser.add_argument("--before", type=Path, default=BEFORE, metavar="CSV",
                        help="to compare with")
    parser.add_argument("--resume", action="store_true", help="go on with the runs in OUT")
    parser.add_argument("--baseline", action="store_true", help="exit status 0 in any case")
    parser.add_argument("--adapter", default=runs.ADAPTER, help="module here, of the core")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    offset = 100_000 + int(time.time()) % 10_000_000 if given.seeds == "fresh" else int(given.seeds)
    if not given.resume:
        given.csv.unlink(missing_ok=True)
    there = read(given.csv)
    asked = list(runs.tasks(given.rows, given.runs, offset))
    # In an order in which a part of them holds some of each row; time alone, at the end.
    order = sorted(asked, key=lambda task: (task[0].startswith("time:"), task[1]))
    todo = [(*task, given.adapter) for task in order if task not in there]
    if todo:
        perform(todo, given.csv, given.workers)
    now = {task: numbers for task, numbers in read(given.csv).items() if task in set(asked)}
    groups = {name: row.group for name, row in runs.rows().items()}
    lines, broken = table.judge(now, read(given.before), groups)
    print("\n".join(lines))
    return int(broken > 0 and not given.baseline)


if __name__ == "__main__":
    raise SystemExit(main())
