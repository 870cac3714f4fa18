# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The signals that tell the sensor's motion: positions of joints, or its pose by transforms."""

from __future__ import annotations

from collections import Counter
from functools import reduce

import numpy as np
from scipy.spatial.transform import Rotation

from ..samples.ring import Ring, spacing_of
from .description import IMPOSSIBLE
from .frames import KEPT_NS, Frames, quaternions_of
from .motion import NO_MOTION, Array, IntArray, Motion
from .robot import Chain
from .track import Signal, Track, joined_signals

APART_NS = 1_000_000_000  # by which a stream is behind that has stopped, or whose clock differs
MOST_WAITING = 1 << 17  # joint states before the chain is known
SETTLED = 20  # samples of an edge that tell its rate


class Joints:
    """Joint states: of each list of joints a track.

    Attributes:
        tracks: by the names of the joints, in alphabetical order; order: of the joints in signals.
        counts: of samples that are `invalid`, or of `others` joints.
    """

    def __init__(self) -> None:
        self.tracks: dict[tuple[str, ...], Track] = {}
        self.order: list[str] = []
        self.counts: Counter[str] = Counter()
        self._turning: dict[str, bool] = {}
        self._early: list[tuple[IntArray, tuple[str, ...], Array]] = []  # before the chain is known
        self._ahead: dict[tuple[str, ...], Signal] = {}

    def use(self, turning: dict[str, bool]) -> None:
        """These joints are needed; True where one turns."""
        if self._turning != turning:
            self._turning, self.tracks, self._ahead = turning, {}, {}
        early, self._early = self._early, []
        for block in early:
            self.add(*block)

    def restart(self) -> None:
        """The clock went back."""
        self._ahead = {}

    def add(self, stamps: IntArray, names: tuple[str, ...], positions: Array) -> None:
        """Take positions (m, k) of joints."""
        if not self._turning:
            self._early.append((stamps, names, positions))
            while sum(len(block[0]) for block in self._early[1:]) > MOST_WAITING:
                del self._early[0]
            return
        wanted = tuple(sorted(set(names) & set(self._turning)))
        if not wanted or positions.shape[1] < len(names):
            self.counts["others"] += len(stamps)
            return
        rows = positions[:, [names.index(name) for name in wanted]]
        good = (np.abs(rows) < IMPOSSIBLE).all(1) & (stamps > 0)
        self.counts["invalid"] += int((~good).sum())
        if wanted not in self.tracks:
            self.tracks[wanted] = Track(Ring(len(wanted)), np.array([
                self._turning[name] for name in wanted]))
        self.tracks[wanted].ring.push(stamps[good], rows[good])

    def _used(self) -> list[tuple[str, ...]]:
        """Lists of joints that together have all, the longest first; some may have stopped."""
        newest = {key: int(t.ring.stamps[-1]) for key, t in self.tracks.items() if len(t.ring)}
        last, needed, out = max(newest.values(), default=0), set(self._turning), []
        for key in sorted(newest, key=lambda k: (newest[k] < last - APART_NS, -len(k), k)):
            if needed & set(key):
                out.append(key)
                needed -= set(key)
        return [] if needed else out

    def lacking(self) -> list[str]:
        """Joints whose positions are needed and never came."""
        there = {name for key, track in self.tracks.items() if len(track.ring) for name in key}
        return sorted(set(self._turning) - there)

    def are_in_degrees(self, chain: Chain) -> bool:
        """True where the newest positions are no radians."""
        return any(chain.is_in_degrees(key, self.tracks[key].ring.rows[-1]) for key in self._used())

    def advance(self, finished: bool) -> Signal:
        """Signals of the joints, as `order` has them, in the bins in which all are known."""
        used, out = self._used(), {}
        for key in used:
            new = self.tracks[key].advance(finished)
            out[key] = joined_signals([self._ahead[key], new]) if key in self._ahead else new
        common = reduce(np.intersect1d, (signal.number for signal in out.values()))
        newest = min(int(s.number[-1]) if len(s.number) else -1 for s in out.values())
        self._ahead = {key: s.part(s.number > newest) for key, s in out.items()}
        self.order = [name for key in used for name in key]
        parts = [s.part(np.isin(s.number, common)) for s in out.values()]
        return Signal(common, *map(np.hstack, zip(*(part[1:] for part in parts), strict=True)))


class Poses:
    """The track of the pose of a frame, composed of the moving transforms above it."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._edges: tuple[str, ...] = ()
        self._master = ""  # the slowest of them, whose stamps count
        self.restart()

    def restart(self) -> None:
        """The clock went back."""
        self.track = Track(Ring(7))
        self._since = 0

    def update(self, frame: str, root: str, finished: bool) -> bool:
        """Compose the poses that came; False where no moving transform leads to the frame."""
        rings = self._frames.moving_below(root, frame)
        if not rings or not all(map(len, rings.values())):
            return False
        if tuple(rings) != self._edges:
            self._edges, self._master = tuple(rings), ""
            self.restart()
        if not self._master:
            if min(map(len, rings.values())) < SETTLED and not finished:
                return False
            self._master = max(rings, key=lambda n: spacing_of(
                rings[n].stamps[:SETTLED]).period if len(rings[n]) > 1 else 0.0)
        closed = min(int(r.stamps[-1]) + 1 if finished else r.closed for r in rings.values())
        first = max(int(ring.stamps[0]) for ring in rings.values())
        stamps = rings[self._master].stamps
        stamps = stamps[slice(*np.searchsorted(stamps, (max(self._since + 1, first), closed)))]
        if not len(stamps):
            return True
        self._since = int(stamps[-1])
        place, turn = self._frames.poses_at(frame, root, stamps)
        rows, ring = np.hstack([place, quaternions_of(turn)]), self.track.ring
        if len(ring) and rows[0, 3:] @ ring.rows[-1, 3:] < 0.0:
            rows[:, 3:] *= -1.0
        ring.push(stamps, rows)
        for each in rings.values():
            each.drop(self._since - KEPT_NS)
        return True

    def advance(self, finished: bool) -> Motion:
        """The motion in the bins that have settled."""
        signal = self.track.advance(finished)
        n = len(signal.number)
        if not n:
            return NO_MOTION
        size = np.linalg.norm(signal.value[:, 3:], axis=1)[:, None]
        unit = signal.value[:, 3:] / size
        omega, alpha = (rates_of(unit, part[:, 3:] / size)
                        for part in (signal.rate, signal.acceleration))
        rotation = Rotation.from_quat(unit).as_matrix()
        felt = np.einsum("nij,ni->nj", rotation, signal.acceleration[:, :3])
        return Motion(signal.number, rotation, signal.value[:, :3], felt, omega, alpha,
                      np.empty((n, 0, 3, 3)), np.empty((n, 0, 6)))

    @property
    def never_moves(self) -> bool:
        """True where transforms turn the frame alone."""
        rows = self.track.ring.rows
        return bool(len(rows) and not np.ptp(rows[:, :3], 0).any() and np.ptp(rows[:, 3:], 0).any())


def rates_of(quaternion: Array, change: Array) -> Array:
    """Angular velocity (n, 3) in the turned axes of unit quaternions (n, 4) x, y, z, w that change
    (n, 4), or angular acceleration of their second derivative: 2 vec(q* dq)."""
    vector, scalar = quaternion[:, :3], quaternion[:, 3:]
    return np.asarray(2.0 * (scalar * change[:, :3] - change[:, 3:] * vector
                             - np.cross(vector, change[:, :3])))
