# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The HTML report of an identified robot."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...errors import NotEnoughData
from ...inertia import report_from_phi, report_jacobian
from ..report.diagnosis import BAD, FAIR, GOOD, Diagnosis, verdict_section
from ..report.drawing.charts import tick_text, ticks
from ..report.drawing.elements import Markup, drawing, element, label, section, table
from ..report.drawing.style import page
from ..report.provenance import Origin, provenance_section
from ..report.wording import CONFIDENCE_95, percent, round_to_spread
from .page_curves import friction_curves, torque_curves
from .page_tables import choice_section, consistency_section, excitation_section
from .report import verdict
from .robot_identification import RobotResult

_UNEXPLAINED = 0.5  # share of a joint's torque that a robot leaves of it at most, if it is known
_DATA = 0.5  # share of the data from which on a number counts as identified
_BARS = (("measured", "#8b93a1"), ("left", "#b3261e"))
_ROW, _LEGEND, _WIDEST = 34.0, 22.0, 400.0  # of the picture of bars
_SHOWN = ((0, "mass", "kg", 1.0), (1, "COM x", "mm", 1e3), (2, "COM y", "mm", 1e3),
          (3, "COM z", "mm", 1e3), (4, "Ixx", "kg m\u00b2", 1.0), (7, "Iyy", "kg m\u00b2", 1.0),
          (9, "Izz", "kg m\u00b2", 1.0))


def robot_page(result: RobotResult, recording: Path, words: Sequence[str]) -> str:
    """The report, as HTML in one file.

    Args:
        words: of the command line.
    """
    title = f"Robot report: {recording.resolve().name}"
    origin = Origin(title, str(recording), shlex.join(["identify_robot", *words]))
    return page(title, element("h1", title), verdict_section(diagnose_robot(result)),
                _torque_section(result), torque_curves(result), _body_section(result),
                consistency_section(result), _term_section(result), friction_curves(result),
                choice_section(result), excitation_section(result), _base_section(result),
                provenance_section(origin))


def diagnose_robot(result: RobotResult) -> Diagnosis:
    """The verdict on an identified robot."""
    reasons = tuple(f"{line[0].upper()}{line[1:]}." for line in verdict(result))
    try:
        result.check_explained()
    except NotEnoughData as error:
        return Diagnosis(BAD, "Not identified", "The description does not explain the torques.",
                         (str(error), *reasons),
                         ("Check that the efforts are torques, in the order and with the sign of "
                          "the joints, and that the arm moves.",))
    if result.validation is None:
        return Diagnosis(FAIR, "Identified, not tested", "No part was held back for a test.",
                         reasons, ("Give --hold-back a share above 0.",))
    held = result.validation
    unexplained = [f"{name} ({percent(error, torque)})" for name, error, torque in zip(
        result.model.output_names, held.error, held.torque, strict=True)
        if error > _UNEXPLAINED * torque]
    if unexplained:
        return Diagnosis(FAIR, "Partly identified", "Most of the torque is not explained of: "
                         + ", ".join(unexplained) + ".", reasons,
                         ("Move these joints more: at rest, friction holds what the bodies and "
                          "the drive do not. Amber numbers below are the description's.",))
    doubted = [body for body, beyond in zip(result.model.bodies, result.doubt.contradicted,
                                            strict=True) if beyond]
    if doubted:
        return Diagnosis(FAIR, "Identified", "The robot is not as described: "
                         + ", ".join(doubted) + ".", reasons,
                         ("Look for a load, a gripper or a cover that the description lacks.",))
    return Diagnosis(GOOD, "Identified", "The robot explains torques that it had not seen.",
                     reasons, ("Nothing; description and robot file can be written.",))


def _torque_section(result: RobotResult) -> Markup:
    """Torque of every joint, and what the robot leaves of it."""
    found, held = result.prediction, result.validation
    rows = []
    for j, name in enumerate(result.model.output_names):
        row: list[str | Markup] = [
            name, f"{found.torque[j]:.3f}", f"{found.error[j]:.4f}",
            percent(found.error[j], found.torque[j]),
            "" if held is None else percent(held.error[j], held.torque[j])]
        rows.append(row)
    return section(
        "Before and after", "held-out",
        table("Torque, rms [N m]", ("joint", "measured", "left", "share", "share held back"), rows),
        element("p", "Held back: motion that the robot was not identified from.", class_="note"),
        element("figure", _torque_bars(result), style="max-width:34rem"))


