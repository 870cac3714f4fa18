# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Tables of the runs in a folder: `python -m benchmarks.accuracy.real_sensors.tables`.

`summary.md` has a row for each source, `cells.md` one for each source, motion and length. `--page`
writes REAL_SENSORS.md from the folders of the reported runs as well.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

from ..records import Row, read
from ..run import RESULTS
from ..tables import grouped
from .summary import GROUPS, LEVELS, Summary, summarise

COVERED = (90.0, 99.0)  # percent, wanted of the 95 % intervals
LARGEST_Z = 1.3
MOST_BEYOND, MOST_FALSE, MOST_FAILED = 2.0, 1.0, 5.0  # percent


PAGE = Path(__file__).parents[1] / "REAL_SENSORS.md"
PARTS = {"real_sensors": "Random payloads",
         "real_sensors_node": "Random payloads, solved twice a second",
         "real_sensors_filters": "Sensors that filter, solved twice a second",
         "real_sensors_modular": "Modular objects",
         "real_sensors_pace": "Random payloads, 8 s at 1 rad/s"}


def main(arguments: list[str] | None = None) -> int:
    """Entry point; returns the exit status (1: no runs)."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.accuracy.real_sensors.tables", description=__doc__)
    parser.add_argument("--input", default=str(RESULTS / "real_sensors"), help="folder of the runs")
    parser.add_argument("--page", nargs="?", const=str(PAGE), metavar="FILE")
    options = parser.parse_args(arguments)
    folder = Path(options.input)
    if not (folder / "runs.csv").is_file():
        print(f"error: {folder} holds no runs.csv; run python -m benchmarks.accuracy.real_sensors "
              "first", file=sys.stderr)
        return 1
    write(folder)
    if options.page:
        Path(options.page).write_text("\n".join(page(folder.parent)) + "\n", encoding="utf-8")
        print(f"wrote {options.page}")
    return 0


def page(folder: Path) -> list[str]:
    """The page of the reported runs, which lie in the folders PARTS and in that of `compare`."""
    out = ["# Sensors and arms with the errors of real ones", "",
           "Written by `python -m benchmarks.accuracy.real_sensors.tables --page`; "
           "[README.md](../README.md#real-sensors) says from which runs, and what is simulated.",
           "", *LEGEND]
    for name, title in PARTS.items():
        if (folder / name / "runs.csv").is_file():
            rows = read(folder / name / "runs.csv")
            seeds = [r["seed"] for r in rows]
            out += ["", f"## {title}", "", f"Seeds {min(seeds)} to {max(seeds)}.", "",
                    *source_table(rows), "", *finding_table(rows), *filter_table(rows)]
    compared = folder / "real_sensors_compared" / "compared.md"
    if compared.is_file():
        out += ["", *("#" + line if line.startswith("#") else line
                      for line in compared.read_text(encoding="utf-8").splitlines())]
    return out


def write(folder: Path) -> None:
    """Write the tables of the runs in a folder."""
    rows = read(folder / "runs.csv")
    for name, lines in (("summary.md", summary_page(rows)), ("cells.md", cells_page(rows))):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"wrote {folder / 'summary.md'}")


LEGEND = [
    "Mass / centre of mass / inertia about it. Knowable: runs in which an estimator that knows "
    "motion and noise exactly, where nothing else is wrong, knows the mass within the limit of its "
    "verdict (5 %, two standard deviations). z: root mean square of error over standard "
    "deviation. Errors: median and root mean square, of the mass [%], the centre of mass (length) "
    "[mm], the inertia (norm of the tensor's error over the mean principal moment) [%]. Beyond: "
    "share of the claimed values (verdict identified or prior-dominated) that are beyond the "
    "verdict's own limit. False: runs with a finding that blames what did not happen. Bold: not "
    f"what is wanted ({COVERED[0]:g} to {COVERED[1]:g} % within the 95 % intervals, z at most "
    f"{LARGEST_Z:g}, at most {MOST_BEYOND:g} % beyond, {MOST_FALSE:g} % false, {MOST_FAILED:g} % "
    "without an estimate)."]


def summary_page(rows: list[Row]) -> list[str]:
    """A row for each source, and what was found and refused."""
    return ["# Sensors and arms with the errors of real ones", "", *LEGEND, "",
            *source_table(rows), "", "## Findings", "", *finding_table(rows), *filter_table(rows)]


def source_table(rows: list[Row]) -> list[str]:
    """Figures of each source."""
    return [*_header("source"), *(f"| {name} | {_figures(summarise(part))} |"
                                  for (name,), part in grouped(rows, "source").items())]


def finding_table(rows: list[Row]) -> list[str]:
    """What was found and refused, by source."""
    out = ["Runs with each false finding, with each other one above the level of information, and "
           "reasons for no estimate.", "", "| source | false | other | no estimate |",
           "|---|---|---|---|"]
    for (name,), part in grouped(rows, "source").items():
        s = summarise(part)
        out.append(f"| {name} | {_counts(s.names)} | {_counts(s.findings)} | "
                   f"{_counts(s.reasons)} |")
    return out


def filter_table(rows: list[Row]) -> list[str]:
    """What was found of the filters of the sensors that have one; nothing without any."""
    out = []
    for (name,), part in grouped(rows, "source").items():
        if name.startswith("filter-"):
            order, cutoff = (float(text) for text in name.split("-")[1:3])
            found = [r for r in part if "filter_order" in r]
            right = [r for r in found if r["filter_order"] == order]
            near = [r for r in right if abs(r["filter_cutoff"] / cutoff - 1.0) <= 0.2]
            out.append(f"| {name} | {len(part)} | {len(found)} | {len(right)} | {len(near)} |")
    return out and ["", "Runs in which the filter was found, with its order, with its cut-off "
                    "within 20 % as well.", "", "| source | runs | found | order | cut-off |",
                    "|---" * 5 + "|", *out]


def cells_page(rows: list[Row]) -> list[str]:
    """A row for each source, motion and length."""
    out = ["# By source, motion and length", "", *_header("source, motion, length")]
    for (source,), runs in grouped(rows, "source").items():
        for (motion, seconds), part in sorted(grouped(runs, "motion", "seconds").items()):
            out.append(f"| {source}, {motion}, {seconds:g} s | {_figures(summarise(part))} |")
    return out


def _header(first: str) -> list[str]:
    names = (first, "runs", "knowable, %", "no estimate", "in 50 %", "in 68 %", "in 95 %", "z",
             "median error", "rms error", "claimed, %", "beyond, %", "false, %")
    return [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]


def _figures(s: Summary) -> str:
    """The cells of a row after its name."""
    covered = ["/".join(_bold(s.coverage[g][k], False, ".0f") for g in GROUPS)
               for k in range(len(LEVELS) - 1)]
    last = [s.coverage[g][-1] for g in GROUPS]
    return " | ".join((
        str(s.runs), f"{s.knowable:.0f}",
        _bold(s.failed, s.failed > 0.01 * MOST_FAILED * s.runs, "d"), *covered,
        "/".join(_bold(c, not COVERED[0] <= c <= COVERED[1], ".0f") for c in last),
        "/".join(_bold(z, z > LARGEST_Z, ".1f") for z in s.z.values()),
        "/".join(_bold(e, False, ".2g") for e in s.median.values()),
        "/".join(_bold(e, False, ".2g") for e in s.rms.values()),
        "/".join(_bold(c, False, ".0f") for c in s.claimed.values()),
        "/".join(_bold(b, b > MOST_BEYOND, ".1f") for b in s.beyond.values()),
        _bold(s.false, s.false > MOST_FALSE, ".0f")))


def _bold(value: float, wrong: bool, form: str) -> str:
    if math.isnan(value):  # of no runs
        return "-"
    text = format(value, form)
    return f"**{text}**" if wrong else text


def _counts(counts: dict[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{n} {name}" for name, n in ordered[:6]).replace("|", "/") or "-"


if __name__ == "__main__":
    raise SystemExit(main())
