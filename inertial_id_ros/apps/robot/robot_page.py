# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The report of an identified robot: as text, as JSON, and as a page of HTML.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidData, NotEnoughData
from ...extras import optional_packages
from ...inertia import Array, pseudo_inertia, report_from_phi, report_jacobian
from ...robot.joint_terms import COULOMB, DRIVE, OFFSET, VISCOUS
from ...robot.model import BODY_SIZE, BODY_TERMS
from ...robot.reference import description_reference
from ..bag.output import as_markup
from ..report.charts import Axes, Curve, chart, limits_around, tick_text, ticks
from ..report.diagnosis import BAD, FAIR, GOOD, Diagnosis, verdict_section
from ..report.html import (
    Markup,
    ReportOrigin,
    drawing,
    element,
    label,
    page,
    provenance_section,
    section,
    table,
)
from ..report.results import CONFIDENCE_95, NAMES, SCALES, UNITS, interval, percent, round_to_spread
from .robot_identification import RobotResult
from .term_choice import COST

with optional_packages("printing the result"):
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

POSITIVE = (0, 4, 7, 9)  # of a body: its mass and moments of inertia
POSITIVE_TERMS = (VISCOUS, COULOMB, DRIVE)
_DATA = 0.5  # share of the data from which on a number counts as identified


def print_report(console: Console, result: RobotResult, title: str, base: bool) -> None:
    """Print torque prediction, parameters, consistency and, where wanted, base parameters."""
    console.print(_torque_table(result, title))
    console.print(_body_table(result))
    if result.model.terms.names:
        console.print(_term_table(result))
    if base:
        console.print(_base_parameter_table(result))
    for line in verdict(result):
        console.print(as_markup(line), highlight=False)


def verdict(result: RobotResult) -> list[str]:
    """Sentences about the result: torque error, notes, tilt and delay, terms, consistency."""
    out = [f"torque error {100.0 * result.prediction.relative:.2f} % of the torque"
           + (f"; {100.0 * result.validation.relative:.2f} % on motion that was held back"
              if result.validation is not None else "")]
    out += [f"note: {note}" for note in result.notes]
    if result.alignment is not None:
        lean, s = np.degrees(result.alignment.tilt), result.alignment
        lean = np.round(lean, 2) + 0.0  # no -0.00
        out.append(f"tilt of gravity {lean[0]:.2f}, {lean[1]:.2f} deg; efforts "
                   f"{1e3 * s.delay:.1f} ms late")
    if result.drives is not None and result.drives.covariance.any():
        drives = result.drives
        spread = CONFIDENCE_95 * np.sqrt(np.diag(drives.covariance))
        out.append("gains of the drives, N m/A: " + ", ".join(
            f"{name} {interval(gain, about, True)}" for name, gain, about in zip(
                result.model.joint_names, drives.gain, spread, strict=True)))
    if result.choice is not None:
        out += result.choice.sentences()
    bad = [b for b, good in zip(result.model.bodies, result.consistent, strict=True) if not good]
    out.append(f"bodies that cannot exist: {', '.join(bad)}" if bad else
               f"all {len(result.model.bodies)} bodies are physically consistent")
    return out


def _torque_table(result: RobotResult, title: str) -> Table:
    """Table of measured torque and prediction error of every joint."""
    table = Table(title=as_markup(title), title_justify="left")
    for name in ("joint", "torque rms \\[N m]", "error rms", "%", "held back %"):
        table.add_column(name, justify="left" if name == "joint" else "right")
    for j, name in enumerate(result.model.joint_names):
        p, v = result.prediction, result.validation
        table.add_row(as_markup(name), f"{p.torque[j]:.3f}", f"{p.error[j]:.4f}",
                      f"{100.0 * p.error[j] / p.torque[j]:.2f}",
                      "" if v is None else f"{100.0 * v.error[j] / v.torque[j]:.2f}")
    return table


def _body_table(result: RobotResult) -> Table:
    """Table of mass, centre of mass and moments of inertia of every body."""
    table = Table(title="bodies (± 95 %; in brackets what the description says, not the data)",
                  title_justify="left")
    table.add_column("body")
    for name in ("mass \\[kg]", "x \\[mm]", "y", "z", "Ixx \\[kg m²]", "Iyy", "Izz"):
        table.add_column(name, justify="right")
    for k, body in enumerate(result.model.bodies):
        where = result.model.body_slice(k)
        phi = result.identified.phi[where]
        jacobian = report_jacobian(phi)
        spread = jacobian @ result.robot.covariance[where, where] @ jacobian.T
        sigma = CONFIDENCE_95 * np.sqrt(np.maximum(np.diag(spread), 0.0))
        values, share = report_from_phi(phi), result.identified.data_share[where]
        cells = []
        for i, scale in ((0, 1.0), (1, 1e3), (2, 1e3), (3, 1e3), (4, 1.0), (7, 1.0), (9, 1.0)):
            text = interval(scale * values[i], scale * sigma[i], i in POSITIVE)
            cells.append(text if share[i] > _DATA else escape(f"[{text}]"))
        table.add_row(as_markup(body), *cells)
    return table


