# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A part of the payload that swings by itself: liquid, a loose part, a tool that dangles.

It hangs from the centre of mass as a damped pendulum, whose deflection x follows the horizontal
acceleration a of that point, x'' + 2 d w x' + w^2 x = -a; beside a rigid payload of all of the mass
it takes m x''. Values (6): logarithm of the frequency [Hz], damping d, mass m of the part relative
to the payload's, moment of that force about the sensor's origin (3), relative to mass times 0.1 m.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.signal import lfilter

from ..model.newton_euler import skew
from ..model.rows import Rows
from ..motion.motion import BIN, Array
from .coarse import LEAST, is_motion_clear, likely
from .fit import Fit
from .term import Effect, Term, Values

_SD = np.r_[0.5, 0.06, 0.5, np.full(3, 1.0)]
_MEAN = np.r_[np.log(1.5), 0.06]
_RATES = 0.6 * 1.2 ** np.arange(11)  # Hz, at which climbs begin
_BOUNDS = (np.log(0.3), np.log(4.0))
_DAMPINGS = (0.005, 0.4)
_LEVER, _LIGHTEST = 0.1, 0.01  # m; kg
_STEP = (1e-3, 1e-3)
_NAMED = 0.08  # of the mass


class Swing(Term):
    """See the module."""

    name, place, strength, odds = "not_rigid", -2, np.inf, -8.0

    def __init__(self) -> None:
        super().__init__(_SD)
        self.mean[:2] = _MEAN

    def starts(self, fit: Fit, least: float = LEAST) -> list[Values]:
        if "base_moves" in fit.names or not is_motion_clear(fit):
            return []
        mass, rows = max(fit.phi[0], _LIGHTEST), fit.rows
        pivot = _pivot(rows, fit.phi[1:4] / mass)
        values = [np.r_[np.log(rate), _MEAN[1]] for rate in _RATES]
        driven = _seen(rows, np.stack([_driven(pivot, *v) for v in values], 2))
        columns = mass * _SD[2:] * _pulls(driven)  # (n, 6, r, 4)
        return [{self.name: np.r_[values[k], found * _SD[2:]]}
                for k, found in likely(fit, rows.modes(columns), least)]

    def is_believable(self, values: Array) -> bool:
        return bool(0.0 < values[2] < 1.3 and _BOUNDS[0] < values[0] < _BOUNDS[1])

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        mass = max(phi[0], _LIGHTEST)
        pivot, at = _pivot(rows, phi[1:4] / mass), values[:2]
        steps = (at, at + [_STEP[0], 0.0], at + [0.0, _STEP[1]])
        driven = _seen(rows, np.stack([_driven(pivot, *step) for step in steps], 2))
        pulls = mass * _pulls(driven)  # (n, 6, 3, 4)
        wrench = pulls @ values[2:]  # (n, 6, 3)
        slopes = (wrench[..., 1:] - wrench[..., :1]) / _STEP
        modes = rows.modes(np.concatenate([slopes, pulls[:, :, 0], wrench[..., :1]], 2))
        return Effect(modes[..., :6], modes[..., 6])

    def doubt(self, rows: Rows, phi: Array, values: Array) -> Array:
        """What swings has no inertia of a rigid body."""
        out = np.zeros((10, 10))
        inertia = (min(abs(values[2]), 1.0) * abs(phi[[4, 7, 9]]).mean())
        out[4:, 4:] = inertia**2 * np.eye(6)
        return out

    def describe(self, rows: Rows, phi: Array, values: Array) -> Mapping[str, float]:
        if values[2] < _NAMED:
            return {}
        return {"share": float(min(values[2], 1.0)), "frequency": float(np.exp(values[0]))}


def _pivot(rows: Rows, centre: Array) -> Array:
    """Acceleration (b, 3) in the room of the centre of mass, in all bins of the window."""
    motion = rows.window.motion
    turned = np.cross(motion.omega, np.cross(motion.omega, centre))
    at = motion.acceleration + np.cross(motion.alpha, centre) + turned
    return np.asarray((motion.rotation @ at[..., None])[..., 0])


def _driven(pivot: Array, log_rate: float, damping: float) -> Array:
    """Acceleration (b, 3) of the deflection of a pendulum that begins at rest."""
    turn = 2.0 * np.pi * np.exp(np.clip(log_rate, *_BOUNDS))
    drag = 2.0 * float(np.clip(damping, *_DAMPINGS)) * turn
    s = 2.0 / BIN  # bilinear transform
    a = np.array([s * s + drag * s + turn**2, 2.0 * (turn**2 - s * s), s * s - drag * s + turn**2])
    return np.asarray(lfilter([-s * s, 2.0 * s * s, -s * s], a, pivot, axis=0))


def _seen(rows: Rows, driven: Array) -> Array:
    """Horizontal part (n, 3, r) in sensor axes and rows, of accelerations (b, 3, r) in the room."""
    driven[:, 2] = 0.0  # along the string it goes with the pivot
    return rows.smooth(rows.window.motion.rotation.transpose(0, 2, 1) @ driven)


def _pulls(driven: Array) -> Array:
    """Wrench (n, 6, r, 4) by accelerations (n, 3, r), per mass and moment of it."""
    out = np.zeros((len(driven), 6, driven.shape[2], 4))
    out[:, :3, :, 0] = driven
    out[:, 3:, :, 1:] = -_LEVER * skew(driven.transpose(0, 2, 1)).transpose(0, 2, 1, 3)
    return out
