# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The zero-phase low-pass on wrench and regressor alike, and the choice of fewer rows.

A wrench that is linear in the parameters stays so under any weighted mean over time, as long as
both sides get the same weights. The filter therefore costs no bias, however slow it is, and it
removes the noise of accelerations that would otherwise attenuate the estimate.

Everybody gets the filter from `make_low_pass` and knows it as a `ZeroPhaseFilter`: another window
is one more subclass here.

The sensor applies a low-pass to its own readings, too (`SensorFilter`). Many sensors are set to
cut-offs of 0.3 to 30 Hz. Their reading then lags behind the motion, and flattens it the more the
faster it changes, which no clock offset makes up for. As the filter is linear, the wrench stays
linear in the parameters if the motion's side of the equation is filtered alike.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from ..inertia import Array
from .bins import BIN_NS, BinColumns

_MIN_COVERAGE = 0.6  # share of the kernel that must fall on or near bins with data
_NEAR = 5  # bins; samples of a topic as slow as 10 Hz are not holes in it


class FilteredRows(NamedTuple):
    """Low-passed rows.

    Attributes:
        number: (r,) bin number at the middle of each row.
        samples: (r,) raw samples that each row stands for.
        columns: (r, d) weighted means of the columns.
        rates: (r, k) the same means of the time derivatives of the first k columns [1/s].
    """

    number: np.ndarray
    samples: np.ndarray
    columns: Array
    rates: Array


