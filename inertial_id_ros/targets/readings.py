# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a target tells of the payload that it has, and how that differs from what was sent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..inertia import Array, six_from_tensor

Values = Mapping[str, Any]  # numbers, or lists of numbers, by name
_DRIVER = {"mass": (1e-3, "kg"), "com": (1e-4, "m"), "inertia": (1e-4, "kg m^2")}
_RELATIVE = 1e-5  # of a number that went through 32 bits


class Reading(NamedTuple):
    """What a target tells: numbers by the name of a quantity or parameter.

    Attributes:
        tolerance: how much a number may differ from what was sent, by name; others must be equal
            but for rounding.
    """

    values: Values
    tolerance: Mapping[str, tuple[float, str]]

    def of(self, names: Iterable[str]) -> Reading:
        """The part of the reading that has these names."""
        return self._replace(values={n: self.values[n] for n in names if n in self.values})


def body_reading(mass: float, com: list[float], inertia: Array | None) -> Reading:
    """The reading of a driver: mass [kg], com x, y, z [m], inertia (3, 3) [kg m^2] about it."""
    values: dict[str, Any] = {"mass": mass, "com": [float(x) for x in com]}
    if inertia is not None:
        values["inertia"] = six_from_tensor(inertia).tolist()
    return Reading(values, _DRIVER)


def parameter_reading(values: Values) -> Reading:
    """The reading of a node: values of its parameters."""
    return Reading(values, {})


def difference(sent: Reading, told: Reading) -> str:
    """How what a target tells differs from what was sent, in words; empty where it does not."""
    for name, value in sent.values.items():
        if name not in told.values:
            return f"{name} is not told"
        tolerance, unit = sent.tolerance.get(name, (0.0, ""))
        wanted, got = _numbers(value), _numbers(told.values[name])
        if len(wanted) != len(got) or not all(
                abs(a - b) <= tolerance + _RELATIVE * abs(a)
                for a, b in zip(wanted, got, strict=True)):
            return f"{name} is {_words(got)}{unit and f' {unit}'}, and {_words(wanted)} was sent"
    return ""


def _numbers(value: Any) -> list[float]:
    """A value as a list of numbers; one that is none is NaN, which equals nothing."""
    values = value if isinstance(value, (list, tuple)) else [value]
    return [float(v) if isinstance(v, (int, float)) else math.nan for v in values]


def _words(numbers: list[float]) -> str:
    """Numbers in words."""
    words = ", ".join(f"{x:.6g}" for x in numbers)
    return words if len(numbers) == 1 else f"[{words}]"
