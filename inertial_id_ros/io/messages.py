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
        name: of the kind, in the names of findings.
        decode: makes the message of its bytes (raises ValueError).
        samples: the samples of a message, each as the arguments of a sink.
        size: number of entries of a message, of which at most `limit` are accepted.
    """

    name: str
    decode: Callable[[bytes], Any]
    samples: Callable[[Any], Iterable[Iterable[Any]]]
    size: Callable[[Any], int]
    limit: int

    def pass_on(self, message: Any, sink: Sink, report: Report) -> bool:
        """Give each sample of a decoded message to a sink; False, and none is given, where the
        message is too large, which is reported."""
        if not has_allowed_size(self.name, self.size(message), self.limit, report):
            return False
        for sample in self.samples(message):
            sink(*sample)
        return True


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


WRENCH = MessageKind("wrench", cdr.wrench, lambda wrench: [wrench], lambda wrench: 1, 1)
JOINT_STATE = MessageKind("joint_state", cdr.joint_state, lambda state: [state],
                          lambda state: len(state.names), MAX_JOINTS)
TRANSFORMS = MessageKind("transform", cdr.transforms, lambda edges: edges, len, MAX_TRANSFORMS)
STATIC_TRANSFORMS = MessageKind(  # their stamps mean nothing
    "static_transform", cdr.transforms, lambda edges: [edge[1:] for edge in edges], len,
    MAX_TRANSFORMS)
