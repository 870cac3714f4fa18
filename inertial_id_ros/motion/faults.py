# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Positions that no arm has: frozen to the last bit, or those of other times or other arms.

A driver that has lost its robot repeats the last position with fresh stamps, or labels positions
with the time of other ones. Where encoders have noise, a freeze shows in that it ends; without, in
that an arm stops dead, or jumps afterwards. Every decision depends on samples alone, not on the
blocks in which they come.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..samples.ring import Ring
from .motion import Array, IntArray

HOLD_NS, HELD = 100_000_000, 8  # time and samples without a change, after which they are judged
SUSPECT = 3  # samples without a change, after which nothing is made of them before that
BEFORE = 20  # samples before a standstill that tell noise and speed
LEAST_NOISE = 5e-6  # rad or m; less, and steps of coarse encoders, tell nothing
SLOW, BRAKES = 0.03, 15.0  # rad/s, rad/s^2: an arm may stop from there, or by that within a sample
STEP, START = 0.01, 10.0  # rad, rad/s^2: an arm at rest makes no larger step, so sudden
GAP_NS, USUAL = 100_000_000, 4  # samples are missing for longer, and so many times the usual step
PAIR_NS = 10_000_000_000  # positions between two jumps or gaps may be those of other times
TURN = 2.0 * np.pi


class Fault(NamedTuple):
    """Positions that count for nothing.

    Attributes:
        kind: `frozen` or `mixed`; first, last: stamps [ns] of the first and last of them.
        known: stamp of the sample by which it shows [ns].
    """

    kind: str
    first: int
    last: int
    known: int


class Standstill:
    """Finds what freezes in a ring of positions (n, k).

    Args:
        width: k; turning: (k,) whether a whole turn makes no difference.

    Attributes:
        lasting: faults that have not ended, by column.
    """

    def __init__(self, width: int, turning: np.ndarray) -> None:
        self._turning = turning
        self._since = np.zeros(width, np.int64)  # stamp since when a column has not changed
        self._judged = np.zeros(width, bool)
        self._seen = 0
        self.lasting: dict[int, Fault] = {}

    def update(self, ring: Ring, closed: int) -> Iterator[Fault]:
        """Judge the samples before a time [ns] that are new; gives faults that ended, and gaps."""
        part = ring.between(self._seen, closed)
        stamps, rows = ring.stamps[part], ring.rows[part]
        if not self._seen and len(stamps):
            self._since[:] = stamps[0]
        if len(stamps) < 2:
            return
        self._seen = int(stamps[-1])
        change = np.diff(rows, axis=0)
        if np.abs(change).max() > 0.5 * TURN:
            change -= TURN * np.round(change / TURN) * self._turning
        always = (change != 0.0).all(axis=0)
        for column in np.flatnonzero(~always | self._judged):
            yield from self._column(ring, stamps, change[:, column], int(column))
        still = always & ~self._judged
        self._since[still] = stamps[-1]

    def _column(self, ring: Ring, stamps: IntArray, change: Array, column: int) -> Iterator[Fault]:
        moves = np.flatnonzero(change)
        begins = np.append(self._since[column], stamps[moves + 1])
        ends = np.append(stamps[moves], stamps[-1])
        step = np.append(np.abs(change[moves]), 0.0)
        time = np.append(np.diff(stamps)[moves], 0) * 1e-9
        worth = (ends - begins >= HOLD_NS) | (step > STEP + START * time**2)
        for k in np.flatnonzero(worth).tolist():
            begin, end = int(begins[k]), int(ends[k])
            held = ring.between(begin, end + 1)
            count = held.stop - held.start
            is_judged = bool(k == 0 and self._judged[column])
            if not is_judged and end - begin >= HOLD_NS and count >= HELD and is_frozen(
                    ring, held.start, column):
                known = int(ring.stamps[held.start + SUSPECT - 1])
                self.lasting[column] = Fault("frozen", begin, end, known)
            if k < len(moves):
                fault = self.lasting.pop(column, None)
                if fault is not None:
                    yield fault._replace(last=end)
                elif count >= SUSPECT and step[k] > STEP + START * time[k] ** 2:
                    yield Fault("frozen", begin, end, int(stamps[moves[k] + 1]))
        last = ring.between(int(begins[-1]), int(stamps[-1]) + 1)
        self._since[column] = begins[-1]
        self._judged[column] = (ends[-1] - begins[-1] >= HOLD_NS
                                and last.stop - last.start >= HELD)

    def suspect(self, ring: Ring) -> int | None:
        """Stamp [ns] of the sample from which on a column may be frozen; None: none may be."""
        waiting = self._since[~self._judged]
        third = []
        for begin in np.unique(waiting).tolist():
            held = ring.between(begin, self._seen + 1)
            if held.stop - held.start >= SUSPECT:
                third.append(int(ring.stamps[held.start + SUSPECT - 1]))
        return min(third, default=None)


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


class Event(NamedTuple):
    """A jump between two stamps [ns], or a gap, which shows by the sample at `known`."""

    known: int
    first: int
    last: int
    is_gap: bool = False


class Pairs:
    """Finds positions between two jumps, or a jump and a gap, that may be those of other times.

    Attributes:
        events: jumps and gaps that have not been judged.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._before: Event | None = None

    def until(self, known: int) -> Iterator[Fault]:
        """What was wrong by the events that showed before a time [ns], in their order."""
        self.events.sort()
        while self.events and self.events[0].known < known:
            event, before = self.events.pop(0), self._before
            self._before = event
            if before is None or event.first - before.last > PAIR_NS:
                before = event
            elif not event.is_gap and not before.is_gap and event.first <= before.last + GAP_NS:
                self._before = event._replace(first=before.first)  # it goes on
            if not (event.is_gap and before.is_gap):
                yield Fault("mixed", before.first, event.last, event.known)


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
