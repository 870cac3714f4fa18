# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The payload that is sent, and the driver or controller that takes it.

The code of a target is the same for a rehearsal, for sending and for undoing: the client by which
it talks to other nodes may be a recorder, and the values may be those that it had before.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

from ..errors import InertialIdError
from ..estimate import Estimate, judge
from ..inertia import GROUPS, Array
from ..model.tool import Tool, tool_from_estimate
from ..settings import Settings

MASS, COM, INERTIA = GROUPS
Values = Mapping[str, Any]  # numbers, lists of numbers, or names, by name; empty: not known
TOLERANCES = {MASS: 1e-3, COM: 1e-4, INERTIA: 1e-4}  # kg, m, kg m^2
ROUNDING = 1e-5  # relative, of a number that went through 32 bits
UNMEASURED = ("the inertia is sent though it was not measured: the call needs it, so that the "
              "value of the prior goes with it")


class Refused(InertialIdError):
    """A target did not accept what was sent."""


def with_tool(found: Estimate, tool: Tool) -> Estimate:
    """What an estimate is of, together with the tool that it is apart from; where nothing is
    carried, that tool as far as it is known."""
    all_of_it, verdict = tool, judge(tool.phi, tool.covariance, tool.covariance)[1]
    if not found.carries_nothing:
        all_of_it, verdict = tool_from_estimate(found, tool), found.verdict
    return replace(found, phi=all_of_it.phi, phi_covariance=all_of_it.covariance, verdict=verdict,
                   tool_apart=False)


def values_of(numbers: Array, inertia: bool = False) -> Values:
    """Values of a driver, of ten numbers: mass [kg], centre of mass [m], and if wanted the six
    entries of the inertia about it [kg m^2]."""
    six = {INERTIA: numbers[4:].tolist()} if inertia else {}
    return {MASS: float(numbers[0]), COM: numbers[1:4].tolist(), **six}


class Plan(NamedTuple):
    """What is to be sent to a target."""

    values: Values  # argument of `Target.send`
    left_out: tuple[str, ...] = ()  # what is not sent, and why
    notes: tuple[str, ...] = ()  # what the user must know, a sentence each
    what: str = ""  # that is sent, in words; empty: the payload


class Target(ABC):
    """A driver or controller; here, one whose single service takes all that hangs on a flange.
    robot: client of other nodes, as `ros.ros_client.RosClient` is."""

    takes_tool = True  # all that hangs on the flange, not the load beside a tool configured there
    needs_limits = True  # it moves the arm by the payload: its largest mass must be known
    confirms = True  # what it reads back shows that it has accepted a payload
    changes_wrench = False  # that the node receives
    axes_only = False  # it wants the payload about the origin of the sensor, in axes of `frame`
    takes_inertia = False  # its request needs one
    topic = ""  # on which it publishes its payload; empty: none
    ratings: Mapping[str, tuple[float, str]] = {}  # payload [kg], source, by model in the URDF
    default = kind = flange = ""  # name of the service, and its type; frame
    success: tuple[str, Any] = ("success", True)  # field of the response, and its value
    left_out: tuple[str, ...] = ()  # of every plan; notes, too
    notes: tuple[str, ...] = ()

    def __init__(self, robot: Any, settings: Settings) -> None:
        self.robot, self.settings = robot, settings

    @property
    def service(self) -> str:
        """Name of the service."""
        return self.settings.apply.service or self.default

    def services(self) -> Mapping[str, str]:
        """Services that will be called, with their types."""
        return {self.service: self.kind} if self.kind else {}

    def read(self) -> Values:
        """What it has now; empty: it does not say (raises InertialIdError)."""
        return {}

    def frame(self, before: Values) -> str:
        """Frame in which it wants the payload, given what it has now; empty: that of the sensor
        (raises InertialIdError)."""
        return self.settings.apply.frame or self.flange

    def refusals(self) -> Iterator[str]:
        """Why it takes nothing now, whatever the payload, a sentence each."""
        yield from ()

    def plan(self, payload: Estimate, before: Values) -> Plan:
        """What is to be sent of a payload in its frame, or where it wants the axes only along them
        about the origin of the sensor, given what it has now (raises InertialIdError)."""
        vague = self.takes_inertia and not payload.is_known(INERTIA)
        return Plan(values_of(payload.report, self.takes_inertia), self.left_out,
                    (*self.notes, UNMEASURED) if vague else self.notes)

    @abstractmethod
    def send(self, values: Values) -> None:
        """Send values (raises InertialIdError: it refuses (Refused), or is not there; `NoResponse`
        where it may have accepted)."""

    def call(self, request: Values, service: str = "", kind: str = "") -> None:
        """Call its service, or another one (raises Refused where it has not succeeded)."""
        service = service or self.service
        response = self.robot.call(kind or self.kind, service, request)
        field, expected = self.success
        if response is not None and getattr(response, field, None) != expected:
            raise Refused(f"service '{service}' refuses: {response}")

    def undo_of(self, before: Values, values: Values) -> Values:
        """What gives back what it had before these values were sent; empty: not known."""
        return before

    def mass_limit(self, urdf: str) -> tuple[float, str]:
        """The largest mass that may be sent [kg], by the settings or else by the maker's rating of
        the model that a robot description (empty: none) names, and who says so; 0: not known, and
        why."""
        if self.settings.load.rated_payload > 0.0:
            return self.settings.load.rated_payload, "load.rated_payload"
        name = ElementTree.fromstring(urdf).get("name", "") if urdf else ""
        if name.lower() not in self.ratings:
            return 0.0, (f"the robot description names '{name[:100]}', which is no rated model"
                         if urdf else "there is no robot description to name its model")
        mass, source = self.ratings[name.lower()]
        return mass, f"the rating of {name} ({source}; load.rated_payload replaces it)"


def difference(sent: Values, got: Values) -> str:
    """How numbers that a target reads back differ from those that were sent, in words; empty where
    they do not."""
    for name, value in sent.items():
        if name not in got:
            return f"{name} is missing"
        if np.shape(value) != np.shape(got[name]) or not np.allclose(
                got[name], value, rtol=ROUNDING, atol=TOLERANCES.get(name, 0.0)):
            return f"{name} is {got[name]}, and {value} was sent"
    return ""
