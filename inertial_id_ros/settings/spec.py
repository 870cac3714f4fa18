# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What one setting is: its default, meaning, unit and limits, and how a value is checked; and what
to use in place of settings of earlier versions."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from difflib import SequenceMatcher
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from ..errors import InvalidSetting

_CONSTANT = "it is a constant now, as nobody had to change it; remove the line"
FORMER = {
    **dict.fromkeys((
        "kinematics.window", "kinematics.max_gap", "buffer.slice", "contact.enter", "contact.leave",
        "contact.hold", "change.steady", "change.fit", "estimator.dynamism_c1",
        "load.friction_drift", "compensation.blend_time", "compensation.filter_time",
        "apply.rest_speed", "apply.timeout", "lifecycle.bond_period", "black_box.size",
        "black_box.keep", "contact.longest", "estimator.min_duration", "lmi.epsilon",
        "manifold.max_iterations", "manifold.deadline", "pmd.regularization"), _CONSTANT),
    **{f"wrench.{channel}_{name}": f"give both, of a force and of a torque, in wrench.{name}"
       for name in ("noise", "bias_sd", "range", "accuracy", "drift")
       for channel in ("force", "torque")},
    **{f"accelerations.{name}": "give the three, of linear acceleration, angular acceleration and "
       "angular velocity, in accelerations.noise"
       for name in ("linear_noise", "angular_noise", "angular_velocity_noise")},
    **{f"shape.{name}": "give one factor for position, rotation and size in shape.error, where 1 "
       "stands for 0.01 m, 5 deg and 20 %, and 0 for an exact shape"
       for name in ("position_sd", "rotation_sd", "scale_sd")},
    "load.source": "load.robot alone says it: a robot file means joint torques, none a wrench; "
                   "remove the line",
    "entropic.selection": "entropic.gamma alone says it: 0 lets the data choose the weight, any "
                          "other is used as it is; remove the line",
    "pmd.whiten": "pmd.form says it: published takes N and N m as they are",
    "black_box.on_error": "an error always writes one; black_box.duration 0 switches all off",
    "black_box.report": "~/save always makes a report; remove the line",
    "compensation.max_age": "nothing is published beyond the age in compensation.stop_after; a "
                            "finding names an estimate that is older than two minutes",
    "compensation.when_old": "nothing is published beyond the age in compensation.stop_after, "
                             "where 0 means never",
    "tf.static_topic": "static transforms are read from the name in tf.topic with _static behind "
                       "it; remap that",
    "tare.force_drift": "it follows from wrench.drift; remove the line",
    "tare.torque_drift": "it follows from wrench.drift; remove the line",
    "apply.node": "name the node in apply.service",
    "apply.tool_name": "name the tool in apply.tool",
    "apply.schedule": "give the number in apply.tool, as text",
    "apply.max_com": "a centre of mass farther than 1 m from its frame is never sent; remove the "
                     "line",
    "apply.max_inertia": "nothing bounds the inertia but the mass, load.rated_payload; remove the "
                         "line",
    "apply.max_mass": "give the largest mass in load.rated_payload, which may be set while the "
                      "node runs",
    "dynamic_joint_states.payload": "it is 'payload', with the prefix that the sensor has in "
                                    "dynamic_joint_states.sensor; remove the line",
    "apply.require_idle": "a Franka is always told its payload while idle; remove the line",
}


Vector = tuple[float, ...]
_SHOWN = 200  # characters
_LARGEST = 2**63  # of a whole number; larger ones are mistakes, and too large for a float


class Spec(NamedTuple):
    """What one setting means, and what its value must be.

    Attributes:
        low, high: inclusive limits; above: exclusive lower limit.
        choices: the words allowed; group: of entry points, whose names are allowed as well.
        lengths: how many numbers a list may have.
        runtime: whether it may change while the node runs.
    """

    description: str
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    above: float = -math.inf
    choices: tuple[str, ...] = ()
    group: str = ""
    lengths: tuple[int, ...] = ()
    runtime: bool = False


def setting(default: Any, description: str, **limits: Any) -> Any:
    """A field of a settings class: default, meaning, and the limits of `Spec`."""
    return field(default=default, metadata={"spec": Spec(description, **limits)})


