# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The report of an identified robot: sections for the terminal and the page, and JSON."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...estimate import CONFIDENCE_95
from ...inertia import report_from_phi, report_jacobian
from ...robot.base_parameters import advice as how_to_excite
from ...robot.fit import Prediction
from ...robot.identify import RobotResult
from ...robot.model import NOT_NEGATIVE, RobotModel
from ..report import results
from ..report.page import Section, chart, provenance_section, render
from ..report.results import Cell, Diagnosis, Table, interval, two_digits

_SHOWN = (0, 1, 2, 3, 4, 7, 9)  # all but the products of inertia
_HALF = 0.5  # of a number that the data know, or of a torque that is explained, to count as such
_SECONDS = 12.0  # of torque that are shown, in which single motions can be told apart


def robot_sections(result: RobotResult) -> list[Section]:
    """What terminal and page show of an identified robot: torque and prediction error of every
    joint, notes, tilt and delay, gains; bodies, amber where the description says it, not the data;
    terms of every joint."""
    model, fit, found, held = result.fit.model, result.fit, result.prediction, result.validation
    lean = np.degrees(np.arcsin(model.gravity[:2] / np.linalg.norm(model.gravity)))
    lean = np.round(lean, 2) + 0.0  # no -0.00
    gains = [] if result.drives is None else ["gains of the drives, N m/A: " + ", ".join(
        f"{name} {interval(gain, CONFIDENCE_95 * gain * spread, True)}" for name, gain, spread in
        zip(model.joint_names, result.drives.gain, np.sqrt(np.diag(result.drives.spread)),
            strict=True))]
    torques = [(name, f"{found.torque[j]:.3f}", f"{found.error[j]:.4f}",
                f"{two_digits(100.0 * found.shares[j])} %",
                "" if held is None else f"{two_digits(100.0 * held.shares[j])} %")
               for j, name in enumerate(model.joint_names)]
    bodies: list[list[str | Cell]] = []
    for k, body in enumerate(model.bodies):
        where, scale = model.body_slice(k), np.array(results.SCALES)
        phi, share = fit.phi[where], fit.data_share[where]
        jacobian = report_jacobian(phi)
        spread = np.diag(jacobian @ fit.covariance[where, where] @ jacobian.T)
        values, sigma = scale * report_from_phi(phi), scale * CONFIDENCE_95 * np.sqrt(spread)
        bodies.append([body, *(Cell(interval(values[i], sigma[i], i not in (1, 2, 3)),
                                    "" if share[i] > _HALF else "fair") for i in _SHOWN)])
    sigma = CONFIDENCE_95 * np.sqrt(np.diag(fit.covariance))
    columns = [[interval(fit.phi[k], sigma[k], term in NOT_NEGATIVE)
                for k in model.term_indices(term)] for term in model.terms.names]
    units = [f"{results.NAMES[i]} [{results.UNITS[i]}]".replace("^2", "\u00b2") for i in _SHOWN]
    return [
        Section("Before and after", "held-out", [
            Table("Torque, rms [N m]", ("joint", "measured", "error", "share", "share held back"),
                  torques), "Held back: motion that the robot was not identified from.",
            f"torque error {found.relative:.2%} of the torque" + (
                "" if held is None else f"; {held.relative:.2%} on motion that was held back"),
            *(f"note: {note}" for note in (*result.notes, *_unexplained(found, model))),
            f"tilt of gravity {lean[0]:.2f}, {lean[1]:.2f} deg; efforts "
            f"{1e3 * result.delay:.1f} ms late", *gains,
            f"physically consistent bodies: {np.sum(result.consistent)} of {len(model.bodies)}"]),
        Section("Bodies", "bodies", [
            Table("Bodies, with 95 % intervals", ("body", *units), bodies),
            "In the frame of each link, inertia about the centre of mass. Amber on the page: what "
            "the description says, not the data."]),
        Section("Joints", "joints", [
            Table("Joints, with 95 % intervals", ("joint", *model.terms.names),
                  list(zip(model.joint_names, *columns, strict=True)))])]


