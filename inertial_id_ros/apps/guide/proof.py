# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The proof of a payload: it predicts the wrench of a motion that its estimate has not seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inertia import Array
from ...model.history import Window
from ...model.newton_euler import GRAVITY, regressor
from ...motion.motion import BIN
from ...settings import Settings

FORCE, TORQUE = slice(0, 3), slice(3, 6)
LEAST = 50  # bins: half a second
TIMES = 2.0  # the errors of the sensor that may remain


class Proof(NamedTuple):
    """Wrenches of the motion, without the bias of the sensor.

    Attributes:
        time: (n,) [s]; measured: (n, 6); before, after: (n, 6) as predicted by the payload that the
            robot has, and by the new one [N, N m].
        allowed: force [N] and torque [N m] that the errors of the sensor explain (rms lengths).
    """

    time: Array
    measured: Array
    before: Array
    after: Array
    allowed: tuple[float, float]

    @property
    def residuals(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Rms lengths of force [N] and torque [N m] that remain: before, and after."""
        before, after = (self.measured - predicted for predicted in (self.before, self.after))
        return (_length(before[:, FORCE]), _length(before[:, TORQUE])), (
            _length(after[:, FORCE]), _length(after[:, TORQUE]))

    @property
    def is_given(self) -> bool:
        """True if the new payload leaves no more than the sensor explains, and no more than the
        payload that the robot has."""
        return all(after <= allowed and after <= max(before, allowed / TIMES)
                   for before, after, allowed in zip(*self.residuals, self.allowed, strict=True))

    def rows(self) -> list[tuple[str, float, float]]:
        """What remains, force [N] and torque [N m], by payload."""
        before, after = self.residuals
        return [("with what the robot has now", *before), ("with the new payload", *after),
                ("explained by the sensor's errors", *self.allowed)]


def prove(window: Window, bias: Array | None, present: Array, new: Array, settings: Settings
          ) -> Proof | None:
    """Compare two payloads with the wrench of a motion; None where it was too short.

    Args:
        bias: (6,) reading without load, sign of the topic [N, N m]; None: the mean reading.
        present, new: phi (10,) that the robot has, and that was found.
    """
    used, motion, wrench = window.used, window.motion, settings.wrench
    if used.sum() < LEAST:
        return None
    proper = motion.acceleration - motion.rotation.transpose(0, 2, 1) @ GRAVITY
    rows = regressor(proper, motion.omega, motion.alpha)[used]
    measured = window.wrench[used]
    measured = measured - (measured.mean(axis=0) if bias is None else wrench.sign * bias)
    allowed = []
    for k, part in enumerate((FORCE, TORQUE)):
        gain = np.hypot(wrench.gain_error, wrench.cross_talk) * _length(rows[:, part] @ new)
        channel = np.sqrt(wrench.noise[k]**2 / window.samples + wrench.accuracy[k]**2
                          + wrench.drift[k]**2)
        allowed.append(float(TIMES * np.hypot(np.sqrt(3.0) * channel, gain)))
    return Proof(BIN * np.flatnonzero(used), measured, rows @ present, rows @ new,
                 (allowed[0], allowed[1]))


def _length(vectors: Array) -> float:
    """Root mean square length of vectors (n, 3)."""
    return float(np.sqrt(np.mean(np.sum(vectors**2, axis=1))))
