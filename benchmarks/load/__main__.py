# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Processor time of the node beside that of a bare subscriber, losses and age of the estimate.

`python -m benchmarks.load [--seconds 20]` streams wrench, joint states and TF to the node and, in
the same run and on the same core, to a subscriber with empty callbacks, which is given message
objects; the node takes these topics serialised and decodes them itself.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.experimental import EventsExecutor
from rclpy.node import Node

from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.ros.program import spin, start_ros

LOADS = ((1000, 500, 100), (2000, 1000, 100))
_WARM_UP, _BEFORE = 5.0, 4.0  # s
_TICK = os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    seconds = parser.parse_args().seconds
    use_private_domain()
    start_ros("load", [])
    print("| wrench/joints/TF Hz | node, % of a core | bare, % | ratio | lost by node "
          "| lost by bare | estimates | behind, beyond the filter's lag: median, worst ms |")
    print("|---|---|---|---|---|---|---|---|")
    for rates in LOADS:
        _run(rates, seconds)
    rclpy.try_shutdown()
    return 0


def use_private_domain() -> None:
    """Keep ROS to this machine, in a domain of its own: for this process and those it starts."""
    os.environ["ROS_DOMAIN_ID"] = str(random.SystemRandom().randint(1, 100))
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"


def _run(rates: tuple[int, ...], seconds: float) -> None:
    core = max(os.sched_getaffinity(0))
    node = _start(core, "inertial_id_ros.cli", "inertial_id_node", "--ros-args", "-p",
                  "state.directory:=/tmp/load")
    bare = _start(core, "benchmarks.load.bare")
    talker = _start(min(os.sched_getaffinity(0)), "benchmarks.load.talker", *map(str, rates),
                    str(seconds + _WARM_UP), str(_BEFORE))
    watcher = _Watcher()
    try:
        watcher.wait_for_estimate(60.0)
        time.sleep(_WARM_UP)
        before = processor_time(node), processor_time(bare), time.monotonic()
        watcher.ages.clear()
        time.sleep(seconds - 3.0)
        spent = [processor_time(p) - b for p, b in zip((node, bare), before[:2], strict=True)]
        elapsed = time.monotonic() - before[2]
        ages = sorted(watcher.ages)
        sent = json.loads(talker.communicate(timeout=60.0)[0])
        time.sleep(2.5)  # the last diagnostics
        bare.send_signal(signal.SIGINT)
        heard = json.loads(bare.communicate(timeout=10.0)[0].splitlines()[-1])
    finally:
        for process in (node, bare, talker):
            process.kill()
            process.wait()
    counts = watcher.stop()
    lost = [sum(s - h for s, h in zip(sent, who, strict=True)) for who in (counts, heard)]
    print(f"| {'/'.join(map(str, rates))} | {100 * spent[0] / elapsed:.1f} | "
          f"{100 * spent[1] / elapsed:.1f} | {spent[0] / spent[1]:.2f} | {lost[0]} | {lost[1]} | "
          f"{len(ages)} | {ages[len(ages) // 2]:.0f}, {ages[-1]:.0f} |", flush=True)


def _start(core: int, module: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["taskset", "-c", str(core), sys.executable, "-m", module, *arguments],
        stdout=subprocess.PIPE, text=True)


def processor_time(process: subprocess.Popen[str]) -> float:
    """User and system time [s] of a process (Linux)."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


class _Watcher:
    """Hears estimates and diagnostics in a thread of its own."""

    def __init__(self) -> None:
        self.ages: list[float] = []
        self._counts: dict[str, int] = {}
        self._lag = 0.175
        self._node = Node("watcher")
        self._node.create_subscription(
            InertialParameters, "/inertial_id_node/inertial_parameters", self._estimate, 10)
        self._node.create_subscription(DiagnosticArray, "/diagnostics", self._diagnostics, 10)
        self._stop, self._executor = threading.Event(), EventsExecutor()
        self._executor.add_node(self._node)
        self._thread = threading.Thread(
            target=spin, args=(self._executor, self._stop), daemon=True)
        self._thread.start()

    def _estimate(self, message: Any) -> None:
        if message.valid and not message.stale:
            stamp = message.header.stamp
            self.ages.append(1e3 * (time.time() - stamp.sec - 1e-9 * stamp.nanosec - self._lag))

    def _diagnostics(self, message: Any) -> None:
        for status in message.status:
            for value in status.values:
                if value.key.endswith("[messages]"):
                    self._counts[value.key.split()[0]] = int(value.value)

    def wait_for_estimate(self, timeout: float) -> None:
        """Until the first estimate; raises TimeoutError."""
        end = time.monotonic() + timeout
        while not self.ages:
            if time.monotonic() > end:
                raise TimeoutError(f"no estimate within {timeout:g} s")
            time.sleep(0.1)

    def stop(self) -> list[int]:
        """Messages of wrench, joint states and TF that the node counted."""
        self._stop.set()
        self._thread.join()
        self._node.destroy_node()
        return [self._counts[k] for k in ("wrench", "joint_states", "tf")]


if __name__ == "__main__":
    sys.exit(main())
