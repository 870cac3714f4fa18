# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The motion of the sensor frame, and what every source of it can do."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from ..inertia import Array
from .polynomial import Spacing


class SampleNoise(NamedTuple):
    """Noise of the position samples behind a motion, as an error of the sensor's pose.

    Attributes:
        pose_covariance: (6, 6) of the sensor's position [m] and orientation [rad], in its axes, of
            one sample.
        period: time between samples, window: length of the quartics through them [s].
        quartics: how many of them the covariance was measured from.
    """

    pose_covariance: Array
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
        valid: (n,) whether there were enough samples around that time.
        position: of the sensor origin along the axes of the gravity frame (n, 3) [m], from a point
            that does not move; None: not known.
        noise: of the position samples; None: not known.
    """

    axes: Array
    gravity: float
    acceleration: Array
    omega: Array
    alpha: Array
    valid: np.ndarray
    position: Array | None = None
    noise: SampleNoise | None = None

    @property
    def proper_acceleration(self) -> Array:
        """``R'(pddot - g)`` (n, 3) [m/s^2]."""
        return self.acceleration + self.gravity * self.axes[:, 2]

    def part(self, which: np.ndarray | slice) -> Motion:
        """The motion at some of the times, by mask, indices or slice."""
        return self._replace(
            axes=self.axes[which], acceleration=self.acceleration[which], omega=self.omega[which],
            alpha=self.alpha[which], valid=self.valid[which],
            position=None if self.position is None else self.position[which])

    def followed_by(self, later: Motion) -> Motion:
        """This motion and a later one of the same sensor."""
        places = [motion.position for motion in (self, later) if motion.position is not None]
        return later._replace(
            axes=np.concatenate([self.axes, later.axes]),
            acceleration=np.concatenate([self.acceleration, later.acceleration]),
            omega=np.concatenate([self.omega, later.omega]),
            alpha=np.concatenate([self.alpha, later.alpha]),
            valid=np.concatenate([self.valid, later.valid]),
            position=np.concatenate(places) if len(places) == 2 else None)


class MotionSource(Protocol):
    """A source of motion that looks a fixed time ahead."""

    @property
    def provisional_ns(self) -> int:
        """Length [ns] of the newest motion, not settled yet, for which there is a
        `provisional_motion`; 0: there is none."""
        ...

    def too_slow(self) -> Spacing | None:
        """The spacing of the samples if they come too slowly for accelerations."""

    def settled_until(self) -> int | None:
        """Newest time [ns] at which `motion_at` has all it needs; None before the first sample."""
        ...

    def motion_at(self, stamps: np.ndarray) -> Motion:
        """Motion at stamps (n,) [ns]."""
        ...

    def provisional_motion(self, stamps: np.ndarray, end_ns: int) -> Motion:
        """Motion at stamps (n,) [ns] from samples before `end_ns` alone; nowhere valid where
        `provisional_ns` is 0."""
        ...

    def close(self, until_ns: int) -> None:
        """Treat samples up to that time [ns] as late from now on: their motion has been used."""
        ...
