"""Serialised messages on their way into a pipeline: decoded, or named and dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..findings import FindingLog
from ..limits import MAX_JOINTS, MAX_TRANSFORMS
from . import cdr


def fits(tell: Callable[[str, str, str], None], what: str, size: int, limit: int) -> bool:
    """Whether a message may be used; where not, the finding ``<what>_too_large`` says so.

    Args:
        tell: takes name, level and text of the finding.
    """
    if size <= limit:
        return True
    tell(f"{what}_too_large", "error", f"{what.replace('_', ' ')} messages with {size} entries "
         f"dropped; at most {limit} are accepted")
    return False


Handler = Callable[..., Any]


def take_wrench(data: bytes, handler: Handler, log: FindingLog) -> None:
    """Hand a serialised geometry_msgs/WrenchStamped on."""
    message = _decoded(cdr.wrench, data, "wrench", log)
    if message is not None:
        handler(*message)


def take_joint_state(data: bytes, handler: Handler, log: FindingLog) -> None:
    """Hand a serialised sensor_msgs/JointState on."""
    message = _decoded(cdr.joint_state, data, "joint_state", log)
    if message is not None and fits(log.set, "joint_state", len(message.names), MAX_JOINTS):
        handler(*message)


def take_transforms(data: bytes, handler: Handler, log: FindingLog) -> None:
    """Hand each transform of a serialised tf2_msgs/TFMessage on."""
    edges = _decoded(cdr.transforms, data, "transform", log)
    if edges is not None and fits(log.set, "transform", len(edges), MAX_TRANSFORMS):
        for edge in edges:
            handler(*edge)


def take_static_transforms(data: bytes, handler: Handler, log: FindingLog) -> None:
    """Hand each transform of a serialised tf2_msgs/TFMessage on, without its stamp."""
    edges = _decoded(cdr.transforms, data, "static_transform", log)
    if edges is not None and fits(log.set, "static_transform", len(edges), MAX_TRANSFORMS):
        for edge in edges:
            handler(*edge[1:])


def _decoded(decoder: cdr.Decoder[cdr.T], data: bytes, what: str, log: FindingLog) -> cdr.T | None:
    try:
        return decoder(data)
    except ValueError as error:
        log.count(f"{what}_malformed", f"{what.replace('_', ' ')} messages that cannot be decoded "
                  f"dropped, the last because of {error}")
        return None
