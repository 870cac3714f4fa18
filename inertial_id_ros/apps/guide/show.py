# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a session shows, and asks: as lines of JSON, for programs and logs."""

from __future__ import annotations

import json
from typing import Protocol, TextIO

from .progress import Progress
from .proof import Proof
from .record import Row

_PERIOD = 1.0  # s between two lines of progress


class Show(Protocol):
    """Where a session goes: a terminal, or lines of JSON."""

    def step(self, name: str, text: str = "") -> None:
        """A step begins: check, wiggle, identify, prove, apply or report; of a robot itself check,
        plan, move or identify."""

    def row(self, row: Row) -> None:
        """A check was made."""

    def progress(self, progress: Progress) -> None:
        """What is known now."""

    def motion(self, words: str, seconds: float) -> None:
        """The arm is about to move, or is to be moved by hand (0 s)."""

    def proof(self, proof: Proof) -> None:
        """The payload was compared with a motion it has not seen."""

    def say(self, text: str, good: bool | None = None) -> None:
        """Something worth a line; good: whether it went well, None: neither."""

    def ask(self, question: str) -> bool:
        """Whether a person agrees."""

    def end(self, text: str, status: int) -> None:
        """How the session ended, with its exit status."""

    def close(self) -> None:
        """Show nothing any more."""


class JsonLines:
    """A line of JSON for each event; nobody is asked, as nobody sits there.

    Args:
        yes: what is answered to every question.
    """

    def __init__(self, out: TextIO, yes: bool) -> None:
        self._out, self._yes = out, yes
        self._told = -_PERIOD  # when progress was told last [s]

    def _write(self, event: str, **fields: object) -> None:
        print(json.dumps({"event": event, **fields}, ensure_ascii=False), file=self._out,
              flush=True)

    def step(self, name: str, text: str = "") -> None:
        """As `Show`."""
        self._write("step", name=name, text=text)

    def row(self, row: Row) -> None:
        """As `Show`."""
        self._write("check", **row.to_json())

    def progress(self, progress: Progress) -> None:
        """As `Show`, but once a second."""
        if not 0.0 <= progress.elapsed - self._told < _PERIOD:
            self._told = progress.elapsed
            self._write("progress", **progress.to_json())

    def motion(self, words: str, seconds: float) -> None:
        """As `Show`."""
        self._write("motion", words=words, seconds=round(seconds, 2))

    def proof(self, proof: Proof) -> None:
        """As `Show`."""
        self._write("proof", **proof.to_json())

    def say(self, text: str, good: bool | None = None) -> None:
        """As `Show`."""
        self._write("note", text=text, good=good)

    def ask(self, question: str) -> bool:
        """As `Show`."""
        self._write("question", text=question, answer=self._yes)
        return self._yes

    def end(self, text: str, status: int) -> None:
        """As `Show`."""
        self._write("end", text=text, status=status)

    def close(self) -> None:
        """As `Show`."""
