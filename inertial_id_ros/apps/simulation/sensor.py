# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the sensors of the cobot make of the truth: noise, bias, errors, misalignment, sign."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
from scipy.spatial.transform import Rotation

from ...inertia import Array
from ...settings.sensors import SENSORS
from .settings import NO_ERRORS, CobotSettings

_USUAL_RANGE = (130.0, 10.0)  # N, N m, of a sensor whose range is not known
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


class WanderingZero:
    """An Ornstein-Uhlenbeck process in each channel: the same for a seed, however it is read.

    Drawn at 10 Hz, straight lines between.

    Args:
        sd: (6,) standard deviations [N, N m]; rate: of the samples [Hz].
    """

    _TIME, _STEP = 5.0, 0.1  # s, of its correlation, and between two draws

    def __init__(self, seed: int, sd: Array, rate: float) -> None:
        self._rng = np.random.default_rng(np.random.SeedSequence([seed, 3]))
        self._sd, self._rate = sd, rate
        self._knots = self._rng.standard_normal((1, len(sd)))

    def rows(self, start: int, count: int) -> Array:
        """Rows (count, 6) from sample number ``start`` on [N, N m]."""
        at = (start + np.arange(count)) / (self._rate * self._STEP)
        self._draw_until(int(at[-1]) + 2)
        k = at.astype(int)
        part = (at - k)[:, None]
        return np.asarray(self._sd * ((1.0 - part) * self._knots[k] + part * self._knots[k + 1]))

    def _draw_until(self, count: int) -> None:
        """Have that many draws; those before stay as they are."""
        missing = count - len(self._knots)
        if missing <= 0:
            return
        keep = np.exp(-self._STEP / self._TIME)
        more = np.empty((missing, len(self._sd)))
        last = self._knots[-1]
        for k, new in enumerate(self._rng.standard_normal(more.shape)):
            last = more[k] = keep * last + np.sqrt(1.0 - keep**2) * new
        self._knots = np.vstack([self._knots, more])


class WristSensor:
    """Turns true wrenches into published readings.

    The sensor's axes are turned by ``sensor_rotation_error`` against the declared frame, about the
    same origin. With R that rotation and ``w`` the wrench of the sensor on the payload in the
    declared frame, the reading is ``bias + noise - R' w`` (convention on_sensor), or its opposite
    (on_environment). At rest and on_sensor that is the bias and the payload's weight. With a sensor
    named in the settings, every channel has an error of its gain, reads a share of the others, and
    its zero wanders, each as its data sheet says of one standard deviation.
    """

    def __init__(self, settings: CobotSettings) -> None:
        self._bias = np.array(settings.bias)
        self._deviation = np.repeat(settings.noise, 3)
        self._matrix = np.eye(6)
        self._zero: WanderingZero | None = None
        if settings.sensor != NO_ERRORS:
            self._add_errors(settings)
        self._to_sensor = Rotation.from_rotvec(
            settings.sensor_rotation_error, degrees=True).inv().as_matrix()
        self._sign = 1.0 if settings.convention == "on_sensor" else -1.0

    def read(self, wrench: Array, noise: Array, start: int) -> Array:
        """Readings (n, 6) [N, N m].

        Args:
            wrench: (n, 6) of the sensor on the payload, declared sensor frame.
            noise: (n, 18) unit noise of ``NoiseStream``; start: number of the first sample.
        """
        turned = (wrench.reshape(-1, 2, 3) @ self._to_sensor.T).reshape(-1, 6) @ self._matrix.T
        read = self._bias - turned + self._deviation * noise[:, _WRENCH]
        if self._zero is not None:
            read += self._zero.rows(start, len(wrench))
        return np.asarray(self._sign * read)

    def _add_errors(self, settings: CobotSettings) -> None:
        """Have the errors of the sensor that the settings name."""
        sheet = SENSORS[settings.sensor]
        self._deviation = np.repeat(sheet.noise, 3)
        self._zero = WanderingZero(settings.seed, np.repeat(sheet.accuracy, 3), settings.rate)
        ranges = np.repeat(sheet.range if all(sheet.range) else _USUAL_RANGE, 3)
        sd = sheet.cross_talk * ranges[:, None] / ranges
        sd[np.diag_indices(6)] = sheet.gain_error
        rng = np.random.default_rng(np.random.SeedSequence([settings.seed, 4]))
        self._matrix = np.eye(6) + sd * rng.standard_normal((6, 6))


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
