# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the sensors of the cobot make of the truth: noise, bias, misalignment, sign."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
from scipy.spatial.transform import Rotation

from ...inertia import Array
from .settings import CobotSettings

# Columns of a row of unit noise: wrench (6), joint positions (6), joint velocities (6).
_WRENCH, _POSITION, _VELOCITY = slice(0, 6), slice(6, 12), slice(12, 18)


class NoiseStream:
    """Rows of independent unit normal numbers: the same for a seed, however they are read.

    Rows are drawn in blocks of about a second, each from a generator of its own (NumPy's
    ``SeedSequence``), so that any range can be read without what came before it.
    """

    _KEPT = 4  # blocks remembered

    def __init__(self, seed: int, block: int, stream: int = 1, columns: int = 18) -> None:
        self._seed, self._block, self._stream, self._columns = seed, block, stream, columns
        self._blocks: OrderedDict[int, Array] = OrderedDict()

    def rows(self, start: int, count: int) -> Array:
        """Rows (count, columns) from number ``start`` on."""
        first, last = start // self._block, (start + max(count, 1) - 1) // self._block
        rows = np.vstack([self._draw(k) for k in range(first, last + 1)])
        offset = start - first * self._block
        return rows[offset:offset + count]

    def _draw(self, k: int) -> Array:
        """Rows of block number k, from memory if it was drawn lately."""
        if k not in self._blocks:
            rng = np.random.default_rng(np.random.SeedSequence([self._seed, self._stream, k]))
            self._blocks[k] = rng.standard_normal((self._block, self._columns))
            while len(self._blocks) > self._KEPT:
                self._blocks.popitem(last=False)
        return self._blocks[k]


class WristSensor:
    """Turns true wrenches into published readings.

    The sensor's axes are turned by ``sensor_rotation_error`` against the declared frame, about the
    same origin. With R that rotation and ``w`` the wrench of the sensor on the payload in the
    declared frame, the reading is ``bias + noise - R' w`` (convention on_sensor), or its opposite
    (on_environment). At rest and on_sensor that is the bias and the payload's weight.
    """

    def __init__(self, settings: CobotSettings) -> None:
        self._bias = np.array(settings.bias)
        self._deviation = np.repeat(settings.noise, 3)
        self._to_sensor = Rotation.from_rotvec(
            settings.sensor_rotation_error, degrees=True).inv().as_matrix()
        self._sign = 1.0 if settings.convention == "on_sensor" else -1.0

    def read(self, wrench: Array, noise: Array) -> Array:
        """Readings (n, 6) [N, N m].

        Args:
            wrench: (n, 6) of the sensor on the payload, declared sensor frame.
            noise: (n, 18) unit noise of ``NoiseStream``.
        """
        turned = (wrench.reshape(-1, 2, 3) @ self._to_sensor.T).reshape(-1, 6)
        return self._sign * (self._bias - turned + self._deviation * noise[:, _WRENCH])


class Encoders:
    """Turns true joint positions and velocities into published ones, by white noise."""

    def __init__(self, settings: CobotSettings) -> None:
        self._position, self._velocity = settings.encoder_noise, settings.velocity_noise
        self._velocities = settings.velocities

    def read(self, q: Array, dq: Array, noise: Array) -> tuple[Array, Array | None]:
        """Positions (n, 6) [rad] and velocities (n, 6) [rad/s], or None where they are off."""
        positions = q + self._position * noise[:, _POSITION]
        if not self._velocities:
            return positions, None
        return positions, dq + self._velocity * noise[:, _VELOCITY]
