# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How near an estimate is to the accuracy that was asked for."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...estimate import UNOBSERVED
from ...inertia import Array, phi_from_body, report_jacobian, tensor_from_six
from ..report.results import CONFIDENCE_95, TILT, TURN

LONGEST_MOTION = 45.0  # s of motion, after which what is known is good enough


class Numbers(NamedTuple):
    """An estimate: mass, centre of mass and inertia about it (10,), covariance (10, 10), verdicts
    (10,), bias (6,) and frame."""

    report: Array
    covariance: Array
    verdicts: tuple[int, ...]
    bias: Array
    frame: str

    @property
    def sigma(self) -> Array:
        """Standard deviations (10,)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def phi(self) -> Array:
        """phi (10,)."""
        return phi_from_body(self.report[0], self.report[1:4], tensor_from_six(self.report[4:]))

    @property
    def phi_covariance(self) -> Array:
        """Covariance (10, 10) of phi."""
        back = np.linalg.inv(report_jacobian(self.phi))
        return np.asarray(back @ self.covariance @ back.T)


class Wanted(NamedTuple):
    """The accuracy that was asked for: half widths of 95 % intervals.

    Attributes:
        mass: as share of the mass; com: of each coordinate [m].
        inertia: of each entry, as share of the mean principal moment; 0: not asked for.
    """

    mass: float
    com: float
    inertia: float = 0.0

    def widths(self, report: Array) -> Array:
        """Half widths (10,) for a payload (10,); infinite for an inertia that is not asked for."""
        moment = abs(float(report[[4, 7, 9]].sum())) / 3.0
        return np.repeat([self.mass * abs(float(report[0])), self.com,
                          self.inertia * moment or np.inf], [1, 3, 6])


class Part(NamedTuple):
    """Mass, centre of mass or inertia.

    Attributes:
        name: of the part; value: in words, with units.
        width: half of its 95 % interval; goal: what was asked for, both in `unit`; NaN: nothing.
        is_known: True if its verdict is not unobserved, or its interval is as narrow as was asked.
    """

    name: str
    value: str
    width: float
    goal: float
    unit: str
    is_known: bool

    @property
    def is_reached(self) -> bool:
        """True if the interval is as narrow as was asked for, and the data identify the part."""
        return self.is_known and not self.width > self.goal


class Progress(NamedTuple):
    """What is known at a time.

    Attributes:
        elapsed: since identification began [s]; left: until it is given up [s].
        parts: mass, centre of mass, inertia; empty while there is no estimate.
        status: why there is none.
    """

    elapsed: float
    left: float
    parts: tuple[Part, ...]
    status: str = ""

    @property
    def is_reached(self) -> bool:
        """True if all that was asked for is reached."""
        return bool(self.parts) and all(part.is_reached for part in self.parts)

    @property
    def is_known(self) -> bool:
        """True if mass and centre of mass are known, as well as was asked or for the verdict."""
        return bool(self.parts) and all(part.is_known for part in self.parts[:2])

    @property
    def missing(self) -> str:
        """What is not reached; empty where all is."""
        return self.status or ", ".join(part.name for part in self.parts if not part.is_reached)

    @property
    def motion(self) -> str:
        """What a person should do about it."""
        return TURN if self.parts and all(part.is_reached for part in self.parts[:2]) else TILT


def parts_of(found: Numbers, wanted: Wanted) -> tuple[Part, ...]:
    """Mass, centre of mass and inertia of an estimate."""
    report, width = found.report, CONFIDENCE_95 * found.sigma
    goal, moments = wanted.widths(report), report[[4, 7, 9]]
    # The verdict asks for more than somebody may, or than a sensor can give.
    known = (np.array(found.verdicts) != UNOBSERVED) | (width <= goal) & np.isfinite(goal)
    share = 100.0 / max(float(moments.mean()), 1e-12)
    com, inertia = (", ".join(f"{1e3 * v:{digits}}" for v in values)
                    for values, digits in ((report[1:4], ".1f"), (moments, ".3g")))
    return (
        Part("mass", f"{report[0]:.3f} kg", float(width[0]), float(goal[0]), "kg", bool(known[0])),
        Part("centre of mass", f"({com}) mm", 1e3 * float(width[1:4].max()), 1e3 * wanted.com,
             "mm", bool(known[1:4].all())),
        Part("inertia", f"({inertia}) g m²", share * float(width[4:].max()),
             100.0 * wanted.inertia or math.nan, "%", bool(known[4:].all()) or not wanted.inertia))
