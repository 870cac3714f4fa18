# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The accuracy that a client asks for, and what an estimate still lacks, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np

from ..errors import InvalidData
from ..estimate import NOTHING_CARRIED, UNOBSERVED, Estimate, Outcome
from ..inertia import PARAMETER_NAMES
from ..settings import Settings
from .verdict import summarise_verdict

_MASS, _COM, _INERTIA = slice(0, 1), slice(1, 4), slice(4, 10)
_TILT = "tilt the sensor by 20 to 30 degrees about two axes"


@dataclass(frozen=True)
class AccuracyGoal:
    """Largest half widths of 95 % intervals (two standard deviations) that a client accepts.

    Attributes:
        mass: [kg]; com: of each coordinate [m]; zero: the threshold of the verdict.
        inertia: of each entry, as share of the mean principal moment; zero: not asked for.

    Raises:
        InvalidData: a value is negative or not finite.
    """

    mass: float = 0.0
    com: float = 0.0
    inertia: float = 0.0

    def __post_init__(self) -> None:
        """Refuse values that are negative or not finite."""
        for item in fields(self):
            value = getattr(self, item.name)
            if not (math.isfinite(value) and value >= 0.0):
                raise InvalidData(f"{item.name}_accuracy is {value:g}; it must be finite and not "
                                  "negative")

    def require_reachable(self, settings: Settings) -> None:
        """Refuse an accuracy that no motion reaches (raises InvalidData): the place of the sensor's
        origin is known so well, and the centre of mass no better."""
        known = settings.alignment
        if settings.load.source == "joint_torque" or known.estimate_position:
            return
        least = 2.0 * known.position_sd
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
        if outcome.carries_nothing:
            return _lack_text(NOTHING_CARRIED, outcome, _MASS, 2.0 * float(outcome.sigma[0]),
                              self.mass, "{:.3g} kg")
        mass, com, inertia = summarise_verdict(outcome.verdict).split("; ")
        width, moment = 2.0 * outcome.sigma, _mean_moment(outcome)
        parts = [
            _lack_text(mass, outcome, _MASS, float(width[_MASS].max()), self.mass, "{:.3g} kg"),
            _lack_text(com, outcome, _COM, 1e3 * float(width[_COM].max()), 1e3 * self.com,
                       "{:.3g} mm")]
        hints = _hints(parts, outcome.limits)
        if self.inertia > 0.0:
            share = width[_INERTIA] / moment
            parts.append(_lack_text(inertia, outcome, _INERTIA, 100.0 * float(share.max()),
                                    100.0 * self.inertia, "{:.3g} % of the mean moment"))
            lacking = (share > self.inertia) | (np.array(outcome.verdict[_INERTIA]) == UNOBSERVED)
            hints += _inertia_hints(lacking, outcome.limits)
        return "; ".join([p for p in parts if p] + hints)

    def describe_reached(self, estimate: Estimate) -> str:
        """How accurate an estimate is in what is asked for, in words."""
        width = 2.0 * estimate.sigma
        if estimate.carries_nothing:
            return f"{NOTHING_CARRIED}: mass {estimate.body.mass:.3f} ± {width[0]:.2g} kg (95 %)"
        text = (f"mass {estimate.body.mass:.3f} ± {width[0]:.2g} kg, centre of mass "
                f"± {1e3 * width[_COM].max():.2g} mm")
        if self.inertia > 0.0:
            share = 100.0 * width[_INERTIA].max() / _mean_moment(estimate)
            text += f", inertia ± {share:.2g} % of the mean moment"
        return f"{text} (95 %)"


def name_motions(estimate: Estimate) -> list[str]:
    """The motions that would tell what is unobserved, or what limits it where none does."""
    unobserved = np.array(estimate.verdict) == UNOBSERVED
    lacks = ["lacks" if unobserved[group].any() else "" for group in (_MASS, _COM)]
    hints = _hints(lacks, estimate.limits) + _inertia_hints(unobserved[_INERTIA], estimate.limits)
    return list(dict.fromkeys(hints))


def _mean_moment(estimate: Estimate) -> float:
    """Mean principal moment of inertia [kg m^2]."""
    return float(np.trace(estimate.body.inertia_com)) / 3.0


def _lack_text(verdict: str, estimate: Estimate, group: slice, width: float, wanted: float,
               unit: str) -> str:
    """What a group of parameters lacks, in the words of its verdict; empty where nothing: half its
    95 % interval is at most as wide as wanted."""
    if UNOBSERVED in estimate.verdict[group]:
        return verdict
    if 0.0 < wanted < width:
        return f"{verdict} to {unit.format(width)}, where {unit.format(wanted)} is wanted"
    return ""


def _hints(lacks: list[str], limits: tuple[str, ...]) -> list[str]:
    """What mends what mass and centre of mass lack."""
    limited = [limit for lack, limit in zip(lacks, limits, strict=False) if lack]
    hints = [_limit_hint(limit) for limit in dict.fromkeys(limited) if limit]
    return hints + ([_TILT] if "" in limited else [])


def _limit_hint(limit: str) -> str:
    """That more of this motion does not help, and why; empty where it does."""
    return f"more motion does not help: {limit} limits it" if limit else ""


def _inertia_hints(lacking: np.ndarray, limits: tuple[str, ...]) -> list[str]:
    """What mends what the tensor lacks in its entries (6,)."""
    return [_limit_hint(limits[2]) or _rotation_hint(lacking)] if lacking.any() else []


def _rotation_hint(lacking: np.ndarray) -> str:
    """Which rotations identify the lacking entries (6,) of the tensor: those about its two axes."""
    names = [name for name, lacks in zip(PARAMETER_NAMES[_INERTIA], lacking, strict=True) if lacks]
    axes = sorted({letter for name in names for letter in name[1:]})
    return f"turn faster, to and fro, about {', '.join(axes)} of the sensor"
