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
from inertial_id_ros.settings import Settings  # noqa: E402

from .families import objects  # noqa: E402
from .metrics import ENTRIES  # noqa: E402
from .run import RESULTS, _assignment, _map  # noqa: E402
from .scenarios import SCENARIOS  # noqa: E402
from .tables import Row, grouped, mean, worst_coverage  # noqa: E402

SETS = {"encoder": ("encoder-1", "encoder-1.5", "encoder-2"),
        "bias": ("bias-1", "bias-1.5", "bias-2"),
        "defaults": ("defaults-1", "defaults-1.5", "defaults-2"),
        "tools": ("tools-low", "tools-moderate", "tools-high")}
LOW, HIGH, WORST = 92.0, 98.0, 85.0  # percent


def main(arguments: list[str] | None = None) -> int:
    """Entry point; returns the exit status (2: wrong use, 1: nothing could be run)."""
    parser = argparse.ArgumentParser(prog="benchmarks.accuracy.coverage", description=__doc__)
    parser.add_argument("--set", nargs="+", default=["encoder", "tools"], choices=sorted(SETS),
                        dest="sets")
    parser.add_argument("--runs", type=int, default=24, help="for each object and scenario")
    parser.add_argument("--estimator", default="density")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--change", nargs="+", default=[], metavar="SETTING=VALUE")
    parser.add_argument("--output", default=str(RESULTS / "coverage.md"))
    options = parser.parse_args(arguments)
    try:
        overrides = dict(_assignment(text) for text in options.change)
        Settings().replace({**overrides, "estimator.method": options.estimator})
    except (InertialIdError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    parts = ["# Coverage", "", f"Share of the 95 % intervals of `{options.estimator}` that hold "
             f"the truth, in percent. Wanted: {LOW:g} to {HIGH:g} for each parameter, no object "
             f"below {WORST:g} for any entry."]
    for name in options.sets:
        scenarios = [s for s in SETS[name] if objects(SCENARIOS[s].family)]
        if not scenarios:
            print(f"skipped {name}: its data folder is missing (set INERTIAL_ID_DATA)")
            continue
        tasks = [(s, k, [options.estimator], overrides)
                 for s in scenarios for k in range(options.runs)]
        rows = [row for part in _map(tasks, options.workers) for row in part]
        parts += ["", *table(name, rows)]
    if len(parts) == 3:
        return 1
    Path(options.output).parent.mkdir(parents=True, exist_ok=True)
    Path(options.output).write_text("\n".join(parts) + "\n", encoding="utf-8")
    print("\n".join(parts))
    return 0


def table(name: str, rows: list[Row]) -> list[str]:
    """Coverage by parameter, over all and by object, with mean squared deviation of the worst."""
    worst, where = worst_coverage(rows)
    shares = [100.0 * mean(rows, f"in_{e}") for e in ENTRIES]
    outside = [e for e, s in zip(ENTRIES, shares, strict=True) if not LOW <= s <= HIGH]
    out = [f"## {name}", "", f"{len(rows)} runs, {sum(bool(r['failure']) for r in rows)} without "
           f"an answer. Outside the wanted range: {', '.join(outside) or 'none'}. Worst single "
           f"entry: {worst:.0f} % ({where}).", "",
           "| object | " + " | ".join(ENTRIES) + " |", "|---" * (len(ENTRIES) + 1) + "|",
           "| **all** | " + " | ".join(f"**{s:.0f}**" for s in shares) + " |"]
    for (item,), part in grouped(rows, "object").items():
        cells = []
        for e in ENTRIES:
            share = 100.0 * mean(part, f"in_{e}")
            z = [r[f"z_{e}"] for r in part if not r["failure"]]
            note = f" (z {np.mean(z):+.1f} ± {np.std(z):.1f})" if share < WORST else ""
            cells.append(f"{share:.0f}{note}")
        out.append(f"| {item} | " + " | ".join(cells) + " |")
    return out


if __name__ == "__main__":
    raise SystemExit(main())
