# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.faults.soak`: an hour of simulated time, a fault each half minute."""

from __future__ import annotations

import os

# Small matrices: threads of the linear algebra cost more than they bring.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import argparse  # noqa: E402
import gc  # noqa: E402
import multiprocessing  # noqa: E402
import sys  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Callable  # noqa: E402
from dataclasses import dataclass, field  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from inertial_id_ros.apps.simulation.payload import PAYLOADS  # noqa: E402
from inertial_id_ros.estimate import Estimate, Outcome  # noqa: E402
from inertial_id_ros.identification.wrench.identifier import Identifier  # noqa: E402
from inertial_id_ros.inertia import is_consistent  # noqa: E402
from inertial_id_ros.settings import Settings  # noqa: E402

from .injected import FAULTS, RANGE, Fault  # noqa: E402
from .run import AGAIN, NEGLIGIBLE, PAYLOAD, RESULTS  # noqa: E402
from .stream import (  # noqa: E402
    TRANSFORM,
    WRENCH,
    Message,
    Simulation,
    Stream,
    restamped,
    seconds,
    with_wrench,
    wrench_of,
)
from .trial import ADVANCE, REACTION, sentence  # noqa: E402

WINDOW, CHUNK, RATE = 20.0, 30.0, 100.0  # s, s, Hz
SOLVE = 0.5  # s
SETTLED = 300.0  # s after which memory must not grow
MEMORY = 5.0  # MB it may grow
# Findings that are counted: of what leaves samples out or flushes.
COUNTED = ("contact", "payload_changed", "zero_moved.wrench", "estimate_lost", "frame_wrong",
          "sign_wrong", "residual_large", "reset")


@dataclass
class State:
    """What the faults so far have left behind, and what was seen.

    Attributes:
        carried: index of the payload; jump: (6,) of the sensor's zero; offset: of the clock [ns].
    """

    carried: int = 0
    jump: np.ndarray = field(default_factory=lambda: np.zeros(6))
    offset: int = 0
    wrong: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    alarms: Counter[str] = field(default_factory=Counter)
    memory: list[tuple[float, float]] = field(default_factory=list)
    estimates: int = 0


class Soak:
    """The run.

    Args:
        seed: of everything random.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng([seed, 13])
        motion = ("point_to_point", "sinusoid", "stop_and_go")[seed % 3]
        self._simulation = Simulation((PAYLOADS["hammer"], PAYLOADS["drill"]), seed, motion, RATE)
        self._settings = Settings().replace({"buffer.window": WINDOW} | dict(RANGE))
        self._identifier = self._fresh()
        self._faults = (*(f for f in FAULTS if TRANSFORM not in f.on), PAYLOAD)
        self._next_advance = self._next_solve = 0.0
        self.state = State()

    def _fresh(self) -> Identifier:
        made = Identifier(self._settings)
        self._simulation.prepare(made)
        return made

    def chunk(self, begin: float) -> None:
        """Half a minute with one fault, and a look at what is left of it at the end."""
        at = begin + float(self._rng.uniform(3.0, 5.0))
        fault = self._faults[self._rng.integers(len(self._faults))]
        before = self.state.carried
        for message in self._messages(begin, at, fault):
            self._take(message, at, before)
        self._compare(begin, fault)
        gc.collect()
        self.state.memory.append((begin + CHUNK, _resident()))

    def _messages(self, begin: float, at: float, fault: Fault) -> list[Message]:
        state, end = self.state, begin + CHUNK
        messages = list(self._simulation.messages(begin, at, state.carried))
        if fault is PAYLOAD:
            state.carried = 1 - state.carried
        messages += self._simulation.messages(at, end, state.carried)
        messages = [_changed(m, state.jump, state.offset) for m in messages]
        state.faults[fault.name] += 1
        stream = Stream(messages, (), self._simulation.prepare, {})
        after = fault.inject(stream, at, self._rng).messages
        state.offset += after[-1].arguments[0] - messages[-1].arguments[0]
        state.jump = state.jump + wrench_of(_last(after)) - wrench_of(_last(messages))
        return after

    def _take(self, message: Message, at: float, before: int) -> None:
        made, now = self._identifier, seconds(message)
        getattr(made, message.method)(*message.arguments)
        if now >= self._next_advance:
            made.advance()
            self._next_advance = now + ADVANCE
        if now < self._next_solve:
            return
        self._next_solve = now + SOLVE
        outcome = made.solve()
        for finding in made.findings():
            if finding.name in COUNTED:
                self.state.alarms[finding.name] += 1
        if not isinstance(outcome, Estimate):
            return
        self.state.estimates += 1
        allowed = {before} if now < at else {self.state.carried}
        if at <= now < at + REACTION:
            allowed.add(before)
        truths = self._simulation.truths
        texts = [sentence(outcome, truths[k]) for k in allowed]
        if not is_consistent(outcome.phi):
            texts = ["no body has these parameters"]
        if all(texts):
            self.state.wrong.append(f"{now:.1f} s (fault at {at:.1f} s): {texts[0]}")

    def _clean(self, end: float) -> Outcome:
        """What an identifier says that has seen the last window only, without faults."""
        fresh = self._fresh()
        for k, message in enumerate(self._simulation.messages(
                end - WINDOW - 0.5, end, self.state.carried)):
            getattr(fresh, message.method)(*message.arguments)
            if k % 200 == 0:
                fresh.advance()
        fresh.advance()
        return fresh.solve()

    def _compare(self, begin: float, fault: Fault) -> None:
        """The error beside that of an identifier that has seen nothing but the last window."""
        end, truth = begin + CHUNK, self._simulation.truths[self.state.carried]
        self._identifier.advance()
        outcomes = [self._identifier.solve(), _elsewhere(lambda: self._clean(end))]
        name = fault.name
        if not all(isinstance(o, Estimate) for o in outcomes):
            self.state.late.append(f"{name} before {end:.0f} s: {outcomes}"[:300])
            return
        after, without = ((abs(o.report[0] / truth.mass - 1.0),
                           float(np.linalg.norm(o.report[1:4] - truth.com))) for o in outcomes)
        if any(e > AGAIN * w + n for e, w, n in zip(after, without, NEGLIGIBLE, strict=True)):
            self.state.late.append(f"{name} before {end:.0f} s: {after} against {without}")


def _elsewhere(work: Callable[[], Any]) -> Any:
    """The result of work in a process of its own, whose memory does not count."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sender.send(work()))
    process.start()
    result = receiver.recv()
    process.join()
    return result


