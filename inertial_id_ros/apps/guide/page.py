# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How a session ended, and its report: one HTML file."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from ...cli import OK
from ...io.files import write_atomically
from ..report.diagnosis import BAD, GOOD, Diagnosis
from ..report.figures import wrench_charts
from ..report.page import Card, Cell, Section, Table, render
from ..report.results import CONFIDENCE_95, NAMES, SCALES, UNITS, two_digits
from .checks import Verdict, failed
from .show import Show

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


def write_page(folder: Path, show: Show, end: End) -> Path:
    """Write the report into a folder, which is made where it is missing; its path (raises OSError,
    MissingPackage)."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"identify_payload_{time.strftime('%Y%m%d-%H%M%S')}.html"
    write_atomically(path, session_page(show, end))
    return path


def session_page(show: Show, end: End) -> str:
    """The report as HTML (raises MissingPackage)."""
    good = end.status == OK
    advice = [f"{row.check}: {row.advice}" for row in failed(show.rows.values())]
    verdict = Diagnosis(GOOD if good else BAD, "Done" if good else "Not done", end.text, (),
                        (*advice, *filter(None, [end.advice])))
    cards = [Card(part.name.capitalize(), f"{part.value} "
                  + (f"± {two_digits(part.width)} {part.unit}" if part.is_known
                     else "not observable"), "good" if part.is_reached else "fair")
             for part in show.parts]
    return render(f"Payload session of {time.strftime('%Y-%m-%d %H:%M')}", verdict,
                  list(_sections(show)), cards)


def _sections(show: Show) -> Iterator[Section]:
    if (found := show.found) is not None:
        numbers = [[f"{name} [{unit}]", f"{scale * value:.4g}",
                    two_digits(CONFIDENCE_95 * scale * sigma)]
                   for name, unit, scale, value, sigma in zip(
                       NAMES, UNITS, SCALES, found.report, found.sigma, strict=True)]
        yield Section("Payload", "payload", [*filter(None, [show.applied]), Table(
            f"In frame '{found.frame}', inertia about the centre of mass",
            ["", "value", "± 95 %"], numbers)])
    headings = ("Proof", "The driver's own wrench afterwards")
    for heading, proof in zip(headings, show.proofs, strict=False):
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
         for row in show.rows.values()])])
    if show.motions:
        yield Section("Motions", "motions", [Table("In this order", ["", "motion", "time"], [
            [f"{k + 1}", Cell(words, "text"), f"{seconds:.1f} s" if seconds else "by hand"]
            for k, (words, seconds) in enumerate(show.motions)])])
