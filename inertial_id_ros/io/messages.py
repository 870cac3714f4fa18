"""Messages of the topics with high rates: decoded, checked, passed on as samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..findings import FindingLog
from ..limits import MAX_JOINTS, MAX_TRANSFORMS
from . import cdr

Sink = Callable[..., Any]  # takes one sample
Report = Callable[[str, str, str], None]  # takes name, level and text of a finding


class MessageKind(NamedTuple):
    """How messages of one kind become samples.

    Attributes:
        name: of the kind, in the names of findings.
        decode: makes the message of its bytes (raises ValueError).
        pass_on: gives each sample of a decoded message to a sink; False, and none is given, where
            the message is too large, which is reported.
    """

    name: str
    decode: Callable[[bytes], Any]
    pass_on: Callable[[Any, Sink, Report], bool]


def has_allowed_size(name: str, size: int, limit: int, report: Report) -> bool:
    """Whether a message may be used; where not, the finding ``<name>_too_large`` is reported.

    Args:
        size: its number of entries.
    """
    if size <= limit:
        return True
    report(f"{name}_too_large", "error", f"{name.replace('_', ' ')} messages with {size} entries "
           f"dropped; at most {limit} are accepted")
    return False


def stamp_ns(stamp: Any) -> int:
    """Nanoseconds since the epoch of a builtin_interfaces/Time."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def take_serialized(kind: MessageKind, data: bytes, sink: Sink, log: FindingLog) -> None:
    """Give the samples of a serialised message to a sink; one that is damaged becomes a finding."""
    try:
        message = kind.decode(data)
    except ValueError as error:
        log.count(f"{kind.name}_malformed", f"{kind.name.replace('_', ' ')} messages that cannot "
                  f"be decoded dropped, the last because of {error}")
        return
    kind.pass_on(message, sink, log.set)


def _pass_wrench(message: cdr.Wrench, sink: Sink, report: Report) -> bool:
    sink(*message)
    return True


def _pass_joint_state(message: cdr.JointState, sink: Sink, report: Report) -> bool:
    if not has_allowed_size("joint_state", len(message.names), MAX_JOINTS, report):
        return False
    sink(*message)
    return True


def _pass_transforms(message: Sequence[cdr.Edge], sink: Sink, report: Report) -> bool:
    if not has_allowed_size("transform", len(message), MAX_TRANSFORMS, report):
        return False
    for edge in message:
        sink(*edge)
    return True


def _pass_static_transforms(message: Sequence[cdr.Edge], sink: Sink, report: Report) -> bool:
    """The stamp of a fixed transform means nothing."""
    if not has_allowed_size("static_transform", len(message), MAX_TRANSFORMS, report):
        return False
    for edge in message:
        sink(*edge[1:])
    return True


WRENCH = MessageKind("wrench", cdr.wrench, _pass_wrench)
JOINT_STATE = MessageKind("joint_state", cdr.joint_state, _pass_joint_state)
TRANSFORMS = MessageKind("transform", cdr.transforms, _pass_transforms)
STATIC_TRANSFORMS = MessageKind("static_transform", cdr.transforms, _pass_static_transforms)
