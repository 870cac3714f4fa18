# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Causes whose law is not linear: a cable, a payload that pours or slides, a part that swings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from scipy.signal import bilinear, lfilter

from ..inertia import report_jacobian
from ..model.newton_euler import skew
from ..model.rows import Rows
from ..motion.motion import BIN, Array
from .fit import LIGHTEST, Fit
from .terms import Law, Place, Values

INEXACT = 0.03  # of a tension: cables sag, bend and rub; of what swings: it does so far
MOST = 2  # values of a term that are worth a try


def likely(fit: Fit, columns: Array) -> list[tuple[int, Array]]:
    """Number and values of the members of a grid that gain most beside a fit, and gain anything;
    see `Solution.gains`."""
    gain, values = fit.solution.gains(columns)
    return [(int(k), values[k]) for k in np.argsort(-gain)[:MOST] if gain[k] > 0.0]


def looks_like_weight(mass: float, at: Array) -> Array:
    """Covariance (10, 10) of phi where what a law leaves out, a share of a mass [kg], looks like
    weight about a point (3,) [m]."""
    part = np.zeros((10, 4))
    part[0, 0], part[1:4, 0] = 1.0, at
    part[1:4, 1:] = 0.5 * np.linalg.norm(at) * np.eye(3)
    return np.asarray((INEXACT * mass)**2 * part @ part.T)


class Cable(Law):
    """A cable or hose: a tension towards a point of the room, as of a spring, at a point of the
    load.

    Values (8): that point from the sensor's mean position [m], tension beyond that of a spring
    without natural length [N], stiffness [N/m], where it is fastened, from the sensor, in its axes
    [m]. With these the valley of such a spring, which looks like weight, is straight: its linear
    covariance is right.
    """

    ABOVE, EXCESS = 0.4, 1.0  # m: most cables come from above; N
    POINTS = ABOVE * np.array([(0, 0, 1), (0, 0, 2), (1, 0, 1), (-1, 0, 1), (0, 1, 1), (0, -1, 1)])
    REACH, NEAREST, NAMED = 0.35, 0.05, 0.3  # m, of where it is fastened; m, its length; N

    name, place, is_inexact, odds = "cable", Place.ROOM, True, -2.0
    sd = np.r_[np.full(3, 0.5), 3.0, 6.0, np.full(3, 0.1)]
    mean = np.r_[0.0, 0.0, ABOVE, EXCESS, 0.0, np.zeros(3)]

    def starts(self, fit: Fit) -> list[Values]:
        return [{self.name: np.r_[point, self.EXCESS, 0.5 * self.sd[4], np.zeros(3)]}
                for point in self.POINTS]

    def is_believable(self, values: Array) -> bool:
        return bool(self._tension(values) > 0.0 and np.linalg.norm(values[5:]) < self.REACH)

    def wrench(self, rows: Rows, phi: Array, values: Array) -> Array:
        point, excess, stiffness, lever = values[:3], values[3], values[4], values[5:]
        line = point - rows.p - rows.rotation @ lever
        length = np.maximum(np.linalg.norm(line, axis=1), self.NEAREST)[:, None]
        pull = (stiffness + excess / length) * line
        force = (rows.rotation.transpose(0, 2, 1) @ pull[..., None])[..., 0]
        return -np.concatenate([force, np.cross(lever, force)], 1)

    def doubt(self, rows: Rows, phi: Array, values: Array) -> Array:
        pull = rows.modes(self.wrench(rows, phi, values)[:, :3])
        return looks_like_weight(float(np.sqrt((pull**2).sum() / rows.n)) / 9.81, values[5:])

    def describe(self, rows: Rows, phi: Array, values: Array) -> Mapping[str, float]:
        pull = self._tension(values)
        return {"tension": pull, "stiffness": float(values[4])} if pull > self.NAMED else {}

    def _tension(self, values: Array) -> float:
        """Where the sensor is on average, about [N]."""
        return float(values[3] + values[4] * np.linalg.norm(values[:3]))


