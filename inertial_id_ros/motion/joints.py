# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint states, which may come in parts."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..samples.ring import Ring
from .description import IMPOSSIBLE
from .motion import Array, IntArray
from .robot import TURN, Chain
from .track import Signal, Track, advance_together

APART_NS = 1_000_000_000  # by which a stream is behind that has stopped, or whose clock differs
MOST_WAITING = 1 << 17  # joint states before the chain is known


class Joints:
    """Joint states: of each list of joints a track.

    Attributes:
        tracks: by the names of the joints, in alphabetical order; order: of the joints in signals.
        counts: of samples that are `invalid`, or of `others` joints; others: the newest names of
            such ones.
    """

    def __init__(self) -> None:
        self.tracks: dict[tuple[str, ...], Track] = {}
        self.order: list[str] = []
        self.counts: Counter[str] = Counter()
        self.others: tuple[str, ...] = ()
        self._turning: dict[str, bool] = {}
        self._early: list[tuple[IntArray, tuple[str, ...], Array]] = []  # before the chain is known

    def use(self, turning: dict[str, bool]) -> None:
        """These joints are needed; True where one turns."""
        if self._turning != turning:
            self._turning, self.tracks = turning, {}
        early, self._early = self._early, []
        for block in early:
            self.add(*block)

    def add(self, stamps: IntArray, names: tuple[str, ...], positions: Array) -> None:
        """Take positions (m, k) of joints."""
        if not self._turning:
            self._early.append((stamps, names, positions))
            while sum(len(block[0]) for block in self._early[1:]) > MOST_WAITING:
                del self._early[0]
            return
        wanted = tuple(sorted(set(names) & set(self._turning)))
        if not wanted or positions.shape[1] < len(names):
            self.counts["others"], self.others = self.counts["others"] + len(stamps), names
            return
        rows = positions[:, [names.index(name) for name in wanted]]
        good = (np.abs(rows) < IMPOSSIBLE).all(1) & (stamps > 0)
        self.counts["invalid"] += int((~good).sum())
        if wanted not in self.tracks:
            turning = np.array([self._turning[name] for name in wanted])
            self.tracks[wanted] = Track(Ring(len(wanted)), turning)
        self.tracks[wanted].ring.push(stamps[good], rows[good])

    def _used(self) -> list[tuple[str, ...]]:
        """Lists of joints that together have all, the longest first; some may have stopped."""
        newest = {key: t.ring.newest for key, t in self.tracks.items() if len(t.ring)}
        last, needed, out = max(newest.values(), default=0), set(self._turning), []
        for key in sorted(newest, key=lambda k: (newest[k] < last - APART_NS, -len(k), k)):
            if needed & set(key):
                out.append(key)
                needed -= set(key)
        return [] if needed else out

    def newest(self) -> dict[str, tuple[int, float]]:
        """Stamp [ns] and newest position [rad or m] of each joint."""
        return {name: (track.ring.newest, float(value))
                for key, track in self.tracks.items() if len(track.ring)
                for name, value in zip(key, track.ring.rows[-1], strict=True)}

    def lacking(self) -> list[str]:
        """Joints whose positions are needed and never came."""
        return sorted(set(self._turning) - set(self.newest()))

    def missing(self) -> tuple[str, dict[str, float | str]] | None:
        """Kind and numbers of the finding that joints are lacking; None: none are."""
        names = ", ".join(self.lacking())
        came = f" (but of {', '.join(self.others)})" if self.others else ""
        return ("joints_missing", {"names": names + came}) if names else None

    def are_in_degrees(self, chain: Chain) -> bool:
        """True where the newest positions can be no radians: two of them lie beyond the limits of
        their joints, or one farther than two turns beyond."""
        at = self.newest()
        over = [abs(at[j.name][1]) - j.farthest for j in chain.joints
                if j.turns and j.name in at and (j.scale, j.shift) == (1.0, 0.0)]
        return sum(x > 0.0 for x in over) > 1 or max(over, default=0.0) > 2.0 * TURN

    def advance(self, finished: bool) -> Signal:
        """Signals of the joints, as `order` has them, in the bins in which all are known."""
        used = self._used()
        self.order = [name for key in used for name in key]
        return advance_together([self.tracks[key] for key in used], finished)
