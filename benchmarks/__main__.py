# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""All benchmarks: `python -m benchmarks [NAME ...]`, one after the other, on a quiet machine.

Writes `results.csv`, a line for each number with commit and machine, and from it `results.md`.
"""

import csv
import platform
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PARTS = {"referee": ("--runs", "2", "--baseline"), "robot": (), "joint_torque": ("--runs", "4"),
         "next_motion": ("--tasks", "0", "1", "2"), "load": (), "compensation": ()}
# Metrics of the referee that are shown; each table holds the rows that have the last of them.
SHOWN = (("e_m, mean", "e_COM, mean", "e_J, mean"), ("e_m, mean", "in_m, mean", "in_z, mean"),
         ("e_m, median", "e_COM, median", "in_m, misses", "claimed_m, mean"),
         ("in_m, mean", "in_COM, mean", "wrong_s, mean", "named, mean"),
         ("dropped, mean", "silent_s, mean", "named_s, median", "right_s, 90 %"),
         ("named_s, most", "wrong_s, most"), ("named_grip_s, 90 %", "right_grip_s, 90 %"),
         ("ms, mean",), ("s, mean",))
METRIC = re.compile(r"(\S.{,26}?) +(\w+, (?:mean|median|most|rms|misses|sum|\d+ %))")


def numbers(name: str, text: str) -> list[list[str]]:
    """Table, row, column and cell of what a benchmark has printed: Markdown, or the referee's."""
    out, heads, title = [], list[str](), ""
    for line in text.splitlines():
        if name == "referee" and (found := METRIC.match(line)):
            out.append(["", found[1], found[2], line[found.end():].split()[1]])  # before, now
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if heads and set(line) - set("|-: "):
                out += [[title, cells[0], *pair] for pair in zip(heads[1:], cells[1:], strict=True)]
            heads = heads or cells
        else:
            heads, title = [], line.strip("# ") or title
    return out


def page(rows: list[list[str]]) -> str:
    """The results as Markdown."""
    lines = ["# Results", "", "Written by `python -m benchmarks`, whose parts say what is meant."]
    for name in dict.fromkeys(row[0] for row in rows):
        part = [row for row in rows if row[0] == name]
        cells = {tuple(row[1:4]): row[4] for row in part}
        lines += ["", f"## {name}", "", f"Commit {part[0][5]}, {part[0][6]}."]
        for table in dict.fromkeys(row[1] for row in part):
            columns = tuple(dict.fromkeys(row[3] for row in part if row[1] == table))
            for heads in SHOWN if name == "referee" else [columns]:
                lines += ["", *([table, ""] if table else []), f"| | {' | '.join(heads)} |",
                          "|---" * (len(heads) + 1) + "|"]
                lines += ["| " + " | ".join([one, *(cells.get((table, one, h), "") for h in heads)])
                          + " |" for one in dict.fromkeys(r[2] for r in part if r[1] == table)
                          if (table, one, heads[-1]) in cells]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Entry point."""
    commit = subprocess.check_output(["git", "-C", HERE, "rev-parse", "--short", "HEAD"], text=True)
    file, machine = HERE / "results.csv", f"Python {platform.python_version()} {platform.machine()}"
    kept = list(csv.reader(file.read_text().splitlines())) if file.exists() else []
    for name in sys.argv[1:] or PARTS:
        text = subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *PARTS[name]],
                              stdout=subprocess.PIPE, text=True, cwd=HERE.parent).stdout
        print(text, flush=True)
        kept = [row for row in kept if row[0] != name] + [
            [name, *cell, commit.strip(), machine] for cell in numbers(name, text)]
        with file.open("w", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows(kept)
        (HERE / "results.md").write_text(page(kept))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
