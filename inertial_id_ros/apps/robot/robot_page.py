# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The report of an identified robot: as text, as JSON, and as a page of HTML."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...extras import optional_packages
from ...inertia import Array, report_from_phi, report_jacobian
from ...robot.model import NOT_NEGATIVE
from ..bag.output import as_markup, print_table
from ..report.diagnosis import BAD, FAIR, GOOD, Diagnosis
from ..report.figures import chart
from ..report.page import Cell, Section, Table, provenance_section, render
from ..report.results import CONFIDENCE_95, NAMES, SCALES, UNITS, interval, percent, round_to_spread
from .identification import RobotResult

_TABLE_WIDTH = 140
_POSITIVE = (0, 4, 7, 9)  # of a body: its mass and moments of inertia
_SHOWN = (0, 1, 2, 3, 4, 7, 9)  # all but the products of inertia
_DATA = 0.5  # share of the data from which on a number counts as identified
_UNEXPLAINED = 0.5  # share of a joint's torque that a robot leaves of it at most, if it is known
_SECONDS = 12.0  # of torque that are shown, in which single motions can be told apart


def print_report(result: RobotResult, title: str) -> None:
    """Print torque prediction, parameters and consistency."""
    with optional_packages("printing the result"):
        from rich.console import Console
    console = Console()
    if not console.is_terminal:  # wide enough for the table of bodies
        console = Console(width=max(console.width, _TABLE_WIDTH))
    console.print(as_markup(title), highlight=False)
    for table in (torque_table(result), body_table(result), term_table(result)):
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
        lean = np.round(np.degrees(result.alignment.tilt), 2) + 0.0  # no -0.00
        out.append(f"tilt of gravity {lean[0]:.2f}, {lean[1]:.2f} deg; efforts "
                   f"{1e3 * result.alignment.delay:.1f} ms late")
    if result.drives is not None:
        spread = CONFIDENCE_95 * np.sqrt(np.diag(result.drives.covariance))
        out.append("gains of the drives, N m/A: " + ", ".join(
            f"{name} {interval(gain, about, True)}" for name, gain, about in zip(
                result.model.joint_names, result.drives.gain, spread, strict=True)))
    bad = [b for b, good in zip(result.model.bodies, result.consistent, strict=True) if not good]
    return [*out, *result.choice.sentences(),
            f"bodies that cannot exist: {', '.join(bad)}" if bad else
            f"all {len(result.model.bodies)} bodies are physically consistent"]


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
        phi, share = result.fit.phi[where], result.fit.data_share[where]
        jacobian = report_jacobian(phi)
        spread = jacobian @ result.fit.covariance[where, where] @ jacobian.T
        sigma = CONFIDENCE_95 * np.sqrt(np.maximum(np.diag(spread), 0.0))
        values = report_from_phi(phi)
        rows.append([body, *(Cell(interval(SCALES[i] * values[i], SCALES[i] * sigma[i],
                                           i in _POSITIVE), "" if share[i] > _DATA else "fair")
                             for i in _SHOWN)])
    heads = ("body", *(f"{NAMES[i]} [{UNITS[i]}]".replace("^2", "\u00b2") for i in _SHOWN))
    return Table("Bodies, with 95 % intervals", heads, rows)


def term_table(result: RobotResult) -> Table:
    """Friction, offset and drive inertia of every joint."""
    model, sigma = result.model, np.sqrt(np.diag(result.fit.covariance))
    rows = [(name, *(interval(result.fit.phi[k], CONFIDENCE_95 * sigma[k], term in NOT_NEGATIVE)
                     for term in model.terms.names for k in [model.term_index(name, term)]))
            for name in model.joint_names]
    return Table("Joints, with 95 % intervals", ("joint", *model.terms.names), rows)


