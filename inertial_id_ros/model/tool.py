# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A stored tool: the data tell the sum of tool and object, and the object is the difference."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DamagedFile, InvalidSetting
from ..estimate import CONFIDENCE_95, Estimate
from ..inertia import Array, body_from_phi, phi_from_body
from ..io import fields
from ..io.files import read_document, user_path, write_document

FORMAT, VERSION = "inertial_id_ros tool", 1
SHARE, LEAST = 0.05, 0.02  # of the tool's mass, [kg]: an interval beside an empty tool at most
BALL = 0.01  # m, with that share of the interval as mass: what stands for nothing


@dataclass(frozen=True, eq=False)
class Tool:
    """An estimate of the tool.

    Attributes:
        frame_id: sensor frame; phi: (10,) in it; covariance: (10, 10) of phi.
        stamp_ns: time of the newest sample behind it [ns since epoch].
    """

    frame_id: str
    phi: Array
    covariance: Array
    stamp_ns: int

    def describe(self) -> str:
        """Mass and centre of mass in words."""
        body = body_from_phi(self.phi)
        width = CONFIDENCE_95 * float(np.sqrt(max(self.covariance[0, 0], 0.0)))
        com = ", ".join(f"{1e3 * x:.1f}" for x in body.com)
        return (f"tool of {body.mass:.3f} ± {width:.3f} kg, centre of mass [{com}] mm in "
                f"'{self.frame_id}'")

    def content(self) -> dict[str, Any]:
        """Fields for a file, SI units."""
        return {"frame_id": self.frame_id, "stamp_ns": self.stamp_ns, "phi": self.phi.tolist(),
                "covariance": self.covariance.tolist()}


def nothing_beside(tool: Tool, phi: Array, covariance: Array, gain: float
                   ) -> tuple[Array, Array] | None:
    """A ball at the sensor, as light as the data allow, and its covariance (10, 10), where nothing
    is carried beside the tool; None where something is, or may be.

    Args:
        phi: (10,) beside the tool; gain: deviation of the sensor's gain, as share.
    """
    most = max(SHARE * tool.phi[0], LEAST)
    covariance = covariance.copy()
    covariance[0, 0] += (0.5 * SHARE * most) ** 2 + (gain * tool.phi[0]) ** 2
    interval = CONFIDENCE_95 * float(np.sqrt(covariance[0, 0]))
    if not abs(phi[0]) < interval < most:
        return None
    mass = max(float(phi[0]), SHARE * interval)
    return phi_from_body(mass, np.zeros(3), 0.4 * mass * BALL**2 * np.eye(3)), covariance


def tool_from_estimate(estimate: Estimate, before: Tool | None = None) -> Tool:
    """The tool of an estimate, together with the tool before it; taken as independent."""
    phi, covariance = estimate.phi, estimate.phi_covariance
    if before is not None:
        phi, covariance = phi + before.phi, covariance + before.covariance
    return Tool(estimate.frame_id, phi, covariance, estimate.stamp_ns)


def tool_from_content(content: dict[str, Any]) -> Tool:
    """A tool from the fields that `Tool.content` gives (raises DamagedFile)."""
    return Tool(fields.value(content, "frame_id", str), fields.body(content, "phi"),
                fields.covariance(content, "covariance"), fields.value(content, "stamp_ns", int))


def save_tool(path: str | Path, tool: Tool) -> None:
    """Write a tool file (raises OSError)."""
    write_document(user_path(path), FORMAT, VERSION, tool.content())


def load_tool(path: str | Path) -> Tool:
    """Read a tool file (raises InvalidSetting: not readable, or not a tool)."""
    try:
        return tool_from_content(read_document(user_path(path), FORMAT, VERSION))
    except (OSError, DamagedFile) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InvalidSetting(f"tool file {path} cannot be used: {why}") from error
