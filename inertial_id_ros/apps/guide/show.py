# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a session shows, and asks: in a terminal for a person, or as lines of JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from typing import TextIO

from ...cli import OK
from ...extras import optional_packages
from ..report.results import two_digits
from .checks import Row, Verdict
from .progress import Part, Progress
from .proof import Proof

with optional_packages("identify_payload"):
    from rich.console import Console, Group
    from rich.live import Live
    from rich.panel import Panel
    from rich.prompt import Confirm
    from rich.table import Table
    from rich.text import Text

PERIOD = 1.0  # s between two lines of progress
BAR = 24  # characters
MARKS = {Verdict.PASSED: ("✓", "green"), Verdict.OPEN: ("?", "yellow"),
         Verdict.FAILED: ("✗", "red")}


def make_show(yes: bool, as_json: bool) -> Show:
    """A terminal for a person, else lines of JSON.

    Args:
        yes: answer of every question; as_json: lines of JSON on a terminal, too.
    """
    console = Console(highlight=False)
    return Terminal(console, yes) if console.is_terminal and not as_json else Show(sys.stdout, yes)


class Show:
    """A line of JSON for each event; nobody is asked, as nobody sits there.

    Args:
        yes: answer of every question.
    """

    def __init__(self, out: TextIO, yes: bool) -> None:
        self._out, self._yes = out, yes
        self._shown = -PERIOD  # when progress was shown last [s]

    def _write(self, event: str, fields: Mapping[str, object]) -> None:
        print(json.dumps({"event": event, **fields}, ensure_ascii=False), file=self._out,
              flush=True)

    def step(self, name: str, text: str = "") -> None:
        """A step begins: check, wiggle, identify, prove, apply or report."""
        self._write("step", {"name": name, "text": text})

    def row(self, row: Row) -> None:
        """A check was made."""
        self._write("check", row.to_json())

    def progress(self, progress: Progress) -> None:
        """What is known now; written once a second."""
        if not 0.0 <= progress.elapsed - self._shown < PERIOD:
            self._shown = progress.elapsed
            self._write("progress", progress.to_json())

    def motion(self, words: str, seconds: float) -> None:
        """The arm is about to move, or is to be moved by hand (0 s)."""
        self._write("motion", {"words": words, "seconds": round(seconds, 2)})

    def proof(self, proof: Proof) -> None:
        """The payload was compared with a motion it has not seen."""
        self._write("proof", proof.to_json())

    def say(self, text: str, good: bool | None = None) -> None:
        """Something worth a line; good: whether it went well, None: neither."""
        self._write("note", {"text": text, "good": good})

    def ask(self, question: str) -> bool:
        """True if a person agrees."""
        self._write("question", {"text": question, "answer": self._yes})
        return self._yes

    def end(self, text: str, status: int) -> None:
        """The session has ended, with its exit status."""
        self._write("end", {"text": text, "status": status})

    def close(self) -> None:
        """Show nothing any more."""


class Terminal(Show):
    """For a person: a table of checks, bars against the goal, the proof."""

    def __init__(self, console: Console, yes: bool) -> None:
        super().__init__(sys.stdout, yes)
        self._console = console
        self._live: Live | None = None
        self._motion = ""

    def step(self, name: str, text: str = "") -> None:
        """As `Show`."""
        self.close()
        self._console.print(Text.assemble("\n", (name.capitalize(), "bold"), f"  {text}"))

    def row(self, row: Row) -> None:
        """As `Show`."""
        mark, colour = MARKS[row.verdict]
        self._line(mark, colour, row.measured, row.name)
        if row.verdict is Verdict.FAILED:
            self._line("", "dim", row.expected, "expected")
        if row.advice:
            self._line("→", colour, row.advice)

    def progress(self, progress: Progress) -> None:
        """As `Show`."""
        if self._live is None:
            self._live = Live(console=self._console, refresh_per_second=5)
            self._live.start()
        table = Table.grid(padding=(0, 2))
        for part in progress.parts:
            table.add_row(f"  {part.name}", part.value, _bar(part), _interval(part))
        said = (("now", self._motion), ("missing", progress.missing),
                ("time", f"{progress.elapsed:.0f} s, {progress.left:.0f} s remain"))
        self._live.update(Group(table, *(f"  {name:10} {text}" for name, text in said if text)))

    def motion(self, words: str, seconds: float) -> None:
        """As `Show`."""
        self._motion = f"{words} ({seconds:.1f} s)" if seconds else words
        if self._live is None:
            self._line("↻", "cyan", self._motion)

    def proof(self, proof: Proof) -> None:
        """As `Show`."""
        self.close()
        table = Table("  remains of the wrench", "force", "torque", box=None, padding=(0, 2))
        for name, (force, torque) in zip(
                ("with what the robot has now", "with the new payload",
                 "the sensor's errors explain"), (*proof.residuals, proof.allowed), strict=True):
            table.add_row(f"  {name}", f"{two_digits(force)} N", f"{two_digits(torque)} N m")
        self._console.print(table)

    def say(self, text: str, good: bool | None = None) -> None:
        """As `Show`."""
        self.close()
        self._line(*{True: ("✓", "green"), False: ("✗", "red"), None: ("·", "dim")}[good], text)

    def ask(self, question: str) -> bool:
        """As `Show`."""
        self.close()
        if self._yes:
            self._line("?", "yellow", f"{question} yes")
            return True
        return bool(Confirm.ask(Text(f"  ? {question}"), console=self._console, default=False))

    def end(self, text: str, status: int) -> None:
        """As `Show`."""
        self.close()
        good = status == OK
        self._console.print(Panel(Text(text), title="done" if good else "not done", expand=False,
                                  border_style="green" if good else "red"))

    def close(self) -> None:
        """As `Show`."""
        if self._live is not None:
            self._live.stop()
            self._live, self._motion = None, ""

    def _line(self, mark: str, colour: str, text: str, name: str = "") -> None:
        """A mark, a name, and a text that wraps beside them."""
        table = Table.grid(padding=(0, 1))
        table.add_column(width=3)
        if name:
            table.add_column(width=24)
        table.add_column()
        table.add_row(*(cell for cell in (Text(f"  {mark}", colour), Text(name), Text(text))
                        if cell.plain))
        self._console.print(table)


def _bar(part: Part) -> Text:
    """How near a part is to its goal."""
    if math.isnan(part.goal):
        return Text("")
    full = round(part.share * BAR)
    return Text.assemble(("█" * full, "green" if part.is_reached else "yellow"),
                         ("░" * (BAR - full), "dim"))


def _interval(part: Part) -> str:
    """The interval against the goal, in words."""
    width = f"± {two_digits(part.width)}" if part.is_known else "not known yet"
    goal = "" if math.isnan(part.goal) else f", wanted ± {two_digits(part.goal)}"
    return f"{width}{goal} {part.unit}"
