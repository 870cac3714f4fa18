# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Makes the identifier that the settings ask for."""

from __future__ import annotations

from dataclasses import replace

from ..errors import InvalidShape
from ..estimators import create
from ..geometry.mesh import package_roots
from ..geometry.shape import Shape, shape_from_settings
from ..model.tool import load_tool
from ..robot.robot_file import load_robot
from ..settings import Settings
from .beliefs import Beliefs, compensated_by_driver
from .identifier import Identifier
from .torque_streams import TorqueStreams


def make_identifier(settings: Settings) -> Identifier:
    """A fresh identifier, with the shape and the tool that the settings name.

    Raises:
        InertialIdError: a setting, the shape, the tool or the estimator cannot be used.
    """
    tool = load_tool(settings.tool.file) if settings.tool.file else None
    beliefs = Beliefs(tool=tool, shape=required_shape(settings))
    if settings.load.source == "joint_torque":
        return Identifier(settings, beliefs, TorqueStreams(settings, load_robot(
            settings.load.robot)))
    return Identifier(settings, replace(beliefs, compensated=compensated_by_driver(settings)))


def required_shape(settings: Settings) -> Shape | None:
    """The shape that the settings name; None where they name none and none is needed.

    Raises:
        InvalidShape: it cannot be used, or the estimator needs one.
    """
    if create(settings).needs_shape and settings.shape.type == "none":
        raise InvalidShape(f"estimator.method '{settings.estimator.method}' needs the shape of the "
                           "object; set shape.type")
    return shape_from_settings(settings.shape, package_roots())
