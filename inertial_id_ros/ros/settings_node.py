# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A node whose parameters are the settings, and which shows the last estimate as ``payload.*``.

Settings: every one is declared with its description, unit, type and range. Those that the table
marks as `runtime` may change while the node runs (another removed payload flushes the buffer); the
others are read-only, because the data in the buffer were gathered with them. ``payload.*``: the
last estimate, written by the node alone. Files of the command line are checked before ROS reads
them: its parser reports errors by lines of its own sources, and does not report files and names
that no node uses.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    ParameterValue,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter

from ..errors import InertialIdError, InvalidSetting
from ..estimate import Estimate, Outcome
from ..estimators import create
from ..inertia import six_from_tensor
from ..io.files import user_path
from ..io.yaml_files import read_yaml
from ..settings import Settings, flatten, iter_settings
from ..settings.spec import Spec, allowed_range, unknown_setting
from .compat import parameter_overrides

PAYLOAD = "payload."
_PAYLOAD_DESCRIPTIONS = {
    "payload.mass": "Mass [kg]; NaN: no estimate.",
    "payload.com": "Centre of mass x, y, z in payload.frame_id [m].",
    "payload.inertia": "Inertia about the centre of mass along the axes of payload.frame_id: xx, "
                       "xy, xz, yy, yz, zz [kg m^2]; NaN while the motion does not determine it.",
    "payload.sigma": "Standard deviations of mass, com (3) and inertia (6), in their units.",
    "payload.valid": "Whether there is a physically consistent estimate.",
    "payload.stale": "Whether it is held, because no new data enter it.",
    "payload.frame_id": "Frame of the numbers: the sensor frame.",
    "payload.stamp": "Stamp of the newest sample used, since the epoch [ns]; 0: no estimate.",
}


def make_descriptor(name: str, default: Any, spec: Spec) -> ParameterDescriptor:
    """The descriptor of a setting: type, description with unit, range, and when it may change."""
    out = ParameterDescriptor(name=name, type=_parameter_type(default).value,
                              description=spec.description + _format_unit(spec),
                              additional_constraints=_describe_constraints(default, spec),
                              read_only=not spec.runtime)
    if math.isfinite(spec.low) and math.isfinite(spec.high):
        if isinstance(default, float):
            out.floating_point_range.append(
                FloatingPointRange(from_value=float(spec.low), to_value=float(spec.high)))
        elif isinstance(default, int) and not isinstance(default, bool):
            out.integer_range.append(
                IntegerRange(from_value=int(spec.low), to_value=int(spec.high), step=1))
    return out


def declare_settings(node: Node) -> Settings:
    """Declare every setting as a parameter; returns the settings with the given values.

    Raises:
        InvalidSetting: a given value is not allowed.
    """
    # First, because the defaults of others depend on it.
    sensor = _declare(node, "wrench.sensor", Settings().wrench.sensor)
    given: dict[str, Any] = {"wrench.sensor": sensor}
    table = list(iter_settings(Settings().replace(given)))
    for name, default, _ in table:
        if name not in given:
            given[name] = _declare(node, name, default)
    settings = Settings().replace(given)
    create(settings)
    for (name, default, spec), (_, value, _) in zip(table, iter_settings(settings), strict=True):
        node.set_descriptor(name, make_descriptor(name, default, spec), parameter_value(value))
    return settings


def _declare(node: Node, name: str, default: Any) -> Any:
    """Declare a parameter with dynamic typing, so that any type gets through to our own check,
    which explains itself; returns its value."""
    start = list(default) if isinstance(default, tuple) else default
    value = node.declare_parameter(name, start, ParameterDescriptor(dynamic_typing=True)).value
    # An empty list in a parameter file arrives as a parameter without a value.
    return [] if value is None else _to_plain_value(value)


def apply_parameters(settings: Settings, parameters: Iterable[Parameter]) -> Settings:
    """The settings with the values of some parameters.

    Raises:
        InvalidSetting: a value is not allowed; the text names it.
    """
    known = {name for name, _, _ in iter_settings(settings)}
    changes = {p.name: _to_plain_value(p.value) for p in parameters if p.name in known}
    changed = settings.replace(changes)
    create(changed)
    return changed


