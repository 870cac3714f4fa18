# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The readable report of an identified robot, and its JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...extras import optional_packages
from ...inertia import report_from_phi, report_jacobian
from ...robot.joint_terms import COULOMB, DRIVE, VISCOUS
from ..bag.printed_report import as_markup
from ..report.units import CONFIDENCE_95, interval, round_to_spread
from .robot_identification import RobotResult

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
    for j, name in enumerate(result.model.output_names):
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
        "outputs": list(model.output_names),
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
