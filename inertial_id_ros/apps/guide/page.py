# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The report of a session: one HTML file, from what came out to what was checked."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...cli import OK
from ...inertia import PARAMETER_NAMES, Array
from ...io.files import write_atomically
from ..report.diagnosis import BAD, GOOD, Diagnosis
from ..report.figures import Curve, chart, limits_around
from ..report.page import Card, Cell, Figure, Figures, Section, Table, render
from ..report.results import two_digits
from .progress import CONFIDENCE_95, Part
from .proof import FORCE, TORQUE, Proof
from .record import End, Record, Row, Verdict

_TONES = {Verdict.PASSED: "good", Verdict.OPEN: "fair", Verdict.FAILED: "bad"}
# Unit and factor from SI, for each of the ten numbers.
_UNITS = (("kg", 1.0), *(("mm", 1e3),) * 3, *(("g m²", 1e3),) * 6)


def write_page(folder: Path, record: Record, end: End) -> Path:
    """Write the report into a folder, which is made where it is missing; its path (raises OSError).
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"identify_payload_{time.strftime('%Y%m%d-%H%M%S')}.html"
    write_atomically(path, session_page(record, end))
    return path


def session_page(record: Record, end: End) -> str:
    """The report as HTML (raises MissingPackage)."""
    sections: list[Section] = []
    known = record.parts or (record.progress[-1].parts if record.progress else ())
    if record.report is not None:
        sections.append(_numbers(record))
    if record.proof is not None:
        sections.append(_proof_section(
            "Proof", "proof", record.proof, "what the robot has now", "the new payload",
            "A motion that the estimate has not seen. Solid: measured, without the bias of the "
            "sensor. Dashed: predicted."))
    if record.proof_after is not None:
        sections.append(_proof_section(
            "The driver's own wrench afterwards", "after", record.proof_after, "the payload once "
            "more", "nothing", "Once the driver subtracts the payload, its wrench must stay near "
            "zero while the arm moves."))
    if record.progress:
        sections.append(_progress_section(record))
    sections += [_checks(record.rows), _motions(record)]
    return render(f"Payload session of {time.strftime('%Y-%m-%d %H:%M')}", _verdict(end, record),
                  sections, _cards(known, record.proof))


def _verdict(end: End, record: Record) -> Diagnosis:
    """What came out, and what to do."""
    good = end.status == OK
    advice = [f"{row.name}: {row.advice}" for row in record.rows if row.verdict is Verdict.FAILED]
    return Diagnosis(GOOD if good else BAD, "Done" if good else "Not done", end.text, (),
                     (*advice, *([end.advice] if end.advice else [])))


def _cards(parts: Sequence[Part], proof: Proof | None) -> list[Card]:
    """Mass, centre of mass, inertia against the goal, as they were known last."""
    out = []
    for part in parts:
        width = f"± {two_digits(part.width)} {part.unit}" if part.is_known else "not told by motion"
        out.append(Card(part.name.capitalize(), f"{part.value} {width}",
                        "good" if part.is_reached else "fair"))
    if proof is not None:
        before, after = proof.left
        out.append(Card("Residual force, on an unseen motion",
                        f"{before[0]:.3g} → {two_digits(after[0])} N"))
    return out


def _numbers(record: Record) -> Section:
    """The ten numbers with their intervals, and the truth where it is known."""
    assert record.report is not None and record.sigma is not None
    heads = ["", "value", "± 95 %"] + (["truth"] if record.truth is not None else [])
    rows = []
    for k, (name, (unit, factor)) in enumerate(zip(PARAMETER_NAMES, _UNITS, strict=True)):
        row = [f"{name} [{unit}]", f"{record.report[k] * factor:.4g}",
               two_digits(CONFIDENCE_95 * record.sigma[k] * factor)]
        if record.truth is not None:
            row.append(f"{record.truth[k] * factor:.4g}")
        rows.append(row)
    return Section("Payload", "payload", [
        *([record.applied] if record.applied else []),
        Table(f"In frame '{record.frame}', inertia about the centre of mass", heads, rows)])


def _proof_section(heading: str, name: str, proof: Proof, before: str, after: str, said: str
                   ) -> Section:
    """The residual wrench with two payloads, in numbers and as curves."""
    (f0, t0), (f1, t1) = proof.left
    rows = [[label, f"{two_digits(force)} N", f"{two_digits(torque)} N m"]
            for label, force, torque in ((before, f0, t0), (after, f1, t1),
                                         ("explained by the sensor's errors", *proof.allowed))]
    figures = [_chart(proof, part, predicted, f"{title}, {label}", unit)
               for title, unit, part in (("Force", "N", FORCE), ("Torque", "N m", TORQUE))
               for label, predicted in ((before, proof.before), (after, proof.after))]
    return Section(heading, name, [
        said, Table("Residual wrench (rms)", ["", "force", "torque"], rows), Figures(figures)])


def _chart(proof: Proof, part: slice, predicted: Array, title: str, unit: str) -> Figure:
    """Measured and predicted wrench over the time of the motion."""
    measured, model = proof.measured[:, part], predicted[:, part]
    lines = [Curve(name, proof.time, measured[:, k], name) for k, name in enumerate("xyz")]
    lines += [Curve("predicted" if k == 0 else "", proof.time, model[:, k], "black", dashed=True)
              for k in range(3)]
    both = np.concatenate([proof.measured[:, part], proof.before[:, part], proof.after[:, part]])
    return chart(title, unit, lines, f"measured and predicted over {proof.time[-1]:.1f} s",
                 limits_around(both, both))


def _progress_section(record: Record) -> Section:
    """How the intervals came down to the goal."""
    known = [p for p in record.progress if p.parts]
    if len(known) < 2:
        return Section("On the way", "progress", ["There was no estimate to draw."])
    time_, figures = np.array([p.elapsed for p in known]), []
    for k, (name, colour) in enumerate((("mass", "x"), ("centre of mass", "z"))):
        width = np.array([p.parts[k].width for p in known])
        goal = np.array([p.parts[k].goal for p in known])
        shown = np.minimum(width, 6.0 * goal)
        lines = [Curve("half of the interval", time_, shown, colour),
                 Curve("goal", time_, goal, "black", dashed=True)]
        figures.append(chart(name.capitalize(), known[0].parts[k].unit, lines,
                             f"the interval of {name} ends at {two_digits(width[-1])}",
                             (0.0, float(1.05 * max(shown.max(), goal.max())))))
    return Section("On the way", "progress", [Figures(figures)])


def _checks(rows: Sequence[Row]) -> Section:
    """The table of checks."""
    lines: list[list[str | Cell]] = [
        [row.name, Cell(row.verdict.value, _TONES[row.verdict]), Cell(row.measured, "text"),
         Cell(row.expected, "text"),
         Cell(row.advice if row.verdict is not Verdict.PASSED else "", "text")] for row in rows]
    return Section("Checks", "checks", [Table(
        "What was measured, what was expected, what to do",
        ["check", "", "measured", "expected", "what to do"], lines)])


def _motions(record: Record) -> Section:
    """What was moved."""
    rows: list[list[str | Cell]] = [
        [f"{k + 1}", Cell(words, "text"), f"{seconds:.1f} s" if seconds else "by hand"]
        for k, (words, seconds) in enumerate(record.motions)]
    return Section("Motions", "motions", [Table("In this order", ["", "motion", "time"], rows)
                                          if rows else "Nothing has moved."])
