# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Rolling window of regressor rows in square-root form.

Regressor rows are kept as one small triangular factor per time slice and channel. Finished slices
wait in a queue of two parts: the newer ones with the factor of all of them together, the older ones
each with the factor of itself and of those after it. So a slice that is finished costs one small QR
factorisation, and one more when the older part has been used up and the newer one takes its place;
dropping the oldest is exact (nothing is subtracted), and the factor of the whole window, one more
factorisation with the slice that still grows, is there in the same time whatever its length.

Sums of rows are kept alike: nothing is subtracted, so that dropped slices leave no trace. Sums of
groups of finished slices are kept as long as no slice is dropped, so that most estimates gather
only the newest slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..inertia import Array
from ..linalg import triangular_factor, triangular_factors
from ..settings import Settings
from ..signals.bins import BIN_NS
from .nuisance_state import NuisanceState
from .row_layout import NUISANCE_STATES, STORED, WRENCH, EstimatedStates, channel_columns


class Slices(NamedTuple):
    """Slices with rows, in order of time.

    Attributes:
        sums: (s, ...) of the rows, times the raw samples that each stands for.
        rows: (s,) their number; samples: (s,) the raw samples behind them.
        number: (s,) of the slices, which tells the time of their middle, less half a slice.
    """

    sums: Array
    rows: np.ndarray
    samples: Array
    number: np.ndarray


class SliceSums:
    """Sums of rows over a ring of slices.

    Args:
        slices: in the ring; shape: of one row.
    """

    def __init__(self, slices: int, shape: tuple[int, ...]) -> None:
        self._sums = np.zeros((slices, *shape))
        self.rows = np.zeros(slices, dtype=int)
        self._samples = np.zeros(slices)
        self._groups, self._size = _no_slices(shape), 1  # finished groups from the oldest on

    def empty(self, position: int) -> None:
        """Empty the slice at that position of the ring."""
        self._sums[position], self.rows[position], self._samples[position] = 0.0, 0, 0.0
        self._groups = _no_slices(self._sums.shape[1:])

    def add(self, position: int, rows: Array, samples: Array) -> None:
        """Add rows (r, ...), which stand for samples (r,), to the slice at that position."""
        self._sums[position] += np.tensordot(samples, rows, 1)
        self.rows[position] += len(rows)
        self._samples[position] += samples.sum()

    def merged(self, used: np.ndarray, numbers: np.ndarray, later: Slices,
               most: int) -> tuple[Slices, int]:
        """The slices with rows, oldest first, merged in groups of as few as makes no more than that
        many groups; and the slices in a group.

        The last group may be smaller. Numbers count groups.

        Args:
            used: (s,) positions of the slices with rows, oldest first; numbers: (s,) of them.
            later: after those of the ring, whose newest one may have begun already.
        """
        has_begun = len(numbers) and len(later.number) and later.number[0] == numbers[-1]
        size = max(-(-(len(used) + len(later.number) - bool(has_begun)) // most), 1)
        if size != self._size:
            self._groups, self._size = _no_slices(self._sums.shape[1:]), size
        finished = max(len(used) - 1, 0) // size * size  # slices in groups that grow no more
        kept = len(self._groups.rows) * size
        if kept < finished:
            new = merge(self._gather(used[kept:finished], numbers[kept:finished]), size)
            self._groups = _concatenate(self._groups, new)
        rest = self._gather(used[finished:], numbers[finished:])
        if has_begun:
            for total, more in zip(rest[:3], later[:3], strict=True):
                total[-1] += more[0]
            later = Slices(*(field[1:] for field in later))
        return _concatenate(self._groups, merge(_concatenate(rest, later), size)), size

    def _gather(self, used: np.ndarray, numbers: np.ndarray) -> Slices:
        """Copies of the slices at positions (s,), with these numbers (s,)."""
        return Slices(self._sums[used], self.rows[used], self._samples[used], numbers)


def _no_slices(shape: tuple[int, ...]) -> Slices:
    """No slices of rows of this shape."""
    return Slices(np.empty((0, *shape)), np.empty(0, dtype=int), np.empty(0), np.empty(0))


def _concatenate(first: Slices, second: Slices) -> Slices:
    """The slices of both, in order of time."""
    return Slices(*(np.concatenate(pair) for pair in zip(first, second, strict=True)))


def sum_by_slice(rows: Array, samples: Array, numbers: np.ndarray) -> Slices:
    """Sum rows (r, ...), which stand for samples (r,), by the rising numbers (r,) of their slices.
    """
    if len(numbers) == 0:
        return Slices(rows, np.empty(0, dtype=int), samples, numbers)
    starts = np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1]]))
    weighted = rows * samples.reshape(-1, *(1,) * (rows.ndim - 1))
    return Slices(np.add.reduceat(weighted, starts, axis=0),
                  np.diff(np.append(starts, len(numbers))), np.add.reduceat(samples, starts),
                  numbers[starts])


