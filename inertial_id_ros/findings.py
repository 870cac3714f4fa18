# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Findings: what went wrong or deserves attention, by name, one sentence each; see `kinds`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Flag, auto

from .errors import printable


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