def _unexplained(prediction: Prediction, model: RobotModel) -> list[str]:
    """Joints most of whose torque is not explained."""
    return [f"{share:.0%} of the torque of {name} is not explained" for name, share in zip(
        model.joint_names, prediction.shares, strict=True) if share > _HALF]


def result_json(result: RobotResult, recording: str) -> dict[str, Any]:
    """The result as JSON (SI units; bodies about the origins of their frames)."""
    model, fit, drives, (beta, sigma) = result.fit.model, result.fit, result.drives, result.beta

    def listed(**columns: Any) -> list[dict[str, Any]]:
        rows = zip(*(np.asarray(c).tolist() for c in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    return {
        "recording": recording, "joints": list(model.joint_names), "bodies": list(model.bodies),
        "parameters": listed(name=model.parameter_names, value=fit.phi,
                             sigma=np.sqrt(np.diag(fit.covariance)), data_share=fit.data_share),
        "base_parameters": listed(combination=fit.base.expressions(), value=beta, sigma=sigma,
                                  excited=fit.excited),
        "consistent": result.consistent.tolist(),
        "description": listed(body=model.bodies, contradicted=fit.contradicted),
        "torque_rms": result.prediction.torque.tolist(),
        "error_rms": result.prediction.error.tolist(),
        "relative_error": result.prediction.relative,
        "held_back_relative_error": result.validation and result.validation.relative,
        "gravity": model.gravity.tolist(), "delay": result.delay,
        "gains": drives and listed(joint=model.joint_names, gain=drives.gain,
                                   sigma=drives.gain * np.sqrt(np.diag(drives.spread))),
        "coulomb_velocity": model.terms.coulomb_velocity, "notes": list(result.notes)}


def robot_page(result: RobotResult, recording: Path, words: Sequence[str]) -> str:
    """The report as HTML in one file, with the words of the command (raises MissingPackage)."""
    shown = result.validation or result.prediction
    time = shown.time - shown.time[0]
    part = time <= _SECONDS
    charts = [chart(name, "N m", time[part],
                    [("measured", shown.measured[part, j], "b-"),
                     ("predicted", (shown.measured - shown.residual)[part, j], "k--")],
                    f"rms of measured less predicted {shown.error[j]:.3g} N m, "
                    f"{two_digits(100.0 * shown.shares[j])} % of the torque")
              for j, name in enumerate(result.fit.model.joint_names)]
    return render(f"Robot report: {recording.resolve().name}", diagnose(result), [
        *robot_sections(result), Section("Torque, measured and predicted", "torques", [
            f"Low-passed, the first {time[part][-1]:.0f} s"
            + (" of the motion held back." if result.validation else "."), charts]),
        provenance_section(str(recording), shlex.join(["identify_robot", *words]))])


def diagnose(result: RobotResult) -> Diagnosis:
    """The verdict on an identified robot."""
    held, model = result.validation, result.fit.model
    doubted = ", ".join(model.bodies[k] for k in np.flatnonzero(result.fit.contradicted))
    tone, word, said, advice = results.FAIR, "Identified", "", ""
    if held is None:
        word, said = "Identified, not tested", "No part was held back for a test."
        advice = "Give --set hold_back=0.3, or a recording by --test."
    elif unexplained := _unexplained(held, model):
        word, said = "Partly identified", f"On other motion, {'; '.join(unexplained)}."
        advice = ("Move these joints more: at rest, friction holds what the bodies and the drive "
                  "do not. Amber numbers below are the description's.")
    elif (unknown := np.flatnonzero(~result.fit.excited)).size:
        word, said = "Partly identified", (f"The motion excites {result.fit.excited.sum()} of "
                                           f"{result.fit.excited.size} base parameters.")
        advice = f"To know the others, {how_to_excite(model, result.fit.base, unknown)}."
    elif doubted:
        said = f"The robot is not as described: {doubted}."
        advice = "Look for a load, a gripper or a cover that the description lacks."
    else:
        tone, said = results.GOOD, "The robot explains torques that it had not seen."
    return Diagnosis(tone, word, said, (), (advice,) if advice else ())
