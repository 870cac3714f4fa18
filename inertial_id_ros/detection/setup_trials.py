# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whether another clock offset, or another belief about the driver, explains a wrench that nothing
explains.

An offset of a few hundredths of a second is a nuisance state of every fit. A larger one is far from
linear, and looks like contact, another payload or a wrong frame. Here the wrench of the last
seconds is fitted anew for each of many offsets, by plain least squares: a few hundred small fits,
made rarely and only where something is wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inertia import PARAMETERS, Array
from ..kinematics.motion import MotionSource
from ..linalg import triangular_factor
from ..regression.newton_euler import regressor, static_regressor
from ..regression.problem import vague_information
from ..signals.bins import BIN_NS, bin_samples
from ..signals.low_pass import NO_FILTER, SensorFilter, lag
from ..signals.precompensation import Removed
from ..signals.ring_buffer import SampleRing

_LONGEST = 20.0  # s of wrench that are looked at
FARTHEST, _STEP = 150, 2  # bins; clock offsets that are tried
_BLOCK = 10  # bins that are averaged; at least half of them must be there
_FEWEST = 20  # blocks
# What other terms or another offset must leave at most of the mean square of the residual:
# hysteresis of one percent of full scale looks like a delay that leaves a fifth.
_BETTER_TERMS, _BETTER_OFFSET = 0.25, 0.12
_AS_GOOD = 2.0  # times the least: a periodic motion fits at several offsets; the smallest counts
_FIRST_PAUSE_NS, _LONGEST_PAUSE_NS = 1_000_000_000, 60_000_000_000


class Setup(NamedTuple):
    """How the wrench is read: by how much its stamps are early [ns], what its driver removes."""

    early_ns: int
    removed: Removed


class SetupSearch:
    """Says when to look for another set-up: while something is wrong, ever more rarely.

    Args:
        newest_ns: stamp of the newest wrench at the last look; 0: there was none.
    """

    def __init__(self, newest_ns: int = 0) -> None:
        self._next, self._pause = newest_ns + _FIRST_PAUSE_NS, _FIRST_PAUSE_NS
        self._last = newest_ns

    def is_due(self, newest_ns: int, is_wrong: bool, finished: bool = False) -> bool:
        """Whether to look now, with wrenches up to this stamp, where something is wrong; also once
        where no sample will come any more."""
        if newest_ns < (self._last + 1 if finished else self._next) or not is_wrong:
            return False
        self._last = newest_ns
        self._next = newest_ns + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE_NS)
        return True


class Signals(NamedTuple):
    """The wrench and the motion on one row of bins.

    Attributes:
        first: number of the first bin; known: (n,) whether there is a wrench.
        samples: mean number of raw samples in a bin.
        wrench: (n, 6); a, weight: (m, 6, 10) regressors of all forces, and of the weight alone, on
            the bins that begin `FARTHEST` earlier; moving: (m,) whether they are known.
        shown: as `a`, as the sensor's own filter shows the forces; None: it has none.
    """

    wrench: Array
    known: np.ndarray
    a: Array
    weight: Array
    moving: np.ndarray
    samples: float
    shown: Array | None = None
    first: int = 0

    def behind(self, sensor: SensorFilter) -> Signals:
        """The same as a sensor with a filter shows it, where that has settled."""
        if not sensor.order:
            return self
        number = np.flatnonzero(self.moving)
        shown, moving = self.a.copy(), np.zeros_like(self.moving)
        if len(number):
            values, moving[number], _ = lag(sensor, number, self.a[number].reshape(len(number), -1),
                                            np.zeros(len(number), dtype=bool), None)
            shown[number] = values.reshape(-1, 6, PARAMETERS)
        return self._replace(shown=shown, moving=moving)


