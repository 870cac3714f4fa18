# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What one setting is: its default, meaning, unit and limits, and how a value is checked."""

import dataclasses
import math
import reprlib
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from ..errors import InvalidSetting

Vector = tuple[float, ...]


class Spec(NamedTuple):
    """What one setting means, and what its value must be.

    Attributes:
        low, high: inclusive limits; above: exclusive lower limit.
        choices: the words allowed; length: how many numbers a list has; 0: any number.
        runtime: True if it may change while the node runs.
    """

    description: str
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    above: float = -math.inf
    choices: tuple[str, ...] = ()
    length: int = 0
    runtime: bool = False


# What several settings have in common: a small angle; a number for each force and torque channel.
ANGLE: dict[str, Any] = {"unit": "deg", "low": 0.0, "high": 10.0, "runtime": True}
PAIR: dict[str, Any] = {"unit": "N, N m", "length": 2}


def setting(default: Any, description: str, **limits: Any) -> Any:
    """A field of a settings class: default, meaning, and the limits of `Spec`."""
    return dataclasses.field(default=default, metadata={"spec": Spec(description, **limits)})


def iter_group(group: Any, prefix: str = "") -> Iterator[tuple[str, Any, Spec]]:
    """Name after a prefix, value and spec of every setting of a settings class, in order."""
    yield from ((prefix + item.name, getattr(group, item.name), item.metadata["spec"])
                for item in dataclasses.fields(group) if item.metadata)


def unknown_setting(name: str, known: Collection[str]) -> InvalidSetting:
    """The error for a name that is none of the known ones: the nearest, and where to look."""
    name = name[:200]  # it may be anything that a file holds
    in_group = [n for n in known if n.startswith(name.split(".")[0] + ".")]
    nearest = max(in_group or known, key=lambda other: max(
        SequenceMatcher(None, name, n).ratio() for n in (other, other.split(".")[-1])))
    others = in_group or dict.fromkeys(n.split(".")[0] for n in known)
    return InvalidSetting(f"unknown setting '{name}'; nearest: {nearest}; known"
                          f"{'' if in_group else ' groups'}: {', '.join(others)}")


def coerce(name: str, value: Any, default: Any) -> Any:
    """The value in the setting's type (raises InvalidSetting where it does not fit: no guesses)."""
    kind = type(default)
    if kind is tuple and isinstance(value, Iterable) and not isinstance(
            value, str | bytes | Mapping):
        return tuple(coerce(name, number, 0.0) for number in value)
    if kind is float and (isinstance(value, float) or (
            type(value) is int and abs(value) <= sys.maxsize)):  # larger ones are mistakes
        return float(value)
    if type(value) is kind:
        return value
    words = {bool: "true or false", str: "text", float: "a number",
             tuple: "a list of numbers"}[kind]
    raise InvalidSetting(f"{name} is {reprlib.repr(value)}; it must be {words}")


def check(name: str, value: Any, spec: Spec) -> None:
    """Raises InvalidSetting where a value is not what its spec allows."""
    if spec.choices and value not in spec.choices:
        raise InvalidSetting(f"{name} is {reprlib.repr(value)}; allowed: {allowed_range(spec)}")
    if spec.length and len(value) != spec.length:
        raise InvalidSetting(f"{name} has {len(value)} numbers; it needs {spec.length}")
    for x in value if isinstance(value, tuple) else (value,):
        if not isinstance(x, str | bool) and not (
                math.isfinite(x) and spec.above < x and spec.low <= x <= spec.high):
            raise InvalidSetting(f"{name} is {x:g} {spec.unit}".rstrip()
                                 + f"; allowed: {allowed_range(spec)}")


def allowed_range(spec: Spec) -> str:
    """The allowed range in words, with its unit."""
    if spec.choices:
        return ", ".join(spec.choices)
    bounds = ("above", spec.above), ("at least", spec.low), ("at most", spec.high)
    parts = [f"{words} {bound:g}" for words, bound in bounds if math.isfinite(bound)]
    words = " and ".join(parts) or ("finite, in" if spec.unit else "finite")
    return f"{words} {spec.unit}".rstrip()
