# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.faults.clients [--runs 100] [--seed 1]`: the client of the payload against
a publisher that lies, dies, restarts, stalls, or is not alone.

The publishers are processes of their own (`stand_in`): killed, stopped and continued, started
again, doubled, told to lie. The program that hosts the client stalls at times, too. Another thread
asks the client for a payload 200 times a second. The mass tells when the sample was really taken:
a payload whose sample was older than `max_age` when it was handed out, or that is impossible, is
counted. Beside it, the same for a reader that trusts `valid` and `stale` of the newest message.

A publisher whose ages are too short while its stamps go on cannot be found out by a client, and is
not among the lies.
"""

from __future__ import annotations

import argparse
import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from benchmarks.faults.stand_in import HONEST, LIES, sampled_at
from inertial_id_ros.client import Payload, PayloadClient
from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.ros.contract import received_qos
from inertial_id_ros.ros.program import private_environment

RESULT = Path(__file__).parent / "results" / "clients.md"
TOGETHER = 10  # runs at the same time
TROUBLE = 10.0  # s
KILLED, STOPPED, DOUBLED, HOST = "killed", "stopped", "two publishers", "the program stalls"
FAULTS = (KILLED, STOPPED, DOUBLED, HOST, *LIES)


class Count(NamedTuple):
    """What was handed out: payloads, those too old, the worst excess [s], impossible ones."""

    payloads: int = 0
    too_old: int = 0
    worst: float = 0.0
    impossible: int = 0

    def with_payload(self, mass: float, possible: bool, asked: float, max_age: float) -> Count:
        """With another payload, which was asked for at a steady time [s]."""
        excess = asked - sampled_at(mass) - max_age if possible else 0.0
        return Count(self.payloads + 1, self.too_old + (excess > 0.0), max(self.worst, excess),
                     self.impossible + (not possible))

    def __add__(self, other: Count) -> Count:  # type: ignore[override]
        return Count(self.payloads + other.payloads, self.too_old + other.too_old,
                     max(self.worst, other.worst), self.impossible + other.impossible)


def is_possible(mass: float, inertia: np.ndarray, covariance: np.ndarray) -> bool:
    """Whether a body may have this mass [kg] and inertia (3, 3), by the triangle inequality of its
    principal moments, and an estimate this covariance (10, 10)."""
    if not (np.isfinite(mass) and np.isfinite(inertia).all() and np.isfinite(covariance).all()):
        return False
    moments = np.linalg.eigvalsh(inertia)
    return bool(mass > 0.0 and moments[0] > 0.0 and moments[2] <= moments[:2].sum()
                and np.linalg.eigvalsh(covariance)[0] >= -1e-12)


class Run:
    """A topic with its publishers, a client and a naive reader.

    Attributes:
        faults: that happened; careful, naive: what was handed out.
    """

    def __init__(self, node: Node, name: str, rng: np.random.Generator) -> None:
        self._rng, self._topic = rng, f"/{name}/inertial_parameters"
        self._rate = float(rng.choice([2.0, 10.0, 50.0]))
        self.max_age = float(rng.uniform(0.8, 2.0)) + 1.5 / self._rate
        self._client = PayloadClient(node, self._topic, max_age=self.max_age)
        self._newest: InertialParameters | None = None
        node.create_subscription(InertialParameters, self._topic, self._take, received_qos())
        self._publishers = [self._start()]
        self._next = math.inf
        self.faults: list[str] = []
        self.careful, self.naive = Count(), Count()

    def _take(self, message: InertialParameters) -> None:
        self._newest = message

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-m", "benchmarks.faults.stand_in", self._topic,
                                 str(self._rate)], stdin=subprocess.PIPE, text=True)

    def ask(self) -> None:
        """Ask the client and the naive reader for a payload."""
        asked = time.monotonic()
        got = self._client.newest()
        if isinstance(got, Payload):
            self.careful = self.careful.with_payload(
                got.mass, is_possible(got.mass, got.inertia, got.covariance), asked, self.max_age)
        newest = self._newest
        if newest is not None and newest.valid and not newest.stale:
            i = newest.inertia
            inertia = np.array([[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz],
                                [i.ixz, i.iyz, i.izz]])
            self.naive = self.naive.with_payload(
                i.m, is_possible(i.m, inertia, np.array(newest.covariance).reshape(10, 10)), asked,
                self.max_age)

    @property
    def has_payload(self) -> bool:
        """Whether the client hands one out now."""
        return bool(self._client.newest())

    def trouble(self, now: float) -> float:
        """Begin or end a fault where it is time; returns for how long the host is to stall [s]."""
        if self._next == math.inf:
            self._next = now + self._rng.uniform(0.0, 1.0)
        if now < self._next:
            return 0.0
        self._next = now + self._rng.uniform(0.3, 3.5)
        self._end_fault()
        fault = str(self._rng.choice(FAULTS)) if self._rng.random() < 0.8 else HONEST
        if fault != HONEST:
            self.faults.append(fault)
        first = self._publishers[0]
        if fault == KILLED:
            first.kill()
        elif fault == STOPPED:
            first.send_signal(signal.SIGSTOP)
        elif fault == DOUBLED:
            self._publishers.append(self._start())
        elif fault == HOST:
            return float(self._rng.uniform(0.2, 2.0))
        else:
            _tell(first, fault)
        return 0.0

    def _end_fault(self) -> None:
        """Make all well again: one honest publisher that runs."""
        first, *others = self._publishers
        for other in others:
            _kill(other)
        if first.poll() is not None or self._rng.random() < 0.1:
            _kill(first)
            first = self._start()
        first.send_signal(signal.SIGCONT)
        _tell(first, HONEST)
        self._publishers = [first]

    def close(self) -> None:
        """End the publishers."""
        for publisher in self._publishers:
            _kill(publisher)


def _tell(process: subprocess.Popen[str], lie: str) -> None:
    """Have a publisher lie from now on."""
    assert process.stdin is not None
    try:
        process.stdin.write(lie + "\n")
        process.stdin.flush()
    except BrokenPipeError:  # it has just been killed
        return


def _kill(process: subprocess.Popen[str]) -> None:
    """End a publisher with SIGKILL."""
    process.kill()
    process.wait()
    assert process.stdin is not None
    process.stdin.close()


def run_together(names: list[str], rng: np.random.Generator) -> list[Run]:
    """Some runs at the same time."""
    rclpy.init()
    node = rclpy.create_node("consumer")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    runs = [Run(node, name, np.random.default_rng(rng.integers(2**32))) for name in names]
    stopping = threading.Event()

    def ask_all() -> None:
        while not stopping.wait(0.005):
            for run in runs:
                run.ask()

    asking = threading.Thread(target=ask_all)
    asking.start()
    try:
        _spin_until(executor, lambda: all(run.has_payload for run in runs), 30.0)
        end = time.monotonic() + TROUBLE
        while (now := time.monotonic()) < end:
            executor.spin_once(timeout_sec=0.02)
            time.sleep(max(run.trouble(now) for run in runs))
        for run in runs:
            run.close()  # all die, and what was handed out last grows old
        _spin_until(executor, lambda: not any(run.has_payload for run in runs), 10.0)
    finally:
        stopping.set()
        asking.join()
        for run in runs:
            run.close()
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown()
    return runs


def _spin_until(executor: SingleThreadedExecutor, condition: object, longest: float) -> None:
    """Run callbacks until a condition holds, at most so long [s]."""
    assert callable(condition)
    end = time.monotonic() + longest
    while not condition() and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.02)


def table(runs: list[Run]) -> str:
    """The result as Markdown."""
    lines = [f"{len(runs)} runs, {sum(len(run.faults) for run in runs)} faults", "",
             "| | payloads | too old | by at most, s | impossible |", "|---|---|---|---|---|"]
    for name, counts in (("client", [run.careful for run in runs]),
                         ("reader of `valid` and `stale`", [run.naive for run in runs])):
        total = sum(counts, Count())
        lines.append(f"| {name} | {total.payloads} | {total.too_old} | {total.worst:.2f} | "
                     f"{total.impossible} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit status is 1 where the client handed out what it must not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults.clients",
                                     description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    os.environ.update(private_environment())
    rng, runs = np.random.default_rng(options.seed), list[Run]()
    while len(runs) < options.runs:
        names = [f"run_{len(runs) + k}" for k in range(min(TOGETHER, options.runs - len(runs)))]
        runs += run_together(names, rng)
        print(f"{len(runs)} runs", file=sys.stderr)
    text = table(runs)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(text, encoding="utf-8")
    print(text)
    total = sum((run.careful for run in runs), Count())
    return int(bool(total.too_old or total.impossible))


if __name__ == "__main__":
    sys.exit(main())
