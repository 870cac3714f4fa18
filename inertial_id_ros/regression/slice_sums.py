# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Sums of rows over the slices of the window.

Nothing is subtracted, so that dropped slices leave no trace. Sums of groups of finished slices are
kept as long as no slice is dropped, so that most estimates gather only the newest slices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inertia import Array


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
