# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Coverage of the 95 % intervals of `density`: `python -m benchmarks.accuracy.coverage`.

At least 500 runs of the encoder scenario (eight objects, three speeds), and runs of the workshop
tools, whose thin axes are the hardest case. Wanted: 92 to 98 % for each parameter, and no object
below 85 % for any entry.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

from inertial_id_ros.errors import InertialIdError  # noqa: E402
from inertial_id_ros.estimators import create  # noqa: E402
from inertial_id_ros.settings import Settings  # noqa: E402

from .families import objects  # noqa: E402
from .metrics import ENTRIES  # noqa: E402
from .records import Records, Row, read  # noqa: E402
from .run import RESULTS, setting_changes, work  # noqa: E402
from .scenarios import SCENARIOS  # noqa: E402
from .tables import grouped, mean  # noqa: E402

SETS = {"encoder": ("encoder-1", "encoder-1.5", "encoder-2"),
        "bias": ("bias-1", "bias-1.5", "bias-2"),
        "defaults": ("defaults-1", "defaults-1.5", "defaults-2"),
        "tools": ("tools-low", "tools-moderate", "tools-high")}
LOW, HIGH, WORST, ENOUGH = 92.0, 98.0, 85.0, 500  # percent, percent, percent, runs


def main(arguments: list[str] | None = None) -> int:
    """Entry point; returns the exit status (2: wrong use, 1: nothing could be run, 130:
    interrupted)."""
    parser = argparse.ArgumentParser(prog="benchmarks.accuracy.coverage", description=__doc__)
    parser.add_argument("--sets", nargs="+", default=["encoder", "tools"], choices=sorted(SETS))
    parser.add_argument("--runs", type=int, default=24, help="for each object and scenario")
    parser.add_argument("--estimator", default="density")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--set", nargs="+", default=[], metavar="SETTING=VALUE", dest="changes")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--output", default=str(RESULTS / "coverage"))
    options = parser.parse_args(arguments)
    folder = Path(options.output)
    try:
        overrides = setting_changes(options.changes)
        create(Settings(), options.estimator)
        records = Records(folder, {"estimators": [options.estimator], "settings": overrides},
                          options.resume)
    except (InertialIdError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    there = {(r["scenario"], r["run"]) for r in read(records.path)}
    tasks = [(s, k, [options.estimator], overrides) for name in options.sets for s in SETS[name]
             if objects(SCENARIOS[s].family) for k in range(options.runs) if (s, k) not in there]
    whole = work(tasks, records, options.workers)
    rows = read(records.path)
    if not rows:
        print("error: nothing could be run (set INERTIAL_ID_DATA for the tools)", file=sys.stderr)
        return 1
    text = "\n".join(markdown(options.estimator, options.sets, rows)) + "\n"
    (folder.parent / "coverage.md").write_text(text, encoding="utf-8")
    print(text)
    return 0 if whole else 130


def markdown(estimator: str, sets: list[str], rows: list[Row]) -> list[str]:
    """All sets as one page."""
    out = ["# Coverage", "", f"Share of the 95 % intervals of `{estimator}` that hold the truth, "
           f"in percent. Wanted: {LOW:g} to {HIGH:g} for each parameter, no object below {WORST:g} "
           "for any entry. z: error in standard deviations, mean ± spread, where an object misses."]
    for name in sets:
        own = [r for r in rows if r["scenario"] in SETS[name]]
        if own:
            out += ["", *table(name, own)]
    return out


def table(name: str, rows: list[Row]) -> list[str]:
    """Verdict, and coverage by parameter over all and by object."""
    failed = sum(bool(r["failure"]) for r in rows)
    shares = {e: 100.0 * mean(rows, f"in_{e}") for e in ENTRIES}
    by_object = {item: {e: 100.0 * mean(part, f"in_{e}") for e in ENTRIES}
                 for (item,), part in grouped(rows, "object").items()}
    out = [f"## {name}", "", f"{len(rows)} runs{' (too few)' * (len(rows) < ENOUGH)}, {failed} "
           "without an answer.", "", *verdicts(shares, by_object), "",
           "| object | " + " | ".join(ENTRIES) + " |", "|---" * (len(ENTRIES) + 1) + "|",
           "| **all** | " + " | ".join(f"**{s:.1f}**" for s in shares.values()) + " |"]
    for item, own in by_object.items():
        part = [r for r in rows if r["object"] == item and not r["failure"]]
        out.append(f"| {item} | " + " | ".join(
            f"{share:.0f}{_deviation(part, e) if share < WORST else ''}"
            for e, share in own.items()) + " |")
    return out


def verdicts(shares: dict[str, float], by_object: dict[str, dict[str, float]]) -> list[str]:
    """What is asked, and whether it holds."""
    outside = [f"{e} {s:.1f}" for e, s in shares.items() if not LOW <= s <= HIGH]
    low = [f"{item} {e} {s:.0f}" for item, own in by_object.items() for e, s in own.items()
           if not s >= WORST]
    return [f"- each parameter in {LOW:g} to {HIGH:g} %: " + (
                f"**no** ({', '.join(outside)})" if outside else "**yes**"),
            f"- every entry of every object at least {WORST:g} %: " + (
                f"**no** ({', '.join(low)})" if low else "**yes**")]


def _deviation(part: list[Row], entry: str) -> str:
    z = [r[f"z_{entry}"] for r in part]
    return f" (z {np.mean(z):+.1f} ± {np.std(z):.1f})" if z else ""


if __name__ == "__main__":
    raise SystemExit(main())
