# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The terms that must earn their place: causes that may be there or not."""

from __future__ import annotations

import numpy as np

from ..model.rows import Rows
from ..model.sheet import Sheet
from .bias_drift import BiasDrift
from .cable import Cable
from .hysteresis import Hysteresis
from .moving_base import MovingBase
from .pouring import Pouring
from .room_force import RoomForce
from .sensor_filter import SensorFilter
from .swing import Swing
from .term import Term

STILL, LEAST_PATH = 1e-6, 1e-3  # m/s^2, m


def candidates(rows: Rows, sheet: Sheet) -> list[Term]:
    """Candidates for a window; those of one name exclude each other.

    Poses at rest alone tell of nothing but the payload. Where transforms tell no translation, what
    accelerations do is noise: a pour could explain it. Where the place of the sensor is not known
    to change, a force that is constant in the room is no other than weight.
    """
    motion = rows.window.motion
    if not motion.omega.any():
        return []
    if np.abs(motion.acceleration).max() < STILL:
        return [Hysteresis(rows, sheet.accuracy), BiasDrift()]
    out: list[Term] = [
        Hysteresis(rows, sheet.accuracy), SensorFilter(1), SensorFilter(2), BiasDrift(),
        Pouring(1, False), Pouring(2, False), Pouring(2, True), Swing()]
    if np.ptp(rows.place, axis=0).max() > LEAST_PATH:
        out += [Cable(), RoomForce(), MovingBase(rows.n)]
    return out
