# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A cable or hose: a tension towards a point of the room, as of a spring, at a point of the load.

Values (8): that point from the sensor's mean position [m], tension beyond that of a spring without
natural length [N], stiffness [N/m], where it is fastened, from the sensor, in its axes [m]. With
these the valley of such a spring, which looks like weight, is straight: its linear covariance is
right.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..model.newton_euler import skew
from ..model.rows import Rows
from ..motion.motion import Array
from .fit import Fit
from .term import Effect, Term, Values

INEXACT = 0.03  # of its tension looks like weight: it sags, bends and rubs
_SD = np.r_[np.full(3, 0.5), 3.0, 6.0, np.full(3, 0.1)]
_ABOVE = 0.4  # m: most cables come from above
_EXCESS, _START = 1.0, (1.0, 3.0, 0.0, 0.0, 0.0)  # N before the data; where climbs begin
_POINTS = ((0, 0, 0.5), (0, 0, 1.0), (0.4, 0, 0.4), (-0.4, 0, 0.4), (0, 0.4, 0.4), (0, -0.4, 0.4))
_REACH, _NEAREST = 0.35, 0.05  # m, from the sensor; of the point from where it is fastened
_NAMED = 0.3  # N


class Cable(Term):
    """See the module."""

    name, place, strength, is_inexact, odds = "cable", -1, np.inf, True, -2.0

    def __init__(self) -> None:
        super().__init__(_SD)
        self.mean[2:4] = _ABOVE, _EXCESS

    def starts(self, fit: Fit) -> list[Values]:
        return [{self.name: np.r_[point, _START]} for point in _POINTS]

    def is_believable(self, values: Array) -> bool:
        return bool(tension(values) > 0.0 and np.linalg.norm(values[5:]) < _REACH)

    def doubt(self, rows: Rows, phi: Array, values: Array) -> Array:
        lever, pull = values[5:], self.effect(rows, phi, values, np.empty(0)).wrench
        assert pull is not None
        mass = INEXACT * np.sqrt((pull[:, :3] ** 2).sum() / rows.n) / 9.81
        part = np.zeros((10, 4))
        part[0, 0], part[1:4, 0] = 1.0, lever
        part[1:4, 1:] = 0.5 * np.linalg.norm(lever) * np.eye(3)
        return np.asarray(mass**2 * part @ part.T)

    def describe(self, rows: Rows, phi: Array, values: Array) -> Mapping[str, float]:
        pull = tension(values)
        return {"tension": pull, "stiffness": float(values[4])} if pull > _NAMED else {}

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        point, excess, stiffness, lever = values[:3], values[3], values[4], values[5:]
        line = point - rows.p - rows.rotation @ lever
        length = np.maximum(np.linalg.norm(line, axis=1), _NEAREST)[:, None]
        u = line / length
        by_line = (excess / length)[..., None] * (np.eye(3) - u[:, :, None] * u[:, None])
        by_line += stiffness * np.eye(3)
        slopes = np.concatenate([by_line, u[..., None], line[..., None],
                                 -by_line @ rows.rotation], 2)  # of the force in the room
        back = rows.rotation.transpose(0, 2, 1)
        slopes, force = back @ slopes, (back @ (stiffness * line + excess * u)[..., None])[..., 0]
        torque = skew(lever) @ slopes
        torque[..., 5:] -= skew(force)
        both = np.concatenate([
            np.concatenate([slopes, force[..., None]], 2),
            np.concatenate([torque, np.cross(lever, force)[..., None]], 2)], 1)
        modes = -rows.modes(both)
        return Effect(modes[..., :-1], modes[..., -1])


def tension(values: Array) -> float:
    """Tension [N] where the sensor is on average, about."""
    return float(values[3] + values[4] * np.linalg.norm(values[:3]))
