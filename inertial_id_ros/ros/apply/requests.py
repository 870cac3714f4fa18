# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From the fields of a planned call to a request, and from a response to what went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import InvalidData
from ...targets.target import ServiceCall

_NUMBERS = {"float": float, "double": float, "boolean": bool, "string": str}


def fill(message: Any, fields: Mapping[str, Any]) -> Any:
    """The message, with its fields set; numbers have the type that the field wants.

    Raises:
        InvalidData: it has no such field.
    """
    kinds = message.get_fields_and_field_types()
    for name, value in fields.items():
        if name not in kinds:
            raise InvalidData(f"{type(message).__name__} has no field '{name}'")
        if isinstance(value, Mapping):
            fill(getattr(message, name), value)
        elif isinstance(value, (list, tuple)):
            setattr(message, name, [float(v) for v in value])
        else:
            setattr(message, name, _NUMBERS.get(kinds[name], int)(value))
    return message


def refusal(call: ServiceCall, response: Any) -> str:
    """Why a response says that a call has not succeeded; empty where it has."""
    name, wanted = call.accepted
    got = getattr(response, name, None)
    if got == wanted:
        return ""
    reason = str(getattr(response, call.reason, "")) if call.reason else ""
    return f"{name} is {got!r}" + (f": {reason}" if reason else "")
