# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The session in a terminal: a table of checks, bars against the goal, the proof."""

from __future__ import annotations

import math

from ...cli import OK
from ...extras import optional_packages
from ..report.results import two_digits
from .progress import Part, Progress
from .proof import Proof
from .record import Row, Verdict

with optional_packages("identify_payload in a terminal"):
    from rich.console import Console, Group
    from rich.live import Live
    from rich.panel import Panel
    from rich.prompt import Confirm
    from rich.table import Table
    from rich.text import Text

_BAR, _SHORTEST_BAR, _BESIDE = 24, 6, 74  # characters; what stands beside a bar needs as many
_MARKS = {Verdict.PASSED: ("✓", "green"), Verdict.OPEN: ("?", "yellow"),
          Verdict.FAILED: ("✗", "red")}
_STEPS = {"check": "Check", "wiggle": "Sign and frame", "identify": "Identify", "prove": "Prove",
          "apply": "Apply", "report": "Report", "plan": "Plan", "move": "Move"}


class Terminal:
    """A session for a person.

    Args:
        yes: answer every question so, and do not wait for a person.
    """

    def __init__(self, console: Console, yes: bool) -> None:
        self._console, self._yes = console, yes
        self._live: Live | None = None
        self._motion = ""

    def step(self, name: str, text: str = "") -> None:
        """As `Show`."""
        self._end_live()
        self._console.print(Text.assemble("\n", (_STEPS[name], "bold"), f"  {text}"))

    def row(self, row: Row) -> None:
        """As `Show`."""
        mark, colour = _MARKS[row.verdict]
        name = Text(row.name, "" if row.verdict is Verdict.PASSED else "bold")
        self._console.print(_columns((f"  {mark} ", colour, 4), (name, "", 26), row.measured))
        if row.verdict is Verdict.FAILED:
            self._console.print(_columns(("    expected", "dim", 13), row.expected))
        if row.verdict is not Verdict.PASSED and row.advice:
            self._console.print(_columns(("    →", colour, 6), row.advice))

    def progress(self, progress: Progress) -> None:
        """As `Show`."""
        if self._live is None:
            self._live = Live(console=self._console, refresh_per_second=5, transient=False)
            self._live.start()
        self._live.update(self._screen(progress))

    def _screen(self, progress: Progress) -> Group:
        """The bars, what is missing, and the time."""
        table = Table.grid(padding=(0, 2))
        length = min(max(self._console.width - _BESIDE, _SHORTEST_BAR), _BAR)
        for _ in range(4):
            table.add_column()
        for part in progress.parts:
            table.add_row(Text(f"  {part.name}"), Text(part.value), _bar(part, length),
                          _interval(part))
        lines: list[Table | Text] = [table]
        if not progress.parts:
            lines = [Text("  no estimate yet")]
        for name, text in (("now", self._motion), ("missing", progress.missing),
                           ("time", f"{progress.elapsed:.0f} s, {progress.left:.0f} s left")):
            if text:
                lines.append(_columns((f"  {name}", "dim", 11), text))
        return Group(*lines)

    def motion(self, words: str, seconds: float) -> None:
        """As `Show`."""
        self._motion = f"{words} ({seconds:.1f} s)" if seconds else words
        if self._live is None:
            self._console.print(_columns(("  ↻", "cyan", 4), self._motion))

    def proof(self, proof: Proof) -> None:
        """As `Show`."""
        self._end_live()
        (f0, t0), (f1, t1) = proof.left
        table = Table(box=None, padding=(0, 2))
        for name in ("  left of the wrench", "force", "torque"):
            table.add_column(name, justify="left" if name.startswith(" ") else "right")
        for name, force, torque in (
                ("  with what the robot has now", f0, t0), ("  with the new payload", f1, t1),
                ("  the sensor's errors explain", *proof.allowed)):
            table.add_row(name, f"{two_digits(force)} N", f"{two_digits(torque)} N m")
        self._console.print(table)

    def say(self, text: str, good: bool | None = None) -> None:
        """As `Show`."""
        self._end_live()
        mark, colour = {True: ("✓", "green"), False: ("✗", "red"), None: ("·", "dim")}[good]
        self._console.print(_columns((f"  {mark}", colour, 4), text))

    def ask(self, question: str) -> bool:
        """As `Show`."""
        self._end_live()
        if self._yes:
            self._console.print(Text.assemble(("  ? ", "yellow"), question, (" yes", "dim")))
            return True
        return bool(Confirm.ask(Text.assemble(("  ? ", "yellow"), question),
                                console=self._console, default=False))

    def end(self, text: str, status: int) -> None:
        """As `Show`."""
        self._end_live()
        good = status == OK
        self._console.print(Panel(Text(text), title="done" if good else "not done", expand=False,
                                  border_style="green" if good else "red"))

    def close(self) -> None:
        """As `Show`."""
        self._end_live()

    def _end_live(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
            self._motion = ""


def _columns(*cells: tuple[str | Text, str, int] | str) -> Table:
    """Cells beside each other, each with its style and width, and a text that wraps in the last."""
    table = Table.grid()
    texts: list[Text] = []
    for cell in cells:
        if isinstance(cell, str):
            table.add_column()
            texts.append(Text(cell))
        else:
            content, style, width = cell
            table.add_column(width=width)
            texts.append(content if isinstance(content, Text) else Text(content, style))
    table.add_row(*texts)
    return table


def _bar(part: Part, length: int) -> Text:
    """How near a part is to its goal, in so many characters."""
    if math.isnan(part.goal):
        return Text("")
    full = round(part.share * length)
    colour = "green" if part.is_reached else "yellow"
    return Text.assemble(("█" * full, colour), ("░" * (length - full), "dim"))


def _interval(part: Part) -> Text:
    """The interval against the goal, in words."""
    width = f"± {two_digits(part.width)}" if part.is_known else "not known yet"
    goal = "" if math.isnan(part.goal) else f", wanted ± {two_digits(part.goal)}"
    return Text(f"{width}{goal} {part.unit}" if part.is_known or goal else width)
