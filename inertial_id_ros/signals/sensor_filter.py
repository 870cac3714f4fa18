# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The low-pass that a force/torque sensor applies to its own readings.

Many sensors are set to cut-offs of 0.3 to 30 Hz. Their reading then lags behind the motion, and
flattens it the more the faster it changes, which no clock offset makes up for. As the filter is
linear, the wrench stays linear in the parameters if the motion's side of the equation is filtered
alike.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..inertia import Array
from .bins import BIN_NS

# Time constants until the response to a step lacks less than 3 %, by order.
_SETTLING = {1: 3.5, 2: 5.4}
_LONGEST_HOLE = 20  # bins over which the motion is interpolated
_CHUNK = 64  # values that one product filters


class SensorFilter(NamedTuple):
    """A causal low-pass of equal first-order stages.

    Attributes:
        order: number of stages; 0: the sensor does not filter.
        time_constant: of each stage [s].
    """

    order: int
    time_constant: float

    @classmethod
    def of_cutoff(cls, order: int, cutoff: float) -> SensorFilter:
        """The filter whose stages have this cut-off [Hz]."""
        return cls(order, 1.0 / (2.0 * math.pi * cutoff))

    @property
    def cutoff(self) -> float:
        """Frequency at which each stage halves the power [Hz]."""
        return 1.0 / (2.0 * math.pi * self.time_constant)

    @property
    def settling(self) -> int:
        """Bins until the response to a step lacks less than 3 %."""
        if not self.order:
            return 0
        return math.ceil(_SETTLING[self.order] * self.time_constant * 1e9 / BIN_NS)

    def coefficients(self, period: float) -> tuple[float, float, float]:
        """``y_k = keep y_(k-1) + now x_k + before x_(k-1)`` of a stage, as (keep, now, before);
        exact where its input is linear between samples.

        Args:
            period: time between samples [s].
        """
        keep = math.exp(-period / self.time_constant)
        mean = (1.0 - keep) * self.time_constant / period
        return keep, 1.0 - mean, mean - keep

    def run(self, values: Array, stages: Array, last: Array) -> Array:
        """Outputs (order, n, k) of the stages for values (n, k), one for each bin.

        Args:
            stages: (order, k) their outputs at the bin before; last: (k,) the value there.
        """
        keep, now, before = self.coefficients(BIN_NS * 1e-9)
        out = np.empty((self.order, *values.shape))
        for k in range(self.order):
            earlier = np.concatenate([last[None], values[:-1]])
            out[k] = _decaying_sums(now * values + before * earlier, keep, stages[k])
            values, last = out[k], stages[k]
        return out


def _decaying_sums(inputs: Array, keep: float, begin: Array) -> Array:
    """``y_k = keep y_(k-1) + inputs_k`` (n, m), from ``y_(-1) = begin`` (m,) on."""
    powers = keep ** np.arange(_CHUNK + 1)
    matrix = np.tril(powers[np.abs(np.subtract.outer(np.arange(_CHUNK), np.arange(_CHUNK)))])
    out = np.empty_like(inputs)
    for low in range(0, len(inputs), _CHUNK):
        part = inputs[low:low + _CHUNK]
        n = len(part)
        out[low:low + n] = matrix[:n, :n] @ part + powers[1:n + 1, None] * begin
        begin = out[low + n - 1]
    return out


NO_FILTER = SensorFilter(0, 0.0)


class Lag(NamedTuple):
    """Where a filter has come to.

    Attributes:
        number: of the last bin; last: (k,) the value there; stages: (order, k) outputs there.
        settled: bin number from which the outputs no longer depend on what was before the first
            bin.
    """

    number: int
    last: Array
    stages: Array
    settled: int


def lag(sensor: SensorFilter, number: np.ndarray, values: Array, at_rest: np.ndarray,
        before: Lag | None) -> tuple[Array, np.ndarray, Lag | None]:
    """Filter values of bins as the sensor filters its readings.

    Args:
        number: (n,) of the bins, which may have holes; values: (n, k).
        at_rest: (n,) whether the arm rests: what rests at the beginning has rested before.
        before: where the filter had come to; None: nowhere.

    Returns:
        the filtered values (n, k), whether they are settled (n,), and where the filter has come to.
    """
    if not sensor.order or not len(number):
        return values, np.ones(len(number), dtype=bool), before
    out, settled = np.empty_like(values), np.empty(len(number), dtype=bool)
    holes = np.flatnonzero(np.diff(number) > _LONGEST_HOLE) + 1
    for low, high in zip([0, *holes.tolist()], [*holes.tolist(), len(number)], strict=True):
        if before is None or number[low] - before.number > _LONGEST_HOLE:
            wait = 0 if at_rest[low] else sensor.settling
            before = Lag(int(number[low]) - 1, values[low],
                         np.broadcast_to(values[low], (sensor.order, values.shape[1])),
                         int(number[low]) + wait)
        part = slice(low, high)
        every = np.arange(before.number + 1, number[high - 1] + 1)
        whole = values[part]
        if len(every) > high - low:
            known = np.concatenate([[before.number], number[part]])
            beside = np.searchsorted(known, every)
            share = ((every - known[beside - 1]) / (known[beside] - known[beside - 1]))[:, None]
            both = np.concatenate([before.last[None], whole])
            whole = (1.0 - share) * both[beside - 1] + share * both[beside]
        stages = sensor.run(whole, before.stages, before.last)
        out[part] = stages[-1][number[part] - every[0]]
        settled[part] = number[part] >= before.settled
        before = Lag(int(every[-1]), whole[-1], stages[:, -1], before.settled)
    return out, settled, before
