# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Looks for a driver that states a configured payload which nobody has asked to add."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node

from ..findings import FindingLog
from ..io.dynamic_joint_state import DynamicJointStates
from ..settings import Settings
from ..signals.input_topics import InputTopic
from ..signals.precompensation import (
    NOT_ADDED,
    STATED_BY,
    describe_not_added,
    may_be_not_added,
    stated_mass,
)
from .compat import message_type
from .inputs import subscription_qos

_ENOUGH = 20  # messages without a payload, after which a topic is left alone


class PayloadWatch:
    """Listens to a topic that may state a payload until it has; costs nothing afterwards.

    Args:
        findings: gets the finding.
    """

    def __init__(self, node: Node, findings: FindingLog) -> None:
        self._node, self._findings = node, findings
        self._done: set[str] = set()  # topics
        self._subscription: Any = None
        self._seen = 0
        self._stated: tuple[str, str, float] | None = None  # topic, source, mass [kg]

    def check(self, settings: Settings) -> None:
        """Look for such a topic, or at what it has said; called now and then in the executor."""
        if self._stated is not None and may_be_not_added(settings):
            self._findings.set(NOT_ADDED, "warning", describe_not_added(*self._stated))
        else:
            self._findings.clear(NOT_ADDED)
        if self._subscription is not None and (self._stated is not None or self._seen >= _ENOUGH):
            self.stop()
        if self._subscription is None and self._stated is None and may_be_not_added(settings):
            self._listen(settings)

    def stop(self) -> None:
        """Listen no more."""
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None

    def _listen(self, settings: Settings) -> None:
        """Subscribe to the next topic of a type that may state a payload."""
        for name, types in self._node.get_topic_names_and_types():
            for kind, source in STATED_BY.items():
                if kind.type in types and name not in self._done:
                    self._done.add(name)
                    self._subscribe(name, kind, source, settings)
                    return

    def _subscribe(self, name: str, kind: InputTopic, source: str, settings: Settings) -> None:
        """Listen to a topic, if its type is installed."""
        states = DynamicJointStates(settings.dynamic_joint_states)
        self._seen = 0

        def take(message: Any) -> None:
            self._seen += 1
            mass = stated_mass(kind, message, states)
            if mass > 0.0:
                self._stated = name, source, mass

        try:
            message_class = message_type(kind.type)
        except (ImportError, AttributeError, ValueError):
            return
        self._subscription = self._node.create_subscription(
            message_class, name, take, subscription_qos(kind))
