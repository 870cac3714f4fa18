# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Causes with a law of their own: a cable, a payload that pours or slides, a part that swings."""

from collections.abc import Mapping
from functools import cache

import numpy as np

from ..inertia import point_columns
from ..model.newton_euler import GRAVITY, static_wrench
from ..model.rows import Rows
from ..model.setup import filtered
from ..motion.motion import Array
from .fit import LIGHTEST, Fit
from .residual import HARDLY, INEXACT, looks_like
from .terms import COMMON, RARE, STRENGTH, Effect, Place, Term, Values, by_differences, linear

EVERY = 1.0, 2.0  # s, of stretches in which a payload pours evenly; of torques: they tell less


class Cable(Term):
    """A cable or hose: a tension towards a point of the room, as of a spring, at a point of the
    load.

    Values (8): that point from the sensor's mean position [m], tension beyond that of a spring
    without natural length [N], stiffness [N/m], where it is fastened, from the sensor, in its axes
    [m]. A pull of any length looks like weight, and near cables behave unlike long ones: in the
    average over models of some lengths linear covariances are right. Most come from above: by
    about so much [m].
    """

    LENGTHS = (0.3, 0.6, 1.2)  # m
    POINTS = np.array([(0, 0, 1), (1, 0, 1), (-1, 0, 1), (0, 1, 1), (0, -1, 1)])

    name, place, is_inexact, curved = "cable", Place.ROOM, True, 8
    odds = COMMON - float(np.log(len(LENGTHS)))

    def __init__(self, above: float) -> None:
        self.sd = np.r_[np.full(3, 0.5 * above), 3.0, 6.0, np.full(3, 0.1)]
        self.mean = np.r_[0.0, 0.0, above, 1.0, np.zeros(4)]

    def starts(self, fit: Fit) -> list[Values]:
        return [{self.name: np.r_[self.mean[2] * point, 1.0, 3.0, np.zeros(3)]}
                for point in self.POINTS]

    def is_believable(self, values: Array) -> bool:
        """It pulls, near the sensor."""
        return self._tension(values) > 0.0 and bool((np.abs(values[5:]) < 3.0 * self.sd[5:]).all())

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        def wrench(at: Array) -> Array:
            point, excess, stiffness, lever = at[:3], at[3], at[4], at[5:]
            line = point - (rows.place - rows.place.mean(0)) - rows.rotation @ lever
            pull = (stiffness + excess / np.linalg.norm(line, axis=1, keepdims=True)) * line
            force = (rows.rotation.transpose(0, 2, 1) @ pull[..., None])[..., 0]
            return -np.concatenate([force, np.cross(lever, force)], 1)

        return by_differences(rows, wrench, values, self.sd)

    def doubt(self, phi: Array, values: Array) -> Array:
        weight = -GRAVITY[2] * max(float(phi[0]), LIGHTEST)
        return looks_like(np.full(2, INEXACT * self._tension(values) / weight), phi)

    def describe(self, phi: Array, values: Array, sd: Array) -> Mapping[str, float]:
        return {"tension": self._tension(values), "stiffness": float(values[4])}

    def _tension(self, values: Array) -> float:
        """Where the sensor is on average, about [N]."""
        return float(values[3] + values[4] * np.linalg.norm(values[:3]))


