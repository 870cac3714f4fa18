"""From joint states with efforts to bins of torques and regressors of the robot, as they come.

The same steps as `robot.recording.filter_recording`, in a stream: quartic through the positions,
means over 10 ms; the filter is that of `segments`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inertia import Array
from ...kinematics.polynomial import covered, fit, gather, window_for
from ...robot.model import RobotModel
from ...signals.bins import BIN_NS, bin_samples
from ...signals.ring_buffer import SampleRing

_CAPACITY = 65_536  # samples kept until they settle
_REORDER_NS = 20_000_000  # a sample may overtake others by this much
_SETTLE = 50  # samples after which the rate of the topic is known


class TorqueBins(NamedTuple):
    """Bins in order.

    Attributes:
        number: (k,) bin numbers; samples: (k,) raw samples in each.
        columns: (k, joints (1 + p)): torques [N m], then the regressor, joint by joint.
    """

    number: np.ndarray
    samples: np.ndarray
    columns: Array


class TorqueStream:
    """Takes joint states in, gives bins out.

    Args:
        model: of the robot without payload.
        delay: by which efforts are stamped late [s].
        window: length of the quartic [s].
    """

    def __init__(self, model: RobotModel, delay: float, window: float) -> None:
        self._model, self._delay_ns, self._wish = model, int(delay * 1e9), window
        self._ring = SampleRing(2 * model.nv, _CAPACITY)
        self.restart()

    def restart(self) -> None:
        """Forget all samples."""
        self._ring.clear()
        self.begin_anew()

    def begin_anew(self) -> None:
        """The samples held are the first."""
        self._next: int | None = None

    @property
    def newest(self) -> int | None:
        """Newest stamp [ns]."""
        return self._ring.newest if len(self._ring) else None

    @property
    def strays(self) -> int:
        """Samples dropped because of a stamp far from the others'."""
        return self._ring.strays

    def add(self, stamp_ns: int, sample: Array) -> str:
        """Add positions and efforts (2 joints,); gives what happened to them (see `streams`)."""
        return self._ring.append(stamp_ns, sample)

    def take(self, finished: bool = False) -> TorqueBins:
        """The bins that have settled.

        Args:
            finished: no sample will come any more.
        """
        if len(self._ring) < (2 if finished else _SETTLE):
            return self.no_bins
        window = window_for(self._ring.median_period(), self._wish)
        half = int(0.5e9 * window)
        ahead = 0 if finished else _REORDER_NS + half + abs(self._delay_ns)
        end = (self._ring.newest - ahead) // BIN_NS + (1 if finished else 0)
        if self._next is None:
            self._next = int(self._ring.stamps[0]) // BIN_NS
        if end <= self._next:
            return self.no_bins
        bins = self._settle(self._next, end, window)
        self._next = end
        self._ring.closed_until = end * BIN_NS - 1 - half - abs(self._delay_ns)
        return bins

    def _settle(self, begin: int, end: int, window: float) -> TorqueBins:
        bins = bin_samples(self._ring, begin, end)
        if not len(bins.number):
            return self.no_bins
        n = self._model.nv
        wanted = bins.stamps - self._delay_ns
        reach = int(0.5e9 * window) + 1
        near = self._ring.between(int(wanted[0]) - reach, int(wanted[-1]) + reach)
        if not len(self._ring.stamps[near]):
            return self.no_bins
        positions = np.unwrap(self._ring.rows[near, :n], axis=0)  # some drivers wrap to +-pi
        index, u, weights = gather(self._ring.stamps[near], wanted, window)
        good = covered(u, weights)
        if not good.any():
            return self.no_bins
        q, dq, ddq = fit(u[good], weights[good], positions[index[good]], window)
        y = self._model.regressor(q, dq, ddq)
        return TorqueBins(bins.number[good], bins.samples[good].astype(float), np.concatenate(
            [bins.wrench[good, n:], y.reshape(len(y), -1)], axis=1))

    @property
    def no_bins(self) -> TorqueBins:
        """None at all."""
        n, p = self._model.nv, self._model.size
        return TorqueBins(np.empty(0, np.int64), np.empty(0), np.empty((0, n * (1 + p))))
