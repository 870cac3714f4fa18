# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How late the compensated wrench of the node comes, beside a node that only echoes wrenches, what
is lost, and the processor time it costs: `python -m benchmarks.compensation [--seconds 30]`, and
`--calls 20`: while a planner asks for the payload in another frame so many times a second.

It needs a quiet machine: the load average stands beside. What remains of the payload in the
compensated wrench is measured by `benchmarks.referee`.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import rclpy

from benchmarks.compensation.listener import TOPICS
from benchmarks.load.__main__ import processor_time, use_private_domain
from inertial_id_ros.inertia import Array
from inertial_id_ros.srv import GetInertialParameters

RATES = ((500, 500, 100), (1000, 500, 100))  # Hz: wrench, joint states, TF
_BEFORE, _WARM_UP = 4.0, 8.0  # s: of silence, and until the first estimates
_COLUMNS = (
    "wrench/joints/TF Hz", "age: median, ms", "99 %, ms", "worst, ms", "of an echo: median, ms",
    "of an echo: 99 %, ms", "ratio of the medians, of the 99 %", "lost", "node, % of a core",
    "bare subscriber, %", "ratio", "calls answered", "load average")


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=30.0, help="of each row")
    parser.add_argument("--calls", type=float, default=0.0, help="of a service, a second")
    args = parser.parse_args()
    use_private_domain()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the programs have it
    rclpy.init()
    print(f"| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}")
    for rates in RATES:
        _measure(rates, args.seconds, args.calls)
    return 0


def _ask(seconds: float, calls: int) -> int:
    """Ask the node so often, evenly in this time, where the worker is needed; answers."""
    node, begin, answered = rclpy.create_node("planner"), time.monotonic(), 0
    client = node.create_client(GetInertialParameters, "/inertial_id_node/get_inertial_parameters")
    for k in range(1, calls + 1):
        asked = client.call_async(GetInertialParameters.Request(target_frame="base_link"))
        rclpy.spin_until_future_complete(node, asked, timeout_sec=1.0)
        answered += asked.done()
        time.sleep(max(begin + k * seconds / calls - time.monotonic(), 0.0))
    time.sleep(max(begin + seconds - time.monotonic(), 0.0))
    node.destroy_node()
    return answered


def _measure(rates: tuple[int, ...], seconds: float, calls: float) -> None:
    node = _start("inertial_id_ros.cli", "inertial_id_node", "--ros-args", "-p",
                  "state.directory:=/tmp/load")
    bare, echo = _start("benchmarks.load.bare"), _start("benchmarks.load.bare", "echo")
    listener = _start("benchmarks.compensation.listener")
    talker = _start("benchmarks.load.talker", *map(str, rates), str(seconds + _WARM_UP),
                    str(_BEFORE))
    try:
        time.sleep(_BEFORE + _WARM_UP)
        before, start = [processor_time(p) for p in (node, bare)], time.monotonic()
        answered = _ask(seconds - 2.0, round(calls * (seconds - 2.0)))
        spent = [processor_time(p) - b for p, b in zip((node, bare), before, strict=True)]
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
    (ours, lost), (echoed, _) = (_compare(used, dict(heard[topic])) for topic in TOPICS[1:])
    (a, b, worst), (c, d, _) = (np.percentile(ages, [50, 99, 100]) for ages in (ours, echoed))
    cells = ("/".join(map(str, rates)), f"{a:.2f}", f"{b:.2f}", f"{worst:.1f}", f"{c:.2f}",
             f"{d:.2f}", f"{a / c:.2f}, {b / d:.2f}", f"{lost} of {len(used)}",
             *(f"{100 * s / elapsed:.1f}" for s in spent), f"{spent[0] / spent[1]:.2f}",
             str(answered), f"{load:.2f}")
    print(f"| {' | '.join(cells)} |", flush=True)


def _compare(wrenches: dict[int, int], others: dict[int, int]) -> tuple[Array, int]:
    """Ages of messages against the wrenches they come of [ms]; how many of these had none."""
    ages = [1e-6 * (others[stamp] - at) for stamp, at in wrenches.items() if stamp in others]
    return np.array(ages or [np.nan]), len(wrenches) - len(ages)


def _start(module: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE,
                            text=True)


if __name__ == "__main__":
    sys.exit(main())
