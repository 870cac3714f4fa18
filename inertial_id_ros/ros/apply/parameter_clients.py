# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Reads and sets parameters of another node through the services that every node has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    ListParameters,
    SetParametersAtomically,
)

from ...errors import InvalidData
from .asking import Asking, NoAnswer, NoResponse

_FIELDS = {
    ParameterType.PARAMETER_BOOL: "bool_value", ParameterType.PARAMETER_INTEGER: "integer_value",
    ParameterType.PARAMETER_DOUBLE: "double_value", ParameterType.PARAMETER_STRING: "string_value",
    ParameterType.PARAMETER_DOUBLE_ARRAY: "double_array_value",
    ParameterType.PARAMETER_INTEGER_ARRAY: "integer_array_value",
    ParameterType.PARAMETER_BOOL_ARRAY: "bool_array_value",
    ParameterType.PARAMETER_STRING_ARRAY: "string_array_value"}


class ParameterClient:
    """The parameters of one node.

    Args:
        name: full name of the node; timeout: for each answer [s].
    """

    def __init__(self, asking: Asking, name: str, timeout: float) -> None:
        self._asking, self.name, self._timeout = asking, name, timeout

    def read(self, prefixes: Sequence[str]) -> dict[str, Any]:
        """Values of all parameters that begin so; None for those without a value.

        Raises:
            NoAnswer: there is no such node.
        """
        ask = self._asking.ask
        listed = self._call(ask, ListParameters, "list_parameters",
                            ListParameters.Request(prefixes=list(prefixes), depth=0))
        names = list(listed.result.names)
        if not names:
            return {}
        got = self._call(ask, GetParameters, "get_parameters", GetParameters.Request(names=names))
        return {name: _plain(value) for name, value in zip(names, got.values, strict=True)}

    def read_only(self, names: Sequence[str]) -> frozenset[str]:
        """Those of these parameters that cannot be set (raises NoAnswer)."""
        described = self._call(self._asking.ask, DescribeParameters, "describe_parameters",
                               DescribeParameters.Request(names=list(names)))
        return frozenset(d.name for d in described.descriptors if d.read_only)

    def set(self, values: Mapping[str, Any]) -> None:
        """Set parameters, all or none.

        Raises:
            InvalidData: the node refuses; NoAnswer: there is no such node.
        """
        request = SetParametersAtomically.Request(parameters=[
            Parameter(name=name, value=_message(value)) for name, value in values.items()])
        result = self._call(self._asking.call, SetParametersAtomically,
                            "set_parameters_atomically", request).result
        if not result.successful:
            raise InvalidData(f"node '{self.name}' refuses {', '.join(values)}: {result.reason}")

    def _call(self, way: Callable[..., Any], kind: Any, service: str, request: Any) -> Any:
        """The response of a service of the node, asked or called."""
        try:
            return way(kind, f"{self.name}/{service}", request, self._timeout)
        except NoResponse:
            raise
        except NoAnswer:
            raise NoAnswer(f"there is no node '{self.name}' that takes parameters; is it running, "
                           "and its name right?") from None


def _plain(value: ParameterValue) -> Any:
    """A parameter's value as Python has it; None where it has none."""
    name = _FIELDS.get(value.type)
    if name is None:
        return None
    content = getattr(value, name)
    return list(content) if name.endswith("array_value") else content


def _message(value: Any) -> ParameterValue:
    """The message of a value: of a bool, an int, a float, a text or a list of floats."""
    if isinstance(value, (list, tuple)):
        return ParameterValue(type=ParameterType.PARAMETER_DOUBLE_ARRAY,
                              double_array_value=[float(v) for v in value])
    for kind, number, name in (
            (bool, ParameterType.PARAMETER_BOOL, "bool_value"),
            (int, ParameterType.PARAMETER_INTEGER, "integer_value"),
            (str, ParameterType.PARAMETER_STRING, "string_value")):
        if isinstance(value, kind):
            return ParameterValue(type=number, **{name: value})
    return ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=float(value))
