# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The motion of the sensor on a grid of 10 ms bins."""

from typing import Any, NamedTuple

import numpy as np

from ..inertia import Array
from ..samples.ring import SECOND, IntArray

BIN_NS = 10_000_000
BIN = BIN_NS / SECOND  # s


class Motion(NamedTuple):
    """Motion of the sensor in n bins, in order; bins in which it is unknown are missing.

    Attributes:
        number: (n,) bins: stamp [ns] // 10 ms; the motion is that at the centre.
        rotation: (n, 3, 3) from sensor axes to base axes, of which z points up.
        position: (n, 3) of the sensor's origin in the base [m].
        acceleration: (n, 3) of that origin, without gravity, in sensor axes [m/s^2].
        omega, alpha: (n, 3) angular velocity and acceleration in sensor axes.
        joints: (n, j, 3, 3) axes of the joints' frames in base axes; j = 0 if TF tells the motion.
        twists: (n, j, 6) of the joints about the base's origin: linear, angular.
    """

    number: IntArray
    rotation: Array
    position: Array
    acceleration: Array
    omega: Array
    alpha: Array
    joints: Array
    twists: Array

    def part(self, which: Any) -> "Motion":
        """The motion in some bins: a slice, a mask or indices."""
        return Motion(*(column[which] for column in self))


_THREE = np.empty((0, 3))
NO_MOTION = Motion(np.empty(0, np.int64), np.empty((0, 3, 3)), _THREE, _THREE, _THREE, _THREE,
                   np.empty((0, 0, 3, 3)), np.empty((0, 0, 6)))
