# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Conditions under which something is sent; each that is not met says so in one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..errors import InertialIdError
from ..estimate import UNOBSERVED
from ..settings import Settings
from .payload import Payload


class GateClosed(InertialIdError):
    """Nothing is sent, since a gate is closed."""


class Gate(NamedTuple):
    """A condition by its name; closed: why it is not met, in one sentence; empty where it is."""

    name: str
    closed: str = ""


def gates_of_payload(payload: Payload, settings: Settings, needs_limits: bool) -> list[Gate]:
    """Whether what is sent is known well enough, and inside of the limits of the robot.

    Args:
        payload: in the frame of the target.
        needs_limits: whether the mass that the robot may carry must be known.
    """
    limits = settings.apply
    most, name = limits.max_mass, "apply.max_mass"
    if most == 0.0:
        most, name = settings.load.rated_payload, "load.rated_payload"
    origin = payload.origin or payload.frame_id
    distance = float(np.linalg.norm(payload.com))
    largest = float(np.linalg.eigvalsh(payload.inertia)[-1])
    return [
        _known("mass", payload.mass_verdict is UNOBSERVED),
        _known("centre of mass", payload.com_verdict is UNOBSERVED),
        Gate("max_mass", "the mass that the robot may carry is not known; set apply.max_mass"
             if most == 0.0 and needs_limits
             else _above("the mass", payload.mass, most, name, "kg")),
        Gate("max_com", _above(f"the distance of the centre of mass from '{origin}'", distance,
                               limits.max_com, "apply.max_com", "m")),
        Gate("max_inertia", _above("the largest moment of inertia", largest, limits.max_inertia,
                                   "apply.max_inertia", "kg m^2"))]


def _known(what: str, is_unobserved: bool) -> Gate:
    """The gate of a quantity that must be known."""
    return Gate(what, f"the {what} is unobserved: the motion so far does not tell it"
                if is_unobserved else "")


def _above(what: str, value: float, most: float, name: str, unit: str) -> str:
    """A sentence where a value is above a limit that is not 0, else empty."""
    if most == 0.0 or value <= most:
        return ""
    return f"{what} is {value:.4g} {unit}; {name} allows {most:g} {unit}"


def closed_gates(gates: Iterable[Gate]) -> list[str]:
    """The sentences of all gates that are closed."""
    return [gate.closed for gate in gates if gate.closed]
