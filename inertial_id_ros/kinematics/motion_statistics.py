# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Statistics of the motion in a window: how fast the sensor turns, and the noise of its motion."""

from __future__ import annotations

import numpy as np

from ..inertia import Array
from ..signals.bins import BIN_NS
from .motion import Motion, SampleNoise
from .polynomial import acceleration_gain


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