def _changed(message: Message, jump: np.ndarray, offset: int) -> Message:
    message = restamped(message, offset)
    return with_wrench(message, wrench_of(message) + jump) if message.method == WRENCH else message


def _last(messages: list[Message]) -> Message:
    return next(m for m in reversed(messages) if m.method == WRENCH)


def _resident() -> float:
    """Resident memory of this process [MB]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def text(state: State, duration: float) -> str:
    """Markdown of a run."""
    after = [m for t, m in state.memory if t >= SETTLED] or [state.memory[-1][1]]
    faults = ", ".join(f"{n} {c}" for n, c in sorted(state.faults.items())) or "none"
    lines = [f"- simulated time: {duration:.0f} s; estimates published: {state.estimates}",
             f"- faults: {faults}",
             "- findings seen at solves: "
             + (", ".join(f"{n} {c}" for n, c in sorted(state.alarms.items())) or "none"),
             f"- memory: {after[0]:.1f} MB after {SETTLED:.0f} s, {after[-1]:.1f} MB at the end, "
             f"{max(after):.1f} MB at most",
             f"- wrong or inconsistent estimates: {len(state.wrong)}",
             f"- faults after which the error was not back within one window: {len(state.late)} "
             f"of {sum(state.faults.values())}"]
    lines += [f"  - {line}" for line in [*state.wrong[:20], *state.late]]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit status is 1 where something must not have happened."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults.soak", description=__doc__)
    parser.add_argument("--duration", type=float, default=3600.0, help="simulated seconds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of the table")
    options = parser.parse_args(arguments)
    soak = Soak(options.seed)
    for k in range(max(1, round(options.duration / CHUNK))):
        soak.chunk(k * CHUNK)
        print(f"\r{(k + 1) * CHUNK:.0f} s", end="", file=sys.stderr)
    print(file=sys.stderr)
    table = text(soak.state, options.duration)
    print(table)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "soak.md").write_text(table)
    state = soak.state
    grown = state.memory[-1][1] - next((m for t, m in state.memory if t >= SETTLED),
                                       state.memory[-1][1])
    return int(bool(state.wrong or state.late or grown > MEMORY))


if __name__ == "__main__":
    raise SystemExit(main())
