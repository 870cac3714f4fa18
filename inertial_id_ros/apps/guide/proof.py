# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The proof of a payload: it predicts the wrench of a motion that its estimate has not seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inertia import Array
from ...settings import Settings
from .received import Stretch

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
        before, after = (tuple(_length((self.measured - predicted)[:, part])
                               for part in (FORCE, TORQUE))
                         for predicted in (self.before, self.after))
        return (before[0], before[1]), (after[0], after[1])

    @property
    def is_given(self) -> bool:
        """True if the new payload leaves no more than the sensor explains, and no more than the
        payload that the robot has."""
        return all(after <= allowed and after <= max(before, allowed / TIMES)
                   for before, after, allowed in zip(*self.residuals, self.allowed, strict=True))

    def sentence(self) -> str:
        """What remains, in a sentence."""
        (f0, t0), (f1, t1) = self.residuals
        return (f"of a motion that the estimate has not seen, {f1:.2g} N and {t1:.2g} N m remain "
                f"({f0:.3g} N and {t0:.2g} N m with the payload that the robot has; the sensor "
                f"explains {self.allowed[0]:.2g} N and {self.allowed[1]:.2g} N m)")

    def to_json(self) -> dict[str, object]:
        """The numbers of a JSON line."""
        before, after = self.residuals
        return {"given": self.is_given, "left_before": list(before), "left_after": list(after),
                "allowed": list(self.allowed), "readings": len(self.time)}


def prove(stretch: Stretch, bias: Array | None, present: Array, new: Array, settings: Settings
          ) -> Proof | None:
    """Compare two payloads with the wrench of a motion; None where it was too short.

    Args:
        bias: (6,) reading without load, sign of the topic [N, N m]; None: the mean reading.
        present, new: phi (10,) that the robot has, and that was found.
    """
    if len(stretch.readings) < LEAST:
        return None
    rows, wrench = stretch.regressor, settings.wrench
    bias = stretch.readings.mean(axis=0) if bias is None else bias
    allowed = []
    for k, part in enumerate((FORCE, TORQUE)):
        gain = np.hypot(wrench.gain_error, wrench.cross_talk) * _length(rows[:, part] @ new)
        channel = np.sqrt(wrench.noise[k]**2 / max(stretch.samples, 1.0) + wrench.accuracy[k]**2
                          + wrench.drift[k]**2)
        allowed.append(float(TIMES * np.hypot(np.sqrt(3.0) * channel, gain)))
    return Proof(stretch.time, wrench.sign * (stretch.readings - bias), rows @ present, rows @ new,
                 (allowed[0], allowed[1]))


def _length(vectors: Array) -> float:
    """Root mean square length of vectors (n, 3)."""
    return float(np.sqrt(np.mean(np.sum(vectors**2, axis=1))))
