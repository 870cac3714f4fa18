"""The pipeline that the settings ask for: from a wrist sensor, or from joint torques."""

from __future__ import annotations

from typing import TYPE_CHECKING, Union

from ..geometry.shape import Shape
from ..settings import Settings
from .identifier import Identifier

if TYPE_CHECKING:
    from .joint_torque.identifier import TorqueIdentifier

AnyIdentifier = Union[Identifier, "TorqueIdentifier"]


def make_identifier(settings: Settings, shape: Shape | None = None) -> AnyIdentifier:
    """A fresh identifier (raises what its class raises)."""
    if settings.load.source == "joint_torque":
        from .joint_torque.identifier import TorqueIdentifier

        return TorqueIdentifier(settings, shape)
    return Identifier(settings, shape)
