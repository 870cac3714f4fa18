# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Looks at the graph for what a target must see: services, their types, a message, parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rclpy.node import Node

from ...errors import InvalidSetting
from ...settings import Settings
from ...targets.target import Gate, Seen, ServiceCall, Sources, Topic
from ..compat import message_type
from .asking import Asking, NoAnswer
from .parameter_clients import ParameterClient
from .requests import fill

_MESSAGE_TIME = 1.0  # s that a topic with the payload may be silent


@dataclass(frozen=True)
class Look:
    """What was seen, and gates that are closed where something is missing."""

    seen: Seen
    gates: tuple[Gate, ...]


class Graph:
    """Names and types in the graph; not in the executor's thread."""

    def __init__(self, node: Node, asking: Asking) -> None:
        self._node, self._asking = node, asking

    def look(self, sources: Sources, settings: Settings) -> Look:
        """See what a target asks for.

        Raises:
            NoAnswer: there is no node with parameters of that name.
        """
        there = {name: types[0] for name, types in self._node.get_service_names_and_types()}
        types: dict[str, str] = {}
        fields: dict[str, dict[str, str]] = {}
        gates = []
        for service, wanted in sources.services.items():
            name = self.resolve(service)
            kind = there.get(name, "")
            closed = self._check(name, kind, wanted)
            if not closed:
                types[service] = kind
                fields[service] = message_type(kind).Request.get_fields_and_field_types()
            gates.append(Gate("service", closed))
        node = self.resolve(sources.node) if sources.node else ""
        client = ParameterClient(self._asking, node, settings.apply.timeout)
        parameters = client.read(sources.parameters) if node else {}
        locked = client.read_only(list(parameters)) if parameters else frozenset()
        return Look(Seen(types, fields, self.read(sources.topic), self._ask(sources.query, there,
                                                                          settings),
                         parameters, locked), tuple(gates))

    def resolve(self, name: str) -> str:
        """The full name of a service, topic or node (raises InvalidSetting where it is none)."""
        try:
            return str(self._node.resolve_service_name(name))
        except Exception as error:  # of rclpy or of the library below, by what is wrong
            raise InvalidSetting(f"'{name}' is no name of a service, topic or node: "
                                 f"{' '.join(str(error).split())}") from None

    def read(self, topic: Topic | None) -> Any:
        """The next message of a topic; None where it is silent or its type is not installed."""
        if topic is None:
            return None
        try:
            kind = message_type(topic.type)
        except (ImportError, AttributeError, ValueError):
            return None
        messages = self._asking.listen(kind, self.resolve(topic.name), _MESSAGE_TIME, bool)
        return messages[-1] if messages else None

    def _check(self, name: str, kind: str, wanted: tuple[str, ...]) -> str:
        """Why a service cannot be called; empty where it can."""
        if not kind:
            return f"there is no service '{name}'; is the driver running, and apply.service right?"
        if kind not in wanted:
            return f"service '{name}' has the type {kind}; expected: {' or '.join(wanted)}"
        try:
            message_type(kind)
        except (ImportError, AttributeError, ValueError):
            return (f"{kind} is not installed where this node runs; source the workspace that has "
                    f"{kind.split('/')[0]}, or run the lines in `calls`")
        return ""

    def _ask(self, query: ServiceCall | None, there: dict[str, str], settings: Settings) -> Any:
        """The response to a question; None where there is none."""
        if query is None or self._check(self.resolve(query.service),
                                        there.get(self.resolve(query.service), ""), (query.type,)):
            return None
        kind = message_type(query.type)
        try:
            return self._asking.ask(kind, self.resolve(query.service),
                                    fill(kind.Request(), query.fields), settings.apply.timeout)
        except NoAnswer:
            return None
