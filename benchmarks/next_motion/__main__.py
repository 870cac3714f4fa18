# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.next_motion``: how long planned motions take, beside two usual ones.

Random payloads of 0.3-8 kg in random poses on a UR5-class arm, sensors with the errors of their
data sheets. Rows are written as they come (`--output`), and those that are there are not run again.
`--table` prints what the rows say.
"""

import os

for _threads in ("OMP", "OPENBLAS", "MKL", "RAYON"):
    os.environ[f"{_threads}_NUM_THREADS"] = "1"

import argparse
import csv
import sys
from pathlib import Path
from typing import get_type_hints

import numpy as np

from .motions import MOTIONS
from .task import make_task
from .trial import Row, run

SENSORS = ("ati_gamma", "ur_e_series")


def read(path: Path) -> list[Row]:
    """The rows of a file; none where there is no file."""
    if not path.exists():
        return []
    kinds = [get_type_hints(Row)[name] for name in Row._fields]
    with path.open() as file:
        return [Row(*(kind(word) for kind, word in zip(kinds, words, strict=True)))
                for words in list(csv.reader(file))[1:]]


def write(path: Path, row: Row) -> None:
    """Append a row."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(Row._fields)
        writer.writerow(row)


def table(rows: list[Row]) -> list[str]:
    """What the rows say, by sensor and motion."""
    lines = ["| sensor, motion | tasks | can be had: mass, median (worst), %; centre, mm | "
             "reached | median (worst), s | in motion, median, s | reached what was asked for | "
             "inertia: can be had, reached | ended, median (worst), s | interval of the mass then, "
             "median (worst), % | of the centre, mm | mass error, median (worst), % | centre "
             "error, median (worst), mm | beyond 2 sigma | fastest point, m/s | contacts | lowest, "
             "m | found by the check |", "|" + "---|" * 18]
    for sensor in SENSORS:
        for motion in MOTIONS:
            own = [row for row in rows if (row.sensor, row.motion) == (sensor, motion)]
            if own:
                lines.append(_line(sensor, motion, own))
    return lines


def _line(sensor: str, motion: str, rows: list[Row]) -> str:
    def column(name: str) -> np.ndarray:
        return np.array([getattr(row, name) for row in rows], dtype=float)

    def median(name: str) -> float:  # what is never reached counts as later than all else
        return float(np.median(np.nan_to_num(column(name), nan=np.inf)))

    def both(name: str, form: str = ".2f") -> str:
        return f"{np.nanmedian(column(name)):{form}} ({np.nanmax(column(name)):{form}})"

    reached, asked = (np.isfinite(column(name)).sum() for name in ("reached", "asked"))
    with_inertia = column("all_reached")[column("can_inertia") > 0.0]
    worst = np.nan_to_num(column("reached"), nan=np.inf).max()
    return (f"| {sensor}, {motion} | {len(rows)} | {both('can_mass', '.1f')}; "
            f"{both('can_com', '.1f')} | {reached} | {median('reached'):.1f} ({worst:.1f}) | "
            f"{median('moving'):.1f} | {asked} | {len(with_inertia)}, "
            f"{np.isfinite(with_inertia).sum()} | {both('ended', '.1f')} | {both('end_mass')} | "
            f"{both('end_com')} | {both('mass_error')} | {both('com_error')} | "
            f"{(column('z') > 2.0).sum()} | {column('speed').max():.3f} | "
            f"{int(column('contacts').sum())} | {column('lowest').min():.3f} | "
            f"{int(column('problems').sum())} |")


def main() -> int:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, nargs="+", default=list(range(20)))
    parser.add_argument("--sensors", nargs="+", default=list(SENSORS), choices=SENSORS)
    parser.add_argument("--motions", nargs="+", default=list(MOTIONS), choices=list(MOTIONS))
    parser.add_argument("--output", type=Path, default=Path("next_motion.csv"))
    parser.add_argument("--table", action="store_true", help="run nothing")
    options = parser.parse_args()
    rows = read(options.output)
    done = {(row.task, row.sensor, row.motion) for row in rows}
    for number in [] if options.table else options.tasks:
        for sensor in options.sensors:
            for motion in options.motions:
                if (number, sensor, motion) not in done:
                    rows.append(run(make_task(number), sensor, motion))
                    write(options.output, rows[-1])
    print("\n".join(table(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
