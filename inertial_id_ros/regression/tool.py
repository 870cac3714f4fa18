# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A stored tool, whose effect is removed so that the object in it is estimated alone.

The data see the sum ``phi = phi_tool + phi_object``. The stored estimate of the tool has a
covariance, ``phi_tool = mean + root u`` with u standard normal; so with columns ``A root`` for the
ten states u, and ``y - A mean`` in place of y, the rows hold phi_object alone, and eliminating u
leaves it the information ``(H^-1 + C_tool)^-1``, H being that of the data about the sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DamagedFile, InvalidSetting
from ..estimate import Estimate
from ..inertia import PARAMETERS, Array, body_from_phi
from ..io import fields
from ..io.files import format_document, read_document, user_path, write_atomically
from .row_layout import PHI

FORMAT, VERSION = "inertial_id_ros tool", 1


@dataclass(frozen=True)
class Tool:
    """An estimate of the tool.

    Attributes:
        frame_id: sensor frame; phi: (10,) about its origin, along its axes.
        covariance: (10, 10) of phi.
        stamp_ns: time of the newest sample behind it [ns since epoch].
    """

    frame_id: str
    phi: Array
    covariance: Array
    stamp_ns: int

    @cached_property
    def root(self) -> Array:
        """Square root (10, 10) of the covariance."""
        return covariance_root(self.covariance)

    def describe(self) -> str:
        """Mass and centre of mass in words."""
        body = body_from_phi(self.phi)
        sd = float(np.sqrt(max(self.covariance[0, 0], 0.0)))
        com = ", ".join(f"{1e3 * x:.1f}" for x in body.com)
        return (f"tool of {body.mass:.3f} ± {2.0 * sd:.3f} kg, centre of mass [{com}] mm in "
                f"'{self.frame_id}'")

    def content(self) -> dict[str, Any]:
        """Fields for a file, SI units."""
        return {"frame_id": self.frame_id, "stamp_ns": self.stamp_ns, "phi": self.phi.tolist(),
                "covariance": self.covariance.tolist()}


def covariance_root(covariance: Array) -> Array:
    """Square root (p, p) of a covariance that may be singular."""
    sd = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.outer(sd, sd))
    return np.asarray(sd[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))


def tool_from_estimate(estimate: Estimate, before: Tool | None = None) -> Tool:
    """The tool of an estimate: what was estimated, together with the tool before, if any.

    The two are taken as independent, which overstates the covariance of the sum.
    """
    phi, covariance = estimate.phi, estimate.phi_covariance
    if before is not None:
        phi, covariance = phi + before.phi, covariance + before.covariance
    return Tool(estimate.frame_id, phi, covariance, estimate.stamp_ns)


def tool_from_content(content: dict[str, Any]) -> Tool:
    """A tool from the fields that `Tool.content` gives (raises DamagedFile)."""
    return Tool(fields.text(content, "frame_id"), fields.body(content, "phi"),
                fields.covariance(content, "covariance"), fields.stamp(content, "stamp_ns"))


def save_tool(path: str | Path, tool: Tool) -> None:
    """Write a tool file (raises OSError)."""
    write_atomically(user_path(path), format_document(FORMAT, VERSION, tool.content()))


def load_tool(path: str | Path) -> Tool:
    """Read a tool file.

    Raises:
        InvalidSetting: not readable, or not a tool.
    """
    try:
        return tool_from_content(read_document(user_path(path), FORMAT, VERSION))
    except OSError as error:
        raise InvalidSetting(f"tool file {path} cannot be read: {error.strerror}") from error
    except DamagedFile as error:
        raise InvalidSetting(f"tool file {path} cannot be used: {error}") from error


def add_tool_states(matrix: Array, tool: Tool) -> Array:
    """Extend a linear model by the states of a stored tool.

    Columns ``[A | ... | y]`` become ``[A | ... | A root | y - A mean]``.

    Args:
        matrix: (48, n) as `EstimatedStates.linearise` gives it.
    """
    states = np.zeros((len(matrix), PARAMETERS))
    states[PHI] = tool.root
    wrench = matrix[:, -1:].copy()
    wrench[PHI, 0] -= tool.phi
    return np.concatenate([matrix[:, :-1], states, wrench], axis=1)
