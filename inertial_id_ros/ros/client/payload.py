# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The payload as a program uses it, or the reason why there is none."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from ...estimate import UNOBSERVED, ParameterVerdict
from ...inertia import Array

GROUPS = {"mass": slice(0, 1), "com": slice(1, 4), "inertia": slice(4, 10)}


@dataclass(frozen=True, eq=False)
class Payload:
    """A payload that is physically possible, and was young enough when it was handed out.

    Attributes:
        mass: [kg]; com: centre of mass (3,) [m]; inertia: about it (3, 3) [kg m^2], all in the axes
            and about the origin of `frame_id`.
        covariance: (10, 10), SI units, of mass, com and the inertia's xx, xy, xz, yy, yz, zz.
        verdict: for each of these ten (10,); what is UNOBSERVED must not be used.
        tool_apart: whether a stored tool is no part of it.
        stamp_ns: stamp of the newest sample used [ns]; sequence: number of the message.
        arrived: steady time at which that sample arrived at the latest [s]; expires: steady time
            from which on the payload is too old.
    """

    mass: float
    com: Array
    inertia: Array
    covariance: Array
    verdict: tuple[ParameterVerdict, ...]
    frame_id: str
    tool_apart: bool
    stamp_ns: int
    sequence: int
    arrived: float
    expires: float

    @property
    def age(self) -> float:
        """Time since the newest sample used arrived, now and at most [s]."""
        return time.monotonic() - self.arrived

    @property
    def has_expired(self) -> bool:
        """Whether it is too old by now; ask the client for another one."""
        return time.monotonic() > self.expires

    @property
    def sigma(self) -> Array:
        """Standard deviations (10,) in the order of the covariance."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def is_known(self, group: str) -> bool:
        """Whether all of "mass", "com" or "inertia" may be used."""
        return UNOBSERVED not in self.verdict[GROUPS[group]]


@dataclass(frozen=True)
class NoPayload:
    """There is no payload that may be used; false in a condition.

    Attributes:
        reason: why, in one sentence.
    """

    reason: str

    def __bool__(self) -> bool:
        return False
