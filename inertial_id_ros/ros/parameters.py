# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings as parameters, declared from the table of `settings`, which also serves tools without
ROS, so that no generator of parameter code is used; and the last estimate as ``payload.*``."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from ..errors import InertialIdError, InvalidSetting
from ..estimate import Estimate, NoEstimate, Outcome
from ..estimators import Estimator, create
from ..inertia import six_from_tensor
from ..settings import Settings, iter_settings
from ..settings.spec import Spec, allowed_range

OF_EVERY_NODE = ("use_sim_time", "start_type_description_service", "qos_overrides.")
PAYLOAD = {
    "payload.mass": "Mass [kg]; NaN: no estimate.",
    "payload.com": "Centre of mass x, y, z in payload.frame_id [m].",
    "payload.inertia": "Inertia about the centre of mass along the axes of payload.frame_id: xx, "
                       "xy, xz, yy, yz, zz [kg m^2]; NaN while the motion does not determine it.",
    "payload.sigma": "Standard deviations of mass, com (3) and inertia (6), in their units.",
    "payload.valid": "True if there is a physically consistent estimate.",
    "payload.stale": "True if it is held, because no new data enter it.",
    "payload.frame_id": "Frame of the numbers: the sensor frame.",
    "payload.stamp": "Stamp of the newest sample used, since the epoch [ns]; 0: no estimate.",
}


class Parameters:
    """The parameters of a node that declares them from overrides; `settings`: their values (raises
    InvalidSetting). `change` gets others and their estimator first, and raises InertialIdError."""

    def __init__(self, node: Node, change: Callable[[Settings, Estimator], None]) -> None:
        self._node, self._change = node, change
        self._written = list[Parameter]()  # payload.*
        # An empty list in a parameter file arrives as a parameter without a value.
        given = {name: [] if parameter.value is None else _plain(parameter.value)
                 for name, parameter in node.get_parameters_by_prefix("").items()}
        if not isinstance(sim_time := given["use_sim_time"], bool):
            raise InvalidSetting(f"use_sim_time is {sim_time!r}; it must be true or false")
        given = {name: value for name, value in given.items() if not name.startswith(OF_EVERY_NODE)}
        self.settings = Settings().replace(given)
        create(self.settings)
        for name, value, spec in iter_settings(self.settings):
            if name in given:
                node.undeclare_parameter(name)
            plain = Parameter.Type.DOUBLE_ARRAY if value == () else value
            node.declare_parameter(name, plain, describe(value, spec), ignore_override=True)
        for parameter in payload_parameters(NoEstimate(0, "", "")):
            # rclpy would refuse its own node a parameter that is declared as read-only.
            node.declare_parameter(parameter.name, parameter.value, ParameterDescriptor(
                description=PAYLOAD[parameter.name],
                additional_constraints="read-only: written by the node"), ignore_override=True)
        node.add_on_set_parameters_callback(self._check)

    def write_payload(self, outcome: Outcome) -> None:
        """Set ``payload.*``, in one event."""
        self._written = payload_parameters(outcome)
        self._node.set_parameters_atomically(self._written)

    def _check(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        """Use changed settings; refuse to set payload.* for anybody else."""
        if parameters is self._written:
            return SetParametersResult(successful=True)
        changes = {p.name: _plain(p.value) for p in parameters}
        try:
            if outputs := PAYLOAD.keys() & changes:
                raise InvalidSetting(f"{', '.join(outputs)}: read-only, written by the node")
            changed = self.settings.replace(changes)
            if changed != self.settings:
                self._change(changed, create(changed))
                self.settings = changed
        except InertialIdError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)


def describe(value: Any, spec: Spec) -> ParameterDescriptor:
    """The descriptor of a setting: description with unit, range, and when it may change."""
    parts = [f"{spec.length} numbers"] if spec.length else []
    if spec.choices or not isinstance(value, (bool, str)):
        parts.append(allowed_range(spec))
    parts.append("may change while the node runs" if spec.runtime else "set at start only")
    out = ParameterDescriptor(
        read_only=not spec.runtime, additional_constraints="; ".join(parts),
        description=spec.description + (f" [{spec.unit}]" if spec.unit else ""))
    if math.isfinite(spec.low) and math.isfinite(spec.high):
        out.floating_point_range = [FloatingPointRange(from_value=spec.low, to_value=spec.high)]
    return out


def payload_parameters(outcome: Outcome) -> list[Parameter]:
    """The ``payload.*`` parameters of an outcome; NaN where there is no estimate."""
    values: list[Any] = [math.nan, np.full(3, np.nan), np.full(6, np.nan), np.full(10, np.nan),
                         False, False, outcome.frame_id, 0]
    if isinstance(outcome, Estimate):
        body = outcome.body
        # Parameters come without a verdict: an unobserved inertia must not look like a result.
        inertia = six_from_tensor(body.inertia_com) if outcome.is_known("inertia") else values[2]
        values = [float(body.mass), body.com, inertia, outcome.sigma, True, outcome.stale,
                  outcome.frame_id, outcome.stamp_ns]
    return [Parameter(name, value=_plain(value))
            for name, value in zip(PAYLOAD, values, strict=True)]


def _plain(value: Any) -> Any:
    """A parameter's value with lists in place of the arrays of rclpy."""
    return value.tolist() if hasattr(value, "tolist") else value
