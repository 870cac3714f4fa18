# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the wrench on a rigid body depends on, as 21 numbers in which it is linear.

A payload is then a matrix (6, 21), made once for many wrenches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inertia import Array
from ...signals.bins import BIN_NS
from ...signals.low_pass import SensorFilter

# Acceleration of the sensor's origin without gravity [m/s^2]; the axes of the gravity frame in
# sensor axes, row after row, times gravity [m/s^2]; angular acceleration [rad/s^2]; and products of
# the angular velocity [rad^2/s^2]: xx, yy, zz, xy, xz, yz. All in sensor axes.
ACCELERATION, AXES, ALPHA, PRODUCTS = slice(0, 3), slice(3, 12), slice(12, 15), slice(15, 21)
FEATURES = 21
_LONGEST_GAP = 200_000_000  # ns between two wrenches, over which a filter is carried on

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


class FeatureLag:
    """Filters features as the sensor filters its readings, sample by sample."""

    def __init__(self, sensor: SensorFilter) -> None:
        self.sensor = sensor
        self._settling_ns = round(sensor.settling * BIN_NS)
        self._stamp = self._settled = 0
        self._last: Array = np.zeros(FEATURES)
        self._stages: Array = np.zeros((sensor.order, FEATURES))

    def follow(self, stamp_ns: int, features: Array) -> Array | None:
        """The features (21,) as the sensor shows them at a stamp; None where the filter has not
        settled yet since the first one, or since a gap."""
        step = stamp_ns - self._stamp
        if not 0 < step < _LONGEST_GAP:
            self._stages = np.broadcast_to(features, self._stages.shape)
            self._settled = stamp_ns + self._settling_ns
        else:
            keep, now, before = self.sensor.coefficients(step * 1e-9)
            stages, value, last = np.empty_like(self._stages), features, self._last
            for k, stage in enumerate(self._stages):
                stages[k] = keep * stage + now * value + before * last
                value, last = stages[k], stage
            self._stages = stages
        self._stamp, self._last = stamp_ns, features.copy()
        return np.asarray(self._stages[-1]) if stamp_ns >= self._settled else None
