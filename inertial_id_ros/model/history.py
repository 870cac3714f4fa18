# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What was measured: motion in bins and samples of the wrench, with marks; never rewritten."""

from dataclasses import dataclass

import numpy as np

from ..motion.motion import BIN_NS, NO_MOTION, Array, IntArray, Motion
from ..samples.ring import Columns
from ..settings.groups import LONGEST
from .newton_euler import GRAVITY, static_wrench

Span = tuple[int, int]  # first bin, and the one after the last


@dataclass(frozen=True)
class Marks:
    """What scan and tracks found in a history.

    Attributes:
        begin: bin from which on the present payload is carried.
        contacts, faults: bins in which something else moves the wrench, or the motion is wrong.
        zero_moved: bin from which on the present zero holds.
    """

    begin: int = 0
    contacts: tuple[Span, ...] = ()
    faults: tuple[Span, ...] = ()
    zero_moved: int = 0

    @property
    def first(self) -> int:
        """The first bin that tells of present payload and zero alike."""
        return max(self.begin, self.zero_moved)


@dataclass(frozen=True, eq=False)
class Window:
    """Part of a history, on a grid without holes.

    Attributes:
        motion: in n bins that follow one another; where it is unknown, that of a bin before.
        used: (n,) whether a bin tells of the payload.
        wrench: (n, 6) mean of the samples, W and bias [N, N m]; count: (n,) samples.
        rise: powers of the frequency with which noise of accelerations and of angular ones rises:
            4 if they follow from positions, 2 from velocities, 0 if they were measured.
        rests: each stretch is a pose at rest with its mean wrench, which is no sample of a noise.
    """

    motion: Motion
    used: np.ndarray
    wrench: Array
    count: Array
    rise: tuple[int, int] = (4, 4)
    rests: bool = False


class History:
    """A bounded record of motion and wrench, appended by one thread.

    Attributes:
        end: bin before which motion is complete; newest: stamp of the wrench [ns]; 0: none yet.
        marks: what the scan found; replaced as a whole.
        weighed: phi (10,) of a payload whose weight alone the driver has taken off the wrench:
            windows and rows have it again.
    """

    def __init__(self, seconds: float = LONGEST, weighed: Array | None = None) -> None:
        self.weighed = weighed
        self.marks = Marks()
        self.end = self.newest = 0
        self._keep = round(seconds * 1e9)
        self._motion = Columns(*NO_MOTION)
        self._wrench = Columns(np.empty(0, np.int64), np.empty((0, 6)))

    def append(self, motion: Motion, stamps: IntArray, wrench: Array) -> None:
        """Append bins of motion, and samples of the wrench: W + bias (m, 6) at stamps (m,) [ns]."""
        if len(motion.number):
            self._motion.append(*motion)
            self.end = int(motion.number[-1]) + 1
        if len(stamps):
            self._wrench.append(stamps, wrench)
            self.newest = int(stamps[-1])
        self._motion.drop((self.end * BIN_NS - self._keep) // BIN_NS)
        self._wrench.drop(max(self.end * BIN_NS, self.newest - self._keep) - self._keep)

    @property
    def first(self) -> int:
        """The oldest bin of motion that is there."""
        return int(self._motion[0][0]) if len(self._motion) else self.end

    def next(self, number: int) -> int:
        """The first bin of motion that is there, from a number on; `end`: none."""
        part = self._motion.between(number, self.end)
        return int(self._motion[0][part.start]) if part.stop > part.start else self.end

    def motion(self, first: int, end: int) -> Motion:
        """Motion in the bins of [first, end)."""
        part = self._motion.between(first, end)
        return Motion(*(self._motion[k][part] for k in range(len(NO_MOTION))))

    def samples(self, first: int, end: int) -> tuple[IntArray, Array]:
        """Stamps (m,) in [first, end) [ns] and W + bias (m, 6)."""
        part = self._wrench.between(first, end)
        return self._wrench[0][part], self._wrench[1][part]

    def window(self, end: int, seconds: float) -> Window:
        """The bins before `end`, at most so many seconds, of the present payload."""
        motion = self.motion(max(end - round(seconds * 1e9) // BIN_NS, self.marks.first), end)
        first = int(motion.number[0]) if len(motion.number) else end
        number = np.arange(first, end)
        used = np.isin(number, motion.number)
        if not used.all():  # holes are bridged by the bin before, and not used
            motion = motion.part(np.cumsum(used) - 1)._replace(number=number)
        for a, b in (*self.marks.contacts, *self.marks.faults):
            used[max(a - first, 0):max(b - first, 0)] = False
        wrench, count = self._bins(first, end - first)
        if self.weighed is not None:
            wrench = wrench + static_wrench(self.weighed, -motion.rotation.transpose(0, 2, 1)
                                            @ GRAVITY)
        return Window(motion, used & (count > 0), wrench, count)

    def _bins(self, first: int, n: int) -> tuple[Array, Array]:
        """Wrench (n, 6) in the middle of bins, and their numbers of samples; short holes bridged.

        The mean of a bin is that at the mean of its stamps, which at low rates is not its middle.
        """
        stamps, rows = self.samples(first * BIN_NS, (first + n) * BIN_NS)
        edges = np.searchsorted(stamps, BIN_NS * np.arange(first, first + n + 1))
        count = np.diff(edges).astype(float)
        some = np.flatnonzero(count)
        if not len(some):
            return np.zeros((n, rows.shape[1])), count
        at, means = (np.add.reduceat(part, edges[some]).T / count[some] for part in (
            (stamps - first * BIN_NS) / BIN_NS - 0.5, rows))
        out = np.stack([np.interp(np.arange(n), at, column) for column in means], 1)
        hole = np.flatnonzero(count == 0)
        after = np.searchsorted(some, hole)
        gap = some[np.minimum(after, len(some) - 1)] - some[np.maximum(after - 1, 0)]
        count[hole[(gap > 0) & (gap <= 5)]] = 1e-9  # a few bins: samples are sparse
        return out, count