def _torque_bars(result: RobotResult) -> Markup:
    """Bars of measured torque and of what is left of it, joint by joint, over a scale."""
    held, names = result.validation or result.prediction, result.model.output_names
    largest = max(float(held.torque.max()), 1e-9)
    height = _LEGEND + _ROW * len(names)
    parts: list[Markup] = []
    for k, (name, colour) in enumerate(_BARS):
        parts += [_bar(4.0 + 100.0 * k, 4.0, 12.0, colour), label(20.0 + 100.0 * k, 12.0, name)]
    marks = ticks(0.0, largest)
    for value in marks:
        x = 4.0 + _WIDEST * value / largest
        parts += [element("line", x1=f"{x:.1f}", y1=f"{_LEGEND:g}", x2=f"{x:.1f}",
                          y2=f"{height:.1f}", stroke="#d5d9e0"),
                  label(x, height + 14.0, tick_text(value, marks), class_="dim",
                        text_anchor="middle" if value > 0.0 else "start")]
    for j, name in enumerate(names):
        top = _LEGEND + _ROW * j
        parts.append(label(8.0, top + 12.0, name))
        for k, value in enumerate((held.torque[j], held.error[j])):
            parts.append(_bar(4.0, top + 16.0 + 7.0 * k, _WIDEST * value / largest, _BARS[k][1]))
    parts.append(label(4.0 + _WIDEST, height + 28.0, "torque, rms [N m]", class_="dim",
                       text_anchor="end"))
    return drawing("Torque of each joint, measured and what is left of it",
                   f"the longest bar is {largest:.3g} N m", 420.0, height + 32.0, *parts)


def _bar(x: float, y: float, width: float, colour: str) -> Markup:
    return element("rect", x=f"{x:g}", y=f"{y:.1f}", height="6", width=f"{width:.1f}", fill=colour)


def _body_section(result: RobotResult) -> Markup:
    """Mass, centre of mass and moments of every body, in the frame of its link."""
    rows = []
    for k, body in enumerate(result.model.bodies):
        where = result.model.body_slice(k)
        phi, share = result.identified.phi[where], result.identified.data_share[where]
        jacobian = report_jacobian(phi)
        spread = jacobian @ result.robot.covariance[where, where] @ jacobian.T
        sigma = CONFIDENCE_95 * np.sqrt(np.maximum(np.diag(spread), 0.0))
        values = report_from_phi(phi)
        row: list[str | Markup] = [body]
        for i, _, _, scale in _SHOWN:
            text = " \u00b1 ".join(round_to_spread(scale * values[i], scale * sigma[i]))
            row.append(element("td", text, class_=None if share[i] > _DATA else "fair"))
        rows.append(row)
    heads = ("body", *(f"{name} [{unit}]" for _, name, unit, _ in _SHOWN))
    return section("Bodies", "bodies", table("Bodies, with 95 % intervals", heads, rows,
                                            "dense"),
                   element("p", "In the frame of each link, inertia about the centre of mass. "
                           "Amber: what the description says, not the data. Joint torques tell "
                           "combinations of parameters only.", class_="note"))


def _term_section(result: RobotResult) -> Markup:
    """Friction, offset and drive inertia of every joint."""
    model = result.model
    rows = []
    for j, name in enumerate(model.joint_names):
        places = [(model.term_index(name, term), model.terms.has(j, term))
                  for term in model.terms.names]
        rows.append((name, *(" \u00b1 ".join(round_to_spread(
            result.identified.phi[k], CONFIDENCE_95 * result.identified.sigma[k]))
            if there else "-" for k, there in places)))
    if not model.terms.names:
        return section("Joints", "joints", element("p", "No terms of the joints were asked for."))
    return section("Joints", "joints", table("Joints, with 95 % intervals",
                                             ("joint", *model.terms.names), rows))


def _base_section(result: RobotResult) -> Markup:
    """The combinations of parameters that the motion can tell."""
    rows = [(text, *round_to_spread(value, CONFIDENCE_95 * sigma)) for text, value, sigma in zip(
        result.base.expressions(), result.beta, result.beta_sigma, strict=True)]
    listing = table("Base parameters", ("combination", "value", "95 %"), rows)
    return section("What the motion tells", "base",
                   element("p", f"{len(rows)} combinations of parameters."),
                   element("details", element("summary", "All of them"), listing))
