# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What was checked, what happened in a session, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from ...inertia import Array
from .progress import Part, Progress
from .proof import Proof


class Verdict(Enum):
    """What became of a check."""

    PASSED = "ok"
    OPEN = "open"  # nobody tells, or only a motion can
    FAILED = "wrong"


class Row(NamedTuple):
    """One check.

    Attributes:
        name: what is checked; measured, expected: in words, with units.
        advice: what to do where it is wrong or open; empty: nothing.
    """

    name: str
    verdict: Verdict
    measured: str
    expected: str
    advice: str = ""

    def to_json(self) -> dict[str, str]:
        """The fields of a JSON line."""
        return {"check": self.name, "verdict": self.verdict.value, "measured": self.measured,
                "expected": self.expected, "advice": self.advice}


def failed(rows: Iterable[Row]) -> tuple[Row, ...]:
    """The rows that are wrong."""
    return tuple(row for row in rows if row.verdict is Verdict.FAILED)


def describe_failed(rows: Iterable[Row]) -> str:
    """Which rows are wrong, in a sentence."""
    names = [row.name for row in failed(rows)]
    return f"{len(names)} check{'s are' if len(names) > 1 else ' is'} wrong: {', '.join(names)}."


def replaced(rows: Iterable[Row], newer: Iterable[Row]) -> tuple[Row, ...]:
    """Rows in which those of the same name were replaced by newer ones; others of these follow."""
    by_name = {row.name: row for row in newer}
    first = [by_name.pop(row.name, row) for row in rows]
    return (*first, *by_name.values())


class End(NamedTuple):
    """How a session ended: exit status, what to say, and what to do then; empty: nothing, or what
    the checks advise."""

    status: int
    text: str
    advice: str = ""


@dataclass
class Record:
    """What happened, for the report.

    Attributes:
        rows: of the checks; progress: what was known when.
        motions: what was made, in words, and how long it took [s]; 0 where a person made it.
        report: (10,) mass, centre of mass, inertia about it in `frame`; None: not identified.
        sigma: (10,) its standard deviations; stamp_ns: of its newest sample; parts: the same
            with intervals and goal.
        proof: of the payload; proof_after: of the driver's own wrench, once it subtracts it.
        applied: what the robot was told, in words; saved: name of the saved estimate.
        truth: (10,) of a simulated arm, like `report`.
    """

    rows: tuple[Row, ...] = ()
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
    truth: Array | None = None
