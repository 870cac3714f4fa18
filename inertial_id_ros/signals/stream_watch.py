# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whether wrench and motion keep coming, and whether their stamps are of one clock.

`DropCounters` count the samples that a ring has dropped or reordered, as findings.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import numpy as np

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


STOPPED, APART = "motion_stopped", "clocks_differ"
_SILENCE_NS = 2_000_000_000  # wrench for this long without any motion
_APART_NS = 1_000_000_000  # farther apart than any transport delays a message
# Looks at both streams that are compared: the newest ones with those before, but for some between.
_LOOKS, _NEWEST, _BETWEEN = 60, 6, 6
_SHIFT_NS, _STEADY_NS = 30_000_000, 10_000_000  # least shift of stamps, and how steady it must be
_SPREADS = 3.0  # times the spread of what was before


class StreamWatch:
    """Compares the newest stamps of both streams with those of the last call."""

    def __init__(self, findings: FindingLog) -> None:
        self._findings = findings
        self._wrench: int | None = None
        self._motion: int | None = None
        self._wrench_at_motion = 0  # newest wrench when motion came last
        self._ahead: deque[int] = deque(maxlen=_LOOKS)  # stamps of the wrench before the motion's

    def compare(self, wrench: int, motion: int | None, what: str, topic: str,
                early: int = 0) -> None:
        """Set or clear the findings on streams that stop and clocks that differ.

        Args:
            wrench, motion: newest stamps [ns]; what: that the motion comes from, on `topic`.
            early: by how much the stamps of the wrench are known to be early [ns].
        """
        if motion is None:
            return
        wrench_came, motion_came = wrench != self._wrench, motion != self._motion
        if motion_came:
            self._wrench_at_motion = wrench
        self._check_silence(wrench - max(self._wrench_at_motion, motion), what, topic)
        if wrench_came and motion_came and self._wrench is not None:
            self._check_clocks(min(wrench - motion, wrench + early - motion, key=abs), what)
            self._ahead.append(wrench - motion)
        self._wrench, self._motion = wrench, motion

    def _check_silence(self, silent: int, what: str, topic: str) -> None:
        """Set or clear the finding on motion that has stopped; silent: wrench without it [ns]."""
        if silent > _SILENCE_NS:
            self._findings.set(STOPPED, "error", f"no {what} on '{topic}' for "
                               f"{silent * 1e-9:.0f} s while the wrench goes on: the estimate is "
                               "held")
        else:
            self._findings.clear(STOPPED)

    def _check_clocks(self, ahead: int, what: str) -> None:
        """Set or clear the finding on clocks that differ; ahead: wrench before the motion [ns]."""
        if abs(ahead) > _APART_NS:
            word = "ahead of" if ahead > 0 else "behind"
            self._findings.set(APART, "error", f"the stamps of the wrench are "
                               f"{abs(ahead) * 1e-9:.1f} s {word} those of the {what}: their "
                               "drivers use different clocks, or one is delayed by that much")
        else:
            self._findings.clear(APART)

    def take_shift(self) -> int:
        """By how much the stamps of the motion have shifted against those of the wrench [ns], as
        messages arrive; told once, 0: they have not."""
        if len(self._ahead) < 2 * (_NEWEST + _BETWEEN):
            return 0
        ahead = np.array(self._ahead)
        before, now = ahead[:-_NEWEST - _BETWEEN], ahead[-_NEWEST:]
        usual = np.median(before)
        least = np.abs(now - usual).min()
        if least < _SHIFT_NS:  # as nearly always
            return 0
        spread = float(np.ptp(np.percentile(before, [10.0, 90.0])))
        if least < _SPREADS * spread or np.ptp(now) > max(_STEADY_NS, spread):
            return 0
        self._ahead.clear()
        return int(usual - np.median(now))
