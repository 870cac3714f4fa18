# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Controllers of ros2_control, which take the payload as parameters: no driver package is needed.

None of them takes an inertia. Both that compensate gravity turn what is given to them about the
origin of the sensor, so that the centre of mass is told from there, along the axes of the frame
that they name, wherever that frame has its origin.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from ..errors import InvalidData, InvalidSetting
from ..model.newton_euler import GRAVITY
from .payload import TargetPayload
from .target import PayloadFrame, Plan, Target, Values

OFFSETS = tuple(f"offset.{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz")
MULTIPLIERS = tuple(name.replace("offset", "multiplier") for name in OFFSETS)
NO_INERTIA = "the inertia: this filter removes the weight at rest only"
NO_BIAS = "the bias of the sensor: tare it, or apply to force_torque_sensor_broadcaster as well"
MASS, COM, FILTERS = "tool.mass", "tool.CoG", "sensor_filter_chain"
POSITION, FORCE = "gravity_compensation.CoG.pos", "gravity_compensation.CoG.force"
FRAME, LIVE = "gravity_compensation.frame.id", "enable_parameter_update_without_reactivation"


class ParameterTarget(Target):
    """A node that takes values as parameters.

    Attributes:
        prefixes: of the parameters that are read.
    """

    prefixes: tuple[str, ...] = ()

    @property
    def node(self) -> str:
        """Full name of the node: the broadcaster whose topic the wrench is, unless it is named."""
        name = self.settings.apply.service or posixpath.dirname(self.settings.wrench.topic)
        if not name.strip("/"):
            raise InvalidSetting("apply.service is empty, and wrench.topic is "
                                 f"'{self.settings.wrench.topic}', which is no topic of a "
                                 "force_torque_sensor_broadcaster; name its node in apply.service")
        return self.robot.resolve(name)

    @cached_property
    def _first(self) -> Values:
        return self.read()

    def read(self) -> Values:
        return self.robot.parameters(self.node, list(self.prefixes))

    def undo_of(self, before: Values | None, values: Values) -> Values | None:
        had = {name: (before or {}).get(name) for name in values}
        return None if None in had.values() else had

    def send(self, values: Values) -> None:
        self.robot.set_parameters(self.node, values)

    def _checked(self, values: dict[str, Any]) -> dict[str, Any]:
        """Values that can be set (raises InvalidData)."""
        locked = self.robot.read_only(self.node, [n for n in values if n in self._first])
        for name in values:
            if name not in self._first:
                raise InvalidData(f"node '{self.node}' has no parameter '{name}'")
            if name in locked:
                raise InvalidData(f"parameter '{name}' of node '{self.node}' is read-only")
        return values

    def _frame_in(self, name: str) -> PayloadFrame:
        """Axes of a frame among the parameters (raises InvalidData where that names none)."""
        value = self.settings.apply.frame or self._first.get(name)
        if not isinstance(value, str) or not value:
            raise InvalidData(f"parameter '{name}' of node '{self.node}' names no frame; set "
                              "apply.frame")
        return PayloadFrame(value, axes_only=True)

    def _wrong_convention(self) -> Iterator[str]:
        """Both filters subtract m g from a reading of +m g."""
        given = self.settings.wrench.convention
        if given != "on_sensor":
            yield (f"wrench.convention is '{given}': the sensor reads -m g, and this filter "
                   "expects +m g")


class BroadcasterOffsets(ParameterTarget):
    """The offsets of a force_torque_sensor_broadcaster, which take the bias away: it publishes
    ``(raw + offset) multiplier``."""

    takes_tool, changes_wrench = False, True
    prefixes = ("offset", "multiplier")

    def plan(self, payload: TargetPayload, before: Values | None) -> Plan:
        if payload.bias is None:
            raise InvalidData("a saved estimate does not tell the bias that the sensor has now; "
                              "apply the newest one")
        offsets = [self._number(name, 0.0) for name in OFFSETS]
        gains = [self._number(name, 1.0) for name in MULTIPLIERS]
        if not all(gains):
            raise InvalidData(f"a multiplier of node '{self.node}' is 0, so that it publishes "
                              "nothing")
        values = {name: offset - float(bias) / gain for name, offset, bias, gain in zip(
            OFFSETS, offsets, payload.bias, gains, strict=True)}
        force, torque = (_in_words(part) for part in (payload.bias[:3], payload.bias[3:]))
        return Plan(self._checked(values), ("mass, centre of mass and inertia: this node takes "
                                            "offsets only",),
                    what=f"offsets that take away a bias of {force} N and {torque} N m")

    def _number(self, name: str, default: float) -> float:
        """A number among the parameters; one that was never set has its default."""
        if name not in self._first:
            raise InvalidData(f"node '{self.node}' has no parameter '{name}'")
        value = self._first[name]
        return default if value is None else float(value)


class GravityFilter(ParameterTarget):
    """The gravity compensation of control_toolbox in the filter chain of a broadcaster."""

    prefixes = (FILTERS,)

    def frame(self) -> PayloadFrame:
        return self._frame_in(f"{self._filter}sensor_frame")

    def plan(self, payload: TargetPayload, before: Values | None) -> Plan:
        values = {self._filter + MASS: payload.mass, self._filter + COM: payload.com}
        return Plan(self._checked(values), (NO_INERTIA, NO_BIAS))

    def refusals(self) -> Iterator[str]:
        yield from self._wrong_convention()
        if self.settings.wrench.topic.endswith("wrench_filtered"):
            yield (f"wrench.topic is '{self.settings.wrench.topic}', from which this filter "
                   "removes the payload; identify from the broadcaster's own wrench")

    @property
    def _filter(self) -> str:
        """How the parameters of the gravity filter begin."""
        found = sorted(name.removesuffix(MASS) for name in self._first
                       if name.startswith(FILTERS) and name.endswith("." + MASS))
        if len(found) != 1:
            raise InvalidData(f"node '{self.node}' has {len(found) or 'no'} parameter"
                              f"{'s' if found else ''} {FILTERS}.*.{MASS}: it must run one gravity "
                              "compensation filter")
        return found[0]


class AdmittanceController(ParameterTarget):
    """The gravity compensation of the admittance_controller, which takes a weight in newtons."""

    prefixes = ("gravity_compensation", LIVE)

    @property
    def node(self) -> str:
        return self.robot.resolve(self.settings.apply.service or "admittance_controller")

    def frame(self) -> PayloadFrame:
        return self._frame_in(FRAME)

    def plan(self, payload: TargetPayload, before: Values | None) -> Plan:
        values = {POSITION: payload.com, FORCE: -payload.mass * GRAVITY[2]}
        notes = () if self._first.get(LIVE) is not False else (
            f"{LIVE} is false: it takes effect when the controller is activated again",)
        return Plan(self._checked(values), (NO_INERTIA, NO_BIAS), notes)

    def refusals(self) -> Iterator[str]:
        yield from self._wrong_convention()


def _in_words(vector: Iterable[float]) -> str:
    return f"[{', '.join(f'{value:.3g}' for value in vector)}]"
