# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The proof of a payload: it predicts the wrench of a motion that its estimate has not seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inertia import Array
from ...regression.newton_euler import regressor
from ...settings import Settings, WrenchSettings
from .received import Stretch

FORCE, TORQUE = slice(0, 3), slice(3, 6)
_LEAST = 25  # readings: half a second
_TIMES = 2.0  # the errors of the sensor that may be left


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
    def left(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Rms lengths of force [N] and torque [N m] that are left: before, and after."""
        return (self._left(self.before), self._left(self.after))

    def _left(self, predicted: Array) -> tuple[float, float]:
        difference = self.measured - predicted
        return (_length(difference[:, FORCE]), _length(difference[:, TORQUE]))

    @property
    def is_given(self) -> bool:
        """Whether the new payload leaves no more than the sensor explains, and no more than the
        payload that the robot has."""
        before, after = self.left
        return (after[0] <= self.allowed[0] and after[1] <= self.allowed[1]
                and after[0] <= max(before[0], self.allowed[0] / _TIMES)
                and after[1] <= max(before[1], self.allowed[1] / _TIMES))

    def allowed_of(self, other: Proof | None) -> tuple[float, float]:
        """What the sensor explains of force and torque, in this proof or another."""
        allowed = self.allowed if other is None else np.maximum(self.allowed, other.allowed)
        return float(allowed[0]), float(allowed[1])

    def sentence(self) -> str:
        """What is left, in a sentence."""
        (f0, t0), (f1, t1) = self.left
        return (f"of a motion that the estimate has not seen, {f1:.2g} N and {t1:.2g} N m are left "
                f"({f0:.3g} N and {t0:.2g} N m with the payload that the robot has; the sensor "
                f"explains {self.allowed[0]:.2g} N and {self.allowed[1]:.2g} N m)")

    def to_json(self) -> dict[str, object]:
        """The numbers of a JSON line."""
        before, after = self.left
        return {"given": self.is_given, "left_before": list(before), "left_after": list(after),
                "allowed": list(self.allowed), "readings": len(self.time)}


def prove(stretch: Stretch, bias: Array, present: Array, new: Array, settings: Settings
          ) -> Proof | None:
    """Compare two payloads with the wrench of a motion; None where it was too short.

    Args:
        bias: (6,) reading without load, sign of the topic [N, N m].
        present, new: phi (10,) that the robot has, and that was found.
    """
    if len(stretch.stamps) < _LEAST:
        return None
    motion = stretch.motion
    rows = regressor(motion.proper_acceleration, motion.omega, motion.alpha)
    sign = settings.wrench.sign
    measured = sign * (stretch.readings - bias)
    size = _length(rows[:, :3] @ new), _length(rows[:, 3:] @ new)
    return Proof(stretch.time, measured, rows @ present, rows @ new,
                 _allowed(settings.wrench, size, stretch.samples))


def _allowed(wrench: WrenchSettings, size: tuple[float, float], samples: float
             ) -> tuple[float, float]:
    """Force [N] and torque [N m] that the sensor's errors explain, for a wrench of this size."""
    out = []
    for noise, accuracy, drift, length in (
            (wrench.force_noise, wrench.force_accuracy, wrench.force_drift, size[0]),
            (wrench.torque_noise, wrench.torque_accuracy, wrench.torque_drift, size[1])):
        gain = np.hypot(wrench.gain_error, wrench.cross_talk) * length
        channel = np.sqrt(noise**2 / max(samples, 1.0) + accuracy**2 + drift**2)
        out.append(float(_TIMES * np.hypot(np.sqrt(3.0) * channel, gain)))
    return out[0], out[1]


def _length(vectors: Array) -> float:
    """Root mean square length of vectors (n, 3)."""
    return float(np.sqrt(np.mean(np.sum(vectors**2, axis=1))))
