# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The payload of an estimate, as a target is told it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import DamagedFile
from ..estimate import IDENTIFIED, UNOBSERVED, ParameterVerdict
from ..identify.verdict import limits
from ..inertia import (
    PARAMETERS,
    Array,
    body_from_phi,
    is_consistent,
    phi_from_body,
    report_from_phi,
    report_jacobian,
    transform_phi,
)
from ..io import fields
from ..model.tool import Tool


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
    def inertia(self) -> Array:
        """Inertia about the centre of mass (3, 3) [kg m^2]."""
        return body_from_phi(self.phi).inertia_com

    @property
    def inertia_is_known(self) -> bool:
        """True if no entry of the inertia is UNOBSERVED."""
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
        com = ", ".join(f"{1e3 * x:.1f}" for x in self.com)
        where = (f"from the origin of '{self.origin}' along the axes of '{self.frame_id}'"
                 if self.origin else f"in '{self.frame_id}'")
        return f"{self.mass:.3f} kg at [{com}] mm {where}"


def payload_of(report: dict[str, Any], bias: Array | None = None, tool: Array | None = None
               ) -> TargetPayload:
    """What is told of an estimate, in its own frame.

    Args:
        report: as `Estimate.to_json` gives it; bias: (6,) of the sensor, as in `TargetPayload`.
        tool: phi (10,) of the tool that the estimate is without, to be told as well; None: the
            estimate as it is.

    Raises:
        DamagedFile: it is no such report.
    """
    verdict = fields.verdict(report, "verdict")
    phi = phi_from_body(fields.number(report, "mass", 0.0), fields.numbers(report, "com", 3),
                        fields.numbers(report, "inertia_com", 3, 3))
    if not is_consistent(phi):
        raise DamagedFile("no body has its mass and inertia")
    variances = fields.numbers(report, "covariance", PARAMETERS, PARAMETERS).diagonal()
    width = math.inf if report.get("doubted") else 2.0 * math.sqrt(max(variances[1:4].max(), 0.0))
    return TargetPayload(fields.text(report, "frame_id"), phi if tool is None else phi + tool,
                         verdict[0], min(verdict[1:4]), min(verdict[4:]), width, bias)


def payload_of_tool(tool: Tool, bias: Array) -> TargetPayload:
    """What is told of a tool that carries nothing: of it alone, as far as its file tells it.

    Args:
        bias: (6,) of the sensor, as in `TargetPayload`.
    """
    jacobian, report = report_jacobian(tool.phi), report_from_phi(tool.phi)
    sd = np.sqrt(np.maximum((jacobian @ tool.covariance @ jacobian.T).diagonal(), 0.0))
    known = 2.0 * sd <= limits(report, sd)
    mass, com, inertia = (IDENTIFIED if known[group].all() else UNOBSERVED
                          for group in (slice(0, 1), slice(1, 4), slice(4, 10)))
    return TargetPayload(tool.frame_id, tool.phi, mass, com, inertia, 2.0 * float(sd[1:4].max()),
                         bias)
