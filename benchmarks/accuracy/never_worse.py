# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Is `density` ever worse than ignoring the shape? `python -m benchmarks.accuracy.never_worse`.

Ratio of the errors of `density` to those of `wls` with bias, for every object, length of data and
speed, with its standard error from paired runs. The cells that look worst among so many are partly
the unlucky ones, so they are measured again on fresh runs, and only that counts.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

from inertial_id_ros.errors import InertialIdError  # noqa: E402

from .records import Records, Row, read  # noqa: E402
from .run import RESULTS, setting_changes, work  # noqa: E402
from .scenarios import NEVER_WORSE  # noqa: E402
from .tables import grouped  # noqa: E402

PAIR = ["density", "wls"]
LIMIT = 1.1
ERRORS = {"e_J": "inertia", "e_com": "centre of mass", "e_m": "mass"}
FRESH = 10_000  # first run number of those that measure the worst cells again


class Cell(NamedTuple):
    """Errors of an object in a scenario: means [%], their ratio and its standard error."""

    scenario: str
    item: str
    runs: int
    density: float
    wls: float
    ratio: float
    error: float


def main(arguments: list[str] | None = None) -> int:
    """Entry point; returns the exit status (2: wrong use, 130: interrupted)."""
    parser = argparse.ArgumentParser(prog="benchmarks.accuracy.never_worse", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="times the usual number of runs")
    parser.add_argument("--worst", type=int, default=12, help="scenarios measured again")
    parser.add_argument("--again", type=int, default=40, help="fresh runs of each of these")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--set", nargs="+", default=[], metavar="SETTING=VALUE", dest="changes")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--output", default=str(RESULTS / "never_worse"))
    options = parser.parse_args(arguments)
    folder = Path(options.output)
    try:
        overrides = setting_changes(options.changes)
        records = Records(folder, {"estimators": PAIR, "settings": overrides}, options.resume)
    except (InertialIdError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    counts = {s.name: max(round(s.runs * options.scale), 1) for s in NEVER_WORSE.values()}
    whole = _work({name: range(n) for name, n in counts.items()}, records, overrides,
                  options.workers)
    if whole:
        fresh = range(FRESH, FRESH + options.again)
        whole = _work({name: fresh for name in _suspects(records, options.worst)}, records,
                      overrides, options.workers)
    text = "\n".join(markdown(read(records.path))) + "\n"
    (folder.parent / "never_worse.md").write_text(text, encoding="utf-8")
    print(text)
    return 0 if whole else 130


def _suspects(records: Records, count: int) -> list[str]:
    """Scenarios of the cells with the largest ratios, of each error in turn."""
    first = [r for r in read(records.path) if r["run"] < FRESH]
    ranked = zip(*(cells(first, key) for key in ERRORS), strict=True)
    return [*dict.fromkeys(c.scenario for rank in ranked for c in rank)][:count]


def _work(runs: dict[str, range], records: Records, overrides: dict[str, Any],
          workers: int) -> bool:
    there = {(r["scenario"], r["run"]) for r in read(records.path)}
    return work([(name, k, PAIR, overrides) for name, numbers in runs.items() for k in numbers
                 if (name, k) not in there], records, workers)


def cells(rows: list[Row], key: str) -> list[Cell]:
    """All cells, that with the largest ratio first; runs without both answers do not count."""
    out = []
    for (scenario, item), part in grouped(rows, "scenario", "object").items():
        by = {(r["run"], r["estimator"]): r[key] for r in part if not r["failure"]}
        both = [(by[k, "density"], by[k, "wls"]) for k in {k for k, _ in by}
                if (k, "density") in by and (k, "wls") in by]
        if both:
            out.append(Cell(scenario, item, len(both), *ratio_of_means(*np.array(both).T)))
    return sorted(out, key=lambda c: c.ratio, reverse=True)


def ratio_of_means(ours: np.ndarray, theirs: np.ndarray) -> tuple[float, float, float, float]:
    """Means (two), their ratio and its standard error, from pairs (n,) of errors."""
    ratio = ours.mean() / theirs.mean()
    rest = (ours - ratio * theirs) / theirs.mean()  # the ratio, linearised about the means
    error = rest.std(ddof=1) / np.sqrt(len(rest)) if len(rest) > 1 else np.nan
    return float(ours.mean()), float(theirs.mean()), float(ratio), float(error)


def markdown(rows: list[Row]) -> list[str]:
    """Verdict, worst cells, and the largest ratio by length and speed."""
    first, fresh = ([r for r in rows if (r["run"] >= FRESH) == late] for late in (False, True))
    failed = sum(bool(r["failure"]) for r in rows)
    out = ["# density against wls with bias", "",
           f"{len(rows) // 2} paired runs, {failed} answers missing. Ratio of mean errors, ± its "
           f"standard error; at most {LIMIT:g} is wanted."]
    for key, text in ERRORS.items():
        found = cells(first, key)
        above = sum(c.ratio > LIMIT for c in found)
        clear = sum(c.ratio - 2.0 * c.error > LIMIT for c in found)
        out.append(f"- {text}: {above} of {len(found)} cells above {LIMIT:g}, {clear} of them by "
                   f"two standard errors; median ratio {np.median([c.ratio for c in found]):.2f}")
    out += ["", "## Largest ratio of e_J by length and speed (object)", "", *_by_length(first)]
    if fresh:
        out += ["", "## Scenarios with the worst cells, measured again on fresh runs"]
    for key, text in ERRORS.items() if fresh else ():
        again = cells(fresh, key)
        out += ["", f"{text}: {sum(c.ratio > LIMIT for c in again)} of {len(again)} cells above "
                f"{LIMIT:g}, {sum(c.ratio - 2.0 * c.error > LIMIT for c in again)} by two standard "
                "errors", "", *_cells(again[:10], key)]
    return [*out, "", "## Largest ratios of e_J in the first pass", "",
            *_cells(cells(first, "e_J")[:20], "e_J")]


def _cells(found: list[Cell], key: str) -> list[str]:
    return [f"| scenario | object | runs | {key} density | {key} wls | ratio |", "|---" * 6 + "|",
            *(f"| {c.scenario.removeprefix('never-worse-')} | {c.item} | {c.runs} | "
              f"{c.density:.3g} | {c.wls:.3g} | {c.ratio:.2f} ± {c.error:.2f} |" for c in found)]


def _by_length(rows: list[Row]) -> list[str]:
    found = cells(rows, "e_J")
    scenarios = [NEVER_WORSE[c.scenario] for c in found]
    speeds = sorted({s.pace for s in scenarios})
    out = ["| family, length | " + " | ".join(f"{p:g} rad/s" for p in speeds) + " |",
           "|---" * (len(speeds) + 1) + "|"]
    for family, seconds in sorted({(s.family, s.seconds) for s in scenarios}):
        row = []
        for speed in speeds:
            here = [c for c, s in zip(found, scenarios, strict=True)
                    if (s.family, s.seconds, s.pace) == (family, seconds, speed)]
            row.append(f"{here[0].ratio:.2f} ± {here[0].error:.2f} ({here[0].item})" if here
                       else "-")
        out.append(f"| {family}, {seconds:g} s | " + " | ".join(row) + " |")
    return out


if __name__ == "__main__":
    raise SystemExit(main())
