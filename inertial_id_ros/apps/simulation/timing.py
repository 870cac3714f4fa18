# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Smooth laws of progress: how far a motion has come at a time, with two derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InvalidSetting
from ...inertia import Array


class Progress(NamedTuple):
    """Progress (n,) and its first and second derivative in time."""

    value: Array
    rate: Array
    acceleration: Array


Timing = Callable[[ArrayLike], Progress]  # of times (n,) [s]; zero, at rest, before time 0


def minimum_jerk(x: Array) -> Progress:
    """The quintic from 0 to 1 of least squared jerk, at rest at both ends (Flash & Hogan 1985).

    ``10 x^3 - 15 x^4 + 6 x^5`` for x (n,) in [0, 1], held outside; derivatives in x.
    """
    x = np.clip(x, 0.0, 1.0)
    return Progress(x**3 * (10.0 - 15.0 * x + 6.0 * x * x), 30.0 * (x * (1.0 - x)) ** 2,
                    60.0 * x * (1.0 - x) * (1.0 - 2.0 * x))


def _quintic_integral(x: Array) -> Array:
    """Integral from 0 of the minimum-jerk quintic, for x in [0, 1]; 1/2 at 1."""
    return x**4 * (2.5 - 3.0 * x + x * x)


@dataclass(frozen=True)
class SmoothStart:
    """Progress whose rate rises from 0 to ``rate`` within ``ramp`` seconds and then stays."""

    rate: float
    ramp: float

    def __call__(self, t: ArrayLike) -> Progress:
        """Progress at times (n,) [s]."""
        x = np.maximum(np.asarray(t, dtype=float), 0.0) / self.ramp
        within = np.minimum(x, 1.0)
        rise = minimum_jerk(within)
        value = self.rate * self.ramp * (_quintic_integral(within) + np.maximum(x - 1.0, 0.0))
        return Progress(value, self.rate * rise.value, self.rate / self.ramp * rise.rate)


@dataclass(frozen=True)
class StopAndGo:
    """Periods of ``rest`` seconds without progress, then ``moving`` seconds of it.

    Each stretch of motion rises to ``rate`` within ``ramp`` seconds and falls likewise.

    Raises:
        InvalidSetting: a stretch is too short for its two ramps.
    """

    rate: float
    moving: float
    rest: float
    ramp: float

    def __post_init__(self) -> None:
        if self.moving < 2.0 * self.ramp:
            raise InvalidSetting(
                f"moving is {self.moving:g} s; allowed: at least two ramps, {2 * self.ramp:g} s")

    def __call__(self, t: ArrayLike) -> Progress:
        """Progress at times (n,) [s]."""
        time = np.maximum(np.asarray(t, dtype=float), 0.0)
        period = self.rest + self.moving
        count = np.floor(time / period)
        tau = np.clip(time - count * period - self.rest, 0.0, self.moving)
        up, down = tau / self.ramp, (tau - (self.moving - self.ramp)) / self.ramp
        rising, falling = minimum_jerk(up), minimum_jerk(down)
        travelled = count * (self.moving - self.ramp) + self.ramp * (
            _quintic_integral(np.clip(up, 0.0, 1.0)) + np.maximum(up - 1.0, 0.0)
            - _quintic_integral(np.clip(down, 0.0, 1.0)))
        return Progress(self.rate * travelled, self.rate * (rising.value - falling.value),
                        self.rate / self.ramp * (rising.rate - falling.rate))
