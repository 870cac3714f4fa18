"""Sums of rows over blocks of successive slices, at a cost that hardly grows with the window.

A block of finished slices is summed once and kept as long as the slice that ends it. Nothing is
subtracted, so that dropped slices leave no trace.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inertia import Array

_SHORTEST, _LONGEST = 0.15, 1.0  # s, of a block
_BLOCKS = 12.0  # in a window of average length


def block_slices(duration: float, slice_length: float) -> int:
    """Number of slices in a block: a twelfth of the window [s], between 0.15 s and 1 s long."""
    return max(round(min(max(duration / _BLOCKS, _SHORTEST), _LONGEST) / slice_length), 1)


class Blocks(NamedTuple):
    """Sums (b, ...) of the rows of each block, and their number (b,)."""

    sums: Array
    rows: np.ndarray


class SliceSums:
    """Sums of rows over a ring of slices.

    Args:
        slices: in the ring; shape: of one row.
    """

    def __init__(self, slices: int, shape: tuple[int, ...]) -> None:
        self._sums = np.zeros((slices, *shape))
        self._blocks = np.zeros((slices, *shape))  # of the block that each slice ends
        self._sizes = np.zeros(slices, dtype=int)  # slices in it; 0: not summed
        self.rows = np.zeros(slices, dtype=int)

    def empty(self, position: int) -> None:
        """Empty the slice at that position of the ring."""
        self._sums[position], self.rows[position], self._sizes[position] = 0.0, 0, 0

    def add(self, position: int, rows: Array) -> None:
        """Add rows (r, ...) to the slice at that position, the newest."""
        self._sums[position] += rows.sum(axis=0)
        self.rows[position] += len(rows)

    def blocks(self, used: np.ndarray, size: int, later: Array, slots: np.ndarray) -> Blocks:
        """Blocks of `size` slices with rows, from the oldest on, without the rest that fills none.

        Args:
            used: (s,) positions of the slices with rows, oldest first.
            later: (r, ...) rows after those of the ring; slots: (r,) the slice of each, rising;
                0: the newest of the ring, which may have begun.
        """
        sums, rows = _sum_by_slice(later, slots)
        growing = used[-1:]
        if len(used) and len(slots) and slots[0] == 0:
            sums[0] += self._sums[growing[0]]
            rows[0] += self.rows[growing[0]]
        elif len(used):
            sums = np.concatenate([self._sums[growing], sums])
            rows = np.concatenate([self.rows[growing], rows])
        old = used[:-1]  # finished slices
        count = np.concatenate([self.rows[old], rows])
        blocks = len(count) // size
        whole = min(len(old) // size, blocks)  # blocks of finished slices alone
        rest = np.concatenate([self._sums[old[whole * size:]], sums])[:(blocks - whole) * size]
        out = np.empty((blocks, *rest.shape[1:]))
        self._write_finished(old[:whole * size].reshape(whole, size), out[:whole])
        rest.reshape(-1, size, *rest.shape[1:]).sum(axis=1, out=out[whole:])
        return Blocks(out, count[:blocks * size].reshape(blocks, size).sum(axis=1))

    def _write_finished(self, members: np.ndarray, out: Array) -> None:
        """Write the sums of blocks of finished slices into out (b, ...).

        Args:
            members: (b, size) positions of the slices of each block.
        """
        size, ends = members.shape[1], members[:, -1]
        missing = self._sizes[ends] != size
        if missing.any():
            self._blocks[ends[missing]] = self._sums[members[missing]].sum(axis=1)
            self._sizes[ends[missing]] = size
        self._blocks.take(ends, axis=0, out=out, mode="clip")  # else it is copied once more


def _sum_by_slice(rows: Array, slots: np.ndarray) -> tuple[Array, np.ndarray]:
    """Sum rows (r, ...) of the same slot: sums (t, ...) and numbers of rows (t,)."""
    if len(slots) == 0:
        return rows, np.empty(0, dtype=int)
    starts = np.flatnonzero(np.concatenate([[True], slots[1:] != slots[:-1]]))
    return np.add.reduceat(rows, starts, axis=0), np.diff(np.append(starts, len(slots)))
