# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A term: one thing beside the payload that moves the reading."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..model.rows import Rows
from ..motion.motion import Array

if TYPE_CHECKING:
    from .fit import Fit

Through = Callable[[Array], Array]
Values = dict[str, Array]
DIFFERENCE = 1e-5  # of a prior deviation, by which slopes are found
LIGHTEST = 0.01  # kg: a term that is relative to the mass takes at least this


class Effect(NamedTuple):
    """What a term does to the wrench, in modes.

    Attributes:
        slopes: (k, 6, q) of the reading by the values.
        wrench: (k, 6) at the values; None where the regressor already has it.
        through: what becomes of slopes (k, 6, m) of the load on their way through the term, beside
            themselves; None: nothing.
    """

    slopes: Array
    wrench: Array | None
    through: Through | None = None


class Term(ABC):
    """Base of all terms; values have a Gaussian prior.

    Attributes:
        name: kind of its finding; place: the wrench passes the terms in this order.
        strength: pseudo-observations that hold the scale of the prior at the data sheet's; inf: the
            scale is never learnt.
        is_linear: True if the effect is linear in the values, whose mean is zero then.
        is_inexact: True if no sensor or cable follows the law exactly.
        is_screened: True if `starts` gives none where a try is hopeless.
        odds: logarithm, before the data, of terms that must earn their place.
        mean, sd: (q,) of the prior.
    """

    name = ""
    place = 0
    strength = 3.0
    is_linear = False
    is_inexact = False
    is_screened = False
    odds = 0.0

    def __init__(self, sd: Array | list[float]) -> None:
        self.sd: Array = np.asarray(sd, float)
        self.mean: Array = np.zeros(len(self.sd))

    @abstractmethod
    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        """The effect at values (q,) on a load (k, 6) that passes through it."""

    def on(self, rows: Rows) -> Term:
        """The same term on the rows of another window."""
        return self

    def later(self, values: Array, seconds: float) -> Array:
        """The same values (q,) in a window that ends so much later."""
        return values

    def starts(self, fit: Fit) -> list[Values]:
        """Values to begin at, by the names of terms, beside a fit without this term."""
        return [{self.name: self.mean}]

    def is_believable(self, values: Array) -> bool:
        """True if values can be true."""
        return True

    def doubt(self, rows: Rows, phi: Array, values: Array) -> Array:
        """Covariance (10, 10) of phi by what the law leaves out."""
        return np.zeros((10, 10))

    def describe(self, rows: Rows, phi: Array, values: Array) -> Mapping[str, float]:
        """Numbers for the sentence of the finding; empty: too small to be named."""
        return {}


class Law(Term):
    """A term that is not linear; its slopes are found by differences."""

    strength = np.inf

    @abstractmethod
    def wrench(self, rows: Rows, phi: Array, values: Array) -> Array:
        """What it adds to the reading (n, 6) of each row, at values (q,)."""

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        step = DIFFERENCE * self.sd
        points = [values, *(values + np.diag(step))]
        modes = rows.modes(np.stack([self.wrench(rows, phi, at) for at in points], 2))
        return Effect((modes[..., 1:] - modes[..., :1]) / step, modes[..., 0])


def linear(slopes: Array, values: Array, through: Through | None = None) -> Effect:
    """The effect of a term that is linear in its values."""
    return Effect(slopes, slopes @ values, through)
