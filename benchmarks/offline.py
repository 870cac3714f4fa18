# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Time of `identify_bag` on a minute of data, the whole command by the clock, and where it goes.

    python benchmarks/offline.py

Simulates 60 s (wrench and joint states at 500 Hz, TF at 100 and at 500 Hz) into a temporary folder.
The command runs as a process of its own, start-up included. The split is of processor time, which
other work on the machine lengthens less, in further processes in which the calls between the parts
are timed. Medians of `--repeats` runs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

SECONDS, RATE = 60.0, 500.0
TF_RATES = (100.0, 500.0)
OPTIONS = {"density, no shape": [], "density, box": ["--box", "0.3,0.3,0.3,0,0,0.15"],
           "lmi": ["--method", "lmi"]}
COMMAND = "from inertial_id_ros.cli import identify_bag; raise SystemExit(identify_bag())"
LOADED = "Python and libraries loaded"
READ, DECODED = "bytes read from the file", "messages sorted, decoded, passed on"
PARTS = (LOADED, "file opened, pipeline made", READ, DECODED, "samples checked and stored",
         "motion, filter, disturbances, buffer", "estimates", "report")
IN_PIPELINE = {"_store": PARTS[4], "add_wrench": PARTS[4], "add_joint_state": PARTS[4],
               "add_transform": PARTS[4], "advance": PARTS[5], "finish": PARTS[5],
               "solve": PARTS[6]}


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (default 5)")
    parser.add_argument("--split", nargs="+", metavar="WORD", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.split:
        print(json.dumps(_split(args.split)))
        return
    with tempfile.TemporaryDirectory() as folder:
        bags = {rate: _recording(Path(folder) / f"tf{rate:g}", rate) for rate in TF_RATES}
        _print_whole(bags, args.repeats)
        _print_split(bags[TF_RATES[0]], args.repeats)


def _recording(path: Path, tf_rate: float) -> Path:
    from inertial_id_ros.apps.simulation.cobot import SimulatedCobot
    from inertial_id_ros.apps.simulation.command_line import write_bag
    from inertial_id_ros.apps.simulation.settings import CobotSettings

    cobot = SimulatedCobot(CobotSettings(rate=RATE, tf_rate=tf_rate))
    write_bag(path, cobot, cobot.blocks(SECONDS))
    return path


def _print_whole(bags: dict[float, Path], repeats: int) -> None:
    print("| estimator | TF, Hz | whole command, s | processor, s | times real time |")
    print("|---|---|---|---|---|")
    for name, options in OPTIONS.items():
        for rate, bag in bags.items():
            runs = [_timed(["-c", COMMAND, str(bag), *options]) for _ in range(repeats)]
            wall, busy = (median(run[k] for run in runs) for k in (0, 1))
            print(f"| {name} | {rate:g} | {wall:.2f} | {busy:.2f} | {SECONDS / wall:.1f} |",
                  flush=True)


def _timed(arguments: list[str]) -> tuple[float, float]:
    """Seconds of a Python process by the clock, and of the processor."""
    before, began = os.times(), time.perf_counter()
    run = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True)
    wall, after = time.perf_counter() - began, os.times()
    if run.returncode:
        raise SystemExit(f"error: {arguments} ended with status {run.returncode}: {run.stderr}")
    return wall, (after.children_user + after.children_system
                  - before.children_user - before.children_system)


def _print_split(bag: Path, repeats: int) -> None:
    bare = median(_timed(["-c", "import inertial_id_ros.apps.bag.identify_bag"])[1]
                  for _ in range(repeats))
    runs = [json.loads(subprocess.run([sys.executable, __file__, "--split", str(bag)], check=True,
                                      capture_output=True, text=True).stdout)
            for _ in range(repeats)]
    split = {LOADED: bare, **{part: median(run[part] for run in runs) for part in PARTS[1:]}}
    total = sum(split.values())
    print(f"\n| part (density, no shape, TF at {TF_RATES[0]:g} Hz) | s | share |\n|---|---|---|")
    for part in PARTS:
        print(f"| {part} | {split[part]:.2f} | {split[part] / total:.0%} |")
    print(f"| sum | {total:.2f} | |")


def _split(words: list[str]) -> dict[str, float]:
    """Processor seconds of each part but the first, of one run in this process."""
    from rich.console import Console

    from inertial_id_ros.apps.bag.identify_bag import parse_options
    from inertial_id_ros.apps.bag.offline import identify
    from inertial_id_ros.apps.bag.output import print_report
    from inertial_id_ros.apps.bag.reader import BagReader
    from inertial_id_ros.apps.bag.topics import select_topics
    from inertial_id_ros.apps.report.diagnosis import diagnose
    from inertial_id_ros.identification.make_identifier import identifier_from_settings

    clock, spent = time.process_time, dict.fromkeys(PARTS[1:], 0.0)
    began = clock()
    options = parse_options(words)
    with BagReader(options.recording) as recording, open(os.devnull, "w") as nowhere:
        selection = select_topics(recording.topics, options.settings, options.asked)
        pipeline = identifier_from_settings(options.settings)
        opened = clock()
        for _ in recording.raw_of(selection.types):
            pass
        read = clock()
        for name, part in IN_PIPELINE.items():
            setattr(pipeline, name, _counted(getattr(pipeline, name), spent, part))
        result = identify(recording, selection, pipeline, options.settings)
        done = clock()
        print_report(Console(file=nowhere), result, str(options.recording),
                     diagnose(result, None, None))
    spent |= {PARTS[1]: opened - began, READ: read - opened, PARTS[7]: clock() - done}
    spent[DECODED] = done - read - (read - opened) - sum(spent[part] for part in PARTS[4:7])
    return spent


def _counted(call: Callable[..., Any], spent: dict[str, float], part: str) -> Callable[..., Any]:
    """The same call, whose processor seconds are added to a part."""
    def counted(*arguments: Any) -> Any:
        began = time.process_time()
        try:
            return call(*arguments)
        finally:
            spent[part] += time.process_time() - began
    return counted


if __name__ == "__main__":
    main()