def merge(slices: Slices, size: int) -> Slices:
    """Merge groups of this many successive slices with rows, from the oldest on; the last group may
    be smaller. Numbers then count such groups."""
    if size == 1 or len(slices.rows) == 0:
        return slices
    starts = np.arange(0, len(slices.rows), size)
    sums, rows, samples, number = (np.add.reduceat(field, starts, axis=0) for field in slices)
    return Slices(sums, rows, samples, number / np.diff(np.append(starts, len(slices.rows))) / size)


CHANNELS = 6
FULL, DYNAMIC, STATIC = "full", "dynamic", "static"
MODELS = (FULL, DYNAMIC, STATIC)
_MAX_SLICES = 512  # longer windows get longer slices
_MAX_BLOCKS = 64  # of slices with sums: what an estimate costs depends on their number


class Rows(NamedTuple):
    """Filtered rows on their way into the window.

    Attributes:
        number: (r,) bin numbers; samples: (r,) raw samples that each stands for.
        full: (r, 6, 48) stored rows (see `row_layout`); static: those of the gravity-only model.
        weight: (r,) dynamism weight w.
    """

    number: np.ndarray
    samples: np.ndarray
    full: Array
    static: Array
    weight: Array

    def part(self, which: slice | np.ndarray) -> Rows:
        """Some of the rows, by slice, index or mask."""
        return Rows(*(field[which] for field in self))


def concatenate_rows(parts: list[Rows]) -> Rows | None:
    """Concatenate parts in order of time; None where there are none."""
    return Rows(*(np.concatenate(fields) for fields in zip(*parts, strict=True))) if parts else None


class CrossChannelRows(NamedTuple):
    """Rows of a window with all channels together, for noise that several channels share.

    Attributes:
        rows: (k, 6, 48) few rows with the same sums of products, across channels too, as all the
            stored rows, scaled by the square root of the raw samples they stand for.
        acceleration_noise: (6,) standard deviation of one raw sample of linear [m/s^2] and angular
            acceleration [rad/s^2].
        energy: sum over the rows of the variance that the low-pass leaves of one sample, times
            samples.
        independent: number of independent rows that would tell a variance as well.
    """

    rows: Array
    acceleration_noise: Array
    energy: float
    independent: float


class WindowContent(NamedTuple):
    """What the window holds at one time.

    Attributes:
        factors: per model (6, w, 48), triangular per channel up to the order of columns, each row
            scaled by the square root of the raw samples it stands for.
        slices: with sums (s, 6, 48) of the full rows, neighbours merged in a long window;
            slice_length: of one [s].
        samples: raw samples; first, last: bin numbers of oldest and newest row.
        rows: their number.
        cross_channel: where the motion comes as noisy accelerations.
    """

    factors: dict[str, Array]
    slices: Slices
    samples: int
    first: int
    last: int
    rows: int
    slice_length: float
    cross_channel: CrossChannelRows | None = None

    @property
    def duration(self) -> float:
        """Seconds from the oldest to the newest row."""
        return (self.last - self.first + 1) * BIN_NS * 1e-9

    def without(self, wrench: Array) -> WindowContent:
        """The means over the slices without a wrench (s, 6) in them, in place of the rows.

        How it changes within a slice is not known: rows that still held that would tell wrong
        accelerations.
        """
        sums = self.slices.sums.copy()
        sums[..., WRENCH] -= wrench * self.slices.samples[:, None]
        rows = (sums / np.sqrt(self.slices.samples)[:, None, None]).transpose(1, 0, 2)
        return self._replace(factors={**self.factors, FULL: rows},
                             slices=self.slices._replace(sums=sums))


