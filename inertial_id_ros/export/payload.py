# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is exported: a body on a link, and what the reader of the document must know about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..errors import InvalidData, InvalidSetting, NotEnoughData
from ..estimate import (
    PRIOR_DOMINATED,
    UNOBSERVED,
    Estimate,
    NoEstimate,
    ParameterVerdict,
)
from ..inertia import (
    PARAMETER_NAMES,
    Array,
    Body,
    is_consistent,
    move_body,
    phi_from_body,
    transform_matrix,
)
from ..limits import MAX_NAME

DEFAULT_LINK = "payload"


class Mesh(NamedTuple):
    """Triangles: vertices (n, 3) [m], and faces (k, 3) as numbers of vertices, outside in front."""

    vertices: Array
    faces: Array


@dataclass(frozen=True)
class Payload:
    """A payload that may be exported.

    Attributes:
        link: its name in the document.
        parent: link of the robot, or other frame, that carries it.
        body: mass [kg], centre of mass [m] and inertia about it [kg m^2], in `parent`.
        source: where the numbers come from, in a few words.
        notes: what its user must know, one sentence each.
        tool_apart: it is the object alone, without the tool that carries it.
        covariance: of phi about the origin of `parent` (10, 10); None: not known.
        mesh: what it looks like, in `parent`; None: not known.
    """

    link: str
    parent: str
    body: Body
    source: str
    notes: tuple[str, ...] = ()
    tool_apart: bool = False
    covariance: Array | None = None
    mesh: Mesh | None = None

    def __post_init__(self) -> None:
        require_name("link", self.link)
        require_name("parent", self.parent)
        if self.link == self.parent:
            raise InvalidSetting(f"link '{self.link}' is the parent itself; the payload needs "
                                 "another name")
        if self.link == "world":
            raise InvalidSetting("link 'world' stands for the surroundings in simulators; the "
                                 "payload needs another name")

    @property
    def joint(self) -> str:
        """Name of the joint that fixes it to its parent."""
        return f"{self.link}_joint"

    def on(self, parent: str, rotation: Array, translation: Array) -> Payload:
        """The same body on another link, where ``x_new = rotation x + translation``."""
        covariance, mesh = self.covariance, self.mesh
        if covariance is not None:
            matrix = transform_matrix(rotation, translation)
            covariance = matrix @ covariance @ matrix.T
        if mesh is not None:
            mesh = Mesh(mesh.vertices @ rotation.T + translation, mesh.faces)
        return replace(self, parent=parent, covariance=covariance, mesh=mesh,
                       body=move_body(self.body, rotation, translation))

    def with_notes(self, *notes: str) -> Payload:
        """The same with more notes."""
        return replace(self, notes=(*self.notes, *notes))


def payload_from_estimate(outcome: Estimate | NoEstimate, link: str = DEFAULT_LINK) -> Payload:
    """The payload of an estimate, on the frame of the sensor.

    Raises:
        NotEnoughData: there is no estimate, it is in doubt, or its data do not tell mass or centre
            of mass.
        InvalidData: no body has these parameters. InvalidSetting: the link's name.
    """
    if isinstance(outcome, NoEstimate):
        raise NotEnoughData(f"there is no estimate to export: {outcome.reason}")
    if outcome.doubted:
        raise NotEnoughData(f"the estimate is in doubt: {outcome.doubted}")
    held = ["it is of an earlier run and not confirmed yet"] if outcome.restored else []
    if outcome.stale and not outcome.restored:
        held.append(f"it is stale: {outcome.stale_reason or 'no new data came'}")
    return make_payload(outcome.frame_id, outcome.body, outcome.phi_covariance, outcome.verdict,
                        link, describe_source(outcome.method, outcome.samples, outcome.stamp_ns),
                        held, outcome.tool_apart)


def make_payload(frame: str, body: Body, covariance: Array, verdict: Sequence[ParameterVerdict],
                 link: str, source: str, held: Sequence[str], tool_apart: bool) -> Payload:
    """A payload whose mass and centre of mass the data tell.

    Args:
        covariance: of phi (10, 10). verdict: of each reported parameter (10,).
        held: notes on the age of the estimate.

    Raises:
        NotEnoughData: they do not tell it. InvalidData: no body has these parameters.
    """
    unknown = [PARAMETER_NAMES[k] for k in range(4) if verdict[k] == UNOBSERVED]
    if unknown:
        raise NotEnoughData(f"the data of this estimate do not tell {', '.join(unknown)}; a "
                            "payload is exported only with mass and centre of mass")
    if not is_consistent(phi_from_body(body.mass, np.zeros(3), body.inertia_com)):
        raise InvalidData("the estimate has parameters that no rigid body has")
    notes = [*held, *_notes_on_verdict(verdict, frame)]
    if tool_apart:
        notes.append("it is the object alone, without the tool that was set apart")
    return Payload(link, frame, body, source, tuple(notes), tool_apart, covariance)


def _notes_on_verdict(verdict: Sequence[ParameterVerdict], frame: str) -> list[str]:
    """Which parameters are not, or hardly, told by the data."""
    said = {UNOBSERVED: "not told by the data, the prior's value is written",
            PRIOR_DOMINATED: "mostly from the prior"}
    named = {v: [name for name, found in zip(PARAMETER_NAMES, verdict, strict=True) if found == v]
             for v in said}
    return [f"{words}: {', '.join(named[v])} (axes of '{frame}')"
            for v, words in said.items() if named[v]]


def describe_source(method: str, samples: int, stamp_ns: int) -> str:
    """Where an estimate comes from, in a few words."""
    return f"{method} on {samples} samples, stamp {stamp_ns // 10**9}.{stamp_ns % 10**9:09d} s"


def require_name(what: str, name: str) -> None:
    """Raise InvalidSetting where a name cannot stand in a document of any format."""
    if not name or not name.isprintable() or len(name) > MAX_NAME:
        raise InvalidSetting(f"{what} is {name[:100]!r}; it must have 1 to {MAX_NAME} printable "
                             "characters")
