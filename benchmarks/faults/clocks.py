# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.faults.clocks`: clocks that stop, jump or are set beside the live node.

A driver publishes a simulated robot for five seconds, then a clock fails for some seconds, with and
without another payload from then on, and with `--pairs` while the samples fail, too; then all is
well again. The node runs on /clock or on a system clock of its own (`system_clock`). Needs a built
package and a C compiler; 20 s a run.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from inertial_id_ros.apps.simulation.cobot import SimulatedCobot
from inertial_id_ros.apps.simulation.settings import CobotSettings
from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.ros.contract import TOPIC
from inertial_id_ros.ros.conversions import time_message, wrench_message
from inertial_id_ros.ros.program import private_environment

from .run import RESULTS
from .system_clock import SystemClock

RATE, SECOND = 250.0, 1_000_000_000
AT, LASTS, AFTER = 5.0, 3.0, 5.0  # s: before the fault, of the fault, and behind it
CHANGE = 0.3  # s after the fault has begun until another payload hangs on the arm
PAYLOADS = ("hammer", "drill")
STANDS = 1.0  # s that an estimate may stand as fresh
REACTION = 1.0  # s after a change in which the payload before may stand
RECOVERED = 2.0  # s of data, and a period of estimator.rate
PERIOD = 0.5  # s
WRONG = 0.05  # share of the mass, and four standard deviations


@dataclass(frozen=True)
class ClockFault:
    """A fault of a clock.

    Attributes:
        name: for the table; named: findings, one of which must come.
        simulated: the node runs on /clock. data, ticks: samples and /clock go on during the fault.
        stand: the stamps stand still during the fault. jump: of the stamps (and of /clock), for
            good, at the end of a fault that stops them, else at its beginning [s].
        step: of the system clock of the node [s].
    """

    name: str
    named: tuple[str, ...]
    simulated: bool = True
    data: bool = True
    ticks: bool = True
    stand: bool = False
    jump: int = 0
    step: int = 0


# What fails beside the clock, as long as it does.
PAYLOAD, MIXED, FROZEN = "another payload", "a second wrench of zeros", "joint states frozen"
DATA_FAULTS = (MIXED, FROZEN)
STOPPED, HELD = ("clock_stopped",), ("estimate_stale",)
FAULTS = (
    ClockFault("simulation paused", STOPPED, data=False, ticks=False, stand=True),
    ClockFault("/clock stops, data go on", STOPPED, ticks=False),
    ClockFault("/clock and stamps stop, data go on", STOPPED, ticks=False, stand=True),
    ClockFault("/clock stops and starts from 0", STOPPED, data=False,
               ticks=False, stand=True, jump=-2000),
    ClockFault("/clock jumps back by 30 s", ("reset", "clock_jumped"), jump=-30),
    ClockFault("/clock jumps ahead by 500 s", ("samples_missing.wrench", "clock_jumped"), jump=500),
    ClockFault("system clock back by 1 h", ("reset", "clock_jumped"), False, jump=-3600,
               step=-3600),
    ClockFault("system clock ahead by 1 h", ("samples_missing.wrench", "clock_jumped"), False,
               jump=3600,
               step=3600),
    ClockFault("system clock back by 1 h, driver on another machine", ("clock_jumped",), False,
               step=-3600),
    ClockFault("system clock ahead by 1 h, driver on another machine", ("clock_jumped",), False,
               step=3600),
    ClockFault("system clock back by 1 h, driver silent", HELD, False, data=False, jump=-3600,
               step=-3600),
    ClockFault("stamps stand still", HELD, False, stand=True),
)


@dataclass
class Row:
    """What came of one run.

    Attributes:
        beside: what else failed; empty: nothing.
        stands: longest time that an estimate stood as fresh, its age with it [s].
        stale: until no estimate of before the fault was shown as fresh any more [s].
        named: until the first finding that names the fault [s].
        recovered: from the first data behind the fault, and of the payload that stays, until the
            first fresh estimate of such [s].
        wrong: sentences about fresh estimates that were wrong.
    """

    fault: ClockFault
    beside: str
    stands: float = 0.0
    stale: float | None = None
    named: float | None = None
    recovered: float | None = None
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (f"{self.fault.name}{self.beside and ' + ' + self.beside}: stands {self.stands:.2f} "
                f"s, stale {self.stale}, named {self.named}, recovered {self.recovered}, wrong "
                f"{self.wrong}")

    @property
    def is_kept(self) -> bool:
        """Whether all promises were kept."""
        named = self.named is not None or self.beside in DATA_FAULTS
        return (self.stands <= STANDS and named and not self.wrong
                and self.recovered is not None and self.recovered <= RECOVERED + PERIOD)