def iter_group(group: Any, prefix: str = "") -> Iterator[tuple[str, Any, Spec]]:
    """Name after a prefix, value and spec of every setting of a settings class, in order."""
    for item in dataclasses.fields(group):
        yield prefix + item.name, getattr(group, item.name), item.metadata["spec"]


def unknown_setting(name: str, known: Collection[str]) -> InvalidSetting:
    """The error for a name that is none of the known ones: what to use in place of one of earlier
    versions, or the nearest, and where to look."""
    if name in FORMER:
        return InvalidSetting(f"{name} is no setting any more: {FORMER[name]}")
    name = name[:_SHOWN]

    def likeness(other: str) -> float:
        return max(SequenceMatcher(None, name, n).ratio() for n in (other, other.split(".")[-1]))

    in_group = [n for n in known if n.startswith(name.split(".")[0] + ".")]
    others = in_group or dict.fromkeys(n.split(".")[0] for n in known)
    nearest = max(in_group or known, key=likeness)
    return InvalidSetting(f"unknown setting '{name}'; nearest: {nearest}; known"
                          f"{'' if in_group else ' groups'}: {', '.join(others)}")


def coerce(name: str, value: Any, default: Any) -> Any:
    """The value in the setting's type (raises InvalidSetting where it does not fit: no guesses)."""
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        raise InvalidSetting(f"{name} is {_shorten(value)}; it must be true or false")
    if isinstance(default, int):
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST:
            return value
        raise InvalidSetting(f"{name} is {_shorten(value)}; it must be a whole number")
    if isinstance(default, float):
        return _to_number(name, value)
    if isinstance(default, str):
        if isinstance(value, str):
            return value
        raise InvalidSetting(f"{name} is {_shorten(value)}; it must be text")
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__iter__"):
        raise InvalidSetting(f"{name} is {_shorten(value)}; it must be a list of numbers")
    return tuple(_to_number(name, v) for v in value)


def _shorten(value: Any) -> str:
    """The value in a message, which stays readable whatever it is."""
    words = repr(value)
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}..."


def _to_number(name: str, value: Any) -> float:
    """The value as a float (raises InvalidSetting)."""
    if isinstance(value, float) or (
            isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST):
        return float(value)
    raise InvalidSetting(f"{name} is {_shorten(value)}; it must be a number")


def check(name: str, value: Any, spec: Spec) -> None:
    """Raises InvalidSetting where a value is not what its spec allows."""
    if spec.choices and value not in spec.choices and value not in _names_in(spec.group):
        raise InvalidSetting(f"{name} is {_shorten(value)}; allowed: {allowed_range(spec)}")
    if spec.lengths and len(value) not in spec.lengths:
        allowed = " or ".join(str(n) for n in spec.lengths)
        raise InvalidSetting(f"{name} has {len(value)} numbers; it needs {allowed}")
    numbers = value if isinstance(value, tuple) else (value,)
    for x in numbers:
        if isinstance(x, str | bool):
            continue
        if not math.isfinite(x) or x < spec.low or x > spec.high or x <= spec.above:
            raise InvalidSetting(f"{name} is {x:g}{_unit(spec)}; allowed: {allowed_range(spec)}")


def _names_in(group: str) -> set[str]:
    """Names that installed packages have in a group of entry points."""
    return {entry.name for entry in entry_points(group=group)} if group else set()


def _unit(spec: Spec) -> str:
    """The unit with a space before it, or nothing."""
    return f" {spec.unit}" if spec.unit else ""


def allowed_range(spec: Spec) -> str:
    """The allowed range in words, with its unit."""
    if spec.choices:
        others = ["or what another package brings"] if spec.group else []
        return ", ".join([*spec.choices, *others])
    parts = []
    if math.isfinite(spec.above):
        parts.append(f"above {spec.above:g}")
    if math.isfinite(spec.low):
        parts.append(f"at least {spec.low:g}")
    if math.isfinite(spec.high):
        parts.append(f"at most {spec.high:g}")
    return (" and ".join(parts) + _unit(spec) if parts
            else "finite" + (f", in {spec.unit}" if spec.unit else ""))