class Pouring(Law):
    """A payload that pours or slides: phi changes evenly over a stretch; wanted is that of now.

    phi(t) = phi_now - change left(t), where left falls from 1 to 0 over the stretch. What pours is
    like the rest (a share of phi), what slides takes its inertia along, and where in the payload
    that happens is unknown: the inertia changes by itself, too. Values: logarithms of the ages of
    its begin, and of its end if it is over [s]; the share of the mass (1), the way of the centre
    (3) [m], the inertia (6) over what such changes may make of it.

    Args:
        is_over: True if the stretch ends before now.
    """

    SHARE, WAY = 0.3, 0.03  # deviations: of the mass; of the centre [m]
    AGE, SPREAD = np.log(6.0), 1.0  # of the logarithm of an age [s]
    SHORTEST, BOUNDS = 0.4, (-3.0, 4.5)  # s, of the stretch; of these logarithms
    RADIUS = 0.1  # m, of gyration
    AGES = 1.5 ** np.arange(9)  # s: at which climbs begin
    NAMED, UNSURE = 0.1, 0.2  # of these deviations; s, of when now is

    name, place, odds = "payload_walks", Place.MOVES, -4.0

    def __init__(self, is_over: bool) -> None:
        self.ages = 1 + is_over
        self.sd = np.r_[np.full(self.ages, self.SPREAD), self.SHARE, np.full(3, self.WAY),
                        np.ones(6)]
        self.mean = np.r_[np.full(self.ages, self.AGE), np.zeros(10)]

    def starts(self, fit: Fit) -> list[Values]:
        rows, sd = fit.rows, self.sd[self.ages:self.ages + 4]
        length = BIN * (rows.index[-1] - rows.index[0])
        ages = [np.array(some) for some in combinations(self.AGES[::-1], self.ages)
                if some[-1] + 1.0 < length and some[0] < length + 5.0]
        if not ages or fit.phi[0] < LIGHTEST:
            return []
        left = np.stack([self._left(rows, some) for some in ages], 1)
        wrench = -rows.steady @ (self._changes(fit.phi)[:, :4] * sd)
        found = likely(fit, rows.modes(wrench[:, :, None] * left[:, None, :, None]))
        return [{self.name: np.r_[np.log(ages[k]), change * sd, np.zeros(6)]}
                for k, change in found]

    def later(self, values: Array, seconds: float) -> Array:
        ages = np.log(self._ages(values) + seconds)
        return np.r_[np.clip(ages, *self.BOUNDS), values[self.ages:]]

    def is_believable(self, values: Array) -> bool:
        """It began before it ended, and there was a payload before."""
        return bool(np.all(np.diff(values[:self.ages]) < 0.0) and values[self.ages] < 1.0)

    def wrench(self, rows: Rows, phi: Array, values: Array) -> Array:
        change = self._changes(phi) @ values[self.ages:]
        return np.asarray(-(rows.steady @ change) * self._left(rows, self._ages(values))[:, None])

    def _ages(self, values: Array) -> Array:
        """Ages of begin, and of the end if it is over [s]."""
        return np.exp(np.clip(values[:self.ages], *self.BOUNDS))

    def _left(self, rows: Rows, ages: Sequence[float] | Array) -> Array:
        """Share (n,) of the change that comes after each row."""
        end = ages[1] if len(ages) > 1 else 0.0
        age = BIN * (len(rows.window.used) - rows.index)
        return np.clip((age - end) / max(ages[0] - end, self.SHORTEST), 0.0, 1.0)

    def _changes(self, phi: Array) -> Array:
        """Changes (10, 10) of phi by units of the values of a stretch."""
        mass, out = phi[0], np.zeros((10, 10))
        if mass < LIGHTEST:
            return out
        out[:, 0] = phi
        out[1:4, 1:4] = mass * np.eye(3)
        out[4:, 1:4] = -mass * report_jacobian(phi)[4:, 1:4]
        out[4:, 4:] = mass * self.RADIUS * (self.SHARE * self.RADIUS + 2.0 * self.WAY) * np.eye(6)
        return out

    def _rate(self, phi: Array, values: Array) -> Array:
        """Rate (10,) of phi now [1/s]."""
        if self.ages > 1:
            return np.zeros(10)
        return np.asarray(self._changes(phi) @ values[1:] / max(self._ages(values)[0],
                                                                self.SHORTEST))

    def doubt(self, rows: Rows, phi: Array, values: Array) -> Array:
        rate = self._rate(phi, values)
        return np.asarray(self.UNSURE**2 * np.outer(rate, rate))

    def describe(self, rows: Rows, phi: Array, values: Array) -> Mapping[str, float]:
        change, rate = values[self.ages:], self._rate(phi, values)
        if abs(change[0]) < self.NAMED * self.SHARE and (
                np.linalg.norm(change[1:4]) < self.NAMED * self.WAY):
            return {}
        speed = float(np.linalg.norm((report_jacobian(phi) @ rate)[1:4]))
        return {"mass_rate": float(rate[0]), "speed": speed}


