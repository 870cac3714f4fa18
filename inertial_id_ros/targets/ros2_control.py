# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Controllers of ros2_control, which take the payload as parameters: no driver package is needed.

None of them takes an inertia. Both that compensate gravity apply the torque at the origin of the
sensor, so that the centre of mass is sent from there, along the axes of the frame that they name,
wherever that frame has its origin.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import InvalidData, InvalidSetting
from ..model.newton_euler import GRAVITY
from .target import Plan, Target, TargetPayload, Values

OFFSETS = tuple(f"offset.{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz")
LIVE = "enable_parameter_update_without_reactivation"


class ParameterTarget(Target):
    """A node that takes values as parameters.

    Attributes:
        prefixes: of the parameters that are read; default: name of the node.
    """

    needs_limits = False
    prefixes: tuple[str, ...] = ()

    @property
    def node(self) -> str:
        """Full name of the node: the broadcaster whose topic the wrench is, unless it is named."""
        topic = self.settings.wrench.topic
        name = self.service or posixpath.dirname(topic)
        if not name.strip("/"):
            raise InvalidSetting(f"apply.service is empty, and wrench.topic is '{topic}', which is "
                                 "no topic of a force_torque_sensor_broadcaster; name its node in "
                                 "apply.service")
        return str(self.robot.resolve(name))

    def services(self) -> Mapping[str, tuple[str, ...]]:
        return {}

    def read(self) -> Values:
        return dict(self.robot.parameters(self.node, list(self.prefixes)))

    def send(self, values: Values) -> None:
        self.robot.set_parameters(self.node, values)

    def undo_of(self, before: Values, values: Values) -> Values:
        had = {name: before.get(name) for name in values}
        return {} if None in had.values() else had

    def value(self, before: Values, name: str, default: Any = None) -> Any:
        """The value of a parameter, or the default where it was never set (raises InvalidData where
        there is none of this name)."""
        if name not in before:
            raise InvalidData(f"node '{self.node}' has no parameter '{name}'")
        return default if before[name] is None else before[name]


class BroadcasterOffsets(ParameterTarget):
    """The offsets of a force_torque_sensor_broadcaster, which take the bias away: it publishes
    ``(raw + offset) multiplier``."""

    takes_tool, changes_wrench = False, True
    prefixes = ("offset", "multiplier")

    def frame(self, before: Values) -> str:
        return ""

    def plan(self, payload: TargetPayload, before: Values) -> Plan:
        if payload.bias is None:
            raise InvalidData("a saved estimate does not hold the bias that the sensor has now; "
                              "apply the newest one")
        offsets = np.array([self.value(before, name, 0.0) for name in OFFSETS])
        gains = np.array([self.value(before, name.replace("offset", "multiplier"), 1.0)
                          for name in OFFSETS])
        if not gains.all():
            raise InvalidData(f"a multiplier of node '{self.node}' is 0, so that it publishes "
                              "nothing")
        values = dict(zip(OFFSETS, (offsets - payload.bias / gains).tolist(), strict=True))
        return Plan(values, ("mass, centre of mass and inertia: this node takes offsets only",),
                    what="offsets that take away a bias of "
                    f"{', '.join(f'{x:.3g}' for x in payload.bias)} N and N m")


class GravityFilter(ParameterTarget):
    """The gravity compensation of control_toolbox in the filter chain of a broadcaster, which takes
    m g off a reading of +m g, along the axes of a frame that a parameter names."""

    axes_only = True
    prefixes: tuple[str, ...] = ("sensor_filter_chain",)
    left_out = ("the inertia: this filter removes the weight at rest only", "the bias of the "
                "sensor: tare it, or apply to force_torque_sensor_broadcaster as well")

    def names(self, before: Values) -> tuple[str, str, str]:
        """Names of the parameters for the frame, the mass or weight, and the centre of mass (raises
        InvalidData)."""
        found = [name for name in before if name.endswith(".tool.mass")]
        if len(found) != 1:
            raise InvalidData(f"node '{self.node}' has {len(found)} parameters "
                              "sensor_filter_chain.*.tool.mass; it must run one gravity "
                              "compensation filter")
        prefix = found[0].removesuffix("tool.mass")
        return f"{prefix}sensor_frame", found[0], f"{prefix}tool.CoG"

    def frame(self, before: Values) -> str:
        name = self.names(before)[0]
        frame = self.settings.apply.frame or before.get(name)
        if not isinstance(frame, str) or not frame:
            raise InvalidData(f"parameter '{name}' of node '{self.node}' names no frame; set "
                              "apply.frame")
        return frame

    def plan(self, payload: TargetPayload, before: Values) -> Plan:
        _, mass, com = self.names(before)
        for name in (mass, com):
            self.value(before, name)
        return Plan({mass: payload.body.mass, com: payload.body.com.tolist()}, self.left_out)

    def refusals(self) -> Iterator[str]:
        wrench = self.settings.wrench
        if wrench.convention != "on_sensor":
            yield (f"wrench.convention is '{wrench.convention}': the sensor reads -m g, and this "
                   "filter expects +m g")
        if wrench.topic.endswith("wrench_filtered") and not self.default:
            yield (f"wrench.topic is '{wrench.topic}', from which this filter removes the payload; "
                   "identify from the broadcaster's own wrench")


class AdmittanceController(GravityFilter):
    """The gravity compensation of the admittance_controller, which takes a weight in newtons."""

    prefixes = ("gravity_compensation", LIVE)
    default = "admittance_controller"

    def names(self, before: Values) -> tuple[str, str, str]:
        return ("gravity_compensation.frame.id", "gravity_compensation.CoG.force",
                "gravity_compensation.CoG.pos")

    def plan(self, payload: TargetPayload, before: Values) -> Plan:
        plan, weight = super().plan(payload, before), self.names(before)[1]
        notes = () if before.get(LIVE) is not False else (
            f"{LIVE} is false: it takes effect when the controller is activated again",)
        return plan._replace(notes=notes, values={
            **plan.values, weight: float(-payload.body.mass * GRAVITY[2])})
