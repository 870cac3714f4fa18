# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Messages of the topics with high rates: decoded, checked, passed on as samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..findings import FindingLog
from ..limits import MAX_JOINTS, MAX_TRANSFORMS
from . import cdr

Sink = Callable[..., Any]  # takes one sample
Report = Callable[[str, str, str], None]  # takes name, level and text of a finding


class MessageKind(NamedTuple):
    """How messages of one kind become samples.

    Attributes:
        name: of the stream, in the names of findings; what: messages of it are called.
        decode: makes the message of its bytes (raises ValueError).
        samples: the samples of a message, each as the arguments of a sink.
        size: number of entries of a message, of which at most `limit` are accepted.
    """

    name: str
    what: str
    decode: Callable[[bytes], Any]
    samples: Callable[[Any], Iterable[Iterable[Any]]]
    size: Callable[[Any], int]
    limit: int

    def pass_on(self, message: Any, sink: Sink, report: Report) -> bool:
        """Give each sample of a decoded message to a sink; False, and none is given, where the
        message is too large, which is reported."""
        if not has_allowed_size(self.name, self.what, self.size(message), self.limit, report):
            return False
        for sample in self.samples(message):
            sink(*sample)
        return True


def has_allowed_size(stream: str, what: str, size: int, limit: int, report: Report) -> bool:
    """Whether a message may be used; where not, that is reported.

    Args:
        stream: in the finding's name; what: such messages are called; size: its number of entries.
    """
    if size <= limit:
        return True
    report(f"message_too_large.{stream}", "error", f"{what} messages with {size} entries dropped; "
           f"at most {limit} are accepted")
    return False


def stamp_ns(stamp: Any) -> int:
    """Nanoseconds since the epoch of a builtin_interfaces/Time."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def take_serialized(kind: MessageKind, data: bytes, sink: Sink, log: FindingLog) -> None:
    """Give the samples of a serialised message to a sink; one that is damaged becomes a finding."""
    try:
        message = kind.decode(data)
    except ValueError as error:
        log.count(f"message_malformed.{kind.name}", f"{kind.what} messages that cannot be decoded "
                  f"dropped, the last because of {error}")
        return
    kind.pass_on(message, sink, log.set)


WRENCH = MessageKind("wrench", "wrench", cdr.wrench, lambda wrench: [wrench], lambda wrench: 1, 1)
JOINT_STATE = MessageKind("joints", "joint state", cdr.joint_state, lambda state: [state],
                          lambda state: len(state.names), MAX_JOINTS)
TRANSFORMS = MessageKind("transforms", "transform", cdr.transforms, lambda edges: edges, len,
                         MAX_TRANSFORMS)
STATIC_TRANSFORMS = MessageKind(  # their stamps mean nothing
    "static_transforms", "static transform", cdr.transforms,
    lambda edges: [edge[1:] for edge in edges], len,
    MAX_TRANSFORMS)
