# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The campaign as a table."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .run import Row

HEADER = """\
| fault | input | runs | found | seconds to find (median, largest) | mass error after, without [%] \
| COM error after, without [mm] | recovered | wrong new estimates | wrong held ones |
|---|---|---|---|---|---|---|---|---|---|
"""


def text(rows: list[Row]) -> str:
    """Markdown: faults alone, then pairs, then everything that went wrong. Faults that left no
    trace in the messages are not counted."""
    alone = [row for row in rows if len(row.faults) == 1]
    pairs = [row for row in rows if len(row.faults) > 1]
    parts = ["# Faults alone\n\n", HEADER, *_lines(alone), "\n# Faults in random pairs\n\n", HEADER,
             _line("all pairs", "simulated", [r for r in pairs if r.source == "simulated"]),
             _line("all pairs", "recorded", [r for r in pairs if r.source == "recorded"])]
    parts.append("\n# What did not go as it should\n\n")
    parts += [_trouble(row) for row in rows if row.wrong or not row.recovered or None in row.found]
    return "".join(parts)


def _lines(rows: list[Row]) -> Iterable[str]:
    def key(row: Row) -> tuple[str, str]:
        return row.source, row.faults[0]
    order = sorted(rows, key=lambda r: (r.source != "simulated", [x.faults for x in rows].index(
        r.faults)))
    for (source, fault), group in groupby(order, key=key):
        yield _line(fault, source, list(group))


def _line(name: str, source: str, rows: list[Row]) -> str:
    if not rows:
        return ""
    times = sorted(t for row in rows for t, trace in zip(row.found, row.traces, strict=True)
                   if t is not None and trace)
    looked = sum(sum(row.traces) for row in rows)
    found = f"{times[len(times) // 2]:.2f}, {times[-1]:.2f}" if times else "-"
    return (f"| {name} | {source} | {len(rows)} | {len(times)}/{looked} | {found} "
            f"| {_errors(rows, 0, 100.0)} | {_errors(rows, 1, 1000.0)} "
            f"| {sum(row.recovered for row in rows)}/{len(rows)} "
            f"| {sum(len(row.wrong) for row in rows)} | {sum(row.held for row in rows)} |\n")


def _errors(rows: list[Row], k: int, scale: float) -> str:
    """Largest error with and without fault; no estimate where there must be none."""
    after = [row.errors[k] * scale for row in rows if row.errors is not None]
    without = [row.without[k] * scale for row in rows if row.without is not None]
    if not without:
        return "no estimate" if not after else f"{max(after):.2f}"
    return f"{max(after):.2f}, {max(without):.2f}" if after else f"none, {max(without):.2f}"


def _trouble(row: Row) -> str:
    what = [f"{len(row.wrong)} wrong, first {row.wrong[0]}"] if row.wrong else []
    what += [f"{fault}: " + ("not found" if trace else "leaves no trace, the other has removed it")
             for fault, t, trace in zip(row.faults, row.found, row.traces, strict=True)
             if t is None]
    if not row.recovered:
        what.append(f"error {row.errors} against {row.without} {row.said}")
    return f"- {' + '.join(row.faults)} ({row.source} {row.seed}): {'; '.join(what)}\n"