class Driver:
    """Publishes a robot's topics in a thread of its own, with the fault in the middle."""

    def __init__(self, node: Any, fault: ClockFault, beside: str, seed: int) -> None:
        self._fault, self._beside = fault, beside
        robots = [SimulatedCobot(CobotSettings().replace(
            {"payload": name, "rate": RATE, "speed": 1.5, "seed": seed})) for name in PAYLOADS]
        count = round((AT + LASTS + AFTER + 1.0) * RATE)
        self._blocks = [robot.samples(0, count) for robot in robots]
        self.masses = [robot.payload.mass for robot in robots]
        self._names, self._frame = list(robots[0].joint_names), robots[0].sensor_frame
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._description = node.create_publisher(String, "/robot_description", latched)
        self._description.publish(String(data=robots[0].urdf))
        self._wrench = node.create_publisher(WrenchStamped, "/wrench", 100)
        self._joints = node.create_publisher(JointState, "/joint_states", 100)
        self._clock = node.create_publisher(Clock, "/clock", 10)
        self._base = 2000 * SECOND if fault.simulated else time.time_ns()
        self.begun = time.monotonic()  # steady time of the first sample
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        """Publish until the end of the run."""
        self.begun, k = time.monotonic(), 0
        for number in range(round((AT + LASTS + AFTER) * RATE)):
            t = number / RATE
            time.sleep(max(0.0, self.begun + t - time.monotonic()))
            during = AT <= t < AT + LASTS
            stamp = self._stamp(t)
            if not during or self._fault.data:
                changed = self._beside == PAYLOAD and t >= AT + CHANGE
                self._publish(k, stamp, int(changed), during)
                k += 1
            if self._fault.simulated and number % 5 == 0 and (not during or self._fault.ticks):
                self._clock.publish(Clock(clock=time_message(stamp)))

    def _stamp(self, t: float) -> int:
        """The stamp of a sample after so many seconds [ns]."""
        fault = self._fault
        jumps = t >= (AT + LASTS if fault.stand or not fault.data else AT)
        stood = min(max(t - AT, 0.0), LASTS) if fault.stand else 0.0
        return self._base + round((t - stood + jumps * fault.jump) * SECOND)

    def _publish(self, k: int, stamp: int, payload: int, fails: bool) -> None:
        """Publish a sample of the motion, with what fails beside the clock."""
        block = self._blocks[payload]
        frozen = fails and self._beside == FROZEN
        position = block.q[min(k, round(AT * RATE)) if frozen else k]
        joints = JointState(name=self._names, position=position.tolist())
        wrench = WrenchStamped(wrench=wrench_message(block.wrench[k]))
        joints.header.stamp = wrench.header.stamp = time_message(stamp)
        wrench.header.frame_id = self._frame
        self._joints.publish(joints)
        self._wrench.publish(wrench)
        if fails and self._beside == MIXED:
            zeros = WrenchStamped(header=wrench.header)
            zeros.header.stamp = time_message(stamp + 1_000_000)
            self._wrench.publish(zeros)


def run(fault: ClockFault, beside: str, seed: int, folder: Path) -> Row:
    """One run; seed: of noise and motion."""
    clock = SystemClock(folder)
    words = ["--ros-args", "-p", f"use_sim_time:={str(fault.simulated).lower()}", "-p",
             "state.restore:=false", "-p", f"state.directory:={folder}"]
    process = subprocess.Popen([sys.executable, "-m", "inertial_id_ros.ros.main", *words],
                               env={**os.environ, **({} if fault.simulated else clock.variables)},
                               stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    node = rclpy.create_node("clock_faults")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    messages: list[tuple[float, InertialParameters]] = []
    findings: list[tuple[float, set[str]]] = []
    node.create_subscription(InertialParameters, TOPIC, lambda m: messages.append(
        (time.monotonic(), m)), 100)
    node.create_subscription(DiagnosticArray, "/diagnostics", lambda m: findings.append(
        (time.monotonic(), {v.key for status in m.status for v in status.values})), 100)
    try:
        _spin(executor, lambda: bool(messages), 20.0)
        driver = Driver(node, fault, beside, seed)
        driver.thread.start()
        _spin(executor, lambda: time.monotonic() > driver.begun + AT, AT + 5.0)
        clock.step(fault.step)
        _spin(executor, lambda: not driver.thread.is_alive(), LASTS + AFTER + 10.0)
        return judge(fault, beside, driver, messages, findings)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10.0)
        executor.shutdown()
        node.destroy_node()


