# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Positions that no arm has: frozen to the last bit, or those of other times or other arms.

A driver that has lost its robot repeats the last position with fresh stamps, or labels positions
with the time of other ones. Where encoders have noise, a freeze shows in that it ends; without, in
that an arm stops dead, or jumps afterwards. Every decision depends on samples alone, not on the
blocks in which they come.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..samples.ring import Ring
from .motion import Array, IntArray

HOLD_NS, HELD = 100_000_000, 8  # time and samples without a change, after which they are judged
SUSPECT = 3  # samples without a change, after which nothing is made of them before that
BEFORE = 20  # samples before a standstill, or a gap, that tell what is usual
LEAST_NOISE = 5e-6  # rad or m; less, and steps of coarse encoders, tell nothing
SLOW, BRAKES = 0.03, 15.0  # rad/s, rad/s^2: an arm may stop from there, or by that within a sample
STEP, START = 0.01, 10.0  # rad, rad/s^2: an arm at rest makes no larger step, so sudden
GAP_NS, USUAL = 100_000_000, 4  # samples are missing for longer, and so many times the usual step
PAIR_NS = 10_000_000_000  # positions between two jumps or gaps may be those of other times
OFF, JUMP = 2e-3, 8e-3  # rad or m: what a quartic misses of no arm, and of other positions
CONTEXT_NS, KEPT_NS = 1_000_000_000, 5_000_000_000  # before a time: samples that are looked at
TURN = 2.0 * np.pi


class Fault(NamedTuple):
    """Positions that count for nothing.

    Attributes:
        known: stamp of the sample by which it shows [ns].
        first, last: stamps [ns] of the first and last of them.
        kind: `frozen` or `mixed`; `jump` or `gap` is what may be the end of others of other times.
    """

    known: int
    first: int
    last: int
    kind: str


class Faults:
    """Finds what is wrong with the positions (n, k) of a ring.

    Args:
        turning: (k,) True where a whole turn makes no difference.

    Attributes:
        new: faults that are over and not taken out yet; lasting: those that are not, by column.
    """

    def __init__(self, ring: Ring, turning: np.ndarray) -> None:
        self._ring, self._turning = ring, turning
        self.new: list[Fault] = []
        self.lasting: dict[int, Fault] = {}
        self._recent: list[Fault] = []  # what was frozen
        self._since = np.zeros(len(turning), np.int64)  # stamp since when a column has not changed
        self._judged = np.zeros(len(turning), bool)
        self._seen = 0
        self._events: list[Fault] = []  # jumps and gaps that have not been judged
        self._before: Fault | None = None

    def update(self, closed: int) -> None:
        """Judge the samples before a stamp [ns] that are new."""
        ring = self._ring
        part = ring.between(self._seen, closed)
        stamps, rows = ring.stamps[part], ring.rows[part]
        if not self._seen and len(stamps):
            self._since[:] = stamps[0]
        if len(stamps) > 1:
            since, self._seen = self._seen, int(stamps[-1])
            self._find_frozen(stamps, rows)
            self._find_gaps(since)
        while ring.late:
            stamp, row, newest = ring.late.popleft()
            if contradicts(ring, stamp, row, self._turning):
                self._events.append(Fault(newest, stamp, newest, "jump"))

    def _find_frozen(self, stamps: IntArray, rows: Array) -> None:
        change = np.diff(rows, axis=0)
        change -= TURN * np.round(change / TURN) * self._turning
        always = (change != 0.0).all(axis=0)
        for column in np.flatnonzero(~always | self._judged).tolist():
            self._judge_column(stamps, change[:, column], column)
        self._since[always & ~self._judged] = stamps[-1]

    def _judge_column(self, stamps: IntArray, change: Array, column: int) -> None:
        """Judge each time without a change; the last one may go on."""
        moves = np.flatnonzero(change)
        begins, ends = np.append(self._since[column], stamps[moves + 1]), stamps[[*moves, -1]]
        time = np.append(1e-9 * np.diff(stamps)[moves], np.inf)
        is_sudden = np.append(np.abs(change[moves]), 0.0) > STEP + START * time**2
        for k in np.flatnonzero((ends - begins >= HOLD_NS) | is_sudden).tolist():
            begin, end = int(begins[k]), int(ends[k])
            first, count = self._held(begin, end)
            if not (k == 0 and self._judged[column]) and _is_long(begin, end, count) and is_frozen(
                    self._ring, first, column):
                known = int(self._ring.stamps[first + SUSPECT - 1])
                self.lasting[column] = Fault(known, begin, end, "frozen")
            if k < len(moves) and (column in self.lasting or (count >= SUSPECT and is_sudden[k])):
                jump = Fault(int(stamps[moves[k] + 1]), begin, end, "frozen")
                fault = self.lasting.pop(column, jump)._replace(last=end)
                self.new.append(fault)
                self._recent.append(fault)
        begin, end = int(begins[-1]), int(ends[-1])
        self._since[column], self._judged[column] = begin, _is_long(
            begin, end, self._held(begin, end)[1])

    def _held(self, begin: int, end: int) -> tuple[int, int]:
        """Number of the first sample, and how many there are, between two stamps [ns]."""
        part = self._ring.between(begin, end + 1)
        return part.start, part.stop - part.start

    @property
    def suspect(self) -> int | None:
        """Stamp [ns] of the sample from which on a column may be frozen; None: none may be."""
        third = []
        for begin in np.unique(self._since[~self._judged]).tolist():
            first, count = self._held(begin, self._seen)
            if count >= SUSPECT:
                third.append(int(self._ring.stamps[first + SUSPECT - 1]))
        return min(third, default=None)

    def _find_gaps(self, since: int) -> None:
        """Find times from a stamp [ns] on in which samples are missing."""
        stamps = self._ring.stamps[self._ring.between(since - CONTEXT_NS, self._seen + 1)]
        steps = np.diff(stamps)
        for k in np.flatnonzero((steps > GAP_NS) & (stamps[1:] > since)).tolist():
            usual = np.median(steps[max(k - BEFORE, 0):k]) if k else np.inf
            if steps[k] > USUAL * usual:
                before, after = stamps[k:k + 2].tolist()
                self._events.append(Fault(after, before, after, "gap"))

    def note_missed(self, centre: int, off: float, reach: int) -> None:
        """A quartic about a stamp, from so long before it to after it [ns], misses the samples by
        so much [rad or m]."""
        if off > JUMP:
            self._events.append(Fault(centre + reach, centre, centre, "jump"))
        else:
            self.new.append(Fault(centre + reach, centre, centre, "mixed"))

    def judge_events(self, known: int) -> None:
        """Judge the events that showed before a stamp [ns], in their order: between two jumps, or a
        jump and a gap, are positions of other times."""
        self._events.sort()
        while self._events and self._events[0].known < known:
            event, before = self._events.pop(0), self._before
            self._before = event
            if before is None or event.first - before.last > PAIR_NS:
                before = event
            elif event.kind == before.kind == "jump" and event.first <= before.last + GAP_NS:
                self._before = event._replace(first=before.first)  # it goes on
            if "jump" in (event.kind, before.kind):
                self.new.append(event._replace(first=before.first, kind="mixed"))
        self._recent = [fault for fault in self._recent if fault.last > known - KEPT_NS]

    def hide(self, centres: IntArray, ends: IntArray, reach: int) -> np.ndarray:
        """True (n,) for bins about centres (n,) made of samples before ends (n,), within a reach
        [ns], of which some were known to be frozen then."""
        hit = np.zeros(len(centres), bool)
        lasting = [fault._replace(last=int(ends[-1])) for fault in self.lasting.values()]
        for fault in self._recent + lasting:
            hit |= ((centres + reach > fault.first) & (centres - reach < fault.last)
                    & (fault.known < ends))
        return hit


