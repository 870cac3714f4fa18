# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a session prints, asks and remembers, lines of text for a person or JSON for a program, and
its report: one HTML file."""

from __future__ import annotations

import json
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import get_terminal_size
from typing import TextIO

from ...cli import OK
from ...io.files import without_nonfinite, write_atomically
from ..report.page import Section, render, wrench_charts
from ..report.results import (
    BAD,
    CONFIDENCE_95,
    GOOD,
    NAMES,
    SCALES,
    UNITS,
    Cell,
    Diagnosis,
    Table,
    two_digits,
)
from .checks import Row, Verdict, failed
from .progress import Numbers, Part, Progress
from .proof import Proof

PERIOD = 1.0  # s between two lines of progress
NAME = 24  # characters of a name
MARKS = {Verdict.PASSED: "✓", Verdict.OPEN: "?", Verdict.FAILED: "✗", True: "✓", False: "✗",
         None: "·"}
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


class Show:
    """A line for each event, and the record of what happened.

    Args:
        yes: answer of every question; else a person is asked, and nobody where lines are JSON.
        as_json: lines of JSON.

    Attributes:
        rows: of the checks, by name; parts: what is known of the payload against the goal.
        motions: what was made, in words, and how long it took [s]; 0 where a person made it.
        proofs: of the payload, and of the driver's own wrench, once it compensates it.
        found: the payload; None: not identified. applied: what the robot was told, in words.
    """

    def __init__(self, yes: bool, as_json: bool, out: TextIO = sys.stdout) -> None:
        self._yes, self._as_json, self._out = yes, as_json, out
        self._shown = -PERIOD  # when progress was shown last [s]
        self.rows: dict[str, Row] = {}
        self.parts: tuple[Part, ...] = ()
        self.motions: list[tuple[str, float]] = []
        self.proofs: list[Proof] = []
        self.found: Numbers | None = None
        self.applied = ""

    def _write(self, event: str, lines: str, **fields: object) -> None:
        """An event with its fields, or what a person reads of it."""
        if self._as_json:
            lines = json.dumps(without_nonfinite({"event": event, **fields}), ensure_ascii=False)
        print(lines, file=self._out, flush=True)

    def step(self, name: str, text: str = "") -> None:
        """A step begins: check, wiggle, identify, prove, apply or report."""
        self._write("step", f"\n{name.capitalize()}  {text}", name=name, text=text)

    def row(self, row: Row) -> None:
        """A check was made."""
        self.rows[row.check] = row
        lines = [_line(MARKS[row.verdict], row.measured, row.check)]
        if row.verdict is Verdict.FAILED:
            lines.append(_line("", row.expected, "expected"))
        if row.advice:
            lines.append(_line("→", row.advice))
        self._write("check", "\n".join(lines), **row._asdict())

    def progress(self, progress: Progress) -> None:
        """What is known now; written once a second."""
        self.parts = progress.parts
        if 0.0 <= progress.elapsed - self._shown < PERIOD:
            return
        self._shown = progress.elapsed
        known = ", ".join(map(_interval, progress.parts)) or progress.missing
        self._write(
            "progress", _line("·", known, f"{progress.elapsed:.0f} s, "
                              f"{progress.left:.0f} s remain"),
            elapsed=round(progress.elapsed, 2), left=round(progress.left, 2),
            missing=progress.missing, **{
                part.name: {**part._asdict(), "reached": part.is_reached}
                for part in progress.parts})

    def motion(self, words: str, seconds: float) -> None:
        """The arm is about to move, or is to be moved by hand (0 s)."""
        self.motions.append((words, seconds))
        self._write("motion", _line("↻", f"{words} ({seconds:.1f} s)" if seconds else words),
                    words=words, seconds=round(seconds, 2))

    def proof(self, proof: Proof) -> None:
        """The payload was compared with a motion it has not seen."""
        self.proofs.append(proof)
        self._write("proof", "\n".join(
            f"  {name:34}{two_digits(force):>6} N{two_digits(torque):>8} N m"
            for name, force, torque in proof.rows()), given=proof.is_given, **{
                name: [force, torque] for name, (_, force, torque) in zip(
                    ("left_before", "left_after", "allowed"), proof.rows(), strict=True)})

    def say(self, text: str, good: bool | None = None) -> None:
        """Something worth a line; good: whether it went well, None: neither."""
        self._write("note", _line(MARKS[good], text), text=text, good=good)

    def ask(self, question: str) -> bool:
        """True if a person agrees."""
        if self._yes or self._as_json:
            answer = " yes" if self._yes else " no"
            self._write("question", f"  ? {question}{answer}", text=question, answer=self._yes)
            return self._yes
        try:
            return input(f"  ? {question} [y/N] ").strip().lower() in ("y", "yes")
        except EOFError:
            return False

    def end(self, text: str, status: int) -> None:
        """The session has ended, with its exit status."""
        self._write("end", f"\n{'Done' if status == OK else 'Not done'}: {text}", text=text,
                    status=status)


def _line(mark: str, text: str, name: str = "") -> str:
    """A mark, a name, and a text that wraps beside them."""
    head = f"  {mark:2}{name:{NAME}} " if name else f"  {mark:2}"
    return textwrap.fill(text, max(get_terminal_size().columns, 60), initial_indent=head,
                         subsequent_indent=" " * len(head))


def _interval(part: Part) -> str:
    """The interval against the goal, in words."""
    width = f"± {two_digits(part.width)}" if part.is_known else "not known yet"
    wanted = f" of {two_digits(part.goal)}" if part.goal > 0.0 else ""
    return f"{part.name} {part.value} {width}{wanted} {part.unit}"


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
    return render(f"Payload session of {time.strftime('%Y-%m-%d %H:%M')}", verdict,
                  list(_sections(show)))


def _sections(show: Show) -> Iterator[Section]:
    if show.parts:
        yield Section("Progress", "progress", [Table("At the end", ["", "value", "goal"], [
            [part.name, _interval(part), Cell("reached" if part.is_reached else "not reached",
                                              "good" if part.is_reached else "fair")]
            for part in show.parts])])
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
