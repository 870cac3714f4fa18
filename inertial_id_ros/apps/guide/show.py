# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a session shows, asks and reports."""

import json
import sys
import textwrap
import time
from select import select
from shutil import get_terminal_size
from threading import Event
from typing import NamedTuple, TextIO

import numpy as np

from ...cli import INTERRUPTED, OK
from ...estimate import CONFIDENCE_95, Estimate
from ...inertia import Array, report_from_phi
from ...io.files import without_nonfinite
from ..report import results
from ..report.page import Section, render, wrench_section
from ..report.results import Cell, Diagnosis, Prediction, Table, two_digits
from .checks import FAILED, OPEN, PASSED, Row, failed

LONGEST_MOTION = 45.0  # s of motion, after which what is known is good enough
PERIOD = 1.0  # s between two lines of progress
WAKE = 0.1  # s until a request to stop is seen while a person is asked
NAME = 24  # characters of a name
MARKS = {PASSED: "✓", OPEN: "?", FAILED: "✗", True: "✓", False: "✗", None: "·"}
TONES = {PASSED: "good", OPEN: "fair", FAILED: "bad"}


class Wanted(NamedTuple):
    """The accuracy that was asked for, as half widths of 95 % intervals."""

    mass_accuracy: float  # as a share of the mass
    com_accuracy: float  # of each coordinate of the centre of mass [m]
    inertia_accuracy: float = 0.0  # as a share of the mean principal moment; 0: not asked for

    def sigma(self, phi: Array) -> Array:
        """Standard deviations (10,) of the report of a payload phi (10,); inf: not asked for."""
        report = report_from_phi(phi)
        moment = abs(float(report[[4, 7, 9]].sum())) / 3.0
        return np.repeat([self.mass_accuracy * abs(float(report[0])), self.com_accuracy,
                          self.inertia_accuracy * moment or np.inf], [1, 3, 6]) / CONFIDENCE_95


class End(Exception):
    """How a session ends: exit status, sentence, and what to do beyond what the checks advise."""

    def __init__(self, status: int, text: str, advice: str = "") -> None:
        super().__init__(text)
        self.status, self.text, self.advice = status, text, advice


def interrupted(stopped: str = "") -> End:
    """The end that the user wants."""
    return End(INTERRUPTED, f"interrupted; {stopped}nothing was applied")


