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
from ...inertia import Array, report_from_phi, report_jacobian
from ...robot.joint_terms import COULOMB, DRIVE, OFFSET, VISCOUS
from ..bag.output import as_markup, print_table
from ..report.diagnosis import BAD, FAIR, GOOD, Diagnosis
from ..report.figures import Curve, chart, limits_around
from ..report.page import (
    Cell,
    Figures,
    Folded,
    Note,
    ReportOrigin,
    Section,
    Table,
    provenance_section,
    render,
)
from ..report.results import CONFIDENCE_95, NAMES, SCALES, UNITS, interval, percent, round_to_spread
from .robot_identification import RobotResult
from .term_choice import COST

with optional_packages("printing the result"):
    from rich.console import Console

POSITIVE = (0, 4, 7, 9)  # of a body: its mass and moments of inertia
POSITIVE_TERMS = (VISCOUS, COULOMB, DRIVE)
_DATA = 0.5  # share of the data from which on a number counts as identified


def print_report(console: Console, result: RobotResult, title: str, base: bool) -> None:
    """Print torque prediction, parameters, consistency and, where wanted, base parameters."""
    console.print(as_markup(title), highlight=False)
    for table in (torque_table(result), body_table(result),
                  *([term_table(result)] if result.model.terms.names else []),
                  *([base_parameter_table(result)] if base else [])):
        print_table(console, table)
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


def torque_table(result: RobotResult) -> Table:
    """Measured torque and prediction error of every joint."""
    found, held = result.prediction, result.validation
    rows = [(name, f"{found.torque[j]:.3f}", f"{found.error[j]:.4f}",
             percent(found.error[j], found.torque[j]),
             "" if held is None else percent(held.error[j], held.torque[j]))
            for j, name in enumerate(result.model.joint_names)]
    return Table("Torque, rms [N m]", ("joint", "measured", "error", "share", "share held back"),
                 rows)


def body_table(result: RobotResult) -> Table:
    """Mass, centre of mass and moments of inertia of every body, in the frame of its link; amber
    where the description says it, not the data."""
    rows: list[list[str | Cell]] = []
    for k, body in enumerate(result.model.bodies):
        where = result.model.body_slice(k)
        phi, share = result.identified.phi[where], result.identified.data_share[where]
        jacobian = report_jacobian(phi)
        spread = jacobian @ result.robot.covariance[where, where] @ jacobian.T
        sigma = CONFIDENCE_95 * np.sqrt(np.maximum(np.diag(spread), 0.0))
        values = report_from_phi(phi)
        rows.append([body, *(Cell(interval(SCALES[i] * values[i], SCALES[i] * sigma[i],
                                           i in POSITIVE), "" if share[i] > _DATA else "fair")
                             for i in _SHOWN)])
    heads = ("body", *(f"{NAMES[i]} [{UNITS[i]}]".replace("^2", "\u00b2") for i in _SHOWN))
    return Table("Bodies, with 95 % intervals", heads, rows)


def term_table(result: RobotResult) -> Table:
    """Friction, offset and drive inertia of every joint."""
    model, found = result.model, result.identified
    rows = []
    for j, name in enumerate(model.joint_names):
        places = [(model.term_index(name, term), term) for term in model.terms.names]
        rows.append((name, *(interval(found.phi[k], CONFIDENCE_95 * found.sigma[k],
                                      term in POSITIVE_TERMS)
                             if model.terms.has(j, term) else "-" for k, term in places)))
    return Table("Joints, with 95 % intervals", ("joint", *model.terms.names), rows)


def base_parameter_table(result: RobotResult) -> Table:
    """The base parameters with their intervals."""
    rows = [(text, *round_to_spread(value, CONFIDENCE_95 * sigma)) for text, value, sigma in zip(
        result.base.expressions(), result.beta, result.beta_sigma, strict=True)]
    return Table("Base parameters", ("combination", "value", "95 %"), rows)


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


def _choice_section(result: RobotResult) -> Section:
    """What each kind of term of the joints brought, or would bring."""
    if result.choice is None:
        return Section("Choice of terms", "choice", ["The terms were given."])
    rows = [(gain.title, f"{gain.nats:+.1f}",
             Cell(", ".join(gain.joints) or "not chosen", "text")) for gain in result.choice.gains]
    return Section("Choice of terms", "choice", [
        Table("Log-likelihood of held-out motion", ("term", "gain", "joints"), rows),
        Note("Of terms that were not chosen: what they would bring to the joint that gains most. "
             f"More than {COST:g} is asked for, and more than the parts that were held out differ "
             "by.")])


_SECONDS = 12.0  # of torque that are shown, in which single motions can be told apart
_POINTS = 201  # of a curve of friction


def _torque_curves(result: RobotResult) -> Section:
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
        figures.append(chart(name, "N m", [
            Curve("measured", time[part], measured, "z"),
            Curve("predicted", time[part], predicted, "black", dashed=True)], said,
            limits_around(both, both)))
    seen = ("The robot that predicts had not seen this motion." if result.validation is not None
            else "No motion was held back: the robot was identified from this one.")
    return Section("Torque, measured and predicted", "torques", [
        f"Low-passed, the first {time[part][-1]:.0f} s. {seen}", Figures(figures)])


def _friction_curves(result: RobotResult) -> Section:
    """Friction of each joint over its speed, as far as the recording went, with its interval."""
    model = result.model
    brakes = [name for name in model.terms.names if name not in (OFFSET, DRIVE)]
    if not brakes:
        return Section("Friction", "friction", ["No friction was asked for: it counts as error."])
    figures = []
    for j, name in enumerate(model.joint_names):
        most = float(result.speeds[j])
        speed = np.linspace(-most, most, _POINTS)
        value, sigma = friction_at(result, j, speed)
        band = CONFIDENCE_95 * sigma
        figures.append(chart(
            name, "N m", [Curve("", speed, value, "z", band)],
            f"{value[-1]:.3g} \u00b1 {band[-1]:.2g} N m at {most:.3g} rad/s",
            limits_around(value - band, value + band), across="speed [rad/s]"))
    note = " Friction by load is that without load." if model.terms.load_bodies else ""
    return Section("Friction", "friction", [
        "As far as the speeds of the recording went, with 95 % intervals." + note,
        Figures(figures)])


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
_SHOWN = (0, 1, 2, 3, 4, 7, 9)  # of a body: all but the products of inertia


def robot_page(result: RobotResult, recording: Path, words: Sequence[str]) -> str:
    """The report, as HTML in one file (raises MissingPackage).

    Args:
        words: of the command line.
    """
    title = f"Robot report: {recording.resolve().name}"
    origin = ReportOrigin(title, str(recording), shlex.join(["identify_robot", *words]))
    base = base_parameter_table(result)
    sections = [
        Section("Before and after", "held-out", [
            torque_table(result),
            Note("Held back: motion that the robot was not identified from.")]),
        _torque_curves(result),
        Section("Bodies", "bodies", [body_table(result), Note(
            "In the frame of each link, inertia about the centre of mass. Amber: what the "
            "description says, not the data. Joint torques identify combinations of parameters "
            "only.")]),
        Section("Joints", "joints", [term_table(result) if result.model.terms.names else
                                     "No terms of the joints were asked for."]),
        _friction_curves(result), _choice_section(result),
        Section("Base parameters", "base", [f"{len(base.rows)} combinations of parameters.",
                                            Folded("All of them", base)]),
        provenance_section(origin)]
    return render(title, diagnose_robot(result), sections)


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