def result_json(result: RobotResult, recording: str) -> dict[str, Any]:
    """The result as JSON (SI units; bodies about the origins of their frames)."""
    model, fit, doubt = result.model, result.fit, result.fit.described.doubt

    def listed(**columns: Sequence[Any] | Array) -> list[dict[str, Any]]:
        rows = zip(*(np.asarray(c).tolist() for c in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    return {
        "recording": recording, "joints": list(model.joint_names), "bodies": list(model.bodies),
        "parameters": listed(name=model.parameter_names, value=fit.phi,
                             sigma=np.sqrt(np.diag(fit.covariance)), data_share=fit.data_share),
        "base_parameters": listed(combination=result.base.expressions(), value=result.beta,
                                  sigma=result.beta_sigma),
        "consistent": result.consistent.tolist(),
        "description": listed(body=model.bodies, factor=doubt.factors, differs=doubt.differs),
        "torque_rms": result.prediction.torque.tolist(),
        "error_rms": result.prediction.error.tolist(),
        "relative_error": result.prediction.relative,
        "held_back_relative_error": result.validation and result.validation.relative,
        "gravity": model.gravity.tolist(), "delay": result.robot.delay,
        "gains": result.drives and listed(
            joint=model.joint_names, gain=result.drives.gain,
            sigma=np.sqrt(np.diag(result.drives.covariance))),
        "coulomb_velocity": model.terms.coulomb_velocity,
        "terms": [{"term": kind, "chosen": kind in model.terms.names, "log_likelihood": gain}
                  for kind, gain in result.choice.gains.items()],
        "notes": list(result.notes)}


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
        figures.append(chart(
            name, "N m", time[part],
            [("measured", measured, "b-"), ("predicted", predicted, "k--")],
            f"rms of measured less predicted {shown.error[j]:.3g} N m, "
            f"{percent(shown.error[j], shown.torque[j])} of the torque"))
    seen = ("The robot that predicts had not seen this motion." if result.validation is not None
            else "No motion was held back: the robot was identified from this one.")
    return Section("Torque, measured and predicted", "torques", [
        f"Low-passed, the first {time[part][-1]:.0f} s. {seen}", figures])


def robot_page(result: RobotResult, recording: Path, words: Sequence[str]) -> str:
    """The report, as HTML in one file (raises MissingPackage).

    Args:
        words: of the command line.
    """
    title = f"Robot report: {recording.resolve().name}"
    base = Table("Base parameters", ("combination", "value", "95 %"), [
        (text, *round_to_spread(value, CONFIDENCE_95 * sigma)) for text, value, sigma in zip(
            result.base.expressions(), result.beta, result.beta_sigma, strict=True)], folded=True)
    sections = [
        Section("Before and after", "held-out", [
            torque_table(result),
            "Held back: motion that the robot was not identified from."]),
        _torque_curves(result),
        Section("Bodies", "bodies", [
            body_table(result),
            "In the frame of each link, inertia about the centre of mass. Amber: what the "
            "description says, not the data. Joint torques identify combinations of parameters "
            "only."]),
        Section("Joints", "joints", [term_table(result), *result.choice.sentences()]),
        Section("Base parameters", "base", [f"{len(base.rows)} combinations of parameters.",
                                            base]),
        provenance_section(str(recording), shlex.join(["identify_robot", *words]))]
    return render(title, diagnose_robot(result), sections)


def diagnose_robot(result: RobotResult) -> Diagnosis:
    """The verdict on an identified robot."""
    reasons = tuple(f"{line[0].upper()}{line[1:]}." for line in verdict(result))
    held = result.validation
    if result.unexplained is not None:
        return Diagnosis(BAD, "Not identified", "The description does not explain the torques.",
                         (str(result.unexplained), *reasons), ())
    if held is None:
        return Diagnosis(FAIR, "Identified, not tested", "No part was held back for a test.",
                         reasons, ("Give --set hold_back=0.3, or a recording by --test.",))
    unexplained = [f"{name} ({percent(error, torque)})" for name, error, torque in zip(
        result.model.joint_names, held.error, held.torque, strict=True)
        if error > _UNEXPLAINED * torque]
    if unexplained:
        return Diagnosis(FAIR, "Partly identified", "Most of the torque is not explained of: "
                         + ", ".join(unexplained) + ".", reasons,
                         ("Move these joints more: at rest, friction holds what the bodies and "
                          "the drive do not. Amber numbers below are the description's.",))
    doubted = [body for body, beyond in zip(
        result.model.bodies, result.fit.described.doubt.contradicted, strict=True) if beyond]
    if doubted:
        return Diagnosis(FAIR, "Identified", "The robot is not as described: "
                         + ", ".join(doubted) + ".", reasons,
                         ("Look for a load, a gripper or a cover that the description lacks.",))
    return Diagnosis(GOOD, "Identified", "The robot explains torques that it had not seen.",
                     reasons, ())
