# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Counts samples that a ring has dropped or reordered, as findings."""

from __future__ import annotations

from collections.abc import Mapping

from ..findings import FindingLog
from .ring_buffer import LATE, REORDERED, REPEATED, STORED, Arrival, SampleRing

_TEXTS = {REPEATED: ("samples_repeated", "with a repeated stamp dropped"),
          LATE: ("samples_late", "that came too late dropped"),
          REORDERED: ("samples_reordered", "that came out of order put where they belong")}
_STANDING = 20  # samples in a row with one stamp, more than publishers that are doubled send
LEVELS = {REPEATED: "info", LATE: "warning", REORDERED: "info"}


class DropCounters:
    """Counts samples that are late, repeated, out of order or strays, and stamps that stand still.

    Args:
        stream: in the findings' names; what: the samples are called.
        levels: of the findings, by what happened to a sample; others are not counted.
    """

    def __init__(self, findings: FindingLog, stream: str, what: str,
                 levels: Mapping[Arrival, str] = LEVELS) -> None:
        self._findings, self._stream, self._what = findings, stream, what
        self._levels = levels
        self._strays = 0  # of the ring so far

    def count(self, result: Arrival, ring: SampleRing) -> None:
        """Count what the ring did with a sample, and the strays that it has dropped so far."""
        strays = ring.strays
        if result == STORED and strays == self._strays:
            return
        if result in self._levels:
            self._add(*_TEXTS[result], self._levels[result])
        if ring.standing == _STANDING:
            self._add("stamps_still", f"kept coming with one stamp, {_STANDING} and more in a "
                      "row: the clock of who stamps them stands still; they are dropped")
        for _ in range(strays - self._strays):
            self._add("stamp_stray", "with a stamp far from those before and after dropped")
        self._strays = strays

    def _add(self, name: str, text: str, level: str = "warning") -> None:
        """Count one sample under a finding of this name."""
        self._findings.count(f"{name}.{self._stream}", f"{self._what} {text}", level)