def _spin(executor: Any, until: Any, longest: float) -> None:
    end = time.monotonic() + longest
    while not until() and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.02)


def judge(fault: ClockFault, beside: str, driver: Driver,
          messages: list[tuple[float, InertialParameters]],
          findings: list[tuple[float, set[str]]]) -> Row:
    """What came of a run."""
    row, changes = Row(fault, beside), beside == PAYLOAD
    began = driver.begun + AT
    goes_on = (fault.data and not fault.stand and fault.ticks and beside not in DATA_FAULTS)
    ended = began + changes * CHANGE if goes_on else began + LASTS
    fresh = [m.valid and not m.stale for _, m in messages]
    row.stands = max((b - a + m.age for (a, m), (b, _), new in
                      zip(messages, messages[1:], fresh, strict=False) if new), default=np.inf)
    # An estimate of data behind the fault arrives so much later than it began as it is young.
    old = [t for (t, m), new in zip(messages, fresh, strict=True)
           if new and t >= began and t - m.age < began]
    after_old = [t for t, _ in messages if t > max(old, default=began)]
    row.stale = after_old[0] - began if after_old else None
    row.named = next((t - began for t, names in findings
                      if t > began and names & set(fault.named)), None)
    row.recovered = next((t - ended for (t, m), new in zip(messages, fresh, strict=True)
                          if new and t - m.age > ended), None)
    changed = began + CHANGE
    for (t, m), new in zip(messages, fresh, strict=True):
        masses = [driver.masses[0]] if not changes or t < changed else driver.masses[1:]
        if changes and changed <= t < changed + REACTION:
            masses = driver.masses
        sigma = float(np.sqrt(m.covariance[0])) if m.valid else 0.0
        if new and all(abs(m.inertia.m - mass) > max(WRONG * mass, 4.0 * sigma)
                       for mass in masses):
            row.wrong.append(f"{t - began:.2f} s: {m.inertia.m:.3f} kg")
    return row


def table(rows: list[Row]) -> str:
    """Markdown: the worst of each fault, and what did not go as it should."""
    lines = ["| fault | runs | stands as fresh, s | stale or new after, s | named after, s "
             "| fresh again after, s | wrong |\n|---|---|---|---|---|---|---|\n"]
    for fault in FAULTS:
        some = [row for row in rows if row.fault is fault]
        if some:
            numbers = [_worst([getattr(row, name) for row in some])
                       for name in ("stands", "stale", "named", "recovered")]
            lines.append(f"| {fault.name} | {len(some)} | {' | '.join(numbers)} | "
                         f"{sum(len(row.wrong) for row in some)} |\n")
    lines += [f"- {row}\n" for row in rows if not row.is_kept]
    return "".join(lines)


def _worst(values: list[float | None]) -> str:
    known = [v for v in values if v is not None]
    return "never" if len(known) < len(values) else f"{max(known):.2f}"


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit status is 1 where a promise was not kept."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults.clocks",
                                     description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=1, help="of each fault, with each payload")
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    parser.add_argument("--fault", type=int, nargs="+", help="numbers of faults, from 0")
    parser.add_argument("--pairs", action="store_true", help="with what else may fail")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of the table")
    options = parser.parse_args(arguments)
    chosen = [FAULTS[k] for k in options.fault] if options.fault else FAULTS
    os.environ.update(private_environment())
    rclpy.init()
    rows = []
    for fault in chosen:
        others = DATA_FAULTS if options.pairs else ("", PAYLOAD)
        for beside in others if fault.data else others[:1] * (not options.pairs):
            for seed in range(options.seed, options.seed + options.runs):
                with tempfile.TemporaryDirectory() as folder:
                    rows.append(run(fault, beside, seed, Path(folder)))
                print(rows[-1], file=sys.stderr)
    rclpy.shutdown()
    text = table(rows)
    print(text)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "clocks.md").write_text(text)
    return int(any(not row.is_kept for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
