# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A row of the table of checks: what was measured, what was expected, what to do."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple


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


def replaced(rows: Iterable[Row], newer: Iterable[Row]) -> tuple[Row, ...]:
    """Rows in which those of the same name were replaced by newer ones; others of these follow."""
    by_name = {row.name: row for row in newer}
    first = [by_name.pop(row.name, row) for row in rows]
    return (*first, *by_name.values())
