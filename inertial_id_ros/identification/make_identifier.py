# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Makes the identifier that the settings ask for: from a wrist sensor, or from joint torques."""

from __future__ import annotations

from typing import TYPE_CHECKING, Union

from ..errors import InvalidShape
from ..estimators import create
from ..geometry.mesh import package_roots
from ..geometry.shape import Shape, shape_from_settings
from ..regression.tool import load_tool
from ..settings import Settings
from .wrench.identifier import Identifier

if TYPE_CHECKING:
    from .joint_torque.identifier import TorqueIdentifier

AnyIdentifier = Union[Identifier, "TorqueIdentifier"]


def make_identifier(settings: Settings, shape: Shape | None = None) -> AnyIdentifier:
    """A fresh identifier (raises what its class raises)."""
    if settings.load.source == "joint_torque":
        from .joint_torque.identifier import TorqueIdentifier

        return TorqueIdentifier(settings, shape)
    return Identifier(settings, shape)


def identifier_from_settings(settings: Settings) -> AnyIdentifier:
    """A fresh identifier with the shape and the tool that the settings name.

    Raises:
        InertialIdError: a setting, the shape, the tool or the estimator cannot be used.
    """
    identifier = make_identifier(settings, required_shape(settings))
    if settings.tool.file:
        identifier.set_tool(load_tool(settings.tool.file))
    return identifier


def required_shape(settings: Settings) -> Shape | None:
    """The shape that the settings name; None where they name none and none is needed.

    Raises:
        InvalidShape: it cannot be used, or the estimator needs one.
        UnknownEstimator: there is no estimator of that name.
    """
    if create(settings).needs_shape and settings.shape.type == "none":
        raise InvalidShape(f"estimator.method '{settings.estimator.method}' needs the shape of the "
                           "object; set shape.type (identify_bag: --box, --mesh or --shape)")
    return shape_from_settings(settings.shape, package_roots())