def cast_to_declared_type(parameter: Parameter, settings: Settings) -> Parameter:
    """Cast a parameter to the type of its setting, so that ``5`` may stand for ``5.0``.

    Raises:
        InvalidSetting: the value does not fit, or the setting cannot change while the node runs.
    """
    specs = {name: spec for name, _, spec in iter_settings(settings)}
    if parameter.name not in specs:
        return parameter
    if not specs[parameter.name].runtime:
        raise InvalidSetting(f"{parameter.name} can only be set when the node starts")
    changed = settings.replace({parameter.name: _to_plain_value(parameter.value)})
    value = dict((name, v) for name, v, _ in iter_settings(changed))[parameter.name]
    return _make_parameter(parameter.name, value)


def parameter_value(value: Any) -> ParameterValue:
    """A setting's value as a parameter value, tuples as double arrays."""
    return _make_parameter("", value).get_parameter_value()


def declare_payload(node: Node) -> None:
    """Declare ``payload.*`` without an estimate."""
    for parameter in payload_parameters(None):
        # Not read_only here: rclpy would refuse the node too. The node's own callback refuses
        # all others, and `describe_parameter` marks it as read-only.
        node.declare_parameter(
            parameter.name, parameter.value, ParameterDescriptor(
                description=_PAYLOAD_DESCRIPTIONS[parameter.name],
                additional_constraints="Read-only: written by the node."), ignore_override=True)


def payload_parameters(outcome: Outcome | None) -> list[Parameter]:
    """The ``payload.*`` parameters of an outcome; NaN where there is no estimate."""
    # Parameters do not show that an estimate is of an earlier run.
    if isinstance(outcome, Estimate) and not outcome.restored:
        body = outcome.body
        # Parameters come without a verdict, so an unobserved inertia must not look like a result.
        inertia = (six_from_tensor(body.inertia_com) if outcome.inertia_is_known
                   else np.full(6, np.nan))
        values = [body.mass, body.com, inertia, outcome.sigma,
                  True, outcome.stale, outcome.frame_id, outcome.stamp_ns]
    else:
        frame = outcome.frame_id if outcome is not None else ""
        values = [math.nan, np.full(3, np.nan), np.full(6, np.nan), np.full(10, np.nan),
                  False, False, frame, 0]
    return [_make_parameter(name, value)
            for name, value in zip(_PAYLOAD_DESCRIPTIONS, values, strict=True)]


def _make_parameter(name: str, value: Any) -> Parameter:
    if isinstance(value, (tuple, list, np.ndarray)):
        return Parameter(name, Parameter.Type.DOUBLE_ARRAY, [float(v) for v in value])
    return Parameter(name, _parameter_type(value), value)


def _parameter_type(value: Any) -> Parameter.Type:
    if isinstance(value, tuple):
        return Parameter.Type.DOUBLE_ARRAY
    return Parameter.Type.from_parameter_value(value)


def _to_plain_value(value: Any) -> Any:
    """The value with lists in place of the arrays of rclpy."""
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return list(value)
    return value.tolist() if hasattr(value, "tolist") else value


def _format_unit(spec: Spec) -> str:
    return f" [{spec.unit}]" if spec.unit else ""


def _describe_constraints(default: Any, spec: Spec) -> str:
    """What a value may be and when it may change, in words."""
    parts = []
    if spec.lengths:
        parts.append(f"{' or '.join(str(n) for n in spec.lengths)} numbers")
    if not isinstance(default, (bool, str)) or spec.choices:
        parts.append(allowed_range(spec))
    parts.append("may change while the node runs" if spec.runtime else "set at start only")
    return "; ".join(parts)


_PARAMETERS = "ros__parameters"
_OF_EVERY_NODE = ("use_sim_time", "start_type_description_service", "qos_overrides.")


@dataclass(frozen=True)
class Section:
    """Part of a parameter file: a node, or a pattern of nodes, and the names of its parameters."""

    file: str
    node: str
    names: frozenset[str]

    @property
    def is_for_many(self) -> bool:
        """Whether it is for every node of a pattern, so that a node need not know all of it."""
        return "*" in self.node

    def is_for(self, node: str) -> bool:
        """Whether a node of this name (with its namespace) takes it."""
        parts = {"**": r"(/[^/]+)*", "*": r"/[^/]+"}
        words = self.node.strip("/").split("/")
        pattern = "".join(parts.get(word, "/" + re.escape(word)) for word in words)
        return re.fullmatch(pattern, node) is not None


