# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Gaps and faults of streams, and for how long they are named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from .faults import Fault
from .motion import BIN_NS, IntArray, Motion
from .track import Track

Numbers = dict[str, float | str]
SILENT_NS = 500_000_000  # after which a stream is missing
TURNS, MOST_MOVES = 0.05, 6000  # rad/s, from which the sensor moves; bins that are remembered
KINDS = {"frozen": "motion_frozen", "mixed": "streams_mixed", "stuck": "input_stuck"}
SHOWN_NS = 1_500_000_000  # for which a fault that is over is still named


class Trouble:
    """See the module.

    Attributes:
        faults: found and not taken out yet.
    """

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._named: dict[str, tuple[int, float, int]] = {}  # stamp, seconds, count by name
        self.begin_anew()

    def begin_anew(self) -> None:
        """The clock went back."""
        self._moves = np.empty(0, np.int64)  # bins in which the sensor turns
        self._last: dict[str, int] = {}  # stamps of wrench and motion

    def add(self, fault: Fault, stream: str) -> None:
        """A fault shows in a stream."""
        self.faults.append(fault)
        self.note(f"{KINDS[fault.kind]}.{stream}", fault.known, 1e-9 * (fault.last - fault.first))

    def take(self, stream: str, tracks: Iterable[Track]) -> None:
        """Take the faults that were found in the tracks of a stream."""
        for track in tracks:
            for fault in track.faults.new:
                self.add(fault, stream)
            track.faults.new = []

    def note(self, name: str, stamp: int, seconds: float = 0.0, more: int = 1) -> None:
        """Something shows at a stamp [ns], once more."""
        count = self._named[name][2] if name in self._named else 0
        self._named[name] = stamp, seconds, count + more

    def note_gaps(self, name: str, stamps: IntArray) -> None:
        """Note that a stream has been silent for a while before one of its samples."""
        if len(stamps):
            steps = np.diff(stamps, prepend=self._last.get(name, int(stamps[0])))
            self._last[name] = int(stamps[-1])
            for k in np.flatnonzero(steps > SILENT_NS).tolist():
                self.note(f"samples_missing.{name}", int(stamps[k]), 1e-9 * float(steps[k]))

    def note_stuck(self, motion: Motion, stuck: list[tuple[int, int]]) -> None:
        """Readings that are the same to the last bit between two stamps [ns] are wrong where the
        sensor turned; those that are judged are taken out of the list."""
        turns = motion.number[np.linalg.norm(motion.omega, axis=1) > TURNS]
        self._moves = np.concatenate([self._moves, turns])[-MOST_MOVES:]
        newest = int(motion.number[-1]) * BIN_NS if len(motion.number) else 0
        while stuck and stuck[0][1] < newest:
            first, last = stuck.pop(0)
            low, high = np.searchsorted(self._moves, (first // BIN_NS, last // BIN_NS + 1))
            if high > low:
                self.add(Fault(last, first, last, "stuck"), "wrench")

    def findings(self, newest: int) -> Iterator[tuple[str, Numbers]]:
        """Names and numbers of what showed shortly before the newest stamp [ns]."""
        for name, (stamp, seconds, count) in self._named.items():
            if newest - stamp < SHOWN_NS:
                yield name, {"count": count, "seconds": seconds, "where": ""}


def counted(name: str, count: int, why: str = "") -> list[tuple[str, Numbers]]:
    """The finding that counts something; none where there is nothing to count."""
    return [(name, {"count": count, "where": "", "why": why})] if count else []
