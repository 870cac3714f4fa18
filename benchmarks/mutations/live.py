# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Hostile messages and requests to a running node, which is fed by a simulated cobot.

    python -m benchmarks.mutations.live [--cases 2000] [--seed 0] [--only 37 1033]

Each case sends one mutated description, shape, set of transforms, list of parameters or request.
Meanwhile the rate of the node's estimates is measured in spans of a few seconds, and the memory of
its process; now and then the node is stopped by SIGTERM at a random moment of a case, and started
again. It must be fed and answer all the time: an estimate, or the reason why there is none. With
each case is printed how long the node waited for a core that other processes had, for then its rate
is not its own.
"""

from __future__ import annotations

import argparse
import bisect
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from shape_msgs.msg import SolidPrimitive

from inertial_id_ros.ros import compat
from inertial_id_ros.ros.program import Children, private_environment
from inertial_id_ros.srv import Save, SetShape

from .live_inputs import KINDS, NODE, Hands
from .live_listener import Listener

_PATIENCE = 60.0  # s for a node to start, to answer, or to end
# Sends SIGTERM and measures the time to the end of the process, undisturbed by what is sent.
_STOP = f"""import os, select, signal, sys, time
process, began = os.pidfd_open(int(sys.argv[1])), time.monotonic()
signal.pidfd_send_signal(process, signal.SIGTERM)
select.select([process], [], [], {_PATIENCE})
print(time.monotonic() - began)"""
RATE = 10.0  # Hz of the estimates that are asked for
SPAN = 2.0  # s over which the rate is measured
_BLACK_BOX = 1.0  # s for which the node keeps its inputs, so that growth has other reasons
GROWTH, STOPPING = 100.0, 2.0  # MB and s that are allowed
_LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE,
                      durability=DurabilityPolicy.TRANSIENT_LOCAL)
_AFTER = 1.0  # s from the end of one case to the next
_STOPPED = 20  # cases from one SIGTERM to the next
_WARM = 12.0  # s of estimates before memory is compared


@dataclass
class Tally:
    """What came of the cases of one kind."""

    cases: int = 0
    rates: list[float] = field(default_factory=list)  # Hz, lowest of each case
    gaps: list[float] = field(default_factory=list)  # s, longest of each case
    waits: list[float] = field(default_factory=list)  # s that the node waited for a core
    unanswered: int = 0
    growth: list[float] = field(default_factory=list)  # MB beyond the memory of the warm node
    stops: list[float] = field(default_factory=list)  # s from SIGTERM to the end
    failures: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether everything kept its bound."""
        return (not self.failures and min(self.rates, default=RATE) >= 0.5 * RATE
                and max(self.growth, default=0.0) < GROWTH
                and max(self.stops, default=0.0) < STOPPING)


