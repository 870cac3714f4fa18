# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is told of an estimate: mass, centre of mass and inertia in the frame of a target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import DamagedFile
from ..estimate import UNOBSERVED, VERDICT_WORDS, Estimate, ParameterVerdict
from ..inertia import Array, body_from_phi, is_consistent, phi_from_body, transform_phi
from ..io import fields


@dataclass(frozen=True)
class Payload:
    """A payload as it is told.

    Attributes:
        frame_id: frame in whose axes it is given, and about whose origin unless `origin` names
            another one.
        phi: inertial parameters (10,) about that origin.
        mass_verdict, com_verdict, inertia_verdict: how far each can be trusted.
        bias: reading of the sensor at zero load now (6,) [N, N m], sign of the incoming topic,
            sensor frame; None: a saved estimate does not tell it.
        origin: frame about whose origin it is given, where that is another one; else empty.
    """

    frame_id: str
    phi: Array
    mass_verdict: ParameterVerdict
    com_verdict: ParameterVerdict
    inertia_verdict: ParameterVerdict
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

    def placed(self, frame_id: str, rotation: Array, translation: Array) -> Payload:
        """The same payload in another frame, where ``x_new = rotation x + translation``."""
        return replace(self, frame_id=frame_id,
                       phi=transform_phi(self.phi, rotation, translation))

    def turned(self, frame_id: str, rotation: Array) -> Payload:
        """The same payload about the same origin, along the axes of another frame."""
        return replace(self.placed(frame_id, rotation, np.zeros(3)),
                       origin=self.origin or self.frame_id)

    def describe(self) -> str:
        """Mass, centre of mass and frame in words."""
        com = ", ".join(f"{x:.1f}" for x in self.com_mm)
        where = (f"from the origin of '{self.origin}' along the axes of '{self.frame_id}'"
                 if self.origin else f"in '{self.frame_id}'")
        return f"{self.mass:.3f} kg at [{com}] mm {where}"


def payload_of(estimate: Estimate, tool: Array | None = None) -> Payload:
    """What is told of an estimate, in its own frame.

    Args:
        tool: phi (10,) of the tool that the estimate is without, to be told as well; None: the
            estimate as it is.
    """
    verdict = estimate.verdict
    return Payload(estimate.frame_id, estimate.phi if tool is None else estimate.phi + tool,
                   verdict[0], min(verdict[1:4]), min(verdict[4:]), estimate.bias)


def payload_of_report(content: dict[str, Any]) -> tuple[Payload, bool]:
    """What is told of a saved estimate, in its frame, and whether it is without a tool that was
    stored then.

    Args:
        content: as `Estimate.to_json` gives it.

    Raises:
        DamagedFile: it is no such report.
    """
    words = content.get("verdict")
    if not isinstance(words, list) or len(words) != 10 or not set(words) <= set(VERDICT_WORDS):
        raise DamagedFile("its 'verdict' does not hold ten verdicts")
    verdict = [ParameterVerdict(VERDICT_WORDS.index(word)) for word in words]
    phi = phi_from_body(fields.number(content, "mass", 0.0), fields.numbers(content, "com", 3),
                        fields.numbers(content, "inertia_com", 3, 3))
    if not is_consistent(phi):
        raise DamagedFile("no body has its mass and inertia")
    return Payload(fields.text(content, "frame_id"), phi, verdict[0], min(verdict[1:4]),
                   min(verdict[4:]), None), bool(content.get("tool_apart"))
