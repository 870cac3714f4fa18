# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a target is: the protocol that every backend fulfils.

A backend is made known as a Python entry point of the group ``inertial_id_ros.apply``: a class
without arguments, or an object. The name of the entry point is the value of ``apply.target``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from ..settings import Settings
from .calls import Call, ServiceCall
from .gates import Gate
from .payload import Payload
from .readings import Reading


class Topic(NamedTuple):
    """A topic of which one message is read: name, type such as ``std_msgs/msg/String``."""

    name: str
    type: str


@dataclass(frozen=True)
class Sources:
    """What a target must see of the graph before it can say what it would send.

    Attributes:
        services: types by name, of which one is expected; those that will be called.
        topic: what tells the payload that is set; None: nothing does. Without it the target still
            says what it would send.
        query: a service that only tells something, called beforehand.
        node: full name of the node whose parameters are read; empty: none.
        parameters: names, or beginnings of names, of the parameters that are read.
    """

    services: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    topic: Topic | None = None
    query: ServiceCall | None = None
    node: str = ""
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Seen:
    """What was found in the graph.

    Attributes:
        types: the type of each service that is there, by its name.
        fields: types of the fields of each request, by the service; without those whose type is
            not installed here.
        message: the newest message of the topic; None: there is none.
        answer: the response to the query; None: there is none.
        parameters: values by name; without those that the node does not have.
        read_only: names of the parameters that cannot be set.
    """

    types: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    message: Any = None
    answer: Any = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    read_only: frozenset[str] = frozenset()


class Placement(NamedTuple):
    """Where a target wants the payload: in a frame, or about the origin of the sensor along the
    axes of a frame."""

    frame: str
    axes_only: bool = False


@dataclass(frozen=True)
class Plan:
    """What a target would be told.

    Attributes:
        calls: one after the other.
        sent: what the target must tell afterwards; None: it tells nothing.
        undo: calls that give back what it has now; None: that is not known.
        left_out: what it is not told, and why, one sentence each.
        gates: conditions of this payload; notes: what the user must know, one sentence each.
        what: it is told, in words; empty: the payload.
    """

    calls: tuple[Call, ...]
    sent: Reading | None = None
    undo: tuple[Call, ...] | None = None
    left_out: tuple[str, ...] = ()
    gates: tuple[Gate, ...] = ()
    notes: tuple[str, ...] = ()
    what: str = ""


def unmeasured(what: str) -> str:
    """The note on a quantity that is sent though it is unobserved, since the call needs it."""
    return (f"sent though not measured: the {what}; the call needs it, so that the value of the "
            "prior goes with it")


class Target(Protocol):
    """A driver or controller that takes a payload; those that inherit it need not state what they
    have nothing to say about.

    Attributes:
        takes_tool: it takes all that hangs on the flange, not the load beside a tool that is
            configured elsewhere.
        needs_limits: it moves the arm by what it is told, so that the mass that the robot may carry
            must be known.
        changes_wrench: what the node itself receives changes with it.
    """

    takes_tool: bool
    needs_limits: bool
    changes_wrench: bool

    def sources(self, settings: Settings) -> Sources:
        """What it must see (raises InvalidSetting)."""

    def placement(self, settings: Settings, seen: Seen) -> Placement:
        """Where it wants the payload (raises InertialIdError)."""

    def plan(self, payload: Payload, settings: Settings, seen: Seen) -> Plan:
        """What it would be told of a payload in its frame (raises InertialIdError)."""

    def ready(self, settings: Settings, seen: Seen) -> tuple[Gate, ...]:
        """Conditions of its own that do not depend on the payload."""
        return ()

    def read(self, settings: Settings, seen: Seen) -> Reading | None:
        """What it tells of the payload that is set; None: nothing."""
        return None