class NodeProcess:
    """The node as a process, and the text that it writes."""

    def __init__(self, environment: dict[str, str], folder: str) -> None:
        self._output = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "inertial_id_ros.ros.main", "--ros-args", "-p",
             f"estimator.rate:={RATE}", "-p", f"state.directory:={folder}", "-p",
             "state.restore:=false", "-p", f"black_box.duration:={_BLACK_BOX}"],
            env=environment, stdin=subprocess.DEVNULL, stdout=self._output,
            stderr=subprocess.STDOUT)

    def memory(self) -> float:
        """Resident memory [MB]; 0 after its end."""
        try:
            with open(f"/proc/{self._process.pid}/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6
        except OSError:
            return 0.0

    def waited(self) -> float:
        """Time [s] for which threads that could run have waited for a core, since the start."""
        total = 0.0
        try:
            for task in os.scandir(f"/proc/{self._process.pid}/task"):
                with open(f"{task.path}/schedstat", encoding="ascii") as file:
                    total += int(file.read().split()[1]) / 1e9
        except OSError:  # a thread, or the process, has just ended
            pass
        return total

    def is_running(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def stop(self) -> tuple[float, str]:
        """Send SIGTERM; the time [s] to its end, and what was wrong with that."""
        stopper = subprocess.run([sys.executable, "-S", "-E", "-c", _STOP, str(self._process.pid)],
                                 capture_output=True, check=True)
        took, status = float(stopper.stdout), self._process.poll()
        if status is None:
            self._process.kill()
        self._output.seek(0)
        text = self._output.read().decode(errors="replace")
        wrong = [f"exit status {status}"] if status != 0 else []
        wrong += [f"traceback: {text[-1500:]}"] if "Traceback" in text else []
        wrong += ["a forged log line"] if "\n[ERROR] forged" in text or "\x1b[31mx" in text else []
        return took, "; ".join(wrong)


class Attacker:
    """A ROS node that sends cases, in a thread of its own."""

    def __init__(self) -> None:
        self._node = Node("attacker")
        self.listener = Listener(f"{NODE}/inertial_parameters")
        self._publishers: dict[str, Any] = {}
        self._executor = compat.make_executor()
        self._executor.add_node(self._node)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=compat.spin, args=(self._executor, self._stop))
        self._thread.start()
        self.unanswered = 0
        self.is_dead = lambda: False
        self.hands = Hands(self._publish, self._call)

    def _publish(self, topic: str, message: Any, latched: bool) -> None:
        kind, data = message if isinstance(message, tuple) else (type(message), message)
        if topic not in self._publishers:
            self._publishers[topic] = self._node.create_publisher(
                kind, topic, _LATCHED if latched else 10)
        self._publishers[topic].publish(data)

    def _call(self, kind: Any, name: str, request: Any) -> Any:
        client = self._node.create_client(kind, name)
        try:
            if not client.wait_for_service(5.0):
                self.unanswered += 1
                return None
            future: Future = client.call_async(request)
            end = time.monotonic() + _PATIENCE
            while not future.done() and time.monotonic() < end and not self.is_dead():
                time.sleep(0.01)
            self.unanswered += not future.done() and not self.is_dead()
            return future.result() if future.done() else None
        finally:
            self._node.destroy_client(client)

    def wait_for(self, seconds: float) -> None:
        """Until there were valid estimates for that long [s]; raises TimeoutError."""
        end, since, before = time.monotonic() + 2 * _PATIENCE, None, self.listener.valid()
        while since is None or time.monotonic() - since < seconds:
            if time.monotonic() > end:
                raise TimeoutError("the node gives no estimates")
            if since is None and self.listener.valid() > before:
                since = time.monotonic()
            time.sleep(0.05)

    def close(self) -> None:
        """Leave the ROS graph."""
        self.listener.close()
        self._stop.set()
        self._thread.join()
        self._node.destroy_node()


def lowest_rate(times: Sequence[float], begin: float, end: float) -> float:
    """Lowest rate [Hz] of messages at `times` in a span between two moments."""
    starts = [begin, *(t for t in times if begin < t <= end - SPAN)]
    counts = [bisect.bisect_right(times, s + SPAN) - bisect.bisect_right(times, s) for s in starts
              if s + SPAN <= end]
    return min(counts, default=round(RATE * SPAN)) / SPAN


def longest_gap(times: Sequence[float], begin: float, end: float) -> float:
    """Longest time [s] without a message between two moments."""
    inner = [begin, *(t for t in times if begin < t < end), end]
    return max(b - a for a, b in zip(inner, inner[1:], strict=False))


class Campaign:
    """Sends the cases one after the other, and stops the node now and then.

    Args:
        shown: also print cases that kept their bounds.
    """

    def __init__(self, seed: int, environment: dict[str, str], folder: str, shown: bool) -> None:
        self._shown = shown
        self.tallies = {kind: Tally() for kind in KINDS}
        self._seed, self._environment, self._folder = seed, environment, folder
        self._attacker = Attacker()
        self._start()

    def _start(self) -> None:
        """Start a node, and wait until it is warm."""
        self._node = NodeProcess(self._environment, self._folder)
        self._attacker.is_dead = lambda: not self._node.is_running()
        self._attacker.wait_for(_WARM)
        self._use_ordinarily()  # libraries that this loads are not growth
        self._warm = self._node.memory()

    def _use_ordinarily(self) -> None:
        """Save, set a shape for a while, and forget it."""
        call, name = self._attacker.hands.call, f"{NODE}/set_shape"
        call(Save, f"{NODE}/save", Save.Request())
        box = SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[0.1, 0.2, 0.1])
        call(SetShape, name, SetShape.Request(primitive=box))
        self._attacker.wait_for(2.0)
        call(SetShape, name, SetShape.Request())

    def run(self, number: int) -> None:
        """Send a case by its number."""
        rng = np.random.default_rng([self._seed, number])
        kind = list(KINDS)[number % len(KINDS)]
        tally = self.tallies[kind]
        tally.cases += 1
        if number % _STOPPED == _STOPPED - 1 - (number // _STOPPED) % len(KINDS):
            self._stop_within(kind, tally, rng)
            return
        attacker, begin = self._attacker, time.monotonic()
        unanswered, waited = attacker.unanswered, self._node.waited()
        KINDS[kind](attacker.hands, rng)
        time.sleep(max(_AFTER, begin + SPAN - time.monotonic()))
        end, heard = time.monotonic(), attacker.listener.times()
        tally.rates.append(lowest_rate(heard, begin, end))
        tally.gaps.append(longest_gap(heard, begin, end))
        tally.waits.append(max(self._node.waited() - waited, 0.0))
        tally.growth.append(self._node.memory() - self._warm)
        tally.unanswered += attacker.unanswered - unanswered
        if not self._node.is_running():
            tally.failures.append(f"case {number}: the node ended: {self._node.stop()[1]}")
            self._start()
        elif self._shown or not _is_kept(tally):
            print(f"  case {number} ({kind}): {tally.rates[-1]:g} Hz, gap {tally.gaps[-1]:.2f} s, "
                  f"+{tally.growth[-1]:.0f} MB, waited {tally.waits[-1]:.2f} s for a core",
                  flush=True)

    def _stop_within(self, kind: str, tally: Tally, rng: np.random.Generator) -> None:
        """Send SIGTERM at a random moment of a case, and start another node."""
        delay = float(rng.uniform(0.0, 1.5))
        case = threading.Thread(target=KINDS[kind], args=(self._attacker.hands, rng))
        case.start()
        time.sleep(delay)
        took, wrong = self._node.stop()
        tally.stops.append(took)
        if self._shown or took >= STOPPING:
            print(f"  SIGTERM {delay:.2f} s into a case ({kind}): {took:.2f} s", flush=True)
        if wrong:
            tally.failures.append(f"SIGTERM after {delay:.2f} s: {wrong}")
        case.join()
        self._start()

    def close(self) -> None:
        """Stop the node."""
        self._node.stop()
        self._attacker.close()


def _is_kept(tally: Tally) -> bool:
    """Whether the last case kept the bounds."""
    return tally.rates[-1] >= 0.5 * RATE and tally.growth[-1] < GROWTH


def table(tallies: dict[str, Tally]) -> str:
    """Kinds of cases against what was measured, as Markdown."""
    rows = ["| input | cases | lowest rate, Hz | median Hz | longest gap, s | unanswered "
            "| growth, MB | SIGTERMs | slowest, s | failures |", "|---|" + "---|" * 9]
    for kind, t in tallies.items():
        rows.append(
            f"| {kind} | {t.cases} | {min(t.rates, default=np.nan):.1f} | "
            f"{np.median(t.rates or [np.nan]):.1f} | {max(t.gaps, default=np.nan):.2f} | "
            f"{t.unanswered} | {max(t.growth, default=np.nan):.0f} | {len(t.stops)} | "
            f"{max(t.stops, default=np.nan):.2f} | {len(t.failures)} |")
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign; 1 if any bound was exceeded."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutations.live",
                                     description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--cases", type=int, default=2000, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first")
    parser.add_argument("--only", type=int, nargs="+", metavar="N",
                        help="numbers of the cases to send, in place of all")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--show", action="store_true", help="print every case")
    args = parser.parse_args(arguments)
    environment = private_environment()
    environment.pop("ROS_PYTHON_CHECK_FIELDS", None)  # as users run it
    os.environ.clear()
    os.environ.update(environment)
    compat.init([])
    with tempfile.TemporaryDirectory() as folder, Children(environment) as children:
        children.start("inertial_id_ros.ros.tools.simulate_cobot", ["--rate", "500"])
        campaign = Campaign(args.seed, environment, folder, args.show)
        try:
            for number in args.only or range(args.first, args.first + args.cases):
                campaign.run(number)
        finally:
            print(table(campaign.tallies), flush=True)
            campaign.close()
            compat.shutdown()
    for kind, tally in campaign.tallies.items():
        for failure in tally.failures:
            print(f"{kind}: {failure}")
    return int(not all(tally.is_good for tally in campaign.tallies.values()))


if __name__ == "__main__":
    sys.exit(main())
