# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The verdict in words, the accuracy that a client asks for, and the motion that an estimate lacks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np

from ..errors import InvalidData
from ..estimate import (
    NOTHING_CARRIED,
    UNOBSERVED,
    VERDICT_WORDS,
    Estimate,
    Outcome,
    ParameterVerdict,
)
from ..inertia import PARAMETER_NAMES
from ..settings import Settings

MASS, COM, INERTIA = slice(0, 1), slice(1, 4), slice(4, 10)  # of the report
GROUPS = (("mass", MASS), ("centre of mass", COM), ("inertia", INERTIA))
TILT = "tilt the sensor by 20 to 30 degrees about two axes"


def summarise(verdict: tuple[ParameterVerdict, ...]) -> str:
    """The verdict (10,) in one sentence: mass, centre of mass, inertia."""
    return "; ".join(_describe_group(verdict, name, group) for name, group in GROUPS)


def _describe_group(verdict: tuple[ParameterVerdict, ...], name: str, group: slice) -> str:
    worst = min(verdict[group])
    if worst != UNOBSERVED:
        return f"{name} is {VERDICT_WORDS[worst]}"
    lacking = [n for n, v in zip(PARAMETER_NAMES[group], verdict[group], strict=True) if v == worst]
    some = f" in {', '.join(lacking)}" if len(lacking) < len(verdict[group]) else ""
    return f"{name} is not identified by this motion{some}"


@dataclass(frozen=True)
class AccuracyGoal:
    """Largest half widths of 95 % intervals (two standard deviations) that a client accepts.

    Attributes:
        mass: [kg]; com: of each coordinate [m]; zero: the limit of the verdict.
        inertia: of each entry, as share of the mean principal moment; zero: not asked for.

    Raises:
        InvalidData: a value is negative or not finite.
    """

    mass: float = 0.0
    com: float = 0.0
    inertia: float = 0.0

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not (math.isfinite(value) and value >= 0.0):
                raise InvalidData(f"{item.name}_accuracy is {value:g}; it must be finite and not "
                                  "negative")

    def require_reachable(self, settings: Settings) -> None:
        """Refuse an accuracy that no motion reaches (raises InvalidData): the centre of mass is
        known no better than the origin of the sensor."""
        known = settings.alignment
        least = 2.0 * known.position_sd
        if settings.load.source == "joint_torque" or known.estimate_position:
            return
        if 0.0 < self.com < least:
            raise InvalidData(
                f"com_accuracy is {1e3 * self.com:.3g} mm; no motion gives less than "
                f"{1e3 * least:.3g} mm, since alignment.position_sd says that the origin of the "
                f"sensor is known to {1e3 * known.position_sd:.3g} mm: set it to what the drawing "
                "of the mounting allows, or set alignment.estimate_position")

    def describe_missing(self, outcome: Outcome) -> str:
        """What an outcome lacks, and which motion provides it; empty where it lacks nothing."""
        if not isinstance(outcome, Estimate):
            return outcome.reason
        if outcome.stale:
            return "new data: the estimate is held"
        if outcome.doubted:
            return outcome.doubted
        width = 2.0 * outcome.sigma
        if outcome.carries_nothing:
            return _lack(outcome, MASS, NOTHING_CARRIED, width[0], self.mass, "{:.3g} kg")
        mass, com, inertia = summarise(outcome.verdict).split("; ")
        parts = [_lack(outcome, MASS, mass, width[0], self.mass, "{:.3g} kg"),
                 _lack(outcome, COM, com, 1e3 * width[COM].max(), 1e3 * self.com, "{:.3g} mm")]
        hints = [TILT] if any(parts) else []
        if self.inertia > 0.0:
            share = width[INERTIA] / _mean_moment(outcome)
            parts.append(_lack(outcome, INERTIA, inertia, 100.0 * share.max(),
                               100.0 * self.inertia, "{:.3g} % of the mean moment"))
            hints += _turns((share > self.inertia) | _unobserved(outcome)[INERTIA])
        return "; ".join([p for p in parts if p] + hints)

    def describe_reached(self, estimate: Estimate) -> str:
        """How accurate an estimate is in what is asked for, in words."""
        width = 2.0 * estimate.sigma
        if estimate.carries_nothing:
            return f"{NOTHING_CARRIED}: mass {estimate.body.mass:.3f} ± {width[0]:.2g} kg (95 %)"
        text = (f"mass {estimate.body.mass:.3f} ± {width[0]:.2g} kg, centre of mass "
                f"± {1e3 * width[COM].max():.2g} mm")
        if self.inertia > 0.0:
            share = 100.0 * width[INERTIA].max() / _mean_moment(estimate)
            text += f", inertia ± {share:.2g} % of the mean moment"
        return f"{text} (95 %)"


def name_motions(estimate: Estimate) -> list[str]:
    """The motions that identify what is unobserved."""
    unobserved = _unobserved(estimate)
    return ([TILT] if unobserved[:4].any() else []) + _turns(unobserved[INERTIA])


def _unobserved(estimate: Estimate) -> np.ndarray:
    return np.array(estimate.verdict) == UNOBSERVED


def _mean_moment(estimate: Estimate) -> float:
    """Mean principal moment of inertia [kg m^2]."""
    return float(np.trace(estimate.body.inertia_com)) / 3.0


def _lack(estimate: Estimate, group: slice, verdict: str, width: float, wanted: float,
          unit: str) -> str:
    """What a group of parameters lacks, in the words of its verdict; empty where nothing."""
    if UNOBSERVED in estimate.verdict[group]:
        return verdict
    if 0.0 < wanted < width:
        return f"{verdict} to {unit.format(width)}, where {unit.format(wanted)} is wanted"
    return ""


def _turns(lacking: np.ndarray) -> list[str]:
    """Rotations that identify entries (6,) of the tensor: those about its two axes."""
    names = [name for name, lacks in zip(PARAMETER_NAMES[INERTIA], lacking, strict=True) if lacks]
    axes = sorted({letter for name in names for letter in name[1:]})
    return [f"turn faster, to and fro, about {', '.join(axes)} of the sensor"] if axes else []
