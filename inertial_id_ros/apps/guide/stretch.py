# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A stretch of time in which both the wrench and the motion of its sensor are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inertia import Array
from ...kinematics.motion import Motion, MotionSource

_PERIOD_NS = 20_000_000  # of readings


class Stretch(NamedTuple):
    """Readings and motion at n times.

    Attributes:
        stamps: (n,) [ns]; readings: (n, 6) means of the wrench around them [N, N m].
        motion: of the sensor at these times.
        samples: raw samples behind a reading, on average.
    """

    stamps: np.ndarray
    readings: Array
    motion: Motion
    samples: float

    @property
    def time(self) -> Array:
        """Times (n,) since the first [s]."""
        return np.asarray((self.stamps - self.stamps[0]) * 1e-9) if len(self.stamps) else (
            np.empty(0))


def make_stretch(stamps: np.ndarray, wrench: Array, source: MotionSource, early_ns: int = 0
                 ) -> Stretch:
    """Readings of 20 ms each, where the motion is known.

    Args:
        stamps: (n,) of the wrench [ns], increasing; wrench: (n, 6) [N, N m].
        early_ns: by how much the stamps of the wrench are early [ns].
    """
    period = (stamps + early_ns) // _PERIOD_NS
    number, inverse, count = np.unique(period, return_inverse=True, return_counts=True)
    sums = np.column_stack([np.bincount(inverse, weights=wrench[:, c]) for c in range(6)])
    means: Array = sums / count[:, None]
    middle = (number * _PERIOD_NS + _PERIOD_NS // 2).astype(np.int64)
    motion = source.motion_at(middle)
    known = motion.valid
    return Stretch(middle[known], means[known], motion.part(known),
                   float(count.mean()) if len(count) else 0.0)
