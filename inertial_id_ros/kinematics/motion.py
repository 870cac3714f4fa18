# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The motion of the sensor frame, and what every source of it can do.

`MotionStatistics` tell of a window how fast the sensor turns, and the noise of its motion.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from ..inertia import Array
from ..signals.bins import BIN_NS
from .polynomial import Spacing, acceleration_gain


class MotionStatistics:
    """Running sums over the motion since the start of a window."""

    def __init__(self) -> None:
        self._squares, self._count = 0.0, 0
        self._noise: SampleNoise | None = None
        self._noise_sums = np.zeros((6, 6))
        self._noise_count = 0
        self._kernels: list[Array] = []  # held, so that their identities stay their own
        self._gains: dict[tuple[int, float, float], float] = {}

    def add(self, motion: Motion) -> None:
        """Add the valid part of a motion."""
        squares = (motion.alpha**2).sum(axis=1) + (motion.omega**2).sum(axis=1) ** 2
        self._squares += float(squares[motion.valid].sum())
        self._count += int(motion.valid.sum())
        if motion.noise is not None:
            self._noise = motion.noise
            self._noise_sums += motion.noise.pose_covariance * motion.noise.quartics
            self._noise_count += motion.noise.quartics

    @property
    def rms_rotation(self) -> float:
        """Root mean square of ``(|alpha|^2 + |omega|^4)^(1/2)`` [rad/s^2]; 0 before any motion."""
        return float(np.sqrt(self._squares / self._count)) if self._count else 0.0

    def acceleration_covariance(self, kernel: Array) -> Array:
        """Covariance (6, 6) of the noise of linear [m/s^2] and angular acceleration [rad/s^2] that
        a low-pass leaves; zeros where the noise is not known.

        Args:
            kernel: (taps,) of the low-pass, over bins.
        """
        if self._noise is None:
            return np.zeros((6, 6))
        period = float(f"{self._noise.period:.2g}")  # jitter of the period changes nothing
        gain = self._gain(kernel, period, self._noise.window)
        return gain**2 * self._noise_sums / self._noise_count

    def _gain(self, kernel: Array, period: float, window: float) -> float:
        """See `acceleration_gain`; hashing a kernel takes longer than all else here."""
        key = id(kernel), period, window
        if key not in self._gains:
            self._kernels.append(kernel)
            self._gains[key] = acceleration_gain(period, window, tuple(kernel.tolist()),
                                                 BIN_NS * 1e-9)
        return self._gains[key]


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
        spin: regressors (n, 6, 10) of omega alone, where a low-pass has shown the motion: the
            product of two filtered values is not the filtered product; None: those of `omega`.
    """

    axes: Array
    gravity: float
    acceleration: Array
    omega: Array
    alpha: Array
    valid: np.ndarray
    position: Array | None = None
    noise: SampleNoise | None = None
    spin: Array | None = None

    @property
    def proper_acceleration(self) -> Array:
        """``R'(pddot - g)`` (n, 3) [m/s^2]."""
        return self.acceleration + self.gravity * self.axes[:, 2]

    def part(self, which: np.ndarray | slice) -> Motion:
        """The motion at some of the times, by mask, indices or slice."""
        return self._replace(
            axes=self.axes[which], acceleration=self.acceleration[which], omega=self.omega[which],
            alpha=self.alpha[which], valid=self.valid[which],
            position=None if self.position is None else self.position[which],
            spin=None if self.spin is None else self.spin[which])

    def followed_by(self, later: Motion) -> Motion:
        """This motion and a later one of the same sensor."""
        places = [motion.position for motion in (self, later) if motion.position is not None]
        spins = [motion.spin for motion in (self, later) if motion.spin is not None]
        return later._replace(
            axes=np.concatenate([self.axes, later.axes]),
            acceleration=np.concatenate([self.acceleration, later.acceleration]),
            omega=np.concatenate([self.omega, later.omega]),
            alpha=np.concatenate([self.alpha, later.alpha]),
            valid=np.concatenate([self.valid, later.valid]),
            position=np.concatenate(places) if len(places) == 2 else None,
            spin=np.concatenate(spins) if len(spins) == 2 else None)


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
