# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Findings: what went wrong or deserves attention, by name, one sentence each; see `kinds`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Flag, auto

from .errors import InvalidData, printable


class Doubt(Flag):
    """What a finding puts in doubt.

    MASS, COM, INERTIA: the number, which then counts as unobserved. FRAME: where and along which
    axes the numbers are given; an estimate in doubt of its frame is not valid. PRESENT: whether
    what is measured now is the payload alone; estimates from before are held, and nothing is
    applied meanwhile.
    """

    MASS = auto()
    COM = auto()
    INERTIA = auto()
    FRAME = auto()
    PRESENT = auto()


NOTHING = Doubt(0)
NUMBERS = Doubt.MASS | Doubt.COM | Doubt.INERTIA
EVERYTHING = NUMBERS | Doubt.FRAME
STOPPING = Doubt.PRESENT | Doubt.FRAME  # no arm may go on moving by a program

LEVELS = ("info", "warning", "error")


@dataclass(frozen=True)
class Finding:
    """What the user should know: level is ``info``, ``warning`` or ``error``; text one sentence,
    in which names from outside are fit to print.

    Attributes:
        name: its kind, and after a dot what it is about, where that may be one of several.
    """

    name: str
    level: str
    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", printable(self.text))

    @property
    def kind(self) -> str:
        """The name without what it is about."""
        return self.name.partition(".")[0]

    def is_one_of(self, names: Iterable[str]) -> bool:
        """True if its name or its kind is among these."""
        return any(name in (self.name, self.kind) for name in names)


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings, errors first."""
    return tuple(sorted(findings, key=lambda f: -LEVELS.index(f.level)))


@dataclass(frozen=True)
class Missing:
    """What an input still lacks before it can be used, in one sentence.

    Attributes:
        is_finding: True if a finding says so, too.
    """

    text: str
    is_finding: bool = False


class FindingLog:
    """The present findings by name: the last text of each, and how often it was counted.

    They are for people: what a stage has found out and others act upon, it says by values of its
    own, so nobody can ask here for a name.
    """

    def __init__(self) -> None:
        self._findings: dict[str, Finding] = {}
        self._counts: dict[str, int] = {}

    def set(self, name: str, level: str, text: str) -> None:
        """Record a finding in place of the earlier one of that name."""
        self._findings[name] = Finding(name, level, text)

    def count(self, name: str, text: str, level: str = "warning") -> None:
        """Record a finding about an event, with how often the event has happened so far."""
        self._counts[name] = self._counts.get(name, 0) + 1
        n = self._counts[name]
        times = "once" if n == 1 else f"{n} times"
        self._findings[name] = Finding(name, level, f"{text} ({times})")

    def set_or_clear(self, name: str, level: str, text: str) -> None:
        """Record a finding where there is a text, and remove it where there is none."""
        if text:
            self.set(name, level, text)
        else:
            self.clear(name)

    def lower(self, name: str, level: str) -> None:
        """Give a finding that is over, if it is there, a lower level."""
        if name in self._findings:
            self._findings[name] = replace(self._findings[name], level=level)

    def error(self, name: str, text: str) -> InvalidData:
        """Record a finding of level ``error``; returns the exception to raise with its text."""
        self.set(name, "error", text)
        return InvalidData(text, is_finding=True)

    def clear(self, *names: str) -> None:
        """Remove findings and their counts by name."""
        for name in names:
            self._findings.pop(name, None)
            self._counts.pop(name, None)

    def clear_all(self) -> None:
        """Remove all findings and their counts."""
        self._findings.clear()
        self._counts.clear()

    def all(self) -> tuple[Finding, ...]:
        """All findings, errors first."""
        return sort_findings(self._findings.values())