class Show:
    """A line for each event, as text or JSON, and the record of what happened; yes: answer of every
    question; else a person is asked until `stop` is set, and nobody where lines are JSON."""

    def __init__(self, yes: bool, as_json: bool, stop: Event, out: TextIO = sys.stdout) -> None:
        self._yes, self._as_json, self._stop, self._out = yes, as_json, stop, out
        self._shown = -PERIOD  # when progress was shown last [s]
        self.rows: dict[str, Row] = {}  # of the checks, by name
        self.seconds: list[float] = []  # that each motion took; 0 where a person made it
        self.proof: Prediction | None = None
        self.found: Estimate | None = None  # the payload; None: not identified
        self.applied = ""  # what the robot was told, in words

    def _write(self, event: str, lines: str, **fields: object) -> None:
        """An event with its fields, or what a person reads of it."""
        if self._as_json:
            lines = json.dumps(without_nonfinite({"event": event, **fields}), ensure_ascii=False)
        print(f"{lines}\n", end="", file=self._out, flush=True)  # whole: there are more threads

    def step(self, name: str, text: str = "") -> None:
        """A step begins: check, wiggle, identify, prove, apply or report."""
        self._write("step", f"\n{name.capitalize()}  {text}", name=name, text=text)

    def row(self, row: Row) -> None:
        """A check was made."""
        self.rows[row.check] = row
        lines = [_line(MARKS[row.verdict], row.measured, row.check)]
        if row.verdict == FAILED:
            lines.append(_line("", row.expected, "expected"))
        if row.advice:
            lines.append(_line("→", row.advice))
        self._write("check", "\n".join(lines), **row._asdict())

    def progress(self, elapsed: float, left: float, found: Estimate | None, known: str,
                 missing: str) -> None:
        """The estimate, and the same in words, at a time since identification began [s], and so
        long before it is given up; what was asked for and is missing, or why there is no estimate.
        Written once a second."""
        if 0.0 <= elapsed - self._shown < PERIOD:
            return
        self._shown = elapsed
        self._write(
            "progress", _line("·", known or missing, f"{elapsed:.0f} s, {left:.0f} s remain"),
            elapsed=round(elapsed, 2), left=round(left, 2), missing=missing, known=known,
            values=[] if found is None else found.report.tolist(),
            sigma=[] if found is None else found.sigma.tolist())

    def motion(self, words: str, seconds: float) -> None:
        """The arm is about to move, or is to be moved by hand (0 s)."""
        self.seconds.append(seconds)
        self._write("motion", _line("↻", f"{words} ({seconds:.1f} s)" if seconds else words),
                    words=words, seconds=round(seconds, 2))

    def prove(self, proof: Prediction) -> None:
        """The payload was compared with a motion it has not seen."""
        self.proof = proof
        self._write("proof", "\n".join(
            f"  {name:34}{two_digits(force):>6} N{two_digits(torque):>8} N m"
            for name, force, torque in proof.rows()), given=proof.is_proof, **{
                name: [force, torque] for name, (_, force, torque) in zip(
                    ("residual_before", "residual_after", "allowed"), proof.rows(), strict=True)})

    def say(self, text: str, good: bool | None = None) -> None:
        """Something worth a line; good: whether it went well, None: neither."""
        self._write("note", _line(MARKS[good], text), text=text, good=good)

    def ask(self, question: str) -> bool:
        """True if a person agrees (raises End: stopped)."""
        if self._yes or self._as_json:
            answer = " yes" if self._yes else " no"
            self._write("question", f"  ? {question}{answer}", text=question, answer=self._yes)
            return self._yes
        print(f"  ? {question} [y/N] ", end="", file=self._out, flush=True)
        while not self._stop.is_set():  # `input` would go on after a signal
            if select([sys.stdin], [], [], WAKE)[0]:
                return sys.stdin.readline().strip().lower() in ("y", "yes")
        raise interrupted()

    def end(self, end: End) -> None:
        """The session has ended."""
        self._write("end", f"\n{'Done' if end.status == OK else 'Not done'}: {end.text}",
                    text=end.text, status=end.status)


def _line(mark: str, text: str, name: str = "") -> str:
    """A mark, a name, and a text that wraps beside them."""
    head = f"  {mark:2}{name:{NAME}} " if name else f"  {mark:2}"
    return textwrap.fill(text, max(get_terminal_size().columns, 60), initial_indent=head,
                         subsequent_indent=" " * len(head))


def session_page(show: Show, end: End) -> str:
    """The report as HTML (raises MissingPackage)."""
    advice = [f"{row.check}: {row.advice}" for row in failed(show.rows.values())]
    tone, word = (results.GOOD, "Done") if end.status == OK else (results.BAD, "Not done")
    sections = [Section("Checks", "checks", [Table(
        "What was measured, what was expected, what to do",
        ["check", "", "measured", "expected", "what to do"],
        [[row.check, Cell(row.verdict, TONES[row.verdict]),
          *(Cell(text, "text") for text in (row.measured, row.expected, row.advice))]
         for row in show.rows.values()])])]
    if (proof := show.proof) is not None:
        sections.insert(0, wrench_section("Proof", "proof", "A motion that the estimate has not "
                                          "seen, without the bias of the sensor.", proof))
    if show.found is not None:
        sections.insert(0, Section("Payload", "payload", [
            *filter(None, [show.applied]), f"In frame '{show.found.frame_id}', inertia about the "
            "centre of mass.", results.parameter_table(show.found)]))
    return render(f"Payload session of {time.strftime('%Y-%m-%d %H:%M')}", Diagnosis(
        tone, word, end.text, (), (*advice, *filter(None, [end.advice]))), sections)
