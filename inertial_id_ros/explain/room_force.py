# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A vertical force that is constant in the room: a resting hand, a balancer.

It looks like weight, but not like inertia. What is constant along the floor looks like a tilt of
gravity. Values (4): force upwards on the sensor [N], and its moment about the sensor's origin per
vertical force of 1 N in the room's axes, in sensor axes [N m].
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..model.newton_euler import GRAVITY
from ..model.rows import Rows
from ..motion.motion import Array
from .coarse import is_motion_clear
from .fit import Fit
from .term import Effect, Term, Values, linear

_SD = (5.0, 0.5)  # N, N m
_NAMED = (1.0, 0.05)  # N, and of the weight


class RoomForce(Term):
    """See the module."""

    name, place, strength, is_linear, odds = "constant_force", -1, np.inf, True, -8.0

    def __init__(self) -> None:
        super().__init__(np.repeat(_SD, (1, 3)))

    def starts(self, fit: Fit) -> list[Values]:
        return super().starts(fit) if is_motion_clear(fit) else []

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        up = rows.level[:, :, 2]  # modes of the vertical in sensor axes
        slopes = np.zeros((len(up), 6, 4))
        slopes[:, :3, 0] = up
        for k, e in enumerate(np.eye(3)):
            slopes[:, 3:, 1 + k] = np.cross(e, up)
        return linear(slopes, values)

    def describe(self, rows: Rows, phi: Array, values: Array) -> Mapping[str, float]:
        weight = -phi[0] * GRAVITY[2]
        is_large = abs(values[0]) > max(_NAMED[0], _NAMED[1] * weight)
        return {"force": float(values[0])} if is_large else {}