def _term_table(result: RobotResult) -> Table:
    """Table of friction, offset and drive inertia of every joint."""
    model = result.model
    table = Table(title="joints (± 95 %)", title_justify="left")
    table.add_column("joint")
    for term in model.terms.names:
        table.add_column(term, justify="right")
    for name in model.joint_names:
        cells = []
        for term in model.terms.names:
            k = model.term_index(name, term)
            cells.append(interval(
                result.identified.phi[k], CONFIDENCE_95 * result.identified.sigma[k],
                term in POSITIVE_TERMS)
                if model.terms.has(model.joint_names.index(name), term) else "-")
        table.add_row(as_markup(name), *cells)
    return table


def _base_parameter_table(result: RobotResult) -> Table:
    """Table of the base parameters with their intervals."""
    table = Table(title="base parameters (± 95 %)", title_justify="left")
    table.add_column("combination")
    table.add_column("value", justify="right")
    table.add_column("±", justify="right")
    for text, value, sigma in zip(result.base.expressions(), result.beta, result.beta_sigma,
                                  strict=True):
        table.add_row(as_markup(text), *round_to_spread(value, CONFIDENCE_95 * sigma))
    return table


def result_json(result: RobotResult, recording: str) -> dict[str, Any]:
    """The result as JSON (SI units; bodies about the origins of their frames)."""
    model, found = result.model, result.identified
    return {
        "recording": recording, "joints": list(model.joint_names), "bodies": list(model.bodies),
        "parameters": [{"name": n, "value": v, "sigma": s, "data_share": d} for n, v, s, d in zip(
            model.parameter_names, found.phi.tolist(), found.sigma.tolist(),
            found.data_share.tolist(), strict=True)],
        "base_parameters": [{"combination": n, "value": v, "sigma": s} for n, v, s in zip(
            result.base.expressions(), result.beta.tolist(), result.beta_sigma.tolist(),
            strict=True)],
        "consistent": result.consistent.tolist(),
        "description": [{"body": b, "factor": f, "differs": bool(d)} for b, f, d in zip(
            model.bodies, result.doubt.factors.tolist(), result.doubt.differs, strict=True)],
        "torque_rms": result.prediction.torque.tolist(),
        "error_rms": result.prediction.error.tolist(),
        "relative_error": result.prediction.relative,
        "held_back_relative_error":
            None if result.validation is None else result.validation.relative,
        "gravity": np.asarray(result.model.gravity).tolist(), "delay": result.robot.delay,
        "gains": None if result.drives is None else [
            {"joint": n, "gain": g, "sigma": s} for n, g, s in zip(
                model.joint_names, result.drives.gain.tolist(),
                np.sqrt(np.diag(result.drives.covariance)).tolist(), strict=True)],
        "terms": None if result.choice is None else [
            {"term": g.term, "joints": list(g.joints), "log_likelihood": g.nats}
            for g in result.choice.gains],
        "notes": list(result.notes)}


_EDGE = 1e-3  # margin below which a body is hardly possible


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


_SECONDS = 12.0  # of torque that are shown, in which single motions can be told apart
_POINTS = 201  # of a curve of friction


def torque_curves(result: RobotResult) -> Markup:
    """The torque of each joint over time, as measured and as predicted; of motion held back where
    there is any."""
    shown = result.validation or result.prediction
    time = shown.time - shown.time[0]
    part = time <= _SECONDS
    figures = []
    for j, name in enumerate(result.model.joint_names):
        measured = shown.measured[part, j]
        predicted = measured - shown.left[part, j]
        said = (f"rms of measured less predicted {shown.error[j]:.3g} N m, "
                f"{percent(shown.error[j], shown.torque[j])} of the torque")
        both = np.append(measured, predicted)
        axes = Axes((0.0, float(time[part][-1])), limits_around(both, both))
        figures.append(element("figure", chart(name, "N m", [
            Curve("measured", time[part], measured, "z"),
            Curve("predicted", time[part], predicted, "black", dashed=True)], axes, said)))
    seen = ("The robot that predicts had not seen this motion." if result.validation is not None
            else "No motion was held back: the robot was identified from this one.")
    return section("Torque, measured and predicted", "torques",
                   element("p", f"Low-passed, the first {time[part][-1]:.0f} s. {seen}"),
                   element("div", *figures, class_="charts"))


