# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is exported: a body on a link, what the reader of the document must know about it, and how
far the true payload may be from it; of an estimate, or of one that was saved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import DamagedFile, InvalidData, InvalidSetting, NotEnoughData
from ..estimate import (
    PRIOR_DOMINATED,
    UNOBSERVED,
    Estimate,
    NoEstimate,
    ParameterVerdict,
)
from ..inertia import (
    PARAMETER_NAMES,
    PARAMETERS,
    Array,
    Body,
    is_consistent,
    move_body,
    phi_from_body,
    principal_moments,
    report_jacobian,
    six_from_tensor,
    transform_matrix,
)
from ..io import fields
from ..io.files import read_report
from ..limits import MAX_NAME

DEFAULT_LINK = "payload"


class Mesh(NamedTuple):
    """Triangles: vertices (n, 3) [m], and faces (k, 3) as numbers of vertices, outside in front."""

    vertices: Array
    faces: Array


@dataclass(frozen=True)
class PayloadOnLink:
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

    def on(self, parent: str, rotation: Array, translation: Array) -> PayloadOnLink:
        """The same body on another link, where ``x_new = rotation x + translation``."""
        covariance, mesh = self.covariance, self.mesh
        if covariance is not None:
            matrix = transform_matrix(rotation, translation)
            covariance = matrix @ covariance @ matrix.T
        if mesh is not None:
            mesh = Mesh(mesh.vertices @ rotation.T + translation, mesh.faces)
        return replace(self, parent=parent, covariance=covariance, mesh=mesh,
                       body=move_body(self.body, rotation, translation))

    def with_notes(self, *notes: str) -> PayloadOnLink:
        """The same with more notes."""
        return replace(self, notes=(*self.notes, *notes))


def payload_from_estimate(outcome: Estimate | NoEstimate,
                          link: str = DEFAULT_LINK) -> PayloadOnLink:
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
                 link: str, source: str, held: Sequence[str], tool_apart: bool) -> PayloadOnLink:
    """A payload whose mass and centre of mass the data tell.

    Args:
        frame: parent of the new link, in whose axes body and covariance are; link: its name.
        covariance: of phi (10, 10). verdict: of each reported parameter (10,).
        source: what it was estimated from, in words; held: notes on the age of the estimate.

    Raises:
        NotEnoughData: they do not tell it: one is UNOBSERVED.
        InvalidData: no body has these parameters.
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
    return PayloadOnLink(link, frame, body, source, tuple(notes), tool_apart, covariance)


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


DEVIATIONS = 1.96  # standard deviations to either side: 95 %
DRAW = ("each number may be drawn from its range; draw again where one of the moments exceeds the "
        "sum of the others, which no body has")


class Ranges(NamedTuple):
    """Ranges of 95 %, low and high end in the first dimension.

    Attributes:
        mass: (2,) [kg]. com: (2, 3) [m], along the axes of the payload's parent.
        moments: (2, 3) [kg m^2] about the principal axes of the estimate, about which they are
            ascending. None of mass and moments goes below zero.
        covariance: (10, 10) of the parameters in the order of `PARAMETER_NAMES`.
    """

    mass: Array
    com: Array
    moments: Array
    covariance: Array


def ranges_of(payload: PayloadOnLink) -> Ranges | None:
    """The ranges of a payload; None where its covariance is not known."""
    if payload.covariance is None:
        return None
    body = payload.body
    jacobian = report_jacobian(phi_from_body(*body))
    covariance = jacobian @ payload.covariance @ jacobian.T
    moments, axes = principal_moments(body.inertia_com)
    # a' I a of each axis a, by the six entries of I: those beside the diagonal count twice.
    rows = six_from_tensor(np.einsum("ik,jk->kij", axes, axes)) * [1.0, 2.0, 2.0, 1.0, 2.0, 1.0]
    about_axes = rows @ covariance[4:, 4:] @ rows.T
    spread = DEVIATIONS * np.sqrt(np.maximum(np.diag(covariance)[:4], 0.0))
    width = DEVIATIONS * np.sqrt(np.maximum(np.diag(about_axes), 0.0))
    return Ranges(np.maximum([body.mass - spread[0], body.mass + spread[0]], 0.0),
                  np.stack([body.com - spread[1:], body.com + spread[1:]]),
                  np.maximum([moments - width, moments + width], 0.0), covariance)


def read_saved_estimate(path: Path, link: str = DEFAULT_LINK) -> PayloadOnLink:
    """The payload of a saved estimate, on the frame of the sensor.

    Raises:
        InvalidSetting: the file cannot be read. InvalidData: it holds no estimate.
        NotEnoughData: it says why there was none, or its data do not tell mass or centre of mass.
    """
    try:
        return _payload_from_tree(read_report(path), link)
    except OSError as error:
        raise InvalidSetting(f"saved estimate {path} cannot be read: {error.strerror}") from error
    except (DamagedFile, InvalidData) as error:
        raise InvalidData(f"saved estimate {path} cannot be used: {error}") from None


def _payload_from_tree(tree: dict[str, Any], link: str) -> PayloadOnLink:
    """The payload of the tree of a report.

    Raises:
        DamagedFile: it is no such report. NotEnoughData: as `read_saved_estimate`.
    """
    if not isinstance(tree.get("valid"), bool):
        raise DamagedFile("it holds no estimate")
    if not tree["valid"]:
        said = tree.get("diagnostics")
        why = said[0] if isinstance(said, list) and said else "no reason is given"
        raise NotEnoughData(f"there was no estimate to save: {why}")
    body = Body(fields.number(tree, "mass"), fields.numbers(tree, "com", 3),
                _symmetric(tree, "inertia_com"))
    held = ["it is of an earlier run and was not confirmed"] if tree.get("restored") is True else []
    if tree.get("stale") is True and not held:
        held.append(f"it was stale when it was saved: {tree.get('stale_reason') or 'no new data'}")
    return make_payload(str(tree.get("frame_id", "")), body, _covariance(tree, body),
                        fields.verdict(tree, "verdict"), link, _source(tree), held,
                        tree.get("tool_apart") is True)


def _covariance(tree: dict[str, Any], body: Body) -> Array:
    """Covariance (10, 10) of phi, from that of the parameters in the file (raises DamagedFile)."""
    covariance = fields.covariance(tree, "covariance", PARAMETERS)
    if not body.mass > 0.0:
        raise DamagedFile("the estimate has parameters that no rigid body has")
    back = np.linalg.inv(report_jacobian(phi_from_body(*body)))
    return np.asarray(back @ covariance @ back.T)


def _symmetric(tree: dict[str, Any], name: str) -> Array:
    """A symmetric tensor (3, 3) (raises DamagedFile)."""
    tensor = fields.numbers(tree, name, 3, 3)
    if not np.abs(tensor - tensor.T).max() <= 1e-9 * np.abs(tensor).max():
        raise DamagedFile(f"its '{name}' is not symmetric")
    return 0.5 * (tensor + tensor.T)


def _source(tree: dict[str, Any]) -> str:
    """Where the estimate comes from (raises DamagedFile)."""
    samples, stamp = tree.get("samples"), tree.get("stamp_ns")
    if type(samples) is not int or type(stamp) is not int:
        raise DamagedFile("its 'samples' and 'stamp_ns' are no whole numbers")
    return describe_source(str(tree.get("method")), samples, stamp)