class Swing(Law):
    """A part of the payload that swings by itself: liquid, a loose part, a tool that dangles.

    It hangs from the centre of mass as a damped pendulum, whose deflection x follows the horizontal
    acceleration a of that point, x'' + 2 d w x' + w^2 x = -a; beside a rigid payload of all of the
    mass it takes m x''. Values (6): logarithm of the frequency [Hz], damping d, mass m of the part
    relative to the payload's, moment of that force about the sensor's origin (3), relative to mass
    times 0.1 m.
    """

    RATES = 0.6 * 1.2 ** np.arange(11)  # Hz, at which climbs begin
    BOUNDS, DAMPINGS = (np.log(0.3), np.log(4.0)), (0.005, 0.4)
    LEVER, NAMED, DAMPING = 0.1, 0.08, 0.06  # m; of the mass

    name, place, takes_inertia, odds = "not_rigid", Place.MOVES, True, -8.0
    sd = np.r_[0.5, DAMPING, 0.5, np.ones(3)]
    mean = np.r_[np.log(1.5), DAMPING, 0.0, np.zeros(3)]

    def starts(self, fit: Fit) -> list[Values]:
        at = [np.r_[np.log(rate), self.mean[1]] for rate in self.RATES]
        pulls = self._pulls(fit.rows, fit.phi, at) * self.sd[2:]
        return [{self.name: np.r_[at[k], found * self.sd[2:]]}
                for k, found in likely(fit, fit.rows.modes(pulls))]

    def is_believable(self, values: Array) -> bool:
        return bool(0.0 < values[2] < 1.3 and self.BOUNDS[0] < values[0] < self.BOUNDS[1])

    def wrench(self, rows: Rows, phi: Array, values: Array) -> Array:
        return np.asarray(self._pulls(rows, phi, [values[:2]])[:, :, 0] @ values[2:])

    def _pulls(self, rows: Rows, phi: Array, pendulums: Sequence[Array]) -> Array:
        """Wrench (n, 6, r, 4) by mass and moments, of pendulums of (logarithm of a frequency,
        damping) each."""
        mass = max(float(phi[0]), LIGHTEST)
        motion, centre = rows.window.motion, phi[1:4] / mass
        pivot = (motion.acceleration + np.cross(motion.alpha, centre)
                 + np.cross(motion.omega, np.cross(motion.omega, centre)))
        pivot = (motion.rotation @ pivot[..., None])[..., 0]
        out, driven = np.zeros((rows.n, 6, len(pendulums), 4)), []
        for log_rate, damping in pendulums:  # the deflection's acceleration, begun at rest
            turn = 2.0 * np.pi * np.exp(np.clip(log_rate, *self.BOUNDS))
            drag = 2.0 * float(np.clip(damping, *self.DAMPINGS)) * turn
            b, a = bilinear([-1.0, 0.0, 0.0], [1.0, drag, turn**2], 1.0 / BIN)
            driven.append(lfilter(b, a, pivot, axis=0))
            driven[-1][:, 2] = 0.0  # along the string it goes with the pivot
        back = motion.rotation.transpose(0, 2, 1)
        seen = mass * rows.smooth(back @ np.stack(driven, 2))
        out[:, :3, :, 0] = seen
        out[:, 3:, :, 1:] = -self.LEVER * skew(seen.transpose(0, 2, 1)).transpose(0, 2, 1, 3)
        return out

    def doubt(self, rows: Rows, phi: Array, values: Array) -> Array:
        """What swings has no inertia of a rigid body."""
        share = min(abs(float(values[2])), 1.0)
        inertia = np.full(6, share * np.abs(phi[[4, 7, 9]]).mean())
        centre = phi[1:4] / max(float(phi[0]), LIGHTEST)
        return np.diag(np.r_[np.zeros(4), inertia**2]) + looks_like_weight(share * phi[0], centre)

    def describe(self, rows: Rows, phi: Array, values: Array) -> Mapping[str, float]:
        if values[2] < self.NAMED:
            return {}
        return {"share": float(min(values[2], 1.0)), "frequency": float(np.exp(values[0]))}
