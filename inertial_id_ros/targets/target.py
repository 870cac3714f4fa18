# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a target is: the payload it is given, the calls that tell it, what it reads back, and the
conditions under which something is sent.

What the node reads of a driver is told by ``config/<driver>.yaml`` instead. `registry.TARGETS` has
all targets by their names.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..errors import DamagedFile
from ..estimate import UNOBSERVED, Estimate, ParameterVerdict
from ..inertia import (
    PARAMETERS,
    Array,
    body_from_phi,
    is_consistent,
    phi_from_body,
    six_from_tensor,
    transform_phi,
)
from ..io import fields
from ..settings import Settings
from .ratings import Rating


@dataclass(frozen=True)
class ServiceCall:
    """The call of a service.

    Attributes:
        service: its name; type: such as ``std_srvs/srv/Trigger``.
        fields: of the request, nested as mappings; fields that are left out keep their default.
        accepted: field of the response, and its value where the call has succeeded.
        reason: field of the response that says why it has not; empty: there is none.
        may_fail: go on where it is refused.
    """

    service: str
    type: str
    fields: Mapping[str, Any]
    accepted: tuple[str, Any] = ("success", True)
    reason: str = ""
    may_fail: bool = False

    @property
    def commands(self) -> list[str]:
        """The line that does the same in a shell."""
        words = ["ros2", "service", "call", self.service, self.type, _flow(self.fields)]
        return [shlex.join(words)]

    def to_json(self) -> dict[str, Any]:
        """The call as data."""
        return {"service": self.service, "type": self.type, "fields": dict(self.fields),
                "accepted": list(self.accepted), "reason": self.reason, "may_fail": self.may_fail}


@dataclass(frozen=True)
class ParameterCall:
    """Setting parameters of a node, all or none.

    Attributes:
        node: its full name; values: numbers, or lists of numbers, by name.
    """

    node: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def commands(self) -> list[str]:
        """The lines that do the same in a shell."""
        return [shlex.join(["ros2", "param", "set", self.node, name, _flow(value)])
                for name, value in self.values.items()]

    def to_json(self) -> dict[str, Any]:
        """The call as data."""
        return {"node": self.node, "values": dict(self.values)}


Call = ServiceCall | ParameterCall


def call_from_json(content: Mapping[str, Any]) -> Call:
    """A call from its data (raises KeyError, TypeError where they are none)."""
    if "node" in content:
        return ParameterCall(str(content["node"]), dict(content["values"]))
    name, value = content["accepted"]
    return ServiceCall(str(content["service"]), str(content["type"]), dict(content["fields"]),
                       (name, value), str(content["reason"]), bool(content["may_fail"]))


