# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What happened in a session, and its report: one HTML file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...cli import OK
from ...inertia import PARAMETER_NAMES, Array
from ...io.files import write_atomically
from ..report.diagnosis import BAD, GOOD, Diagnosis
from ..report.figures import Curve, chart, limits_around
from ..report.page import Card, Cell, Figure, Figures, Section, Table, render
from ..report.results import two_digits
from .checks import Row, Verdict, failed
from .progress import CONFIDENCE_95, Part, Progress
from .proof import FORCE, TORQUE, Proof

TONES = {Verdict.PASSED: "good", Verdict.OPEN: "fair", Verdict.FAILED: "bad"}
UNITS = (("kg", 1.0), *(("mm", 1e3),) * 3, *(("g m²", 1e3),) * 6)  # and factor from SI


class End(NamedTuple):
    """How a session ended: exit status, what to say, and what to do then; empty: nothing, or what
    the checks advise."""

    status: int
    text: str
    advice: str = ""


@dataclass
class Record:
    """What happened.

    Attributes:
        rows: of the checks, by name; progress: what was known when.
        motions: what was made, in words, and how long it took [s]; 0 where a person made it.
        report, sigma: (10,) mass, centre of mass, inertia about it in `frame`, and deviations;
            None: not identified. stamp_ns: of its newest sample; parts: the same against the goal.
        proof: of the payload; proof_after: of the driver's own wrench, once it compensates it.
        applied: what the robot was told, in words; saved: name of the saved estimate.
    """

    rows: dict[str, Row] = field(default_factory=dict)
    progress: list[Progress] = field(default_factory=list)
    motions: list[tuple[str, float]] = field(default_factory=list)
    report: Array | None = None
    sigma: Array | None = None
    parts: tuple[Part, ...] = ()
    frame: str = ""
    stamp_ns: int = 0
    proof: Proof | None = None
    proof_after: Proof | None = None
    applied: str = ""
    saved: str = ""


def write_page(folder: Path, record: Record, end: End) -> Path:
    """Write the report into a folder, which is made where it is missing; its path (raises OSError).
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"identify_payload_{time.strftime('%Y%m%d-%H%M%S')}.html"
    write_atomically(path, session_page(record, end))
    return path


def session_page(record: Record, end: End) -> str:
    """The report as HTML (raises MissingPackage)."""
    good = end.status == OK
    verdict = Diagnosis(
        GOOD if good else BAD, "Done" if good else "Not done", end.text, (),
        (*(f"{row.name}: {row.advice}" for row in failed(record.rows.values())),
         *([end.advice] if end.advice else ())))
    sections: list[Section] = [] if record.report is None else [_numbers(record)]
    if record.proof is not None:
        sections.append(_proof("Proof", record.proof, "what the robot has now", "the new payload"))
    if record.proof_after is not None:
        sections.append(_proof("The driver's own wrench afterwards", record.proof_after,
                               "the payload once more", "nothing"))
    known = [p for p in record.progress if p.parts]
    if len(known) > 1:
        sections.append(_on_the_way(known))
    rows: list[list[str | Cell]] = [
        [row.name, Cell(row.verdict.value, TONES[row.verdict]), Cell(row.measured, "text"),
             Cell(row.expected, "text"), Cell(row.advice, "text")] for row in record.rows.values()]
    sections.append(Section("Checks", "checks", [Table(
        "What was measured, what was expected, what to do",
        ["check", "", "measured", "expected", "what to do"], rows)]))
    moved: list[list[str | Cell]] = [
        [f"{k + 1}", Cell(words, "text"), f"{seconds:.1f} s" if seconds else "by hand"]
             for k, (words, seconds) in enumerate(record.motions)]
    sections.append(Section("Motions", "motions", [
        Table("In this order", ["", "motion", "time"], moved) if moved else "Nothing has moved."]))
    parts = record.parts or (known[-1].parts if known else ())
    return render(f"Payload session of {time.strftime('%Y-%m-%d %H:%M')}", verdict, sections,
                  [_card(part) for part in parts])


def _card(part: Part) -> Card:
    width = f"± {two_digits(part.width)} {part.unit}" if part.is_known else "not observable"
    return Card(part.name.capitalize(), f"{part.value} {width}",
                "good" if part.is_reached else "fair")


def _numbers(record: Record) -> Section:
    """The ten numbers with their intervals."""
    assert record.report is not None and record.sigma is not None
    rows = [[f"{name} [{unit}]", f"{value * factor:.4g}",
             two_digits(CONFIDENCE_95 * sigma * factor)]
            for name, (unit, factor), value, sigma in zip(
                PARAMETER_NAMES, UNITS, record.report, record.sigma, strict=True)]
    return Section("Payload", "payload", [
        *([record.applied] if record.applied else []),
        Table(f"In frame '{record.frame}', inertia about the centre of mass",
              ["", "value", "± 95 %"], rows)])


def _proof(heading: str, proof: Proof, before: str, after: str) -> Section:
    """The residual wrench with two payloads, in numbers and as curves."""
    rows = [[label, f"{two_digits(force)} N", f"{two_digits(torque)} N m"]
            for label, (force, torque) in zip(
                (before, after, "explained by the sensor's errors"),
                (*proof.residuals, proof.allowed), strict=True)]
    figures = [_chart(proof, part, predicted, f"{title}, {label}", unit)
               for title, unit, part in (("Force", "N", FORCE), ("Torque", "N m", TORQUE))
               for label, predicted in ((before, proof.before), (after, proof.after))]
    return Section(heading, heading.split()[0].lower(), [
        "A motion that the estimate has not seen. Solid: measured, without the bias of the sensor. "
        "Dashed: predicted.", Table("Residual wrench (rms)", ["", "force", "torque"], rows),
        Figures(figures)])


def _chart(proof: Proof, part: slice, predicted: Array, title: str, unit: str) -> Figure:
    """Measured and predicted wrench over the time of the motion."""
    measured, model = proof.measured[:, part], predicted[:, part]
    lines = [Curve(name, proof.time, measured[:, k], name) for k, name in enumerate("xyz")]
    lines += [Curve("predicted" if k == 0 else "", proof.time, model[:, k], "black", dashed=True)
              for k in range(3)]
    both = np.concatenate([proof.measured[:, part], proof.before[:, part], proof.after[:, part]])
    return chart(title, unit, lines, f"measured and predicted over {proof.time[-1]:.1f} s",
                 limits_around(both, both))


def _on_the_way(known: Sequence[Progress]) -> Section:
    """How the intervals came down to the goal."""
    elapsed, figures = np.array([p.elapsed for p in known]), []
    for k, (name, colour) in enumerate((("mass", "x"), ("centre of mass", "z"))):
        width, goal = (np.array([getattr(p.parts[k], what) for p in known])
                       for what in ("width", "goal"))
        shown = np.minimum(width, 6.0 * goal)
        lines = [Curve("half of the interval", elapsed, shown, colour),
                 Curve("goal", elapsed, goal, "black", dashed=True)]
        figures.append(chart(name.capitalize(), known[0].parts[k].unit, lines,
                             f"the interval of {name} ends at {two_digits(width[-1])}",
                             (0.0, float(1.05 * max(shown.max(), goal.max())))))
    return Section("On the way", "progress", [Figures(figures)])
