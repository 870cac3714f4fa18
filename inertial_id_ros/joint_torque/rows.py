"""From joint states with efforts to low-passed regressor rows of the whole robot, as they come.

The same steps as `robot.recording.filter_recording`, in a stream: quartic through the positions,
means over 10 ms, one Hann low-pass on torques and regressor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..bins import BIN_NS, bin_samples
from ..filtering import FilteredRows, TwoSidedFilter
from ..inertia import Array
from ..kinematics.local_polynomial import covered, fit, gather, window_for
from ..robot.model import RobotModel
from ..streams import JUMPED, SampleRing

_CAPACITY = 65_536  # samples kept until they settle
_REORDER_NS = 20_000_000  # a sample may overtake others by this much
_SETTLE = 50  # samples after which the rate of the topic is known


class TorqueRows(NamedTuple):
    """Low-passed rows.

    Attributes:
        number: (r,) numbers of the bins at their middles; samples: (r,) raw samples of each;
        regressor: (r, joints, p); torque: (r, joints) [N m].
    """

    number: np.ndarray
    samples: np.ndarray
    regressor: Array
    torque: Array


class TorqueStream:
    """Takes joint states in, gives rows out.

    Args:
        model: of the robot without payload.
        delay: by which efforts are stamped late [s].
        window: length of the quartic [s]; low_pass: of the filter [s].
        max_gap: a longer gap [s] starts a new segment of the filter.
    """

    def __init__(self, model: RobotModel, delay: float, window: float, low_pass: float,
                 max_gap: float) -> None:
        self._model, self._delay_ns = model, int(delay * 1e9)
        self._wish, self._max_gap = window, max_gap
        self._filter = TwoSidedFilter(low_pass, model.nv * (1 + model.size))
        self._ring = SampleRing(2 * model.nv, _CAPACITY)
        self.restart()

    def restart(self) -> None:
        """Forget all samples."""
        self._ring.clear()
        self._filter.restart()
        self._next: int | None = None
        self._last: int | None = None

    @property
    def newest(self) -> int | None:
        """Newest stamp [ns]."""
        return self._ring.newest if len(self._ring) else None

    def add(self, stamp_ns: int, q: Array, effort: Array) -> bool:
        """Add a sample; False where the clock jumped back, so that all began anew."""
        if self._ring.append(stamp_ns, np.concatenate([q, effort])) != JUMPED:
            return True
        self._filter.restart()
        self._next = self._last = None
        return False

    def take(self, finished: bool = False) -> TorqueRows:
        """The rows that have settled.

        Args:
            finished: no sample will come any more.
        """
        parts = []
        if len(self._ring) >= (2 if finished else _SETTLE):
            window = window_for(self._ring.median_period(), self._wish)
            half = int(0.5e9 * window)
            ahead = 0 if finished else _REORDER_NS + half + abs(self._delay_ns)
            end = (self._ring.newest - ahead) // BIN_NS + (1 if finished else 0)
            if self._next is None:
                self._next = int(self._ring.stamps[0]) // BIN_NS
            if end > self._next:
                parts += self._settle(self._next, end, window)
                self._next = end
                self._ring.closed_until = end * BIN_NS - 1 - half - abs(self._delay_ns)
        if finished:
            parts.append(self._filter.flush())
        return self._rows(parts)

    def _settle(self, begin: int, end: int, window: float) -> list[FilteredRows]:
        bins = bin_samples(self._ring, begin, end)
        if not len(bins.number):
            return []
        n = self._model.nv
        wanted = bins.stamps - self._delay_ns
        reach = int(0.5e9 * window) + 1
        near = self._ring.between(int(wanted[0]) - reach, int(wanted[-1]) + reach)
        if not len(self._ring.stamps[near]):
            return []
        positions = np.unwrap(self._ring.rows[near, :n], axis=0)  # some drivers wrap to +-pi
        index, u, weights = gather(self._ring.stamps[near], wanted, window)
        good = covered(u, weights)
        q, dq, ddq = fit(u[good], weights[good], positions[index[good]], window)
        y = self._model.regressor(q, dq, ddq) if good.any() else np.empty((0, n, self._model.size))
        columns = np.concatenate([bins.wrench[good, n:], y.reshape(len(y), -1)], axis=1)
        parts, number = [], bins.number[good]
        before = number[:1] - 1 if self._last is None else np.array([self._last])
        gaps = np.diff(np.concatenate([before, number])) * BIN_NS * 1e-9 > self._max_gap
        starts = [0, *np.flatnonzero(gaps).tolist(), len(number)]
        for first, last in zip(starts[:-1], starts[1:], strict=True):
            if first in np.flatnonzero(gaps):
                parts.append(self._filter.flush())
            if last > first:
                parts.append(self._filter.push(
                    number[first:last], bins.samples[good][first:last].astype(float),
                    columns[first:last]))
        if len(number):
            self._last = int(number[-1])
        return parts

    def _rows(self, parts: list[FilteredRows]) -> TorqueRows:
        n, p = self._model.nv, self._model.size
        parts = [part for part in parts if len(part.number)]
        if not parts:
            return TorqueRows(np.empty(0, np.int64), np.empty(0), np.empty((0, n, p)),
                              np.empty((0, n)))
        columns = np.concatenate([part.columns for part in parts])
        return TorqueRows(np.concatenate([part.number for part in parts]),
                          np.concatenate([part.samples for part in parts]),
                          columns[:, n:].reshape(len(columns), n, p), columns[:, :n])
