# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Prints what `inertial_id_ros.robot` reaches, as Markdown tables.

    python -m benchmarks.robot [table ...]

Tables: published, panda, ur10e, descriptions, friction, random, humanoid; without arguments all of
them. Recordings are looked for in the folder that INERTIAL_ID_DATA names.
"""

from __future__ import annotations

import os

for _threads in ("OMP", "OPENBLAS", "MKL", "RAYON"):
    os.environ[f"{_threads}_NUM_THREADS"] = "1"

import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.robot import descriptions, friction, humanoid, published, recordings

DATA = Path(os.environ.get("INERTIAL_ID_DATA",
                           Path(__file__).resolve().parents[3] / "shared" / "data"))


def from_recording(rows: Callable[[Path], list[str]]) -> Callable[[], list[str]]:
    """The table, or why it is missing."""
    def table() -> list[str]:
        if not DATA.is_dir():
            return [f"No recordings under {DATA} (set INERTIAL_ID_DATA)."]
        return rows(DATA)
    return table


TABLES: dict[str, tuple[str, Callable[[], list[str]]]] = {
    "published": ("Published answers (Sousa and Cortesao 2014)", published.table),
    "panda": ("Torques of a real Panda: validation on the last 30 %",
              from_recording(recordings.panda_table)),
    "ur10e": ("Motor currents of a real UR10e", from_recording(recordings.ur10e_table)),
    "descriptions": ("Descriptions that lack a load", from_recording(descriptions.table)),
    "friction": ("Terms of the joints, chosen by held-out motion", from_recording(friction.table)),
    "random": ("Random robots", descriptions.random_table),
    "humanoid": ("Humanoids without ground, base-link rows", humanoid.table),
}


def main() -> int:
    """Print the tables that the arguments name."""
    names = sys.argv[1:] or list(TABLES)
    for name in names:
        if name not in TABLES:
            print(f"error: there is no table '{name}'; there are: {', '.join(TABLES)}",
                  file=sys.stderr)
            return 2
    for name in names:
        title, rows = TABLES[name]
        print(f"### {title}\n", flush=True)
        print("\n".join(rows()) + "\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