def find_setup(wrenches: SampleRing, source: MotionSource, present: Setup, sign: float,
               noise: Array, bias_sd: Array, other_offsets: bool = True,
               sensor: SensorFilter = NO_FILTER) -> Setup | None:
    """The set-up that explains the newest seconds far better than the present one; None: none does.

    Args:
        sign: of the reading against ``A phi``; noise, bias_sd: (6,) of a sample, and of the
            biases before any data [N, N m].
        other_offsets: whether to try other clock offsets; sensor: its own filter.
    """
    signals = gather(wrenches, source, present.early_ns, sign)
    if signals is None:
        return None
    signals = signals.behind(sensor)
    prior = np.zeros((PARAMETERS + 6, PARAMETERS + 7))
    prior[:PARAMETERS, :PARAMETERS] = np.sqrt(vague_information(1.0))
    prior[PARAMETERS:, PARAMETERS:-1] = np.diag(1.0 / bias_sd)
    candidates = [present.removed]
    if present.removed.phi.any():
        candidates.append(Removed(present.removed.phi, not present.removed.weight_only))
    farthest = FARTHEST if other_offsets else 0
    shifts = range(-farthest, farthest + 1, _STEP)
    better = [fit for removed in candidates for fit in _lowest([
        _Fit(signals, removed, shift, noise, prior) for shift in shifts])
        if fit.left < (_BETTER_OFFSET if fit.shift else _BETTER_TERMS) * fit.left_by(
            present.removed)]
    if not better:
        return None
    least = min(fit.left for fit in better)
    best = min((fit for fit in better if fit.left <= _AS_GOOD * least),
               key=lambda fit: abs(fit.shift))
    return Setup(present.early_ns + best.shift * BIN_NS, best.removed)


def _lowest(fits: list[_Fit]) -> list[_Fit]:
    """The fits that leave no more than those at the next smaller and the next larger shift."""
    left = np.array([np.inf, *(fit.left for fit in fits), np.inf])
    return [fit for k, fit in enumerate(fits) if len(fits) == 1
            or np.inf > left[k] >= left[k + 1] <= left[k + 2] < np.inf]


def gather(wrenches: SampleRing, source: MotionSource, early_ns: int,
           sign: float) -> Signals | None:
    """Wrench and motion of the newest seconds; None where they are too few."""
    settled = source.settled_until()
    if settled is None or not len(wrenches):
        return None
    end = min(wrenches.newest, settled - early_ns + FARTHEST * BIN_NS) // BIN_NS
    first = max(int(wrenches.stamps[0]) // BIN_NS + 1, end - round(_LONGEST * 1e9) // BIN_NS)
    bins = bin_samples(wrenches, first, end)
    if len(bins.number) < _BLOCK * _FEWEST // 2:
        return None
    known = np.zeros(end - first, dtype=bool)
    known[bins.number - first] = True
    wrench = np.zeros((end - first, 6))
    wrench[bins.number - first] = sign * bins.mean
    grid = (np.arange(first - FARTHEST, end + FARTHEST) * BIN_NS + BIN_NS // 2) + early_ns
    motion = source.motion_at(grid)
    return Signals(
        wrench, known, regressor(motion.proper_acceleration, motion.omega, motion.alpha),
        static_regressor(-motion.gravity * motion.axes[:, 2]), motion.valid & (grid <= settled),
        float(bins.samples.mean()), first=first)


class _Fit:
    """Least squares with the motion read `shift` bins later.

    Attributes:
        left: mean square of what no payload explains of the wrench, in the noise of a sample;
            infinite with too few data.
    """

    def __init__(self, signals: Signals, removed: Removed, shift: int, noise: Array,
                 prior: Array) -> None:
        self._signals, self._noise, self._prior = signals, noise, prior
        self.removed, self.shift = removed, shift
        moving = signals.moving[self._at(shift)] & signals.moving[self._at(0)]
        self._known = signals.known & moving
        self.left = self._fit(removed, shift)

    def left_by(self, removed: Removed) -> float:
        """What the present offset, with this removed payload, leaves of the same samples."""
        return self._fit(removed, 0)

    def _at(self, shift: int) -> slice:
        """The bins of the motion at a shift."""
        return slice(FARTHEST + shift, FARTHEST + shift + len(self._signals.known))

    def _fit(self, removed: Removed, shift: int) -> float:
        """Mean square of the residual of means over blocks."""
        signals, at, n = self._signals, self._at(shift), len(self._known) // _BLOCK * _BLOCK
        a = signals.a[at]
        wrench = signals.wrench + (signals.weight[at] if removed.weight_only else a) @ removed.phi
        shown = a if signals.shown is None else signals.shown[at]
        zeros = np.broadcast_to(np.eye(6), (len(a), 6, 6))
        rows = np.concatenate([shown, zeros, wrench[:, :, None]], axis=2) / self._noise[:, None]
        known = self._known[:n]
        count = known.reshape(-1, _BLOCK).sum(axis=1)
        enough = count > _BLOCK // 2
        if enough.sum() < _FEWEST:
            return np.inf
        sums = (rows[:n] * known[:, None, None]).reshape(-1, _BLOCK, 6, rows.shape[2]).sum(axis=1)
        means = (sums[enough] / count[enough, None, None]).reshape(-1, rows.shape[2])
        upper = triangular_factor(np.concatenate([means, self._prior]))
        return float(upper[-1, -1] ** 2 / len(means))
