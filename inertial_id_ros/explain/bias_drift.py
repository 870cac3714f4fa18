# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A zero of the sensor that creeps evenly, beyond its data sheet (warm-up, a loose mount).

Values (6): change over the window [N, N m].
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..model.rows import Rows
from ..motion.motion import BIN, Array
from .term import Effect, Term, linear

_SD = (5.0, 0.3)  # N, N m
_NAMED = (3.0, 0.5)  # N, N m in a minute


class BiasDrift(Term):
    """See the module."""

    name, place, strength, is_linear, odds = "bias_drifts", 9, np.inf, True, -6.0

    def __init__(self) -> None:
        super().__init__(np.repeat(_SD, 3))

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        # The bias is that of the middle of the window.
        return linear(rows.modes(rows.t)[:, None, None] * np.eye(6), values)

    def describe(self, rows: Rows, phi: Array, values: Array) -> Mapping[str, float]:
        minute = 60.0 / (BIN * (rows.index[-1] - rows.index[0]))
        force, torque = (float(minute * np.linalg.norm(v)) for v in np.split(values, 2))
        is_large = force > _NAMED[0] or torque > _NAMED[1]
        return {"force_rate": force, "torque_rate": torque} if is_large else {}
