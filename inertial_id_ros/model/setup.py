# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Errors of the set-up that are applied exactly, found anew in each estimate."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.signal import bilinear, lfilter, lfilter_zi

from ..motion.motion import BIN, Array


def _zeros(n: int) -> Array:
    return field(default_factory=lambda: np.zeros(n))


@dataclass(frozen=True, eq=False)
class Setup:
    """What is not as it was said.

    Attributes:
        tilt: (2,) of gravity about the base's x and y [rad].
        delay: by which stamps of the wrench are late [s].
        filter: the sensor's own low-pass: () none, (time constant [s],) of first order,
            (time constant [s], damping) of second order.
    """

    tilt: Array = _zeros(2)
    delay: float = 0.0
    filter: tuple[float, ...] = ()

    def is_near(self, other: Setup) -> bool:
        """True if the rows of the other one can be used."""
        return (self.filter == other.filter and abs(self.delay - other.delay) < 1e-4
                and float(np.abs(self.tilt - other.tilt).max()) < 1e-3)


def low_pass(values: Array, filter: tuple[float, ...], step: float = BIN) -> Array:
    """Causal low-pass of values (n, ...) at equal steps [s], settled at the first one."""
    if not filter:
        return values
    time, *damping = filter
    slow = [time, 1.0] if not damping else [time**2, 2.0 * damping[0] * time, 1.0]
    b, a = bilinear([1.0], slow, 1.0 / step)
    start = lfilter_zi(b, a).reshape(-1, *[1] * (values.ndim - 1)) * values[:1]
    return np.asarray(lfilter(b, a, values, axis=0, zi=start)[0])