_NO_ROWS = Rows(np.empty(0, dtype=np.int64), np.empty(0), np.empty((0, CHANNELS, STORED)),
                np.empty((0, CHANNELS, STORED)), np.empty(0))


class _FactorQueue:
    """Triangular factors of three channels over slices that are dropped in the order in which they
    were finished, and the rows of the slice which still grows."""

    def __init__(self, torque: bool, states: Sequence[NuisanceState] | None) -> None:
        self._columns = channel_columns(torque, states)
        self.width = self._columns.shape[1]
        self._channels = np.arange(3)[:, None] + 3 * torque
        self._none: Array = np.empty((3, 0, self.width))
        self._older: list[Array] = []  # the oldest last, each with all that follow it
        self._newer: list[Array] = []
        self._together: Array = self._none  # of the newer ones
        self._growing: Array = self._none

    def add(self, rows: Array) -> None:
        """Add scaled rows (r, 6, 48) to the growing slice."""
        grown = np.concatenate([self._growing, self._select(rows)], axis=1)
        self._growing = grown if grown.shape[1] <= self.width else triangular_factors(grown)

    def finish(self) -> None:
        """Put the growing slice behind the finished ones, and begin another."""
        self._newer.append(self._growing)
        self._together = self._combine(self._together, self._growing)
        self.begin()

    def begin(self) -> None:
        """Begin an empty slice in place of the growing one."""
        self._growing = self._none

    def drop(self) -> None:
        """Drop the oldest finished slice."""
        if not self._older:
            following = self._none
            while self._newer:
                following = self._combine(self._newer.pop(), following)
                self._older.append(following)
            self._together = self._none
        self._older.pop()

    def _combine(self, first: Array, second: Array) -> Array:
        """The factor (3, w, w) of the rows of both."""
        return triangular_factors(np.concatenate([first, second], axis=1))

    def _select(self, rows: Array) -> Array:
        """The channels and columns (3, r, w) of rows that the queue keeps."""
        return rows[:, self._channels, self._columns].transpose(1, 0, 2)

    def write_total(self, provisional: Array, out: Array) -> None:
        """Write the factors of all slices, the growing one included, and of provisional scaled rows
        (r, 6, 48) into out (3, h, 48)."""
        parts = [*self._older[-1:], self._together, self._growing, self._select(provisional)]
        together = np.concatenate([part.transpose(0, 2, 1) for part in parts], axis=2)
        for channel in range(3):  # transposed, for LAPACK
            upper = triangular_factor(together[channel].T, overwrite=True)
            out[channel, :len(upper), self._columns[channel]] = upper.T


