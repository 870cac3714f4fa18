# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the wrench on a rigid body depends on, as 21 numbers in which it is linear.

A payload is then a matrix (6, 21), made once for many wrenches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inertia import Array

# Acceleration of the sensor's origin without gravity [m/s^2]; the axes of the gravity frame in
# sensor axes, row after row, times gravity [m/s^2]; angular acceleration [rad/s^2]; and products of
# the angular velocity [rad^2/s^2]: xx, yy, zz, xy, xz, yz. All in sensor axes.
ACCELERATION, AXES, ALPHA, PRODUCTS = slice(0, 3), slice(3, 12), slice(12, 15), slice(15, 21)
FEATURES = 21

TERMS = ("gravity", "velocity", "acceleration")  # of the motion, each with those before


class MotionNow(NamedTuple):
    """The motion of the sensor at the stamp of a wrench.

    Attributes:
        features: (21,); None where there are none.
        reason: why there are none, in words.
    """

    features: Array | None
    reason: str = ""


def write_products(omega: Array, out: Array) -> None:
    """Write the products of an angular velocity (3,) into features (21,)."""
    x, y, z = omega.tolist()
    out[PRODUCTS] = x * x, y * y, z * z, x * y, x * z, y * z


def features_of(acceleration: Array, axes: Array, omega: Array, alpha: Array) -> Array:
    """Features (21,).

    Args:
        acceleration: of the origin without gravity, sensor axes (3,) [m/s^2].
        axes: rows are the axes of the gravity frame in sensor axes, times gravity (3, 3) [m/s^2].
        omega: (3,) [rad/s]; alpha: (3,) [rad/s^2], sensor axes.
    """
    out = np.empty(FEATURES)
    out[ACCELERATION], out[AXES], out[ALPHA] = acceleration, axes.ravel(), alpha
    write_products(omega, out)
    return out
