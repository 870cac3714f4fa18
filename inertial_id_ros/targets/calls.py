# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Calls that tell a target something, as data and as lines of a shell."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ServiceCall:
    """The call of a service.

    Attributes:
        service: its name; type: such as ``std_srvs/srv/Trigger``.
        fields: of the request, nested as mappings; fields that are left out keep their default.
        accepted: field of the response, and its value where the call has succeeded.
        reason: field of the response that says why it has not; empty: there is none.
        may_fail: go on where it is refused.
    """

    service: str
    type: str
    fields: Mapping[str, Any]
    accepted: tuple[str, Any] = ("success", True)
    reason: str = ""
    may_fail: bool = False

    @property
    def commands(self) -> list[str]:
        """The line that does the same in a shell."""
        words = ["ros2", "service", "call", self.service, self.type, _flow(self.fields)]
        return [shlex.join(words)]

    def to_json(self) -> dict[str, Any]:
        """The call as data."""
        return {"service": self.service, "type": self.type, "fields": dict(self.fields),
                "accepted": list(self.accepted), "reason": self.reason, "may_fail": self.may_fail}


@dataclass(frozen=True)
class ParameterCall:
    """Setting parameters of a node, all or none.

    Attributes:
        node: its full name; values: numbers, or lists of numbers, by name.
    """

    node: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def commands(self) -> list[str]:
        """The lines that do the same in a shell."""
        return [shlex.join(["ros2", "param", "set", self.node, name, _flow(value)])
                for name, value in self.values.items()]

    def to_json(self) -> dict[str, Any]:
        """The call as data."""
        return {"node": self.node, "values": dict(self.values)}


Call = ServiceCall | ParameterCall


def call_from_json(content: Mapping[str, Any]) -> Call:
    """A call from its data (raises KeyError, TypeError where they are none)."""
    if "node" in content:
        return ParameterCall(str(content["node"]), dict(content["values"]))
    name, value = content["accepted"]
    return ServiceCall(str(content["service"]), str(content["type"]), dict(content["fields"]),
                       (name, value), str(content["reason"]), bool(content["may_fail"]))


def _flow(value: Any) -> str:
    """A value as YAML on one line, with every digit that matters."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(v) for v in value) + "]"
    if isinstance(value, float) and math.isfinite(value):
        return np.format_float_positional(value, trim="0")  # PyYAML takes 1e-05 for text
    return json.dumps(value)
