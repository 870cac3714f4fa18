# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How near an estimate is to the accuracy that was asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...estimate import VERDICT_WORDS
from ...inertia import Array
from ..report.results import CONFIDENCE_95

_DECADES = 2.0  # of a bar: an interval so many powers of ten too wide is an empty one
_UNKNOWN = VERDICT_WORDS[0]
_IN_VAIN = 12  # motions that bring nothing, after which it is good enough, or given up
_PROGRESS = 0.95  # share of an interval that a motion must not leave
LONGEST_MOTION = 45.0  # s of motion, after which what is known is good enough


class Part(NamedTuple):
    """Mass, centre of mass or inertia.

    Attributes:
        name: of the part; value: in words, with units; width: half of its 95 % interval, and goal:
            what was asked for, in `unit`; NaN where there is none, or none was asked for.
        is_known: whether its verdict is not unobserved, or its interval is as narrow as was asked.
    """

    name: str
    value: str
    width: float
    goal: float
    unit: str
    is_known: bool

    @property
    def is_reached(self) -> bool:
        """Whether the interval is as narrow as was asked for, and the data tell the part."""
        return self.is_known and not self.width > self.goal

    @property
    def share(self) -> float:
        """Length of the bar, 0 to 1: the interval over the goal, on a logarithmic scale."""
        if self.is_reached:
            return 1.0
        if not (self.width > 0.0 and math.isfinite(self.width) and self.goal > 0.0):
            return 0.0
        return min(max(1.0 - math.log10(self.width / self.goal) / _DECADES, 0.0), 0.99)


@dataclass(frozen=True)
class Wanted:
    """The accuracy that was asked for: half widths of 95 % intervals.

    Attributes:
        mass: as share of the mass; com: of each coordinate [m].
        inertia: of each entry, as share of the mean principal moment; 0: not asked for.
        kilograms: of the mass [kg], in place of `mass`; 0: that holds.
    """

    mass: float
    com: float
    inertia: float = 0.0
    kilograms: float = 0.0

    def of(self, mass: float) -> Wanted:
        """The same for a payload of this mass [kg]."""
        if not self.kilograms or mass == 0.0:
            return self
        return Wanted(self.kilograms / abs(mass), self.com, self.inertia)


@dataclass(frozen=True)
class Progress:
    """What is known at a time.

    Attributes:
        elapsed: since identification began [s]; left: until it is given up [s].
        parts: mass, centre of mass, inertia; empty while there is no estimate.
        missing: what is missing, and which motion would tell it; empty where nothing is.
    """

    elapsed: float
    left: float
    parts: tuple[Part, ...]
    missing: str

    def to_json(self) -> dict[str, object]:
        """The fields of a JSON line."""
        return {"elapsed": round(self.elapsed, 2), "left": round(self.left, 2),
                "missing": self.missing,
                **{part.name: {"value": part.value, "width": _finite(part.width),
                               "goal": _finite(part.goal), "unit": part.unit,
                               "reached": part.is_reached} for part in self.parts}}


def parts_of(values: Sequence[float], sigma: Sequence[float], verdicts: Sequence[str],
             wanted: Wanted) -> tuple[Part, ...]:
    """Mass, centre of mass and inertia of a summary.

    Args:
        values, sigma: (10,) in the order of `PARAMETER_NAMES`, SI units; verdicts: (10,) words.
    """
    value, width = np.asarray(values), CONFIDENCE_95 * np.asarray(sigma)
    wanted = wanted.of(float(value[0]))
    known = [word != _UNKNOWN for word in verdicts]
    moment = float(value[[4, 7, 9]].sum()) / 3.0
    goal = np.repeat([wanted.mass * abs(float(value[0])), wanted.com, wanted.inertia * moment],
                     [1, 3, 6])
    # The verdict asks for more than somebody may, or than a sensor can tell.
    known = [told or reached for told, reached in zip(
        known, (width <= goal).tolist(), strict=True)]
    com = ", ".join(f"{1e3 * v:.1f}" for v in value[1:4])
    moments = ", ".join(f"{1e3 * value[k]:.3g}" for k in (4, 7, 9))
    return (
        Part("mass", f"{value[0]:.3f} kg", float(width[0]), wanted.mass * abs(float(value[0])),
             "kg", known[0]),
        Part("centre of mass", f"({com}) mm", 1e3 * float(width[1:4].max()), 1e3 * wanted.com,
             "mm", all(known[1:4])),
        Part("inertia", f"({moments}) g m²", 100.0 * float(width[4:].max()) / max(moment, 1e-12),
             100.0 * wanted.inertia if wanted.inertia else math.nan, "%", all(known[4:])))


def asked_of(parts: tuple[Part, ...], wanted: Wanted) -> tuple[Part, ...]:
    """The parts that were asked for; none where there is no estimate."""
    return parts[:3] if wanted.inertia else parts[:2]


def is_at_its_limit(shares: Sequence[Array]) -> bool:
    """Whether the last motions have brought nothing any more.

    Args:
        shares: intervals (k,) over the goal after each motion; empty while there is no estimate.
    """
    before = [share for share in shares[:-_IN_VAIN] if len(share)]
    after = [share for share in shares[-_IN_VAIN:] if len(share)]
    if not before or len(after) < _IN_VAIN:
        return False
    best = np.min(before, axis=0)
    return bool((np.min(after, axis=0) > _PROGRESS * best)[best > 1.0].all())


def _finite(value: float) -> float | None:
    """A number, or None where it is none, which JSON does not know."""
    return value if math.isfinite(value) else None
