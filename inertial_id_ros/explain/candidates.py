# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The terms that must earn their place: causes that may be there or not."""

from __future__ import annotations

import numpy as np

from ..model.rows import Rows
from .bias_drift import BiasDrift
from .cable import Cable
from .hysteresis import Hysteresis
from .moving_base import MovingBase
from .pouring import Pouring
from .room_force import RoomForce
from .sensor_filter import SensorFilter
from .swing import Swing
from .term import Term

STILL = 1e-6  # m/s^2


def candidates(rows: Rows) -> list[Term]:
    """Candidates for a window; those of one name exclude each other.

    Where transforms tell no translation, what accelerations do is noise: a cable, a pour or a base
    that moves could explain all of it.
    """
    if np.abs(rows.window.motion.acceleration).max() < STILL:
        return [Hysteresis(), BiasDrift()]
    return [Cable(), Hysteresis(), SensorFilter(1), SensorFilter(2), RoomForce(), BiasDrift(),
            Pouring(1, False), Pouring(2, False), Pouring(2, True), Swing(), MovingBase(rows.n)]
