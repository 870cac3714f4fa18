"""The pipeline that the settings ask for: from a wrist sensor, or from joint torques."""

from __future__ import annotations

from .identifier import Identifier
from .joint_torque.identifier import TorqueIdentifier
from .settings import Settings
from .shape import Shape

AnyIdentifier = Identifier | TorqueIdentifier


def make_identifier(settings: Settings, shape: Shape | None = None) -> AnyIdentifier:
    """A fresh identifier (raises what its class raises)."""
    if settings.load.source == "joint_torque":
        return TorqueIdentifier(settings, shape)
    return Identifier(settings, shape)