class Pouring(Term):
    """A payload that pours or slides: phi changes evenly within stretches of time; wanted is that
    of now.

    phi(t) = phi_now - change to_come(t) of each stretch, in which that falls from 1 to 0. What
    pours is like the rest (a share of phi), what slides takes its inertia along, and where in the
    payload that happens is unknown: the inertia changes by itself, too. Values (10 K), the newest
    stretch first: the share of the mass (1), the way of the centre (3) [m], the inertia over the
    mass (6) [m^2].

    Args:
        rows: that are to be explained, or of the same ages.
    """

    name, place, strength, odds = "payload_walks", Place.MOVES, STRENGTH, RARE

    def __init__(self, rows: Rows) -> None:
        self.every = EVERY[rows.of_joints]
        self.count = int(np.ceil(rows.age[0] / self.every))
        self.sd = np.tile(np.r_[0.3, np.full(3, 0.03), np.full(6, 0.009)], self.count)
        self.mean = np.zeros_like(self.sd)

    def is_believable(self, values: Array) -> bool:
        """There was a payload before."""
        return bool(np.cumsum(values[::10]).max() < 1.0)

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        mass = max(float(phi[0]), LIGHTEST)
        centre = phi[1:4] / mass
        way = 0.5 * (point_columns(centre + np.eye(3)) - point_columns(centre - np.eye(3)))
        unit = rows.steady @ np.column_stack([phi, mass * way, mass * np.eye(10)[:, 4:]])
        to_come = (rows.age[:, None] / self.every - np.arange(self.count)).clip(0.0, 1.0)
        slopes = -(to_come[:, None, :, None] * unit[:, :, None])
        return linear(rows.modes(slopes.reshape(*unit.shape[:2], -1)), values)

    def describe(self, phi: Array, values: Array, sd: Array) -> Mapping[str, float]:
        rate = (values * (np.abs(values) > HARDLY * sd))[:4] / self.every
        return {"mass_rate": float(rate[0] * phi[0]), "speed": float(np.linalg.norm(rate[1:]))}


class Swing(Term):
    """A part of the payload that swings by itself: liquid, a loose part, a tool that dangles.

    It hangs from the centre of mass as a damped pendulum, whose deflection x follows the horizontal
    acceleration a of that point, x'' + 2 d w x' + w^2 x = -a; beside a rigid payload of all of the
    mass it takes m x''. Values (6): logarithms of the frequency [Hz] and of the damping d, mass m
    of the part relative to the payload's, moment of that force about the sensor's origin (3) [m],
    relative to the payload's mass.
    """

    name, place, takes_inertia, odds, curved = "not_rigid", Place.MOVES, True, RARE, 2
    sd = np.r_[0.5, 1.0, 0.5, np.full(3, 0.1)]
    mean = np.r_[np.log([1.5, 0.06]), np.zeros(4)]

    def starts(self, fit: Fit) -> list[Values]:
        steps = np.eye(6)[0] * self.sd[0]  # of the frequency
        return [{self.name: self.mean + k * steps} for k in np.linspace(-2.0, 2.0, 11)]

    def is_believable(self, values: Array) -> bool:
        """A part of the payload, whose frequency and damping are usual."""
        gap = np.abs(values - self.mean)[:2] / self.sd[:2]
        return bool(0.0 < values[2] < 1.3 and gap.max() < 3.0)

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        @cache  # most of the values that are asked for differ in the others alone
        def seen(*logarithms: float) -> Array:
            turn, damping = np.exp(logarithms) * [2.0 * np.pi, 1.0]
            pendulum = np.array([turn**2, 2.0 * damping * turn, 1.0])
            driven = filtered(pivot, np.array([0.0, 0.0, -1.0]), pendulum)  # not by gravity
            return mass * rows.smooth(np.einsum("ni,nij->nj", driven, across))

        mass, across = max(float(phi[0]), LIGHTEST), rows.window.motion.rotation[:, :2]
        proper = rows.unfiltered[:, :3, :4] @ np.r_[1.0, phi[1:4] / mass]
        pivot = np.einsum("nij,nj->ni", across, proper)  # along the string it goes with it
        return by_differences(rows, lambda at: static_wrench(at[2:], seen(*at[:2].tolist())),
                              values, self.sd)

    def doubt(self, phi: Array, values: Array) -> Array:
        """What swings has no inertia of a rigid body; and a law of small swings is inexact."""
        share = min(abs(float(values[2])), 1.0)
        inertia = share * np.abs(phi[[4, 7, 9]]).mean()
        return looks_like(np.full(2, INEXACT * share), phi) + np.diag(
            np.r_[np.zeros(4), np.full(6, inertia**2)])

    def describe(self, phi: Array, values: Array, sd: Array) -> Mapping[str, float]:
        return {"share": float(min(values[2], 1.0)), "frequency": float(np.exp(values[0]))}
