# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Runs every fault alone and in random pairs, on simulated and recorded input; writes a table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.errors import RecordingError

from .injected import FAULTS, SETUP_FAULTS, Fault
from .stream import Simulation, Stream, recorded
from .trial import Report, run

RESULTS = Path(__file__).parent / "results"
SOURCES = ("simulated", "recorded")
WINDOW = 8.0  # s of the buffer, so that a run is short
AT, END = 10.0, 23.0  # s: the first fault, and the end of a simulated run
PAIR = 1.5  # s: the second fault of a pair comes within that time
AGAIN = 1.2  # error allowed over that of the run without fault, and what is too small to count
NEGLIGIBLE = (0.002, 5e-4)  # share of the mass, m
MISSED = "not found"
SETTINGS = {"buffer.window": WINDOW}


@dataclass(frozen=True)
class Row:
    """One run: its faults, the input, which of them left a trace in the messages and were found
    when, errors with and without fault, new estimates that were wrong, and held ones."""

    faults: tuple[str, ...]
    source: str
    seed: int
    traces: tuple[bool, ...]
    found: tuple[float | None, ...]  # s after the fault began
    errors: tuple[float, float] | None
    without: tuple[float, float] | None
    wrong: tuple[str, ...]
    held: int
    said: str

    @property
    def recovered(self) -> bool:
        """Whether the error is back within 20 % of that without fault."""
        if self.errors is None or self.without is None:
            return self.without is None
        return all(e <= AGAIN * w + n for e, w, n in
                   zip(self.errors, self.without, NEGLIGIBLE, strict=True))


class Source:
    """An input with and without a change of payload.

    Args:
        name: for the table; seed: of everything random.
    """

    def __init__(self, name: str, seed: int) -> None:
        self.name, self.seed = name, seed
        if name == "simulated":
            motion = ("point_to_point", "sinusoid", "stop_and_go")[seed % 3]
            pair = (PAYLOADS["hammer"], PAYLOADS["drill"])
            self._simulation = Simulation(pair if seed % 2 else pair[::-1], seed, motion)
            self.end = END
        else:
            self._stream = recorded("baseline", 4)
            self.end = 24.0

    def stream(self, changes_at: float | None = None) -> Stream:
        """The stream, with another payload from some second on."""
        if self.name != "simulated":
            return self._stream
        parts = [(0.0, 0)] if changes_at is None else [(0.0, 0), (changes_at, 1)]
        return self._simulation.stream(parts, self.end)

    def other(self) -> Stream:
        """The stream with the second payload from the beginning."""
        return self._simulation.stream([(0.0, 1)], self.end)


PAYLOAD = Fault("payload gripped or released", "payload_changed", lambda s, at, rng: s, 0.0)


def trial(source: Source, faults: tuple[Fault, ...], without: dict[bool, Report]) -> Row:
    """One run with faults, beside the run without."""
    rng = np.random.default_rng([source.seed, 7])
    begins = [AT, *(AT + rng.uniform(0.0, PAIR, len(faults) - 1))]
    changes = dict(SETTINGS)
    at = next((t for t, f in zip(begins, faults, strict=True) if f is PAYLOAD), None)
    stream = injected(source, faults, begins, at)
    traces = tuple(fault is PAYLOAD or len(faults) == 1
                   or differs(stream, injected(source, faults, begins, at, without=k))
                   for k, fault in enumerate(faults))
    for fault in faults:
        changes |= dict(fault.changes)
    setup = any(f in SETUP_FAULTS for f in faults)
    report = run(stream, changes, nothing_is_right=setup)
    if setup:
        begins = [0.0] * len(faults)
    found = tuple(report.found(f.finding, t) for t, f in zip(begins, faults, strict=True))
    other = at is not None
    if other not in without:
        without[other] = run(source.other() if other else source.stream(), SETTINGS)
    return Row(tuple(f.name for f in faults), source.name, source.seed, traces, found,
               report.errors,
               None if setup else without[other].errors,
               tuple(f"{t:.2f} s: {text}" for t, text in report.wrong), report.held,
               getattr(report.last, "reason", ""))


def injected(source: Source, faults: tuple[Fault, ...], begins: list[float], at: float | None,
             without: int | None = None) -> Stream:
    """The stream with these faults, each random by itself, but for one of them."""
    stream = source.stream(at)
    for k, (begin, fault) in enumerate(zip(begins, faults, strict=True)):
        if k != without:
            stream = fault.inject(stream, begin, np.random.default_rng([source.seed, 7, k]))
    return stream


def differs(one: Stream, other: Stream) -> bool:
    """Whether any message does: samples that another fault has removed cannot be damaged."""
    return len(one.messages) != len(other.messages) or any(
        a is not b and repr(a) != repr(b)
        for a, b in zip(one.messages, other.messages, strict=True))


def usable(source: Source) -> list[Fault]:
    """The faults that an input can have."""
    methods = {m.method for m in source.stream().messages}
    faults = [*FAULTS, *([PAYLOAD] if source.name == "simulated" else [])]
    return [f for f in faults if set(f.on) <= methods]


def rows_of(name: str, seed: int, alone: bool, pairs: int) -> list[Row]:
    """The rows of one source: every fault alone, if asked for, and so many random pairs."""
    try:
        source = Source(name, seed)
    except RecordingError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return []
    without: dict[bool, Report] = {}
    faults = usable(source)
    methods = {m.method for m in source.stream().messages}
    chosen = [(f,) for f in [*faults, *(f for f in SETUP_FAULTS if set(f.on) <= methods)] if alone]
    rng = np.random.default_rng([seed, 11])
    chosen += [tuple(faults[k] for k in rng.choice(len(faults), 2, replace=False))
               for _ in range(pairs)]
    rows = []
    for k, some in enumerate(chosen, 1):
        rows.append(trial(source, some, without))
        print(f"{name} {seed}: {k}/{len(chosen)}", file=sys.stderr)
    return rows


def campaign(runs: list[tuple[str, int, bool]], pairs: int, workers: int) -> Iterator[list[Row]]:
    """The rows of all sources so far, in order, whenever a source is done.

    Args:
        runs: name and seed of each source, and whether every fault alone is part of it.
    """
    rows: list[Row] = []
    with ProcessPoolExecutor(workers) as pool:
        for part in as_completed([pool.submit(rows_of, *run, pairs) for run in runs]):
            rows += part.result()
            yield sorted(rows, key=lambda row: (len(row.faults), row.source, row.seed))


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit status is 1 where something wrong was published."""
    from .tables import text

    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    parser.add_argument("--sources", nargs="+", choices=SOURCES, default=list(SOURCES))
    parser.add_argument("--seeds", type=int, default=3, help="simulated runs of each fault")
    parser.add_argument("--recorded", type=int, default=1, help="recorded runs of each fault")
    parser.add_argument("--alone", type=int, help="of them with every fault alone; default: all")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--pairs", type=int, default=12, help="random pairs of faults for each")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of the table")
    options = parser.parse_args(arguments)
    counts = {"simulated": options.seeds, "recorded": options.recorded}
    runs = [(name, options.first + k, options.alone is None or k < options.alone)
            for name in options.sources for k in range(counts[name])]
    options.output.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    for rows in campaign(runs, options.pairs, options.workers):
        (options.output / "faults.md").write_text(text(rows))
    print(text(rows))
    return int(any(row.wrong for row in rows))
