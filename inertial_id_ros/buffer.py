"""Rolling regressor buffer in square-root form.

Regressor rows are kept as one small triangular factor per time slice and channel. The slices are
the leaves of a binary tree whose inner nodes hold the combined factors, so that adding or
forgetting a slice costs a few small QR factorisations, forgetting is exact (nothing is
subtracted), and the factor of the whole window is ready whatever its length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .bins import BIN_NS
from .estimators.base import COLUMNS
from .inertia import Array

CHANNELS = 6
FULL, DYNAMIC, STATIC = 0, 1, 2
MODELS = 3
_MAX_SLICES = 512  # bounds the memory: longer windows get longer slices


class Rows(NamedTuple):
    """Filtered rows on their way into the buffer.

    Attributes:
        number: (r,) bin numbers; samples: (r,) raw samples that each stands for.
        full: (r, 6, 17) ``[A | B | y]``; static: (r, 6, 17) the same with the gravity-only model.
        weight: (r,) dynamism weight w.
    """

    number: np.ndarray
    samples: np.ndarray
    full: Array
    static: Array
    weight: Array


class Window(NamedTuple):
    """The content of the buffer.

    Attributes:
        factors: (3, 6, 17, 17) triangular factors of the models FULL, DYNAMIC, STATIC per channel,
            each row scaled by the square root of the raw samples it stands for.
        sums: (b, 6, 17) sums of the unscaled full rows of each slice; rows: (b,) their number.
        samples: raw samples; first, last: bin numbers of oldest and newest row.
        slice_length: [s].
    """

    factors: Array
    sums: Array
    rows: np.ndarray
    samples: int
    first: int
    last: int
    slice_length: float

    @property
    def duration(self) -> float:
        """Seconds from the oldest to the newest row."""
        return (self.last - self.first + 1) * BIN_NS * 1e-9


class RegressorBuffer:
    """The last `window` seconds of regressor rows.

    Args:
        window: length [s]; slice_length: granularity of forgetting [s].
    """

    def __init__(self, window: float, slice_length: float) -> None:
        slice_length = max(slice_length, window / _MAX_SLICES)
        self._bins_per_slice = max(int(round(slice_length * 1e9 / BIN_NS)), 1)
        self.slice_length = self._bins_per_slice * BIN_NS * 1e-9
        self._slices = max(int(np.ceil(window / self.slice_length - 1e-9)), 1)
        self._leaves = 1 << (self._slices - 1).bit_length()
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._tree = np.zeros((2 * self._leaves, MODELS, CHANNELS, COLUMNS, COLUMNS))
        self._sums = np.zeros((self._leaves, CHANNELS, COLUMNS))
        self._rows = np.zeros(self._leaves, dtype=int)
        self._samples = np.zeros(self._leaves)
        self._number = np.full(self._leaves, -1, dtype=np.int64)
        self._first = np.full(self._leaves, -1, dtype=np.int64)
        self._dirty: set[int] = set()
        self._newest_slice = -1
        self._last = -1
        self._content: Window | None = None

    def __bool__(self) -> bool:
        return self._last >= 0

    def add(self, rows: Rows) -> None:
        """Add rows in order of time; slices older than the window are forgotten."""
        if len(rows.number) == 0:
            return
        numbers = rows.number // self._bins_per_slice
        for number in np.unique(numbers):
            self._advance_to(int(number))
            self._add_to_slice(int(number), rows, numbers == number)
        self._last = int(rows.number[-1])
        self._content = None

    def _advance_to(self, number: int) -> None:
        """Forget the slices that fall out of the window when slice `number` begins."""
        if number <= self._newest_slice:
            return
        self._newest_slice = number
        expired = np.flatnonzero((self._number >= 0) & (self._number <= number - self._slices))
        for leaf in expired:
            self._empty(int(leaf))
        self._number[number % self._leaves] = number

    def _empty(self, leaf: int) -> None:
        self._tree[self._leaves + leaf] = 0.0
        self._sums[leaf], self._rows[leaf], self._samples[leaf] = 0.0, 0, 0.0
        self._number[leaf] = -1
        self._dirty.add(leaf)

    def _add_to_slice(self, number: int, rows: Rows, mask: np.ndarray) -> None:
        leaf = number % self._leaves
        root_count = np.sqrt(rows.samples[mask])[:, None, None]
        weight = rows.weight[mask][:, None, None]
        full, static = rows.full[mask] * root_count, rows.static[mask] * root_count
        stacked = np.stack([full, full * weight, static * (1.0 - weight)])
        node = self._tree[self._leaves + leaf]
        node[:] = _triangle(np.concatenate([node, stacked.transpose(0, 2, 1, 3)], axis=2))
        if self._rows[leaf] == 0:
            self._first[leaf] = rows.number[mask][0]
        self._sums[leaf] += rows.full[mask].sum(axis=0)
        self._rows[leaf] += int(mask.sum())
        self._samples[leaf] += rows.samples[mask].sum()
        self._dirty.add(leaf)

    def _combine(self) -> None:
        """Bring the inner nodes above changed slices up to date, level by level."""
        nodes = np.unique([(self._leaves + leaf) >> 1 for leaf in self._dirty])
        self._dirty.clear()
        while len(nodes) and nodes[0] >= 1:
            children = self._tree[np.stack([2 * nodes, 2 * nodes + 1], axis=1)]
            pairs = children.transpose(0, 2, 3, 1, 4, 5).reshape(
                len(nodes), MODELS, CHANNELS, 2 * COLUMNS, COLUMNS)
            self._tree[nodes] = _triangle(pairs)
            nodes = np.unique(nodes >> 1)
        if self._leaves == 1:
            self._tree[1] = self._tree[self._leaves]

    def content(self) -> Window:
        """The combined factors of the window; the buffer must not be empty."""
        if self._content is not None:
            return self._content
        self._combine()
        used = np.flatnonzero(self._rows > 0)
        used = used[np.argsort(self._number[used])]
        self._content = Window(
            self._tree[1], self._sums[used], self._rows[used],
            int(round(self._samples[used].sum())), int(self._first[used[0]]), self._last,
            self.slice_length)
        return self._content


def _triangle(rows: Array) -> Array:
    """Triangular factors (..., 17, 17) of rows (..., n, 17)."""
    n = rows.shape[-2]
    upper = np.asarray(np.linalg.qr(rows, mode="r"))
    if n >= COLUMNS:
        return upper
    padded = np.zeros((*rows.shape[:-2], COLUMNS, COLUMNS))
    padded[..., :n, :] = upper
    return padded
