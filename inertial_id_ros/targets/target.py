# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A driver or controller that takes a payload: what it has, and how it is sent another one.

Its code is the same for a rehearsal, for sending and for taking back: the client by which it talks
to other nodes may be a recorder, and the values may be those that it had before.
"""

from __future__ import annotations

import json
import math
import shlex
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..errors import InertialIdError
from ..inertia import PARAMETER_NAMES, Array, six_from_tensor
from ..settings import Settings
from .payload import TargetPayload
from .ratings import Rating

Values = Mapping[str, Any]  # numbers, lists of numbers, or names, by name
MASS, COM, INERTIA = "mass", "com", "inertia"
TOLERANCES = {MASS: (1e-3, "kg"), COM: (1e-4, "m"), INERTIA: (1e-4, "kg m^2")}
ROUNDING = 1e-5  # relative, of a number that went through 32 bits
ENTRIES = PARAMETER_NAMES[4:]


class Refused(InertialIdError):
    """A target that was asked did not take what it was told."""


class PayloadFrame(NamedTuple):
    """Where a target wants the payload: in a frame, or about the origin of the sensor along the
    axes of a frame."""

    frame: str
    axes_only: bool = False


@dataclass(frozen=True)
class Plan:
    """What a target is to be told.

    Attributes:
        values: what `Target.send` takes.
        left_out: what it is not told, and why; notes: what the user must know, a sentence each.
        what: it is told, in words; empty: the payload.
    """

    values: Values
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    what: str = ""


class Target(ABC):
    """See the module.

    Args:
        robot: client of other nodes, as `ros.ros_client.RosClient` is.

    Attributes:
        takes_tool: it takes all that hangs on the flange, not the load beside a tool that is
            configured elsewhere.
        needs_limits: it moves the arm by what it is told, so that the mass that the robot may carry
            must be known.
        changes_wrench: what the node itself receives changes with it.
        ratings: rated payloads of the models of its maker, by the name in their robot descriptions.
        tells: topic on which it tells its payload; empty: none.
        confirms: what it tells shows that it has taken a payload.
        told: number of calls that it has accepted.
    """

    takes_tool = True
    needs_limits = False
    changes_wrench = False
    ratings: Mapping[str, Rating] = {}
    tells = ""
    confirms = True

    def __init__(self, robot: Any, settings: Settings) -> None:
        self.robot, self.settings, self.told = robot, settings, 0

    def frame(self) -> PayloadFrame:
        """Where it wants the payload (raises InertialIdError)."""
        return PayloadFrame("")

    def read(self) -> Values | None:
        """What it has now; None: it does not tell (raises InertialIdError)."""
        return None

    def refusals(self) -> Iterator[str]:
        """Why it takes nothing now, whatever it is told, a sentence each."""
        yield from ()

    @abstractmethod
    def plan(self, payload: TargetPayload, before: Values | None) -> Plan:
        """What it is to be told of a payload in its frame (raises InertialIdError).

        Args:
            before: what it has now, as far as it tells.
        """

    def undo_of(self, before: Values | None, values: Values) -> Values | None:
        """What `send` takes to give back what it had before these values; None: not known."""
        return before

    @abstractmethod
    def send(self, values: Values) -> None:
        """Tell it these values.

        Raises:
            InertialIdError: it refuses, or is not there; `NoResponse` where it may have taken them.
        """

    def tell(self, kind: str, service: str, request: Values,
             accepted: tuple[str, Any] = ("success", True), reason: str = "") -> None:
        """Call a service.

        Args:
            accepted: field of the response, and its value where the call has succeeded.
            reason: field of the response that says why it has not; empty: there is none.

        Raises:
            Refused: it has not.
        """
        response = self.robot.call(kind, service, request)
        got = None if response is None else getattr(response, accepted[0], None)
        if response is not None and got != accepted[1]:
            why = str(getattr(response, reason, "")) if reason else ""
            raise Refused(f"service '{service}' refuses: {accepted[0]} is {got!r}"
                          + (f": {why}" if why else ""))
        self.told += 1


class ArmDriver(Target):
    """The driver of an arm, a service of which takes all that hangs on its flange.

    Attributes:
        default: name of the service; types: of which one is expected; flange: frame.
    """

    needs_limits = True
    default = flange = ""
    types: tuple[str, ...] = ()

    @property
    def service(self) -> str:
        """Name of the service."""
        return self.settings.apply.service or self.default

    def services(self) -> dict[str, tuple[str, ...]]:
        """Types by name, of which one is expected, of the services that will be called."""
        return {self.service: self.types}

    def frame(self) -> PayloadFrame:
        return PayloadFrame(self.settings.apply.frame or self.flange)


def body_values(mass: float, com: Any, inertia: Array | None = None) -> dict[str, Any]:
    """Values of a driver: mass [kg], com x, y, z [m], inertia (3, 3) about it [kg m^2]."""
    out: dict[str, Any] = {MASS: float(mass), COM: [float(x) for x in com]}
    if inertia is not None:
        out[INERTIA] = six_from_tensor(inertia).tolist()
    return out


def difference(sent: Values, told: Values) -> str:
    """How what a target tells differs from what was sent, in words; empty where it does not."""
    for name, value in sent.items():
        if name not in told:
            return f"{name} is not told"
        tolerance, unit = TOLERANCES.get(name, (0.0, ""))
        got = told[name]
        try:
            same = value == got or np.shape(value) == np.shape(got) and np.allclose(
                got, value, rtol=ROUNDING, atol=tolerance)
        except TypeError:  # a name, and another one or a number
            same = False
        if not same:
            return f"{name} is {_words(got)}{unit and f' {unit}'}, and {_words(value)} was sent"
    return ""


def _words(value: Any) -> str:
    if isinstance(value, str):
        return f"'{value}'"
    return np.array2string(np.asarray(value), precision=6, separator=", ")


def service_line(kind: str, service: str, request: Values) -> str:
    """The line that calls a service in a shell."""
    return shlex.join(["ros2", "service", "call", service, kind, _flow(request)])


def parameter_lines(node: str, values: Values) -> list[str]:
    """The lines that set parameters in a shell."""
    return [shlex.join(["ros2", "param", "set", node, name, _flow(value)])
            for name, value in values.items()]


def _flow(value: Any) -> str:
    """A value as YAML on one line, with every digit that matters."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(v) for v in value) + "]"
    if isinstance(value, float) and math.isfinite(value):
        return np.format_float_positional(value, trim="0")  # PyYAML takes 1e-05 for text
    return json.dumps(value)
