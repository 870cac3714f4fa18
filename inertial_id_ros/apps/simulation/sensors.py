# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the sensors of the simulated cobot add to the truth: noise, and the errors of a data sheet.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.signal import lfilter
from scipy.spatial.transform import Rotation

from ...inertia import Array
from ...settings.inputs import SENSORS
from .settings import NO_ERRORS, CobotSettings

_USUAL_RANGE = (130.0, 10.0)  # N, N m, of a sensor whose range is not known
# Of a zero that wanders: time of its correlation, time between two draws, time after which it
# repeats itself [s].
_CORRELATION, _STEP, _PERIOD = 5.0, 0.1, 3600.0


class NoiseStream:
    """Rows of independent unit normal numbers: the same for a seed, however they are read.

    Rows are drawn in blocks of about a second, each from a generator of its own (NumPy's
    ``SeedSequence``), so that any range can be read without what came before it.
    """

    def __init__(self, seed: int, block: int, columns: int) -> None:
        self._block = block
        self._draw = lru_cache(4)(lambda k: np.random.default_rng(np.random.SeedSequence(
            [seed, 1, k])).standard_normal((block, columns)))

    def rows(self, start: int, count: int) -> Array:
        """Rows (count, columns) from number ``start`` on."""
        first, last = start // self._block, (start + max(count, 1) - 1) // self._block
        rows = np.vstack([self._draw(k) for k in range(first, last + 1)])
        offset = start - first * self._block
        return np.asarray(rows[offset:offset + count])


class WristSensor:
    """Turns true wrenches into published readings.

    The sensor's axes are turned by ``sensor_rotation_error`` against the declared frame, about the
    same origin. With R that rotation and ``w`` the wrench of the sensor on the payload in the
    declared frame, the reading is ``bias + noise - R' w`` (convention on_sensor), or its opposite
    (on_environment). At rest and on_sensor that is the bias and the payload's weight. With a sensor
    named in the settings, every channel has an error of its gain, reads a share of the others, and
    its zero wanders (an Ornstein-Uhlenbeck process), each as its data sheet says of one standard
    deviation.
    """

    def __init__(self, settings: CobotSettings) -> None:
        self._bias = np.array(settings.bias)
        self._deviation = np.repeat(settings.noise, 3)
        self._matrix = np.eye(6)
        self._zero = np.zeros((round(_PERIOD / _STEP), 6))
        if settings.sensor != NO_ERRORS:
            self._take_errors_of_data_sheet(settings)
        self._to_sensor = Rotation.from_rotvec(
            settings.sensor_rotation_error, degrees=True).inv().as_matrix()
        self._sign = 1.0 if settings.convention == "on_sensor" else -1.0

    def read(self, wrench: Array, noise: Array, t: Array) -> Array:
        """Readings (n, 6) [N, N m].

        Args:
            wrench: (n, 6) of the sensor on the payload, declared sensor frame.
            noise: (n, 6) unit noise; t: (n,) times [s].
        """
        turned = (wrench.reshape(-1, 2, 3) @ self._to_sensor.T).reshape(-1, 6) @ self._matrix.T
        k, n = np.floor(t / _STEP).astype(int), len(self._zero)
        part = (t / _STEP - k)[:, None]
        zero = (1.0 - part) * self._zero[k % n] + part * self._zero[(k + 1) % n]
        return np.asarray(
            self._sign * (self._bias + zero - turned + self._deviation * noise))

    def _take_errors_of_data_sheet(self, settings: CobotSettings) -> None:
        """Have noise, a zero that wanders, and gain and cross-talk errors drawn by the seed."""
        sheet = SENSORS[settings.sensor]
        self._deviation = np.repeat(sheet.noise, 3)
        ranges = np.repeat(sheet.range if all(sheet.range) else _USUAL_RANGE, 3)
        sd = sheet.cross_talk * ranges[:, None] / ranges
        sd[np.diag_indices(6)] = sheet.gain_error
        rng = np.random.default_rng(np.random.SeedSequence([settings.seed, 4]))
        self._matrix = np.eye(6) + sd * rng.standard_normal((6, 6))
        keep = np.exp(-_STEP / _CORRELATION)
        draws = rng.standard_normal(self._zero.shape)
        draws[1:] *= np.sqrt(1.0 - keep**2)  # the first is stationary
        self._zero = np.repeat(sheet.accuracy, 3) * lfilter([1.0], [1.0, -keep], draws, axis=0)
