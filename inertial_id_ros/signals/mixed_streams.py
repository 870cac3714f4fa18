# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whether two publishers send wrenches that contradict each other on one topic.

The samples of such a stream lie on two levels: every step between successive ones is either next to
nothing or leads from one level to the other, and those steps alternate in sign, in whatever order
the samples come. Noise, motion and vibration give steps of all sizes. Means over bins would hide
it: half of the mass, without any residual.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..inertia import Array
from .bins import BIN_NS
from .ring_buffer import SampleRing

MIXED = "streams_mixed.wrench"
_BLOCK = 25  # bins that are judged together
_BEGINS, _ENDS = 2, 4  # successive blocks that begin and end it
_FEWEST = 12  # samples in a block
_PIECE, _MOST = 24, 0.75  # samples in a piece of a block, and share of the pieces that show it
_STEP = 12.0  # noises of a sample; smaller steps may be noise
# Of the large steps: from this share of theirs on a step is large, and this far down none lies;
# how few there may be, how many must alternate, and by which share they may vary.
_LARGE, _NONE = 0.65, 0.35
_BETWEEN, _SHARE, _ALTERNATE, _VARY = 0.04, 0.1, 0.95, 0.25
_GOES_ON = 0.3  # of that step, while it lasts
_UNITS = ("N", "N m")


class Change(NamedTuple):
    """From this bin number on the wrench is mixed, as the text says; None: it is no longer."""

    number: int
    text: str | None


class MixedStreams:
    """Judges the samples of a wrench in blocks of bins.

    Args:
        noise: (2,) standard deviations of a sample of force [N] and torque [N m].
    """

    def __init__(self, noise: Array) -> None:
        self._noise = noise
        self._next: int | None = None  # block
        self._streak, self._is_mixed = 0, False

    def judge(self, ring: SampleRing, end: int) -> list[Change]:
        """Judge the blocks of a ring that are complete with the bins before number `end`."""
        changes: list[Change] = []
        if self._next is None:
            self._next = int(ring.stamps[0]) // BIN_NS // _BLOCK
        last = end // _BLOCK
        complete = ring.between(self._next * _BLOCK * BIN_NS, last * _BLOCK * BIN_NS)
        self._next = max(self._next, last)
        # Blocks with samples alone: a clock that is set may jump over years.
        for number in np.unique(ring.stamps[complete] // (_BLOCK * BIN_NS)).tolist():
            first = number * _BLOCK
            part = ring.between(first * BIN_NS, (first + _BLOCK) * BIN_NS)
            text = self._describe(ring.rows[part])
            self._streak = self._streak + 1 if (text is None) == self._is_mixed else 0
            if self._streak >= (_ENDS if self._is_mixed else _BEGINS):
                self._is_mixed, self._streak = not self._is_mixed, 0
                changes.append(Change(first + _BLOCK, text))
        return changes

    def _describe(self, rows: Array) -> str | None:
        """What is wrong with samples (n, 6), in words; None: nothing."""
        least = _STEP * (_GOES_ON if self._is_mixed else 1.0)
        steps = [level_step(rows[:, group], least * noise) for group, noise in
                 zip((slice(0, 3), slice(3, 6)), self._noise, strict=True)]
        if not any(steps):
            return None
        sizes = " and ".join(f"{step:.2g} {unit}" for step, unit in zip(steps, _UNITS, strict=True)
                             if step)
        return ("successive samples of the wrench jump to and fro between two levels "
                f"{sizes} apart: two publishers, which contradict each other, or a sensor that is "
                "damaged; the wrench is not used")


def level_step(rows: Array, least: float) -> float:
    """How far the two levels of samples (n, 3) lie apart, if by more than `least`; 0: there are no
    two in most pieces of them, within which an arm hardly turns."""
    if len(rows) < _FEWEST:
        return 0.0
    largest = np.abs(np.diff(rows, axis=0)).max(axis=1)
    if np.sort(largest)[-max(len(largest) // 10, 1)] < 0.5 * least:
        return 0.0  # next to always
    pieces = np.array_split(rows, max(len(rows) // _PIECE, 1))
    steps = np.array([_step_of_piece(piece, least) for piece in pieces])
    return float(np.median(steps)) if (steps > 0.0).mean() >= _MOST else 0.0


def _step_of_piece(rows: Array, least: float) -> float:
    """The same for a few samples."""
    step = np.diff(rows, axis=0)
    along = step @ np.linalg.eigh(step.T @ step)[1][:, -1]
    size = np.abs(along)
    full = float(np.quantile(size, 1.0 - 0.5 * _SHARE))
    large = size > _LARGE * full
    if (full < least or large.mean() < _SHARE
            or ((size > _NONE * full) & ~large).mean() > _BETWEEN
            or size[large].std() > _VARY * size[large].mean()):
        return 0.0
    return full if _alternates(np.sign(along[large])) else 0.0


def _alternates(signs: Sequence[float] | Array) -> bool:
    """Whether nearly every sign differs from the one before."""
    signs = np.asarray(signs)
    return len(signs) > 1 and bool((signs[1:] != signs[:-1]).mean() >= _ALTERNATE)
