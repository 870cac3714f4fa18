# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is known of the sensor's biases before the data: their prior in the settings, or a tare."""

from __future__ import annotations

import numpy as np

from ...errors import NotEnoughData
from ...findings import FindingLog
from ...inertia import Array
from ...regression.row_layout import BIASES
from ...regression.uncertainty.noise import datasheet_noise
from ...settings import Settings, WrenchSettings
from ..state import Tare, tare_conditions

_TARE_SAMPLES = 20
_REST = 5.0  # a reading that varies by more than this many standard deviations is not at rest
_OLD_TARE = 0.2  # uncertainty of an earlier run's tare, as part of that before any data


def prior_bias_sd(settings: WrenchSettings) -> Array:
    """Standard deviation (6,) of the biases of a sensor that was never tared [N, N m]."""
    return np.repeat([settings.force_bias_sd, settings.torque_bias_sd], 3)


class SensorBias:
    """The prior of the biases, and the tare that it comes from, if there is one.

    Attributes:
        tare: the reading without payload; is_old: whether an earlier run measured it.
    """

    def __init__(self) -> None:
        self.tare: Tare | None = None
        self.is_old = False

    def restore(self, tare: Tare | None) -> None:
        """Use the tare of an earlier run, about which less is sure; None: none."""
        self.tare, self.is_old = tare, True

    def drop(self) -> str:
        """Drop the tare, as the user asks; says what that means."""
        had_one, self.tare = self.tare is not None, None
        return ("the tare is dropped; the bias is estimated from the data alone" if had_one
                else "there is no tare to drop")

    def forget(self) -> None:
        """Drop the tare: the zero of the sensor is another one now."""
        self.tare = None

    def drop_old(self, why: str, log: FindingLog) -> None:
        """Drop the tare of an earlier run, if there is one, and log why."""
        if self.tare is not None and self.is_old:
            self.forget()
            log.set("tare_not_used", "warning",
                    f"the bias of an earlier run's tare is not used: {why}; tare again")

    def use(self, tare: Tare) -> None:
        """Use a tare that was just measured."""
        self.tare, self.is_old = tare, False

    def prior(self, settings: Settings, now_ns: int) -> tuple[Array, Array]:
        """Standard deviation (6,), zeros for biases that are known, and mean (6,) before the data,
        whose last stamp is `now_ns`; with the sign of ``A phi``."""
        mean = (np.zeros(BIASES) if self.tare is None
                else settings.wrench.sign * self.tare.reading)
        if not settings.estimator.estimate_bias:
            return np.zeros(BIASES), mean
        untared = prior_bias_sd(settings.wrench)
        if self.tare is None:
            return untared, mean
        measured = _OLD_TARE * untared if self.is_old else _tare_sd(settings.wrench)
        hours = max(now_ns - self.tare.stamp_ns, 0) / 3.6e12
        drift = np.repeat(settings.wrench.drift_of_tare, 3)
        return np.minimum(np.hypot(measured, drift * np.sqrt(hours)), untared), mean


def measure_tare(readings: Array, stamp_ns: int, frame_id: str,
                 settings: Settings) -> tuple[Tare, str]:
    """The mean of readings (n, 6), the last of that time, as a tare; and a sentence about it.

    Raises:
        NotEnoughData: too few samples, or the sensor is not at rest.
    """
    if len(readings) < _TARE_SAMPLES:
        raise NotEnoughData(f"tare needs {_TARE_SAMPLES} wrench samples within a second; "
                            f"{len(readings)} were received")
    spread = readings.std(axis=0) / datasheet_noise(settings.wrench)
    if spread.max() > _REST:
        raise NotEnoughData(
            f"tare needs a sensor at rest; its readings vary by {spread.max():.0f} times the "
            "noise in the settings")
    tare = Tare(readings.mean(axis=0), stamp_ns, frame_id, tare_conditions(settings))
    f, t = tare.reading[:3], tare.reading[3:]
    return tare, ("bias set to force [" + ", ".join(f"{v:.3f}" for v in f) + "] N, torque ["
                  + ", ".join(f"{v:.4f}" for v in t) + f"] N m from {len(readings)} samples")


def _tare_sd(settings: WrenchSettings) -> Array:
    """Standard deviation (6,) of a reading without payload at the time when it is taken."""
    accuracy = np.repeat([settings.force_accuracy, settings.torque_accuracy], 3)
    return np.hypot(datasheet_noise(settings), accuracy)
