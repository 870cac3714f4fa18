# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Tables of a robot's report: consistency of each body, excitation of each parameter, and what each
term of the joints brought."""

from __future__ import annotations

import numpy as np

from ...inertia import Array, pseudo_inertia
from ...robot.model import BODY_SIZE, BODY_TERMS
from ...robot.reference_robot import description_reference
from ..report.drawing.elements import Markup, element, section, table
from .robot_identification import RobotResult
from .term_choice import COST

_EDGE = 1e-3  # margin below which a body is hardly possible
_DATA = 0.5  # share of the data from which on a number counts as identified


def consistency_margins(result: RobotResult) -> Array:
    """How far each body (bodies,) is from one that cannot exist: the largest t for which its
    pseudo-inertia less t times that of the described body, scaled to its mass, is none of a body
    with negative density. 1 as described, 0 at the border."""
    model = result.model
    reference = description_reference(model).phi
    out = np.empty(len(model.bodies))
    for k in range(len(model.bodies)):
        where = model.body_slice(k)
        phi, like = result.identified.phi[where], reference[where]
        lower = np.linalg.cholesky(pseudo_inertia(like * phi[0] / like[0]))
        inverse = np.linalg.inv(lower)
        out[k] = np.linalg.eigvalsh(inverse @ pseudo_inertia(phi) @ inverse.T)[0]
    return out


def consistency_section(result: RobotResult) -> Markup:
    """Consistency of every body, and how far it is from its limit."""
    rows = []
    for name, margin, good in zip(result.model.bodies, consistency_margins(result),
                                  result.consistent, strict=True):
        said = "possible" if good and margin > _EDGE else ("at the limit" if good else "impossible")
        tone = "good" if margin > _EDGE else "fair" if good else "bad"
        row: list[str | Markup] = [name, f"{margin:.2g}",
                                   element("td", said, class_=f"text {tone}")]
        rows.append(row)
    return section("Consistency", "consistency",
                   table("Margin of physical consistency", ("body", "margin", ""), rows),
                   element("p", "1: spread like the described body; 0: the border of what can "
                           "exist (all mass in a plane: a principal moment is as large as the sum "
                           "of the others). At the limit, the data ask for a body that cannot be.",
                           class_="note"))


def excitation_section(result: RobotResult) -> Markup:
    """Which part of what is known about each parameter comes from the motion."""
    model, share = result.model, result.identified.data_share
    bodies = [(name, *(_share_cell(value) for value in share[model.body_slice(k)]))
              for k, name in enumerate(model.bodies)]
    parts = [table("Bodies, %", ("body", *BODY_TERMS), bodies)]
    if model.terms.names:
        joints = [(name, *(_share_cell(share[model.term_index(name, term)])
                           if model.terms.has(j, term) else "-" for term in model.terms.names))
                  for j, name in enumerate(model.joint_names)]
        parts.append(table("Joints, %", ("joint", *model.terms.names), joints))
    count = int((share[:BODY_SIZE * len(model.bodies)] > _DATA).sum())
    return section("Excitation", "excitation",
                   element("p", f"How much of the description's uncertainty the motion took away: "
                           f"more than half for {count} of {BODY_SIZE * len(model.bodies)} "
                           "parameters of bodies. 0 %: the number is the description's. No motion "
                           "tells all of them, as joint torques show combinations only."), *parts)


def _share_cell(share: float) -> Markup:
    """A share as a cell, in the colour of what the data know."""
    return element("td", f"{100.0 * share:.0f}", class_="good" if share > _DATA else None)


def choice_section(result: RobotResult) -> Markup:
    """What each kind of term of the joints brought, or would bring."""
    if result.choice is None:
        return section("Choice of terms", "choice", element("p", "The terms were given."))
    rows = []
    for gain in result.choice.gains:
        row: list[str | Markup] = [
            gain.title, f"{gain.nats:+.1f}",
            element("td", ", ".join(gain.joints) or "not chosen", class_="text")]
        rows.append(row)
    return section("Choice of terms", "choice",
                   table("Log-likelihood of held-out motion", ("term", "gain", "joints"), rows),
                   element("p", "Of terms that were not chosen: what they would bring to the joint "
                           f"that gains most. More than {COST:g} is asked for, and more than the "
                           "parts that were held out differ by.", class_="note"))
