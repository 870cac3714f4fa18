# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Conditions under which something is sent; each that is not met says so in one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..errors import InertialIdError


class GateClosed(InertialIdError):
    """Nothing is sent, since a gate is closed."""


class Gate(NamedTuple):
    """A condition by its name; closed: why it is not met, in one sentence; empty where it is."""

    name: str
    closed: str = ""


def closed_gates(gates: Iterable[Gate]) -> list[str]:
    """The sentences of all gates that are closed."""
    return [gate.closed for gate in gates if gate.closed]
