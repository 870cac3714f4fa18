"""What a source of motion gives: the sensor frame's motion at chosen times."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from ..inertia import Array


class SampleNoise(NamedTuple):
    """Noise of the samples that a motion is made of, as it moves the sensor.

    Attributes:
        moved: covariance (6, 6) of the sensor's position [m] and orientation [rad], in its axes,
            of one sample.
        period: of the samples, window: of the quartics through them [s]; quartics: that tell it.
    """

    moved: Array
    period: float
    window: float
    quartics: int


class Motion(NamedTuple):
    """Motion of the sensor frame at n times.

    Attributes:
        axes: rows are the axes of the gravity frame in sensor axes (n, 3, 3); the last points up.
        gravity: magnitude [m/s^2].
        acceleration: of the sensor origin without gravity, sensor axes (n, 3) [m/s^2].
        omega: angular velocity, sensor axes (n, 3) [rad/s].
        alpha: angular acceleration, sensor axes (n, 3) [rad/s^2].
        valid: (n,) whether the data around that time carried an answer.
        noise: of the samples; None: not known.
    """

    axes: Array
    gravity: float
    acceleration: Array
    omega: Array
    alpha: Array
    valid: np.ndarray
    noise: SampleNoise | None = None

    @property
    def proper_acceleration(self) -> Array:
        """``R'(pddot - g)`` (n, 3) [m/s^2]."""
        return self.acceleration + self.gravity * self.axes[:, 2]


class MotionSource(Protocol):
    """A source of motion with a fixed look-ahead.

    Attributes:
        newest_ns: length [ns] of the newest motion, not settled yet, that `newest_motion` can tell
            less well; 0: it cannot.
    """

    @property
    def newest_ns(self) -> int: ...

    def settled_until(self) -> int | None:
        """Newest time [ns] at which `motion_at` has all it needs; None before the first sample."""
        ...

    def motion_at(self, stamps: np.ndarray) -> Motion:
        """Motion at stamps (n,) [ns]."""
        ...

    def newest_motion(self, stamps: np.ndarray, end_ns: int) -> Motion:
        """Motion at stamps (n,) [ns] from samples before `end_ns` alone; nowhere valid where
        `newest_ns` is 0."""
        ...

    def close(self, until_ns: int) -> None:
        """Motion up to then was used: samples that arrive later for that time are late."""
        ...
