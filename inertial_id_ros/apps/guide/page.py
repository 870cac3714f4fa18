# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What happened in a session, and its report: one HTML file."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ...cli import OK
from ...io.files import write_atomically
from ..report.diagnosis import BAD, GOOD, Diagnosis
from ..report.figures import wrench_charts
from ..report.page import Card, Cell, Section, Table, render
from ..report.results import CONFIDENCE_95, NAMES, SCALES, UNITS, two_digits
from .checks import Row, Verdict, failed
from .progress import Numbers, Part
from .proof import Proof

TONES = {Verdict.PASSED: "good", Verdict.OPEN: "fair", Verdict.FAILED: "bad"}


class End(Exception):
    """How a session ends; a step raises it.

    Attributes:
        status: exit status; text: what to say; advice: what to do then; empty: nothing, or what
            the checks advise.
    """

    def __init__(self, status: int, text: str, advice: str = "") -> None:
        super().__init__(text)
        self.status, self.text, self.advice = status, text, advice


@dataclass
class Record:
    """What happened.

    Attributes:
        rows: of the checks, by name; parts: what is known of the payload against the goal.
        motions: what was made, in words, and how long it took [s]; 0 where a person made it.
        found: the payload; None: not identified; saved: name of the saved estimate.
        proofs: of the payload, and of the driver's own wrench, once it compensates it.
        applied: what the robot was told, in words.
    """

    rows: dict[str, Row] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    motions: list[tuple[str, float]] = field(default_factory=list)
    found: Numbers | None = None
    saved: str = ""
    proofs: list[Proof] = field(default_factory=list)
    applied: str = ""


def write_page(folder: Path, record: Record, end: End) -> Path:
    """Write the report into a folder, which is made where it is missing; its path (raises OSError,
    MissingPackage)."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"identify_payload_{time.strftime('%Y%m%d-%H%M%S')}.html"
    write_atomically(path, session_page(record, end))
    return path


def session_page(record: Record, end: End) -> str:
    """The report as HTML (raises MissingPackage)."""
    good = end.status == OK
    advice = [f"{row.check}: {row.advice}" for row in failed(record.rows.values())]
    verdict = Diagnosis(GOOD if good else BAD, "Done" if good else "Not done", end.text, (),
                        (*advice, *filter(None, [end.advice])))
    cards = [Card(part.name.capitalize(), f"{part.value} "
                  + (f"± {two_digits(part.width)} {part.unit}" if part.is_known
                     else "not observable"), "good" if part.is_reached else "fair")
             for part in record.parts]
    return render(f"Payload session of {time.strftime('%Y-%m-%d %H:%M')}", verdict,
                  list(_sections(record)), cards)


def _sections(record: Record) -> Iterator[Section]:
    if (found := record.found) is not None:
        numbers = [[f"{name} [{unit}]", f"{scale * value:.4g}",
                    two_digits(CONFIDENCE_95 * scale * sigma)]
                   for name, unit, scale, value, sigma in zip(
                       NAMES, UNITS, SCALES, found.report, found.sigma, strict=True)]
        yield Section("Payload", "payload", [*filter(None, [record.applied]), Table(
            f"In frame '{found.frame}', inertia about the centre of mass",
            ["", "value", "± 95 %"], numbers)])
    headings = ("Proof", "The driver's own wrench afterwards")
    for heading, proof in zip(headings, record.proofs, strict=False):
        rows = [[label, f"{two_digits(force)} N", f"{two_digits(torque)} N m"]
                for label, force, torque in proof.rows()]
        yield Section(heading, heading.split()[0].lower(), [
            "A motion that the estimate has not seen. Solid: measured, without the bias of the "
            "sensor. Dashed: predicted by the new payload.", Table(
                "Residual wrench (rms)", ["", "force", "torque"], rows),
            wrench_charts(proof.time, proof.measured, proof.after)])
    yield Section("Checks", "checks", [Table(
        "What was measured, what was expected, what to do",
        ["check", "", "measured", "expected", "what to do"],
        [[row.check, Cell(row.verdict.value, TONES[row.verdict]),
          *(Cell(text, "text") for text in (row.measured, row.expected, row.advice))]
         for row in record.rows.values()])])
    if record.motions:
        yield Section("Motions", "motions", [Table("In this order", ["", "motion", "time"], [
            [f"{k + 1}", Cell(words, "text"), f"{seconds:.1f} s" if seconds else "by hand"]
            for k, (words, seconds) in enumerate(record.motions)])])
