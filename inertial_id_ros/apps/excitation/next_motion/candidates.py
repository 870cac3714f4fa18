# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Random motions around a pose, as poses between which the arm moves from rest to rest.

Three kinds: one move; a few to and fro; and swings, which first go to a pose and then
there to and fro, where the first move pays only with those that follow.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import numpy as np

from ....inertia import Array

DRAWN, VARIED = 48, 6  # motions of a kind; variations of each
_SPREAD = 0.25  # of a variation, relative to a move
_SWINGS = 4  # moves to and fro, after the one to their pose
_AT_ONCE = 0.3  # of the swings have no way to go first
_TINY = 1e-9


class Kind(Enum):
    """A kind of motion: number of moves, and whether all but the first go to and fro."""

    ONE = (1, False)
    TO_AND_FRO = (2, True)
    TWICE = (4, True)
    SWING = (1 + _SWINGS, True)

    @property
    def moves(self) -> int:
        """Number of moves."""
        return self.value[0]

    @property
    def has_way_first(self) -> bool:
        """Whether the first move is of its own."""
        return self is Kind.SWING


class Draw(NamedTuple):
    """Random motions from a start (joints,) of some joints (a,), by their indices.

    Attributes:
        steps: smallest and largest move [rad].
    """

    start: Array
    active: Array
    steps: tuple[float, float]
    rng: np.random.Generator

    def poses(self, kind: Kind) -> Array:
        """Poses (c, k + 1, joints) of random motions."""
        rng, size = self.rng, (DRAWN, kind.moves, len(self.active))
        direction = rng.normal(size=size)
        # Some turn few joints: a single one may go farther.
        direction *= rng.random((DRAWN, 1, size[2])) < rng.choice([0.35, 1.0], (DRAWN, 1, 1))
        low, high = np.log(self.steps)
        length = np.exp(rng.uniform(low, high, (*size[:2], 1)))
        steps = length * direction / np.maximum(_norm(direction), _TINY)
        if kind.has_way_first:
            steps[: int(_AT_ONCE * DRAWN), 0] = 0.0
        return self._poses(_to_and_fro(steps, kind))

    def vary(self, poses: Array, kind: Kind) -> Array:
        """Variations (c, k + 1, joints) of the poses of motions; no move becomes too small."""
        steps = np.diff(np.repeat(poses[:, :, self.active], VARIED, axis=0), axis=1)
        there = _norm(steps) > 0.0
        size = _SPREAD * np.abs(steps).max(axis=2, keepdims=True)
        steps = steps + size * self.rng.normal(size=steps.shape)
        steps *= np.where(there, np.maximum(self.steps[0] / np.maximum(_norm(steps), _TINY), 1.0),
                          0.0)
        return self._poses(_to_and_fro(steps, kind))

    def _poses(self, steps: Array) -> Array:
        """Poses that steps (c, k, a) lead to."""
        out = np.tile(self.start, (len(steps), steps.shape[1] + 1, 1))
        out[:, 1:, self.active] += np.cumsum(steps, axis=1)
        return out


def _to_and_fro(steps: Array, kind: Kind) -> Array:
    """Steps (c, k, a), those that a kind has to and fro made each the opposite of the one before.
    """
    _, repeated = kind.value
    if repeated:
        first = 1 if kind.has_way_first else 0
        sign = np.where(np.arange(kind.moves - first) % 2 == 0, 1.0, -1.0)
        steps[:, first:] = steps[:, first:first + 1] * sign[:, None]
    return steps


def _norm(steps: Array) -> Array:
    """Lengths (c, k, 1) of steps."""
    return np.asarray(np.linalg.norm(steps, axis=2, keepdims=True))
