# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How late the compensated wrench comes, what is lost, and the processor time it costs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np

from benchmarks.compensation.listener import TOPICS
from inertial_id_ros.inertia import Array
from inertial_id_ros.ros.program import private_environment

RATES = ((500, 500, 100), (1000, 500, 100))  # Hz: wrench, joint states, TF
_BEFORE, _WARM_UP = 4.0, 8.0  # s: of silence, and until the first estimates
_TICK = os.sysconf("SC_CLK_TCK")
_COLUMNS = (
    "wrench/joints/TF Hz", "age: median, ms", "99 %, ms", "worst, ms", "of an echo: median, ms",
    "99 %, ms", "ratio of the medians, of the 99 %", "lost", "node, % of a core",
    "bare subscriber, %", "ratio", "load average")


class _Heard(NamedTuple):
    """Ages of messages against the wrenches they come of [ms]; how many of these had none."""

    ages: Array
    lost: int


def measure(seconds: float) -> None:
    """Print the table; each row takes so many seconds, and some to begin."""
    os.environ.update(private_environment())
    print(f"| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}")
    for rates in RATES:
        _measure(rates, seconds)


def _measure(rates: tuple[int, ...], seconds: float) -> None:
    node = _start("inertial_id_ros.ros.main", "--ros-args", "-p", "state.directory:=/tmp/load")
    bare, echo = _start("benchmarks.load.bare"), _start("benchmarks.compensation.echo")
    listener = _start("benchmarks.compensation.listener")
    talker = _start("benchmarks.load.talker", *map(str, rates), str(seconds + _WARM_UP),
                    str(_BEFORE))
    try:
        time.sleep(_BEFORE + _WARM_UP)
        before, start = [_processor_time(p) for p in (node, bare)], time.monotonic()
        time.sleep(seconds - 2.0)
        spent = [_processor_time(p) - b for p, b in zip((node, bare), before, strict=True)]
        elapsed, load = time.monotonic() - start, os.getloadavg()[0]
        talker.wait(60.0)
        time.sleep(1.0)
        listener.send_signal(signal.SIGINT)
        heard = json.loads(listener.communicate(timeout=30.0)[0].splitlines()[-1])
    finally:
        for process in (node, bare, echo, listener, talker):
            process.kill()
            process.wait()
    arrived = dict(heard[TOPICS[0]])
    last = max(arrived)
    used = {stamp: at for stamp, at in arrived.items()
            if last - (seconds - 2.0) * 1e9 < stamp < last - 5e8}
    ours, echoed = (_compare(used, dict(heard[topic])) for topic in TOPICS[1:])
    (a, b, worst), (c, d, _) = (np.percentile(h.ages, [50, 99, 100]) for h in (ours, echoed))
    cells = ("/".join(map(str, rates)), f"{a:.2f}", f"{b:.2f}", f"{worst:.1f}", f"{c:.2f}",
             f"{d:.2f}", f"{a / c:.2f}, {b / d:.2f}", f"{ours.lost} of {len(used)}",
             *(f"{100 * s / elapsed:.1f}" for s in spent), f"{spent[0] / spent[1]:.2f}",
             f"{load:.2f}")
    print(f"| {' | '.join(cells)} |", flush=True)


def _compare(wrenches: dict[int, int], others: dict[int, int]) -> _Heard:
    """Ages of what was published, by stamps and arrivals [ns]."""
    ages = [1e-6 * (others[stamp] - at) for stamp, at in wrenches.items() if stamp in others]
    return _Heard(np.array(ages or [np.nan]), len(wrenches) - len(ages))


def _start(module: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE,
                            text=True)


def _processor_time(process: subprocess.Popen[str]) -> float:
    """User and system time [s] of a process (Linux)."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / _TICK
