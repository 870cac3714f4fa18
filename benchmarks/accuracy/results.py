# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Writes RESULTS.md from the files of the last runs: `python -m benchmarks.accuracy.results`.

Above, one row a scenario for `density`, against what is wanted, published and possible; below, the
full tables, coverage, and the comparison with `wls`.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import NamedTuple

from .records import Row, read
from .run import RESULTS
from .scenarios import SCENARIOS, Scenario
from .tables import grouped, markdown, mean, standard_error

OWN = "density"
KEYS = ("e_m", "e_com", "e_J")
TARGET = Path(__file__).parent / "RESULTS.md"


class Line(NamedTuple):
    """A row of the compact table: label, rows of `density`, scenario that says what is wanted."""

    label: str
    rows: list[Row]
    scenario: Scenario


def main(arguments: list[str] | None = None) -> int:
    """Entry point; returns the exit status (1: no results)."""
    parser = argparse.ArgumentParser(prog="benchmarks.accuracy.results", description=__doc__)
    parser.add_argument("--input", default=str(RESULTS), help="folder of the results")
    parser.add_argument("--output", default=str(TARGET))
    options = parser.parse_args(arguments)
    folder = Path(options.input)
    if not (folder / "runs.csv").is_file():
        print(f"error: {folder} holds no runs.csv; run python -m benchmarks.accuracy first",
              file=sys.stderr)
        return 1
    Path(options.output).write_text("\n".join(page(folder)) + "\n", encoding="utf-8")
    print(f"wrote {options.output}")
    return 0


def page(folder: Path) -> list[str]:
    """The page as lines."""
    rows = read(folder / "runs.csv")
    full = markdown(rows, [*SCENARIOS.values()]).splitlines()
    out = ["# Results of the accuracy benchmark", "",
           "Written by `python -m benchmarks.accuracy.results` from the runs of `python -m "
           "benchmarks.accuracy`, `.coverage` and `.never_worse`.", "", "## `density` in short", "",
           *compact(rows)]
    for part in ("coverage.md", "never_worse.md"):
        if (folder / part).is_file():
            out += ["", *_lowered((folder / part).read_text(encoding="utf-8").splitlines())]
    return [*out, "", *_lowered(full)]


def _lowered(lines: list[str]) -> list[str]:
    """Headings one level deeper."""
    return ["#" + line if line.startswith("#") else line for line in lines]


def compact(rows: list[Row]) -> list[str]:
    """One row a scenario."""
    out = ["Errors in percent, mass / centre of mass / inertia about the sensor origin. Bounds: "
           "e_J over the Cramér-Rao bound, unbiased and Bayesian.", "",
           "| scenario | runs | density | ± e_J | wanted | reached | best published | wls e_J | "
           "bounds |", "|---" * 9 + "|"]
    return [*out, *(_line(line, rows) for line in lines(rows))]


def lines(rows: list[Row]) -> list[Line]:
    """The rows of `density` by scenario, and of the object that a target names by group."""
    own = [r for r in rows if r["estimator"] == OWN and not r["failure"]]
    by_scenario = grouped(own, "scenario")
    out = []
    for name, scenario in SCENARIOS.items():
        part = by_scenario.get((name,), [])
        if part and not _object(scenario):
            out.append(Line(name, part, scenario))
    groups = {s.group: s for s in SCENARIOS.values() if _object(s)}
    for group, scenario in groups.items():
        members = [s.name for s in SCENARIOS.values() if s.group == group]
        item = _object(scenario)
        part = [r for r in own if r["scenario"] in members and r["object"] == item]
        if part:
            out.append(Line(f"{group}: {item}, mean of {len(members)} speeds", part, scenario))
    return out


def _object(scenario: Scenario) -> str:
    """The object that the target of a scenario is about; empty: all."""
    first, _, rest = scenario.reach.partition(" ")
    return first if first.isalpha() and rest.count("/") == 2 else ""


def wanted(scenario: Scenario) -> list[float]:
    """The largest errors [%] that are asked for (three); NaN where none is."""
    text = scenario.reach.removeprefix(_object(scenario)).split("/")
    if len(text) != 3:
        return [math.nan] * 3
    return [float(t) if t.strip() not in ("", "-") else math.nan for t in text]


def _line(line: Line, rows: list[Row]) -> str:
    found = [mean(line.rows, key) for key in KEYS]
    limits = wanted(line.scenario)
    asked = [(f, w) for f, w in zip(found, limits, strict=True) if math.isfinite(w)]
    reached = ("-" if not asked else "yes" if all(f <= w for f, w in asked) else "**no**")
    where = {(r["scenario"], r["object"], r["run"]) for r in line.rows}
    free = [r for r in rows if r["estimator"] == "wls"
            and (r["scenario"], r["object"], r["run"]) in where]
    bounds = " ".join(f"{found[2] / mean(line.rows, f'{kind}_J'):.2f}" for kind in ("crb", "bcrb"))
    return (f"| {line.label} | {len(line.rows)} | " + " / ".join(f"{f:.3g}" for f in found)
            + f" | {standard_error(line.rows, 'e_J'):.2g} | {line.scenario.reach or '-'} | "
            f"{reached} | {line.scenario.published or '-'} | "
            f"{mean(free, 'e_J') if free else math.nan:.3g} | {bounds} |")


if __name__ == "__main__":
    raise SystemExit(main())
