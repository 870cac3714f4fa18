# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Terms: what beside the payload moves the reading; here those that are always there."""

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..model.newton_euler import rotation, skew, static_wrench
from ..model.rows import Rows
from ..model.setup import Sheet
from ..motion.motion import Array

if TYPE_CHECKING:
    from .fit import Fit

Values = dict[str, Array]
# Pseudo-observations by which what is known holds the scale of a prior: of the mounting; of the
# sensor. The latter may be smaller, hardly larger: it would take what is looked for.
STRENGTH, FIRM = 8.0, 1000.0
COMMON, RARE = -2.0, -6.0  # logarithms of odds before the data, of what most set-ups have, or few
DECIDED = 12.0  # logarithm of odds, by which the best decides, and others are forgotten
DIFFERENCE = float(np.sqrt(np.finfo(float).eps))  # of a prior deviation, by which slopes are found
# The wrench passes the terms in this order.
Place = IntEnum("Place", "MOVES ROOM ARM MOUNT CALIBRATION LAG FILTER STAMPS DRIVER ZERO")


class Effect(NamedTuple):
    """What a term does to the wrench, in modes.

    Attributes:
        slopes: (k, 6, q) of the reading by the values.
        wrench: (k, 6) at the values; 0 where the regressor already has it.
        through: what becomes of slopes (k, 6, m) of the load on their way through the term, beside
            themselves; None: nothing.
    """

    slopes: Array
    wrench: Array
    through: Callable[[Array], Array] | None = None


def by_differences(rows: Rows, wrench: Callable[[Array], Array], values: Array, sd: Array
                   ) -> Effect:
    """The effect of what adds a wrench (n, 6) to each of the rows, as a function of the values."""
    step = DIFFERENCE * sd
    modes = rows.modes(np.stack([wrench(at) for at in (values, *(values + np.diag(step)))], 2))
    return Effect((modes[..., 1:] - modes[..., :1]) / step, modes[..., 0])


def linear(slopes: Array, values: Array) -> Effect:
    """The effect of slopes that do not depend on the values."""
    return Effect(slopes, slopes @ values)


class Term:
    """Base of all terms; values (q,) have a Gaussian prior of `mean` and `sd`.

    Attributes:
        name: kind of its finding; place: in the order in which the wrench passes the terms.
        strength: pseudo-observations that hold the scale of the prior at the data sheet's; inf: the
            scale is never learnt.
        is_inexact: True if no sensor or cable follows the law exactly.
        takes_inertia: True if it takes a share of the inertia away.
        odds: logarithm, before the data, of terms that must earn their place.
        curved: so many of the first values its effect is not linear in.
    """

    name, place, odds, strength, curved = "", Place.MOVES, 0.0, np.inf, 0
    is_inexact = takes_inertia = False
    sd: Array
    mean: Array
    # Of rows, a payload phi (10,), values (q,), and the load (k, 6) that passes through the term.
    effect: Callable[[Rows, Array, Array, Array], Effect]

    def starts(self, fit: "Fit") -> list[Values]:
        """Values to begin at, by the names of terms, beside a fit without this term."""
        return [{self.name: self.mean}]

    def is_believable(self, values: Array) -> bool:
        """True if values can be true."""
        return True

    def doubt(self, phi: Array, values: Array) -> Array:
        """Covariance (10, 10) of phi by what the law leaves out."""
        return np.zeros((10, 10))

    def describe(self, phi: Array, values: Array, sd: Array) -> Mapping[str, float]:
        """Numbers for the sentence of the finding; sd: (q,) of the values."""
        return {}


class Usual(Term):
    """A term that is always there."""

    def __init__(self, name: str, sd: Array | list[float], place: Place, strength: float,
                 effect: Callable[[Rows, Array, Array, Array], Effect], mean: Array | None = None
                 ) -> None:
        self.sd = np.asarray(sd, float)
        self.mean = np.zeros(len(self.sd)) if mean is None else mean
        self.name, self.place, self.strength, self.effect = name, place, strength, effect


def mixing(name: str, sd: Array, basis: Array, place: Place, strength: float) -> Usual:
    """The reading is the wrench times one and a matrix (6, 6) that is linear in the values, by its
    change (q, 6, 6) with each."""
    def effect(rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        matrix, slopes = np.tensordot(values, basis, 1), (basis @ load.T).transpose(2, 1, 0)
        return Effect(slopes, slopes @ values, lambda more: matrix @ more)
    return Usual(name, sd, place, strength, effect)


def usual_terms(sheet: Sheet, joints: int) -> list[Term]:
    """The terms that are always there, for an arm of so many joints: zero of the sensor, its turn
    against its frame, a tilt of gravity, delay of the stamps [s], origin beside that of the frame
    [m], gains, channels that read each other (relative to scales of a force and of a torque),
    joints but the last that are turned about their three axes, and joints that give way to the
    weight of the payload [rad/(N m)]."""
    def turn(rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        both = np.kron(np.eye(2), rotation(values))
        turned = load @ both.T
        slopes = -np.concatenate([skew(turned[:, :3]), skew(turned[:, 3:])], 1)
        return Effect(slopes, turned - load, lambda more: both @ more - more)

    def pulls(phi: Array, change: Array) -> Array:
        return static_wrench(phi, change).transpose(0, 2, 1)

    moved = np.zeros((3, 6, 6))
    moved[:, 3:, :3] = -skew(np.eye(3))  # -d x f
    both, others = np.repeat(sheet.scale, 3), ~np.eye(6, dtype=bool)
    terms = (
        Usual("bias", sheet.bias_sd, Place.ZERO, np.inf, lambda rows, _, values, load: linear(
            rows.constant[:, None, None] * np.eye(6), values), sheet.bias_mean),
        Usual("rotation", [sheet.rotation] * 3, Place.MOUNT, STRENGTH, turn),
        Usual("tilt", [sheet.tilt] * 2, Place.ARM, STRENGTH, lambda rows, phi, _, load: Effect(
            pulls(phi, rows.turned[:, :2]), 0.0 * load)),
        Usual("delay", [sheet.delay], Place.STAMPS, np.inf, lambda rows, phi, _, load: Effect(
            -rows.modes(rows.rates(rows.back(load)))[..., None], 0.0 * load)),
        mixing("origin", np.full(3, sheet.origin), moved, Place.MOUNT, FIRM),
        mixing("gain", np.full(6, sheet.gain), np.eye(6)[:, None] * np.eye(6)[:, :, None],
               Place.CALIBRATION, FIRM),
        mixing("cross_talk", (sheet.cross_talk * both[:, None] / both)[others],
               np.eye(36)[others.ravel()].reshape(-1, 6, 6), Place.CALIBRATION, FIRM),
        Usual("arm", [sheet.arm] * 3 * max(joints - 1, 0), Place.ARM, STRENGTH,
              lambda rows, phi, values, load: linear(pulls(phi, rows.turned[:, 2:]), values)),
        Usual("flex", [sheet.flex if sheet.arm else 0.0] * joints, Place.ARM, STRENGTH,
              lambda rows, phi, values, load: linear(pulls(phi, rows.bend @ phi[:4]), values)))
    return [term for term in terms if term.sd.any()]