def _flow(value: Any) -> str:
    """A value as YAML on one line, with every digit that matters."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(v) for v in value) + "]"
    if isinstance(value, float) and math.isfinite(value):
        return np.format_float_positional(value, trim="0")  # PyYAML takes 1e-05 for text
    return json.dumps(value)


Values = Mapping[str, Any]  # numbers, or lists of numbers, by name
_DRIVER = {"mass": (1e-3, "kg"), "com": (1e-4, "m"), "inertia": (1e-4, "kg m^2")}
_RELATIVE = 1e-5  # of a number that went through 32 bits


class Reading(NamedTuple):
    """What a target tells: numbers by the name of a quantity or parameter.

    Attributes:
        tolerance: how much a number may differ from what was sent, by name; others must be equal
            but for rounding.
    """

    values: Values
    tolerance: Mapping[str, tuple[float, str]]

    def of(self, names: Iterable[str]) -> Reading:
        """The part of the reading that has these names."""
        return self._replace(values={n: self.values[n] for n in names if n in self.values})


def body_reading(mass: float, com: list[float], inertia: Array | None) -> Reading:
    """The reading of a driver: mass [kg], com x, y, z [m], inertia (3, 3) [kg m^2] about it."""
    values: dict[str, Any] = {"mass": mass, "com": [float(x) for x in com]}
    if inertia is not None:
        values["inertia"] = six_from_tensor(inertia).tolist()
    return Reading(values, _DRIVER)


def parameter_reading(values: Values) -> Reading:
    """The reading of a node: values of its parameters."""
    return Reading(values, {})


def difference(sent: Reading, told: Reading) -> str:
    """How what a target tells differs from what was sent, in words; empty where it does not."""
    for name, value in sent.values.items():
        if name not in told.values:
            return f"{name} is not told"
        tolerance, unit = sent.tolerance.get(name, (0.0, ""))
        wanted, got = _numbers(value), _numbers(told.values[name])
        if len(wanted) != len(got) or not all(
                abs(a - b) <= tolerance + _RELATIVE * abs(a)
                for a, b in zip(wanted, got, strict=True)):
            return f"{name} is {_words(got)}{unit and f' {unit}'}, and {_words(wanted)} was sent"
    return ""


def _numbers(value: Any) -> list[float]:
    """A value as a list of numbers; one that is none is NaN, which equals nothing."""
    values = value if isinstance(value, (list, tuple)) else [value]
    return [float(v) if isinstance(v, (int, float)) else math.nan for v in values]


def _words(numbers: list[float]) -> str:
    """Numbers in words."""
    words = ", ".join(f"{x:.6g}" for x in numbers)
    return words if len(numbers) == 1 else f"[{words}]"


@dataclass(frozen=True)
class TargetPayload:
    """A payload as it is told.

    Attributes:
        frame_id: frame in whose axes it is given, and about whose origin unless `origin` names
            another one.
        phi: inertial parameters (10,) about that origin.
        mass_verdict, com_verdict, inertia_verdict: how far each can be trusted.
        com_width: half of the widest 95 % interval of the centre of mass [m]; infinite where it is
            in doubt.
        bias: reading of the sensor at zero load now (6,) [N, N m], sign of the incoming topic,
            sensor frame; None: a saved estimate does not tell it.
        origin: frame about whose origin it is given, where that is another one; else empty.
    """

    frame_id: str
    phi: Array
    mass_verdict: ParameterVerdict
    com_verdict: ParameterVerdict
    inertia_verdict: ParameterVerdict
    com_width: float
    bias: Array | None
    origin: str = ""

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self.phi[0])

    @property
    def com(self) -> list[float]:
        """Centre of mass x, y, z [m]."""
        return body_from_phi(self.phi).com.tolist()

    @property
    def com_mm(self) -> list[float]:
        """Centre of mass x, y, z [mm]."""
        return [1e3 * x for x in self.com]

    @property
    def inertia(self) -> Array:
        """Inertia about the centre of mass (3, 3) [kg m^2]."""
        return body_from_phi(self.phi).inertia_com

    @property
    def inertia_is_known(self) -> bool:
        """Whether no entry of the inertia is UNOBSERVED."""
        return self.inertia_verdict is not UNOBSERVED

    def placed(self, frame_id: str, rotation: Array, translation: Array) -> TargetPayload:
        """The same payload in another frame, where ``x_new = rotation x + translation``."""
        return replace(self, frame_id=frame_id,
                       phi=transform_phi(self.phi, rotation, translation))

    def turned(self, frame_id: str, rotation: Array) -> TargetPayload:
        """The same payload about the same origin, along the axes of another frame."""
        return replace(self.placed(frame_id, rotation, np.zeros(3)),
                       origin=self.origin or self.frame_id)

    def describe(self) -> str:
        """Mass, centre of mass and frame in words."""
        com = ", ".join(f"{x:.1f}" for x in self.com_mm)
        where = (f"from the origin of '{self.origin}' along the axes of '{self.frame_id}'"
                 if self.origin else f"in '{self.frame_id}'")
        return f"{self.mass:.3f} kg at [{com}] mm {where}"


def payload_of(estimate: Estimate, tool: Array | None = None) -> TargetPayload:
    """What is told of an estimate, in its own frame.

    Args:
        tool: phi (10,) of the tool that the estimate is without, to be told as well; None: the
            estimate as it is.
    """
    verdict = estimate.verdict
    return TargetPayload(estimate.frame_id, estimate.phi if tool is None else estimate.phi + tool,
                         verdict[0], min(verdict[1:4]), min(verdict[4:]),
                         _com_width(estimate.covariance, estimate.doubted), estimate.bias)


def _com_width(covariance: Array, doubted: str) -> float:
    """`TargetPayload.com_width` of an estimate whose report has this covariance (10, 10)."""
    return math.inf if doubted else 2.0 * math.sqrt(max(covariance.diagonal()[1:4].max(), 0.0))


def payload_of_report(content: dict[str, Any]) -> tuple[TargetPayload, bool]:
    """What is told of a saved estimate, in its frame, and whether it is without a tool that was
    stored then.

    Args:
        content: as `Estimate.to_json` gives it.

    Raises:
        DamagedFile: it is no such report.
    """
    verdict = fields.verdict(content, "verdict")
    phi = phi_from_body(fields.number(content, "mass", 0.0), fields.numbers(content, "com", 3),
                        fields.numbers(content, "inertia_com", 3, 3))
    if not is_consistent(phi):
        raise DamagedFile("no body has its mass and inertia")
    width = _com_width(fields.numbers(content, "covariance", PARAMETERS, PARAMETERS),
                       str(content.get("doubted", "")))
    return TargetPayload(fields.text(content, "frame_id"), phi, verdict[0], min(verdict[1:4]),
                         min(verdict[4:]), width, None), bool(content.get("tool_apart"))


class Gate(NamedTuple):
    """A condition by its name; closed: why it is not met, in one sentence; empty where it is."""

    name: str
    closed: str = ""


def closed_gates(gates: Iterable[Gate]) -> list[str]:
    """The sentences of all gates that are closed."""
    return [gate.closed for gate in gates if gate.closed]


class WatchedTopic(NamedTuple):
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
    topic: WatchedTopic | None = None
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


class PayloadFrame(NamedTuple):
    """Where a target wants the payload: in a frame, or about the origin of the sensor along the
    axes of a frame."""

    frame: str
    axes_only: bool = False


@dataclass(frozen=True)
class TargetPlan:
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
        ratings: rated payloads of the models of its maker, by the name in their robot descriptions.
    """

    takes_tool: bool
    needs_limits: bool
    changes_wrench: bool
    ratings: Mapping[str, Rating] = {}

    def sources(self, settings: Settings) -> Sources:
        """What it must see (raises InvalidSetting)."""

    def placement(self, settings: Settings, seen: Seen) -> PayloadFrame:
        """Where it wants the payload (raises InertialIdError)."""

    def plan(self, payload: TargetPayload, settings: Settings, seen: Seen) -> TargetPlan:
        """What it would be told of a payload in its frame (raises InertialIdError)."""

    def ready(self, settings: Settings, seen: Seen) -> tuple[Gate, ...]:
        """Conditions of its own that do not depend on the payload."""
        return ()

    def read(self, settings: Settings, seen: Seen) -> Reading | None:
        """The payload that it has now, as far as `seen` tells; None: it tells nothing."""
        return None


class ArmDriver(Target):
    """The driver of an arm, which a service tells all that hangs on its flange.

    Attributes:
        service: its default name; types: of it; frame: of the flange.
    """

    takes_tool = True
    needs_limits = True
    changes_wrench = False
    service: str
    types: tuple[str, ...]
    frame: str

    def service_name(self, settings: Settings) -> str:
        """Name of the service."""
        return settings.apply.service or self.service

    def sources(self, settings: Settings) -> Sources:
        return Sources({self.service_name(settings): self.types})

    def placement(self, settings: Settings, seen: Seen) -> PayloadFrame:
        return PayloadFrame(settings.apply.frame or self.frame)