class ZeroPhaseFilter(ABC):
    """Streaming low-pass with a symmetric kernel over numbered bins, which may have gaps.

    Args:
        length: of the kernel [s].
        width: number of columns d; rates: number k of first columns to differentiate as well.

    Attributes:
        reach: bins on either side of the middle of the kernel; kernel: its weights (2 reach + 1,).
        step: bins from one row to the next.
        derivative_gain: noise of a filtered derivative over that of the filtered signal, times the
            length of the kernel: ``L (int h'^2 / int h^2)^(1/2)``.
    """

    derivative_gain: ClassVar[float]

    def __init__(self, length: float, width: int, rates: int = 0) -> None:
        taps = max(int(round(length * 1e9 / BIN_NS)), 1)
        self.reach = taps // 2
        offsets = np.arange(-self.reach, self.reach + 1)
        self._shortest = -(-self.reach // 2)
        # Near the ends of a segment the kernel gets narrower: cut off, it would not cancel the
        # noise of the accelerations.
        self._kernels = np.stack([self.window(offsets, half) for half in range(self.reach + 1)])
        self.kernel = self._kernels[-1]
        self.step = max(taps // 8, 1)
        self._near = (np.abs(offsets[:, None] - offsets) <= _NEAR).astype(float)
        self._width, self._rates = width, rates
        self._gains: dict[int, float] = {}  # of blocks
        self._bins = BinColumns(np.empty(0, np.int64), np.empty(0), np.empty((0, width)))
        self._next = self._first = 0

    def _copy(self) -> ZeroPhaseFilter:
        """A copy; arrays are replaced, never written to."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def for_next_segment(self) -> ZeroPhaseFilter:
        """The same low-pass without bins: rows never mix bins of two segments."""
        other = self._copy()
        other._bins = self._bins.part(slice(0, 0))
        other._next = other._first = 0
        return other

    @staticmethod
    @abstractmethod
    def window(offsets: np.ndarray, half: int) -> Array:
        """Weights (n,) of a kernel at offsets (n,) from its middle [bins], zero beyond `half`."""

    def push(self, number: np.ndarray, samples: np.ndarray, columns: Array) -> FilteredRows:
        """Add bins and take the rows whose kernel does not reach beyond the last of them.

        Waiting for that bin makes the rows the same however the stream is cut into pieces.

        Args:
            number: (k,) increasing bin numbers; samples: (k,) raw samples; columns: (k, d).
        """
        self._append(number, samples, columns)
        return self._take_rows(self.reach + 1)

    def preview(self, number: np.ndarray, samples: np.ndarray, columns: Array,
                whole: bool = False) -> FilteredRows:
        """The rows that pushing these bins and then `last_rows` would give; changes nothing.

        Args:
            whole: only rows with the whole kernel, as `push` alone would give them.
        """
        other = self._copy()
        other._append(number, samples, columns)
        return other._take_rows(self.reach + 1 if whole else self._shortest)

    def _append(self, number: np.ndarray, samples: np.ndarray, columns: Array) -> None:
        """Hold further bins (see `push`); the first ones set where rows begin."""
        if len(self._bins.number) == 0 and len(number):
            self._first = int(number[0])
            self._next = -(-(self._first + self._shortest) // self.step) * self.step
        self._bins = BinColumns(*(np.concatenate(pair) for pair in zip(
            self._bins, (number, samples, columns), strict=True)))

    def last_rows(self, before: int | None = None) -> FilteredRows:
        """The last rows of a segment that ends here, whose kernels are narrower, without the bins
        from the number `before` on; changes nothing."""
        other = self._copy()
        if before is not None:
            other._bins = self._bins.part(slice(0, int(np.searchsorted(self._bins.number, before))))
        return other._take_rows(self._shortest)

    def _take_rows(self, ahead: int) -> FilteredRows:
        """Take the rows that have at least `ahead` bins after their middle."""
        last = int(self._bins.number[-1]) if len(self._bins.number) else self._next
        middles = np.arange(self._next, last + 1 - ahead, self.step)
        if len(middles) == 0:
            return FilteredRows(np.empty(0, np.int64), np.empty(0), np.empty((0, self._width)),
                                np.empty((0, self._rates)))
        self._next = int(middles[-1]) + self.step
        rows = self._filter_rows(middles)
        # One bin before the kernel as well, however far: rates need a neighbour on either side.
        keep = max(int(np.searchsorted(self._bins.number, self._next - self.reach)) - 1, 0)
        self._bins = self._bins.part(slice(keep, None))
        return rows

    def _filter_rows(self, middles: np.ndarray) -> FilteredRows:
        """Weighted means around these bins (r,), without rows that lack too many of their bins."""
        low, span = int(middles[0]) - self.reach, int(middles[-1] - middles[0]) + 2 * self.reach + 1
        inside = slice(*np.searchsorted(self._bins.number, (low, low + span)).tolist())
        number, counts, columns = self._bins.part(inside)
        position = (slice(int(number[0]) - low, int(number[-1]) + 1 - low) if self._is_whole
                    else number - low)
        present = np.zeros(span)
        present[position] = counts
        weighted = np.zeros((span, self._width + self._rates))
        weighted[position, :self._width] = columns * counts[:, None]
        weighted[position, self._width:] = self._time_derivatives()[inside] * counts[:, None]
        half = np.minimum(middles - self._first, int(self._bins.number[-1]) - middles)
        kernels = self._kernels[np.minimum(half, self.reach)]
        under = self._kernel_views(present, len(middles))
        own = self.reach - self.step // 2
        samples = under[:, own:own + self.step].sum(axis=1)
        good = samples > 0
        if not self._is_whole:
            covered = (((under > 0) @ self._near > 0) * kernels).sum(axis=1)
            good &= covered >= _MIN_COVERAGE * kernels.sum(axis=1)
        total = (under * kernels).sum(axis=1)
        sums = (kernels[:, None] @ self._kernel_views(weighted, len(middles)))[:, 0]
        means = sums[good] / total[good, None]
        return FilteredRows(middles[good], samples[good], means[:, :self._width],
                            means[:, self._width:])

    def _kernel_views(self, values: Array, rows: int) -> Array:
        """View (r, taps, ...) of the values (n, ...) under the kernels of successive rows.

        Args:
            values: of all bins, from the first one under the first kernel on; contiguous.
        """
        shape = rows, 2 * self.reach + 1, *values.shape[1:]
        return np.ndarray(shape, values.dtype, values, 0,
                          (self.step * values.strides[0], *values.strides))

    @property
    def _is_whole(self) -> bool:
        """Whether no bin is missing between the first and the last of those that are held."""
        number = self._bins.number
        return int(number[-1] - number[0]) == len(number) - 1

    def _time_derivatives(self) -> Array:
        """Central differences (k, rates) of the first columns of the held bins [1/s]."""
        part = self._bins.columns[:, :self._rates]
        if len(part) < 2 or not self._rates:
            return np.zeros_like(part)
        period = BIN_NS * 1e-9
        if not self._is_whole:
            number = self._bins.number
            return np.asarray(np.gradient(part, (number - number[0]) * period, axis=0))
        out = np.empty_like(part)
        np.subtract(part[2:], part[:-2], out=out[1:-1])
        out[1:-1] /= 2.0 * period
        out[0], out[-1] = (part[1] - part[0]) / period, (part[-1] - part[-2]) / period
        return out

    def mean_kernel(self, rows: int) -> Array:
        """Weights (n,) of successive bins in the mean of this many successive rows."""
        shape = self.kernel / self.kernel.sum()
        combined = np.zeros(2 * self.reach + 1 + (rows - 1) * self.step)
        for k in range(rows):
            combined[k * self.step:k * self.step + len(shape)] += shape / rows
        return combined

    def block_gain(self, rows: int) -> float:
        """Noise of the mean of `rows` successive rows, against that of independent rows.

        It is the variance of that mean of filtered white noise, times the raw samples behind it,
        over the variance of one sample.
        """
        if rows not in self._gains:
            kernel = self.mean_kernel(rows)
            self._gains[rows] = float(kernel @ kernel) * self.step * rows
        return self._gains[rows]


class ZeroPhaseHannFilter(ZeroPhaseFilter):
    """The low-pass with a Hann window, ``h = cos^2(pi t / L)``."""

    derivative_gain = 2.0 * np.pi / np.sqrt(3.0)

    @staticmethod
    def window(offsets: np.ndarray, half: int) -> Array:
        """Hann weights (n,) at offsets (n,) [bins], zero beyond `half`."""
        return np.where(np.abs(offsets) <= half,
                        np.cos(0.5 * np.pi * offsets / (half + 1)) ** 2, 0.0)


def make_low_pass(length: float, width: int, rates: int = 0) -> ZeroPhaseFilter:
    """The low-pass for wrenches, joint torques and recordings alike; length of its kernel [s].

    Args:
        width, rates: as `ZeroPhaseFilter` takes them.
    """
    return ZeroPhaseHannFilter(length, width, rates)


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

    def fading(self, passed: np.ndarray) -> Array:
        """How much of what each stage holds in excess shows after (n,) bins, as (order, n)."""
        times = np.maximum(passed, 0) * BIN_NS * 1e-9 / self.time_constant
        later = np.arange(self.order)[::-1]  # stages after each one, of which there are one at most
        return np.asarray(times ** later[:, None] * np.exp(-times))


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


class Beginning(NamedTuple):
    """What the stages of a sensor's filter held when its readings begin.

    Attributes:
        number: of the bin; excess: (order, 6) over the forces at that bin [N, N m].
    """

    number: int
    excess: Array

    def shown(self, sensor: SensorFilter, number: np.ndarray) -> Array:
        """What is left of it in the readings of bins (n,), as (n, 6)."""
        return np.asarray(sensor.fading(number - self.number).T @ self.excess)


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