def _is_long(begin: int, end: int, count: int) -> bool:
    return end - begin >= HOLD_NS and count >= HELD


def is_frozen(ring: Ring, first: int, column: int) -> bool:
    """True where no arm stands still so suddenly as a column of a ring from its sample `first`
    on: it had noise, or moved on at speed."""
    begin = max(first - BEFORE, 0)
    if first - begin < HELD:
        return False
    values = ring.rows[begin:first + 1, column]
    time = 1e-9 * (ring.stamps[begin:first + 1] - ring.stamps[first])
    columns, speeds, fits = np.vander(time, 3, increasing=True), list[float](), list[Array]()
    for part in (slice(None), slice(-HELD, None)):  # an arm that brakes hard is slow at the end
        inverse = np.linalg.pinv(columns[part])
        fits.append(inverse @ values[part])
        off = values[part] - columns[part] @ fits[-1]
        sd = np.sqrt(off @ off / (len(off) - 3)) * np.linalg.norm(inverse[1])
        speeds.append(float(abs(fits[-1][1]) - 2.0 * sd))
    off = values - columns @ fits[0]
    noise, step = float(np.sqrt(np.mean(off * off))), -time[0] / BEFORE
    per_sample = step * float(np.abs(columns[:, :2] @ (fits[0][1:] * [1.0, 2.0])).max())
    if (np.diff(values).all() and noise > max(LEAST_NOISE, per_sample / 3.0)
            and np.mean(off[1:] * off[:-1] < 0.0) > 1.0 / 3.0):
        return True
    changes = np.abs(np.diff(values, 2))
    finest = changes[changes > 1e-9].min(initial=np.inf)  # steps of the encoder
    unseen = np.sqrt(2.0 * BRAKES * finest) if np.isfinite(finest) else 0.0
    return bool(min(speeds) > max(SLOW, -BRAKES * time[0] / (len(time) - 1), unseen))


def contradicts(ring: Ring, stamp: int, row: Array, turning: np.ndarray) -> bool:
    """True where a row (k,) that came too late tells of other positions than the ring does."""
    at = int(np.searchsorted(ring.stamps, stamp))
    if not 0 < at < len(ring):
        return False
    before, after = ring.rows[at - 1:at + 1]
    early, late = ring.stamps[at - 1:at + 1].tolist()
    off = row - before - (stamp - early) / (late - early) * (after - before)
    off = off - TURN * np.round(off / TURN) * turning
    return bool((np.abs(off) > STEP + np.abs(after - before)).any())
