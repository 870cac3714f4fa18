# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The payload of an estimate, as it is sent to a target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..estimate import UNOBSERVED, ParameterVerdict
from ..export.payload import body_in
from ..identify.verdict import judge, vague
from ..inertia import (
    GROUPS,
    PARAMETERS,
    Array,
    Body,
    body_from_phi,
    move_body,
    phi_from_body,
    report_jacobian,
    six_from_tensor,
)
from ..io import fields
from ..model.tool import Tool

MASS, COM, INERTIA = GROUPS


@dataclass(frozen=True)
class TargetPayload:
    """A payload in the frame of a target.

    Attributes:
        frame_id: frame along whose axes it is given, and about whose origin unless `origin` names
            another one.
        body: mass [kg], centre of mass [m] and inertia about it [kg m^2].
        known: those of MASS, COM and INERTIA that are not UNOBSERVED.
        com_width: half of the widest 95 % interval of the centre of mass [m]; infinite where it is
            in doubt.
        bias: reading of the sensor at zero load now (6,) [N, N m], sign of the incoming topic,
            sensor frame; None: not known, of a saved estimate.
        origin: frame about whose origin it is given, where that is another one; else empty.
    """

    frame_id: str
    body: Body
    known: frozenset[str]
    com_width: float
    bias: Array | None
    origin: str = ""

    @property
    def report(self) -> Array:
        """Mass, centre of mass and inertia about it (10,)."""
        return np.r_[self.body.mass, self.body.com, six_from_tensor(self.body.inertia_com)]

    def placed(self, frame_id: str, rotation: Array, translation: Array) -> TargetPayload:
        """The same payload in another frame, where ``x_new = rotation x + translation``."""
        return replace(self, frame_id=frame_id, body=move_body(self.body, rotation, translation))

    def turned(self, frame_id: str, rotation: Array) -> TargetPayload:
        """The same payload about the same origin, along the axes of another frame."""
        return replace(self.placed(frame_id, rotation, np.zeros(3)),
                       origin=self.origin or self.frame_id)

    def describe(self) -> str:
        """Mass, centre of mass and frame in words."""
        com = ", ".join(f"{1e3 * x:.1f}" for x in self.body.com)
        where = (f"from the origin of '{self.origin}' along the axes of '{self.frame_id}'"
                 if self.origin else f"in '{self.frame_id}'")
        return f"{self.body.mass:.3f} kg at [{com}] mm {where}"


def payload_of(report: dict[str, Any], bias: Array | None = None, tool: Tool | None = None
               ) -> TargetPayload:
    """The payload of an estimate, in its own frame.

    Args:
        report: as `Estimate.to_json` gives it; bias: (6,) of the sensor, as in `TargetPayload`.
        tool: that the estimate is without, and that is sent with it.

    Raises:
        DamagedFile: it is no such report; InvalidData: no body has its mass and inertia.
    """
    body = body_in(report)
    if tool is not None:
        body = body_from_phi(phi_from_body(*body) + tool.phi)
    covariance = fields.numbers(report, "covariance", PARAMETERS, PARAMETERS)
    return TargetPayload(
        fields.text(report, "frame_id"), body, known_in(fields.verdict(report, "verdict")),
        math.inf if report.get("doubted") else com_width(covariance), bias)


def payload_of_tool(tool: Tool, bias: Array) -> TargetPayload:
    """A tool that carries nothing, as far as it is known; bias: as in `TargetPayload`."""
    jacobian = report_jacobian(tool.phi)
    verdict = judge(tool.phi, tool.covariance, vague(float(tool.phi[0])))[1]
    return TargetPayload(tool.frame_id, body_from_phi(tool.phi), known_in(verdict),
                         com_width(jacobian @ tool.covariance @ jacobian.T), bias)


def known_in(verdict: Sequence[ParameterVerdict]) -> frozenset[str]:
    """The groups without an UNOBSERVED parameter among the ten verdicts."""
    return frozenset(name for name, part in GROUPS.items() if UNOBSERVED not in verdict[part])


def com_width(covariance: Array) -> float:
    """Half of the widest 95 % interval of the centre of mass [m]; covariance: of the report."""
    return 2.0 * math.sqrt(max(float(covariance.diagonal()[GROUPS[COM]].max()), 0.0))
