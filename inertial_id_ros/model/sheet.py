# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is known of sensor and set-up before the data: data sheet and mounting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..motion.motion import Array
from ..settings import Settings

RANGE = (130.0, 10.0)  # N, N m, where the range is not known
LEVER = 0.001  # m


@dataclass(frozen=True, eq=False)
class Sheet:
    """Standard deviations; pairs are of a force and of a torque channel.

    Attributes:
        noise: of a sample; accuracy: what nothing else explains; drift: in a minute [N, N m].
        gain: of each channel; cross_talk: of each on each other, relative to `scale` [N, N m].
        bias_mean, bias_sd: (6,) of the zero [N, N m], sign of W.
        rotation, tilt, arm: of the sensor, of gravity, of each joint's axes [rad].
        origin: of the sensor's origin [m]; delay: of the stamps of the wrench [s].
    """

    noise: tuple[float, ...]
    accuracy: tuple[float, ...]
    drift: tuple[float, ...]
    gain: float
    cross_talk: float
    scale: tuple[float, float]
    bias_mean: Array
    bias_sd: Array
    rotation: float
    tilt: float
    arm: float
    origin: float
    delay: float

    flex: ClassVar[float] = 1e-4  # rad/(N m), of each joint
    floor: ClassVar[tuple[float, ...]] = 0.03, 0.0015  # N, N m: no row of the scan is better

    @property
    def lever(self) -> float:
        """No motion tells the centre of mass better [m]."""
        return 0.0 if self.is_ideal else LEVER

    @property
    def is_ideal(self) -> bool:
        """True if there is nothing but white noise and a constant bias."""
        return not any(self.accuracy)


def sheet_of(settings: Settings, bias: tuple[Array, Array] | None = None) -> Sheet:
    """The sheet that settings state; bias: mean and standard deviation (6,) of a tare."""
    wrench, alignment = settings.wrench, settings.alignment
    mean, sd = bias or (np.zeros(6), np.repeat(wrench.bias_sd, 3))
    force, torque = (own or usual for own, usual in zip(wrench.range, RANGE, strict=True))
    degree = np.pi / 180.0

    def pair(values: tuple[float, ...]) -> tuple[float, float]:
        return values[0], values[1]
    return Sheet(
        pair(wrench.noise), pair(wrench.accuracy), pair(wrench.drift), wrench.gain_error,
        wrench.cross_talk, (force, torque), mean, sd, alignment.rotation_sd * degree,
        alignment.tilt_sd * degree, alignment.orientation_sd * degree, alignment.position_sd,
        alignment.delay_sd)
