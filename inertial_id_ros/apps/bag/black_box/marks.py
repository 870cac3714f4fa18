# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The topic of marks: behind which message a node did what, or was told what, in text.

An estimate starts from the one before, and sums of the same rows in other portions differ in their
last bits. So a replay to the bit repeats all of this between the same messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ....errors import DamagedFile, InertialIdError, NotEnoughData
from ....geometry.shape import Shape
from ....identification import commands
from ....identification.make_identifier import AnyIdentifier
from ....regression.tool import tool_from_content
from ....settings import Settings, iter_settings

MARKS, MARKS_TYPE = "/inertial_id_node/black_box", "std_msgs/msg/String"
ADVANCE, SOLVE, DESCRIBE = commands.ADVANCE, "solve", "describe"  # texts of marks
_COMMAND, _VALUE = "command", "value"  # of the others, which are JSON
_SHAPE_ARRAYS = ("points", "volumes", "surface", "unit_phi")


def settings_to_keep(settings: Settings) -> dict[str, Any]:
    """The settings that differ from the defaults, those of the sensor's data sheet among them, by
    dotted name, as YAML holds them."""
    default = Settings()
    defaults = [default, default.replace({"wrench.sensor": settings.wrench.sensor})]
    usual = [{name: value for name, value, _ in iter_settings(table)} for table in defaults]
    return {name: list(value) if isinstance(value, tuple) else value
            for name, value, _ in iter_settings(settings)
            if any(value != table[name] for table in usual)}


def describe_command(name: str, value: Any) -> str:
    """The mark of a command of `identification.commands`."""
    if name == ADVANCE:
        return ADVANCE
    if name == commands.SET_TOOL and value is not None:
        value = value.content()
    elif name == commands.SET_SHAPE and value is not None:
        value = {"name": value.name, "bounding": value.bounding, **{
            array: getattr(value, array).tolist() for array in _SHAPE_ARRAYS}}
    elif name == commands.SET_SETTINGS:
        value = settings_to_keep(value)
    return json.dumps({_COMMAND: name, _VALUE: value})


def repeat_command(text: str, identifier: AnyIdentifier, given: Mapping[str, Any]) -> None:
    """Tell an identifier what a mark says that the node's was told.

    Args:
        given: settings that whoever replays wants in place of the node's.

    Raises:
        DamagedFile: the mark cannot be read.
    """
    try:
        mark = json.loads(text)
        name, value = mark[_COMMAND], mark[_VALUE]
        repeat = _REPEAT[name]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise DamagedFile(f"a mark holds {text[:60]!r}, which is no command") from error
    try:
        repeat(identifier, {**value, **given} if name == commands.SET_SETTINGS else value)
    except NotEnoughData:  # with other settings than the node had
        return
    except (InertialIdError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise DamagedFile(f"its command {name} cannot be repeated: {error}") from error


def _set_tool(identifier: AnyIdentifier, content: Any) -> None:
    identifier.set_tool(None if content is None else tool_from_content(content))


def _set_shape(identifier: AnyIdentifier, content: Any) -> None:
    if content is None:
        identifier.set_shape(None)
        return
    points, volumes, surface, unit_phi = (np.array(content[a], dtype=float) for a in _SHAPE_ARRAYS)
    identifier.set_shape(Shape(points, volumes, surface, unit_phi, bool(content["bounding"]),
                               str(content["name"])))


_REPEAT: Mapping[str, Callable[[AnyIdentifier, Any], object]] = {
    commands.RESET: lambda identifier, reason: identifier.reset(str(reason)),
    commands.TARE: lambda identifier, _: identifier.tare(),
    commands.UNTARE: lambda identifier, _: identifier.untare(),
    commands.SET_TOOL: _set_tool,
    commands.SET_SHAPE: _set_shape,
    commands.SET_SETTINGS: lambda identifier, changes: identifier.set_settings(
        Settings().replace(changes)),
    commands.PUBLISHERS: lambda identifier, text: identifier.add_publishers(str(text)),
}
