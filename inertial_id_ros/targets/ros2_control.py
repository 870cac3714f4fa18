# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Controllers of ros2_control, which take the payload as parameters: no driver package is needed.

None of them takes an inertia. Both that compensate gravity turn what is given to them about the
origin of the sensor, so that the centre of mass is told from there, along the axes of the frame
that they name, wherever that frame has its origin.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..errors import InvalidData, InvalidSetting
from ..settings import Settings
from .target import (
    Gate,
    ParameterCall,
    Reading,
    Seen,
    Sources,
    Target,
    TargetFrame,
    TargetPayload,
    TargetPlan,
    parameter_reading,
)

_OFFSETS = tuple(f"offset.{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz")
_MULTIPLIERS = tuple(name.replace("offset", "multiplier") for name in _OFFSETS)
_NO_INERTIA = "the inertia: this filter removes the weight at rest only"
_NO_BIAS = "the bias of the sensor: tare it, or apply to force_torque_sensor_broadcaster as well"
_MASS, _COM = "tool.mass", "tool.CoG"
_FILTERS = "sensor_filter_chain"
_POSITION, _FORCE = "gravity_compensation.CoG.pos", "gravity_compensation.CoG.force"
_FRAME, _LIVE = "gravity_compensation.frame.id", "enable_parameter_update_without_reactivation"


class BroadcasterOffsets(Target):
    """The offsets of a force_torque_sensor_broadcaster, which take the bias away: it publishes
    ``(raw + offset) multiplier``."""

    takes_tool = False
    needs_limits = False
    changes_wrench = True

    def sources(self, settings: Settings) -> Sources:
        return Sources(node=_broadcaster(settings), parameters=("offset", "multiplier"))

    def placement(self, settings: Settings, seen: Seen) -> TargetFrame:
        return TargetFrame("")

    def plan(self, payload: TargetPayload, settings: Settings, seen: Seen) -> TargetPlan:
        node = _broadcaster(settings)
        if payload.bias is None:
            raise InvalidData("a saved estimate does not tell the bias that the sensor has now; "
                              "apply the newest one")
        before = [_number(node, seen, name, 0.0) for name in _OFFSETS]
        gains = [_number(node, seen, name, 1.0) for name in _MULTIPLIERS]
        if not all(gains):
            raise InvalidData(f"a multiplier of node '{node}' is 0, so that it publishes nothing")
        values = {name: offset - float(bias) / gain for name, offset, bias, gain in zip(
            _OFFSETS, before, payload.bias, gains, strict=True)}
        plan = _plan(node, values, seen, ("mass, centre of mass and inertia: this node takes "
                                          "offsets only",))
        force, torque = payload.bias[:3], payload.bias[3:]
        return replace(plan, what=f"offsets that take away a bias of {_in_words(force)} N and "
                       f"{_in_words(torque)} N m")

    def read(self, settings: Settings, seen: Seen) -> Reading | None:
        return parameter_reading(seen.parameters)


class GravityFilter(Target):
    """The gravity compensation of control_toolbox in the filter chain of a broadcaster."""

    takes_tool = True
    needs_limits = False
    changes_wrench = False

    def sources(self, settings: Settings) -> Sources:
        return Sources(node=_broadcaster(settings), parameters=(_FILTERS,))

    def placement(self, settings: Settings, seen: Seen) -> TargetFrame:
        node = _broadcaster(settings)
        name = f"{_find_filter(node, seen)}sensor_frame"
        return TargetFrame(settings.apply.frame or _frame(node, seen, name), axes_only=True)

    def plan(self, payload: TargetPayload, settings: Settings, seen: Seen) -> TargetPlan:
        node = _broadcaster(settings)
        prefix = _find_filter(node, seen)
        values = {prefix + _MASS: payload.mass, prefix + _COM: payload.com}
        return _plan(node, values, seen, (_NO_INERTIA, _NO_BIAS))

    def ready(self, settings: Settings, seen: Seen) -> tuple[Gate, ...]:
        filtered = Gate("wrench", f"wrench.topic is '{settings.wrench.topic}', from which this "
                        "filter removes the payload; identify from the broadcaster's own wrench"
                        if settings.wrench.topic.endswith("wrench_filtered") else "")
        return _convention(settings), filtered

    def read(self, settings: Settings, seen: Seen) -> Reading | None:
        return parameter_reading(seen.parameters)


