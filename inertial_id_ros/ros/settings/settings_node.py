# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A node whose parameters are the settings, and which shows the last estimate as ``payload.*``."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from ...errors import InertialIdError, printable
from ...estimate import Estimate, Outcome
from ...limits import MAX_REQUEST_ENTRIES
from ...settings import Settings, iter_settings
from ...settings.spec import unknown_setting
from ..compat import parameter_overrides
from ..services.calls import parameter_limit, require_unlocked_parameters
from .parameters import (
    PAYLOAD,
    Section,
    apply_parameters,
    cast_to_declared_type,
    check_parameter_files,
    declare_payload,
    declare_settings,
    payload_parameters,
)

_BETWEEN_WARNINGS = 5.0  # s


class SettingsNode(Node):
    """Declares all settings and ``payload.*`` as parameters, and checks changes while it runs.

    Args:
        name: of the node; options: as `rclpy.node.Node` takes them.
        files: the parameter files of the command line, which then may hold no name that is meant
            for this node and unknown; None: names of other groups are ignored.

    Attributes:
        unused_in_files: sentences about what in these files is not used.

    Raises:
        InvalidSetting: a given value is not allowed, or a name is misspelt.
    """

    _declared = False

    def __init__(self, name: str, files: Sequence[Sequence[Section]] | None = None,
                 **options: Any) -> None:
        super().__init__(name, **options)
        self.unused_in_files = check_parameter_files(
            self.get_fully_qualified_name(), parameter_overrides(self), files)
        self.settings: Settings = declare_settings(self)
        declare_payload(self)
        self._writing = False
        self.parameter_limit = parameter_limit()
        self._at_start = self.settings, self._uses_sim_time
        self._declared = True
        self.add_on_set_parameters_callback(self._on_set_parameters)

    def create_service(self, kind: Any, name: str, callback: Callable[[Any, Any], Any],
                       *args: Any, **options: Any) -> Any:
        """As `rclpy.node.Node`; a request for too many parameters is answered as an empty one."""
        if kind.__module__.startswith("rcl_interfaces."):
            callback = self._bounded(kind, name, callback)
        return super().create_service(kind, name, callback, *args, **options)

    def _bounded(self, kind: Any, name: str,
                 callback: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """A callback that gets an empty request, with a line in the log, where one has too many
        entries: rclpy would spend minutes on them in the executor's thread."""

        def answer(request: Any, response: Any) -> Any:
            count = _count_entries(request)
            if count > MAX_REQUEST_ENTRIES:
                self.get_logger().warning(
                    f"{printable(name)}: a request with {count} entries is taken as empty; at most "
                    f"{MAX_REQUEST_ENTRIES} are allowed", throttle_duration_sec=_BETWEEN_WARNINGS)
                request = kind.Request()
            return callback(request, response)

        return answer

    @property
    def _uses_sim_time(self) -> bool:
        return bool(self.get_parameter("use_sim_time").value)

    def changes_since_start(self) -> str:
        """Which parameters differ from those at the start, in words and with both values; empty
        where none does."""
        settings, sim_time = self._at_start
        changes = _describe_changes(settings, self.settings)
        if self._uses_sim_time != sim_time:
            changes.append(f"use_sim_time is {self._uses_sim_time} ({sim_time} at the start)")
        return f"set while the node runs: {', '.join(changes)}" if changes else ""

    def check_settings(self, settings: Settings) -> None:
        """Called before settings change while the node runs; may raise an InertialIdError."""

    def on_settings(self, before: Settings, after: Settings) -> None:
        """Called in the executor's thread when settings changed while the node runs."""

    def write_payload(self, outcome: Outcome) -> None:
        """Set ``payload.*`` to an outcome, in one event; in the executor's thread."""
        if not isinstance(outcome, Estimate) and not self.get_parameter("payload.valid").value:
            return  # still none
        self._writing = True
        try:
            super().set_parameters_atomically(payload_parameters(outcome))
        finally:
            self._writing = False

    def set_parameters_atomically(self, parameter_list: list[Parameter]) -> SetParametersResult:
        """As `rclpy.node.Node`; takes ``5`` for ``5.0``, says what is allowed, and refuses what is
        locked before any part of rclpy sees it."""
        if self._declared:
            try:
                self.parameter_limit.admit()
                require_unlocked_parameters(self.settings, self._own_names(parameter_list))
                parameter_list = [cast_to_declared_type(p, self.settings) for p in parameter_list]
            except InertialIdError as error:
                return SetParametersResult(successful=False, reason=str(error))
        return super().set_parameters_atomically(parameter_list)

    def _own_names(self, parameters: Sequence[Parameter]) -> list[str]:
        """Names of parameters, but for ``payload.*``, which nobody can set, locked or not.

        Raises:
            InvalidSetting: the node has no such parameter.
        """
        for parameter in parameters:
            if not self.has_parameter(parameter.name):
                raise unknown_setting(parameter.name,
                                      [name for name, _, _ in iter_settings(self.settings)])
        return [p.name for p in parameters if not p.name.startswith(PAYLOAD)]

    def describe_parameter(self, name: str) -> ParameterDescriptor:
        """As `rclpy.node.Node`; ``payload.*`` is read-only to all but the node."""
        descriptor = super().describe_parameter(name)
        if name.startswith(PAYLOAD):
            descriptor = copy.deepcopy(descriptor)
            descriptor.read_only = True
        return descriptor

    def _on_set_parameters(self, parameters: list[Parameter]) -> SetParametersResult:
        """Check changed settings and use them; refuse to set payload.* for anybody else."""
        if self._writing:
            return SetParametersResult(successful=True)
        for parameter in parameters:
            if parameter.name.startswith(PAYLOAD):
                return SetParametersResult(
                    successful=False,
                    reason=f"{parameter.name} is written by the node and cannot be set")
        try:
            changed = apply_parameters(self.settings, parameters)
            self.check_settings(changed)
        except InertialIdError as error:
            return SetParametersResult(successful=False, reason=str(error))
        if changed != self.settings:
            before, self.settings = self.settings, changed
            self.on_settings(before, changed)
        return SetParametersResult(successful=True)


def _describe_changes(start: Settings, now: Settings) -> list[str]:
    """The settings that are others than at the start, in words."""
    if now is start:
        return []
    before = {name: value for name, value, _ in iter_settings(start)}
    return [f"{name} is {value} ({before[name]} at the start)"
            for name, value, _ in iter_settings(now) if value != before[name]]


def _count_entries(message: Any) -> int:
    """Entries of all sequences in a message, and in the messages of these sequences."""
    count = 0
    for name in message.get_fields_and_field_types():
        value = getattr(message, name)
        if hasattr(value, "get_fields_and_field_types"):
            count += _count_entries(value)
        elif not isinstance(value, str) and hasattr(value, "__len__"):
            count += len(value) + sum(_count_entries(entry) for entry in value
                                      if hasattr(entry, "get_fields_and_field_types"))
    return count
