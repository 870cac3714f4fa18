# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Turns a stream of joint states with efforts into bins of torques and regressors of the robot.

The same steps as `robot.recording.filter_recording`, but in a stream: a quartic through the
positions, and means over 10 ms; the low-pass is that of `segments`.
"""

from __future__ import annotations

import numpy as np

from ...kinematics.polynomial import (
    FEW,
    Spacing,
    choose_window,
    fit_quartics,
    gather_samples,
    has_coverage,
    is_too_slow,
    measure_spacing,
)
from ...robot.model import RobotModel
from ...signals.bins import BIN_NS, BinColumns, bin_samples
from ...signals.ring_buffer import SampleRing

_CAPACITY = 65_536  # samples kept until they settle
_REORDER_NS = 20_000_000  # a sample may overtake others by this much
_SETTLE = 50  # samples after which the rate of the topic is known


class TorqueStream:
    """Stores joint states and turns them into bins once they have settled.

    The columns of the bins (k, joints (1 + p)) are torques [N m], then the regressor, joint by
    joint.

    Args:
        model: of the robot without payload.
        delay: by which efforts are stamped late [s].
        window: length of the quartic [s], longer where samples are sparse.

    Attributes:
        ring: samples of positions and efforts (2 joints,).
    """

    def __init__(self, model: RobotModel, delay: float, window: float) -> None:
        self._model, self._delay_ns, self._wish = model, int(delay * 1e9), window
        self.ring = SampleRing(2 * model.nv, _CAPACITY)
        self.begin_with_oldest()

    def begin_with_oldest(self) -> None:
        """Begin the bins with the oldest sample in the ring."""
        self._next: int | None = None

    @property
    def newest(self) -> int | None:
        """Newest stamp [ns] of the joint states that are stored, settled or not; None: none is."""
        return self.ring.newest if len(self.ring) else None

    def too_slow(self) -> Spacing | None:
        """The spacing of the joint states if they come too slowly for accelerations."""
        spacing = measure_spacing(self.ring.stamps)
        window = choose_window(spacing, self._wish)
        return spacing if len(self.ring) >= FEW and is_too_slow(spacing, window) else None

    def take(self, finished: bool = False) -> BinColumns:
        """The bins that have settled since the last call.

        Args:
            finished: whether no sample will come any more.
        """
        if len(self.ring) < (2 if finished else _SETTLE):
            return self.no_bins
        window = choose_window(measure_spacing(self.ring.stamps), self._wish)
        half = int(0.5e9 * window)
        ahead = 0 if finished else _REORDER_NS + half + abs(self._delay_ns)
        end = (self.ring.newest - ahead) // BIN_NS + (1 if finished else 0)
        if self._next is None:
            self._next = int(self.ring.stamps[0]) // BIN_NS
        if end <= self._next:
            return self.no_bins
        bins = self._make_bins(self._next, end, window)
        self._next = end
        self.ring.closed_until = end * BIN_NS - 1 - half - abs(self._delay_ns)
        return bins

    def _make_bins(self, begin: int, end: int, window: float) -> BinColumns:
        """The bins with numbers in [begin, end), where the quartic covers them."""
        bins = bin_samples(self.ring, begin, end)
        if not len(bins.number):
            return self.no_bins
        n = self._model.nv
        wanted = bins.stamps - self._delay_ns
        reach = int(0.5e9 * window) + 1
        near = self.ring.between(int(wanted[0]) - reach, int(wanted[-1]) + reach)
        if not len(self.ring.stamps[near]):
            return self.no_bins
        positions = np.unwrap(self.ring.rows[near, :n], axis=0)  # some drivers wrap to +-pi
        index, u, weights = gather_samples(self.ring.stamps[near], wanted, window)
        good = has_coverage(u, weights)
        if not good.any():
            return self.no_bins
        q, dq, ddq = fit_quartics(u[good], weights[good], positions[index[good]], window)
        y = self._model.regressor(q, dq, ddq)
        return BinColumns(bins.number[good], bins.samples[good].astype(float), np.concatenate(
            [bins.mean[good, n:], y.reshape(len(y), -1)], axis=1))

    @property
    def no_bins(self) -> BinColumns:
        """Bins without any content."""
        n, p = self._model.nv, self._model.size
        return BinColumns(np.empty(0, np.int64), np.empty(0), np.empty((0, n * (1 + p))))