class AdmittanceController(Target):
    """The gravity compensation of the admittance_controller, which takes a weight in newtons."""

    takes_tool = True
    needs_limits = False
    changes_wrench = False

    def sources(self, settings: Settings) -> Sources:
        return Sources(node=self._node(settings), parameters=("gravity_compensation", _LIVE))

    def placement(self, settings: Settings, seen: Seen) -> TargetFrame:
        return TargetFrame(settings.apply.frame or _frame(self._node(settings), seen, _FRAME),
                           axes_only=True)

    def plan(self, payload: TargetPayload, settings: Settings, seen: Seen) -> TargetPlan:
        values = {_POSITION: payload.com, _FORCE: payload.mass * settings.gravity.acceleration}
        live = seen.parameters.get(_LIVE) is not False
        notes = () if live else (f"{_LIVE} is false: it takes effect when the controller is "
                                 "activated again",)
        return _plan(self._node(settings), values, seen, (_NO_INERTIA, _NO_BIAS), notes)

    def ready(self, settings: Settings, seen: Seen) -> tuple[Gate, ...]:
        return (_convention(settings),)

    def read(self, settings: Settings, seen: Seen) -> Reading | None:
        return parameter_reading(seen.parameters)

    @staticmethod
    def _node(settings: Settings) -> str:
        return settings.apply.node or "admittance_controller"


def _broadcaster(settings: Settings) -> str:
    """Name of the broadcaster: that whose topic the wrench is, unless another is named."""
    name = settings.apply.node or posixpath.dirname(settings.wrench.topic)
    if not name.strip("/"):
        raise InvalidSetting("apply.service is empty, and wrench.topic is "
                             f"'{settings.wrench.topic}', which is no topic of a "
                             "force_torque_sensor_broadcaster; name its node in apply.service")
    return name


def _find_filter(node: str, seen: Seen) -> str:
    """How the parameters of the gravity filter of a node begin."""
    found = sorted(name.removesuffix(_MASS) for name in seen.parameters
                   if name.startswith(_FILTERS) and name.endswith("." + _MASS))
    if len(found) != 1:
        raise InvalidData(f"node '{node}' has {len(found) or 'no'} parameter"
                          f"{'s' if found else ''} {_FILTERS}.*.{_MASS}: it must run one gravity "
                          "compensation filter")
    return found[0]


def _convention(settings: Settings) -> Gate:
    """Both filters subtract m g from a reading of +m g."""
    given = settings.wrench.convention
    return Gate("convention", "" if given == "on_sensor" else
                f"wrench.convention is '{given}': the sensor reads -m g, and this filter expects "
                "+m g")


def _in_words(vector: Iterable[float]) -> str:
    return f"[{', '.join(f'{value:.3g}' for value in vector)}]"


def _plan(node: str, values: dict[str, Any], seen: Seen, left_out: tuple[str, ...],
          notes: tuple[str, ...] = ()) -> TargetPlan:
    """The plan that sets these parameters (raises InvalidData where one cannot be set)."""
    for name in values:
        if name not in seen.parameters:
            raise InvalidData(f"node '{node}' has no parameter '{name}'")
        if name in seen.read_only:
            raise InvalidData(f"parameter '{name}' of node '{node}' is read-only")
    before = {name: seen.parameters[name] for name in values}
    undo = None if None in before.values() else (ParameterCall(node, before),)
    return TargetPlan((ParameterCall(node, values),), parameter_reading(values), undo, left_out,
                      notes=notes)


def _number(node: str, seen: Seen, name: str, default: float) -> float:
    """A number among the parameters of a node; one that was never set has its default."""
    if name not in seen.parameters:
        raise InvalidData(f"node '{node}' has no parameter '{name}'")
    value = seen.parameters[name]
    return default if value is None else float(value)


def _frame(node: str, seen: Seen, name: str) -> str:
    """A frame among the parameters of a node (raises InvalidData where it names none)."""
    value = seen.parameters.get(name)
    if not isinstance(value, str) or not value:
        raise InvalidData(f"parameter '{name}' of node '{node}' names no frame; set apply.frame")
    return value