def read_parameter_files(words: Sequence[str]) -> list[list[Section]]:
    """The sections of each parameter file among the ROS arguments of a command line.

    Raises:
        InvalidSetting: a file cannot be read, or is no parameter file; the text names it.
    """
    return [_read_sections(name) for name in _parameter_file_names(words)]


def check_parameter_files(node: str, given: Iterable[str],
                          files: Sequence[Sequence[Section]] | None) -> list[str]:
    """Sentences about what in the parameter files a node does not use.

    Args:
        node: its name with its namespace; given: names of all values that it was given.
        files: None: not known; then names outside of the groups of settings may be for other nodes.

    Raises:
        InvalidSetting: a value which the node writes, a setting that is gone, or an unknown name:
            in a group of settings wherever it stands, else where it is for this node alone.
    """
    known = {name: value for name, value, _ in iter_settings(Settings())}
    groups = {n.split(".")[0] for n in known}
    texts = [
        f"parameter file '{file[0].file}' has nothing for {node}; it is for "
        f"{', '.join(sorted({s.node for s in file}))}"
        for file in files or () if file and not any(s.is_for(node) for s in file)]
    taken = [s for file in files or () for s in file if s.is_for(node)]
    for name in given:
        if name.startswith(PAYLOAD):
            raise InvalidSetting(f"{name} is written by the node and cannot be set")
        is_in_group = name.split(".")[0] in groups
        if name in known or name.startswith(_OF_EVERY_NODE) or (files is None and not is_in_group):
            continue
        places = [s for s in taken if name in s.names]
        own = [s for s in places if not s.is_for_many or is_in_group]
        if own or not places:
            where = f"parameter file '{own[0].file}': " if own else ""
            raise InvalidSetting(where + str(unknown_setting(name, known)))
        texts.append(f"parameter file '{places[0].file}' sets '{name}' for {places[0].node}; "
                     "this node has no such setting")
    return texts


def _parameter_file_names(words: Sequence[str]) -> Iterator[str]:
    """Values of ``--params-file`` between ``--ros-args`` and its end."""
    for_ros = False
    for word, following in zip(words, [*words, ""][1:], strict=True):
        for_ros = word == "--ros-args" or (for_ros and word != "--")
        if for_ros and word == "--params-file" and following:
            yield following


def _read_sections(name: str) -> list[Section]:
    """The sections of a parameter file (raises InvalidSetting)."""
    tree = read_yaml(user_path(name), f"parameter file '{name}'")
    return [] if tree is None else list(_find_sections(name, "", tree))


def _find_sections(file: str, node: str, tree: Any) -> Iterator[Section]:
    """The sections below a node, whose name is the path through the groups of a file."""
    if not isinstance(tree, Mapping):
        raise InvalidSetting(f"parameter file '{file}' must hold '{_PARAMETERS}' with names and "
                             f"values under {repr(node) if node else 'the name of a node'}")
    for key, inner in tree.items():
        if key != _PARAMETERS:
            yield from _find_sections(file, f"{node}/{str(key).strip('/')}", inner)
        elif inner is not None and not isinstance(inner, Mapping):
            raise InvalidSetting(f"parameter file '{file}': '{_PARAMETERS}' of '{node}' must hold "
                                 "names and values")
        else:
            yield Section(file, node, frozenset(flatten(inner or {})))


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
        self._at_start = self.settings, self._uses_sim_time
        self._declared = True
        self.add_on_set_parameters_callback(self._on_set_parameters)

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
        """As `rclpy.node.Node`; takes ``5`` for ``5.0``, and says what is allowed."""
        if self._declared:
            try:
                self._require_known(parameter_list)
                parameter_list = [cast_to_declared_type(p, self.settings) for p in parameter_list]
            except InertialIdError as error:
                return SetParametersResult(successful=False, reason=str(error))
        return super().set_parameters_atomically(parameter_list)

    def _require_known(self, parameters: Sequence[Parameter]) -> None:
        """Raise InvalidSetting where the node has no such parameter."""
        for parameter in parameters:
            if not self.has_parameter(parameter.name):
                raise unknown_setting(parameter.name,
                                      [name for name, _, _ in iter_settings(self.settings)])

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