class RegressorWindow:
    """The last `window` seconds of regressor rows.

    Args:
        window: length [s]; slice_length: granularity in which rows are dropped [s].
        blend: whether to keep the factors of the blend (DYNAMIC and STATIC) beside FULL.
        states: the nuisance states whose columns FULL keeps.
    """

    def __init__(self, window: float, slice_length: float, blend: bool = False,
                 states: Sequence[NuisanceState] = NUISANCE_STATES) -> None:
        self._states = states
        self._models = MODELS if blend else (FULL,)
        slice_length = max(slice_length, window / _MAX_SLICES)
        self._bins_per_slice = max(int(round(slice_length * 1e9 / BIN_NS)), 1)
        self.slice_length = self._bins_per_slice * BIN_NS * 1e-9
        self._slices = max(int(np.ceil(window / self.slice_length - 1e-9)), 1)
        self._queues = {model: [_FactorQueue(torque, self._states if model == FULL else None)
                                for torque in (False, True)] for model in self._models}
        self._sums = SliceSums(self._slices, (CHANNELS, STORED))
        self._number = np.full(self._slices, -1, dtype=np.int64)
        self._first = np.full(self._slices, -1, dtype=np.int64)
        self._newest_slice = -1
        self._last = -1
        self._content: WindowContent | None = None

    def __bool__(self) -> bool:
        """Whether the window holds any row."""
        return bool(self._sums.rows.any())

    def add(self, rows: Rows) -> None:
        """Add rows in order of time, and drop slices that are older than the window."""
        if len(rows.number) == 0:
            return
        of_row = rows.number // self._bins_per_slice
        for number in np.unique(of_row).tolist():
            self._advance_to(number)
            self._add_to_slice(number, rows, of_row == number)
        self._last = int(rows.number[-1])
        self._content = None

    def _advance_to(self, number: int) -> None:
        """Finish the slice before this one, and drop those that fall out of the window."""
        if number <= self._newest_slice:
            return
        if self._number[self._newest_slice % self._slices] == self._newest_slice >= 0:
            for queue in self._all_queues():
                queue.finish()
        self._newest_slice = number
        self._drop_before(number)

    def expire(self, number: int | None) -> None:
        """Drop what falls out of a window that ends at this bin, whose rows will come, if any."""
        if number is not None:
            self._drop_before(number // self._bins_per_slice)

    def _drop_before(self, number: int) -> None:
        """Empty the slices that fall out of a window whose newest slice is this one."""
        old = (self._number >= 0) & (self._number <= number - self._slices)
        for position in np.flatnonzero(old):
            self._empty(int(position))
            self._content = None

    def _empty(self, position: int) -> None:
        """Drop the rows of the slice at that position of the ring."""
        for queue in self._all_queues():
            if self._number[position] == self._newest_slice:
                queue.begin()
            else:
                queue.drop()
        self._sums.empty(position)
        self._number[position] = -1

    def _all_queues(self) -> list[_FactorQueue]:
        """The queues of every model, for forces and for torques."""
        return [queue for pair in self._queues.values() for queue in pair]

    def _add_to_slice(self, number: int, rows: Rows, mask: np.ndarray) -> None:
        """Add the rows under a mask (r,), all of one slice, to it."""
        position = number % self._slices
        part = rows.part(mask)
        scaled = self._scale(part)
        for model, queues in self._queues.items():
            for queue in queues:
                queue.add(scaled[model])
        self._number[position] = number
        if self._sums.rows[position] == 0:
            self._first[position] = part.number[0]
        self._sums.add(position, part.full, part.samples.astype(float))

    def _scale(self, rows: Rows) -> dict[str, Array]:
        """Scale rows for the factors of each model: (r, 6, 48) by the model's name."""
        root_count = np.sqrt(rows.samples)[:, None, None]
        weight = rows.weight[:, None, None]
        full = rows.full * root_count
        if DYNAMIC not in self._models:
            return {FULL: full}
        return {FULL: full, DYNAMIC: full * weight,
                STATIC: rows.static * root_count * (1.0 - weight)}

    def content(self, provisional: Rows | None = None) -> WindowContent:
        """The combined factors of the window; there must be rows.

        Args:
            provisional: rows after those of the window, which belong to this content alone.
        """
        if provisional is not None:
            return self._make_content(provisional)
        if self._content is None:
            self._content = self._make_content(_NO_ROWS)
        return self._content

    def _make_content(self, provisional: Rows) -> WindowContent:
        """Combine the rows of the window with provisional ones."""
        used = np.flatnonzero(self._sums.rows)
        newest = self._newest_slice % self._slices
        used = np.concatenate([used[used > newest], used[used <= newest]])  # oldest first
        scaled = self._scale(provisional)
        factors = {model: self._total_factors(pair, scaled[model])
                   for model, pair in self._queues.items()}
        first = int(self._first[used[0]] if len(used) else provisional.number[0])
        last = int(provisional.number[-1]) if len(provisional.number) else self._last
        slices, merged = self._sums.merged(used, self._number[used], sum_by_slice(
            provisional.full, provisional.samples.astype(float),
            provisional.number // self._bins_per_slice), _MAX_BLOCKS)
        return WindowContent(factors, slices, round(float(slices.samples.sum())),
                             first, last, int(slices.rows.sum()), merged * self.slice_length)

    def _total_factors(self, pair: list[_FactorQueue], provisional: Array) -> Array:
        """Factors (6, h, 48) of the whole window, padded with zero rows to one height.

        Args:
            pair: queues of forces and torques; provisional: scaled rows (r, 6, 48).
        """
        out = np.zeros((CHANNELS, max(queue.width for queue in pair), STORED))
        for queue, channels in zip(pair, (out[:3], out[3:]), strict=True):
            queue.write_total(provisional, channels)
        return out


def make_regressor_window(settings: Settings, seconds: float = 0.0) -> RegressorWindow:
    """The window that the settings ask for, of at least this length."""
    return RegressorWindow(max(settings.buffer.window, seconds), settings.buffer.slice,
                           settings.estimator.weighting == "dynamism",
                           EstimatedStates(settings).members)