def friction_curves(result: RobotResult) -> Markup:
    """Friction of each joint over its speed, as far as the recording went, with its interval."""
    model = result.model
    brakes = [name for name in model.terms.names if name not in (OFFSET, DRIVE)]
    if not brakes:
        return section("Friction", "friction",
                       element("p", "No friction was asked for: it counts as error."))
    figures = []
    for j, name in enumerate(model.joint_names):
        most = float(result.speeds[j])
        speed = np.linspace(-most, most, _POINTS)
        value, sigma = friction_at(result, j, speed)
        band = CONFIDENCE_95 * sigma
        said = f"{value[-1]:.3g} \u00b1 {band[-1]:.2g} N m at {most:.3g} rad/s"
        axes = Axes((-most, most), limits_around(value - band, value + band),
                    "speed [rad/s]")
        figures.append(element("figure", chart(name, "N m", [
            Curve("", speed, value, "z", band)], axes, said)))
    note = " Friction by load is that without load." if model.terms.load_bodies else ""
    return section("Friction", "friction",
                   element("p", "As far as the speeds of the recording went, with 95 % intervals."
                           + note), element("div", *figures, class_="charts"))


def friction_at(result: RobotResult, joint: int, speed: Array) -> tuple[Array, Array]:
    """Friction (n,) of a joint at speeds (n,), and its standard deviation (n,) [N m]."""
    model = result.model
    dq = np.zeros((len(speed), len(model.joint_names)))
    dq[:, joint] = speed
    terms = model.terms
    columns = terms.columns(dq, np.zeros_like(dq), np.zeros_like(dq))[:, joint]
    used = [k for k, term in enumerate(terms.names)
            if term not in (OFFSET, DRIVE) and terms.has(joint, term)]
    at = [model.term_index(joint, terms.names[k]) for k in used]
    own = columns[:, used]
    spread = result.robot.covariance[np.ix_(at, at)]
    return (own @ result.identified.phi[at],
            np.sqrt(np.maximum(np.einsum("ni,ij,nj->n", own, spread, own), 0.0)))


_UNEXPLAINED = 0.5  # share of a joint's torque that a robot leaves of it at most, if it is known
_BARS = (("measured", "#8b93a1"), ("left", "#b3261e"))
_ROW, _LEGEND, _WIDEST = 34.0, 22.0, 400.0  # of the picture of bars
_SHOWN = (0, 1, 2, 3, 4, 7, 9)  # of a body: all but the products of inertia


def robot_page(result: RobotResult, recording: Path, words: Sequence[str]) -> str:
    """The report, as HTML in one file.

    Args:
        words: of the command line.
    """
    title = f"Robot report: {recording.resolve().name}"
    origin = ReportOrigin(title, str(recording), shlex.join(["identify_robot", *words]))
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
    except (InvalidData, NotEnoughData) as error:
        return Diagnosis(BAD, "Not identified", "The description does not explain the torques.",
                         (str(error), *reasons),
                         ("Check that the efforts are torques, in the order and with the sign of "
                          "the joints, and that the arm moves.",))
    if result.validation is None:
        return Diagnosis(FAIR, "Identified, not tested", "No part was held back for a test.",
                         reasons, ("Give --hold-back a share above 0.",))
    held = result.validation
    unexplained = [f"{name} ({percent(error, torque)})" for name, error, torque in zip(
        result.model.joint_names, held.error, held.torque, strict=True)
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
    for j, name in enumerate(result.model.joint_names):
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
    held, names = result.validation or result.prediction, result.model.joint_names
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
        for i in _SHOWN:
            text = interval(SCALES[i] * values[i], SCALES[i] * sigma[i], i in POSITIVE)
            row.append(element("td", text, class_=None if share[i] > _DATA else "fair"))
        rows.append(row)
    heads = ("body", *(f"{NAMES[i]} [{UNITS[i]}]".replace("^2", "\u00b2") for i in _SHOWN))
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
        places = [(model.term_index(name, term), term) for term in model.terms.names]
        rows.append((name, *(interval(
            result.identified.phi[k], CONFIDENCE_95 * result.identified.sigma[k],
            term in POSITIVE_TERMS) if model.terms.has(j, term) else "-" for k, term in places)))
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
