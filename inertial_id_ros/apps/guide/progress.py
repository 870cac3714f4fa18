# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How near an estimate is to the accuracy that was asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...estimate import UNOBSERVED
from ...inertia import Array
from ...settings import Settings
from ..report.diagnosis import TILT, TURN
from ..report.results import CONFIDENCE_95

MARGIN = 1.25  # of the accuracy that no motion surpasses
LONGEST_MOTION = 45.0  # s of motion, after which what is known is good enough


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


@dataclass(frozen=True)
class Wanted:
    """The accuracy that was asked for: half widths of 95 % intervals.

    Attributes:
        mass: as share of the mass; com: of each coordinate [m].
        inertia: of each entry, as share of the mean principal moment; 0: not asked for.
    """

    mass: float
    com: float
    inertia: float = 0.0

    def reachable(self, settings: Settings) -> Wanted:
        """The same, or what the mounting of the sensor allows."""
        least = MARGIN * CONFIDENCE_95 * settings.alignment.position_sd
        return Wanted(self.mass, max(self.com, least), self.inertia)

    def widths(self, report: Array) -> Array:
        """Half widths (10,) for a payload (10,); infinite for an inertia that is not asked for."""
        moment = abs(float(report[[4, 7, 9]].sum())) / 3.0
        return np.repeat([self.mass * abs(float(report[0])), self.com,
                          self.inertia * moment or np.inf], [1, 3, 6])


@dataclass(frozen=True)
class Progress:
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

    def to_json(self) -> dict[str, object]:
        """The fields of a JSON line; numbers that are none are null."""
        def number(value: float) -> float | None:
            return value if math.isfinite(value) else None

        return {"elapsed": round(self.elapsed, 2), "left": round(self.left, 2),
                "missing": self.missing,
                **{part.name: {"value": part.value, "width": number(part.width),
                               "goal": number(part.goal), "unit": part.unit,
                               "reached": part.is_reached} for part in self.parts}}


def parts_of(report: Array, sigma: Array, verdicts: Sequence[int], wanted: Wanted
             ) -> tuple[Part, ...]:
    """Mass, centre of mass and inertia of an estimate (10,), sigma (10,), verdicts (10,)."""
    width, goal = CONFIDENCE_95 * sigma, wanted.widths(report)
    # The verdict asks for more than somebody may, or than a sensor can give.
    known = (np.array(verdicts) != UNOBSERVED) | (width <= goal) & np.isfinite(goal)
    moments = report[[4, 7, 9]]
    mean = max(float(moments.sum()) / 3.0, 1e-12)
    com = ", ".join(f"{1e3 * v:.1f}" for v in report[1:4])
    return (
        Part("mass", f"{report[0]:.3f} kg", float(width[0]), float(goal[0]), "kg", bool(known[0])),
        Part("centre of mass", f"({com}) mm", 1e3 * float(width[1:4].max()), 1e3 * wanted.com,
             "mm", bool(known[1:4].all())),
        Part("inertia", f"({', '.join(f'{1e3 * v:.3g}' for v in moments)}) g m²",
             100.0 * float(width[4:].max()) / mean, 100.0 * wanted.inertia or math.nan, "%",
             bool(known[4:].all()) or not wanted.inertia))
