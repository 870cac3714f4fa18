# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The report that `identify_bag` prints."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ...errors import printable
from ...estimate import VERDICT_WORDS, Estimate, Outcome
from ...extras import optional_packages
from ...findings import Finding
from ...inertia import Array
from ..report.diagnosis import BAD, GOOD, Diagnosis, sentence
from ..report.results import Identification
from ..report.units import (
    CHANNELS,
    CONFIDENCE_95,
    NAMES,
    SCALES,
    UNITS,
    round_to_spread,
    summary,
)

with optional_packages("printing the result"):
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

_COLORS = ("red", "yellow", "green")


def print_report(console: Console, result: Identification, title: str, found: Diagnosis,
                 notes: Sequence[str] = ()) -> None:
    """Print the tables, the findings and, last, the verdict with what to do."""
    outcome = result.outcome
    if isinstance(outcome, Estimate):
        console.print(parameter_table(outcome, title))
        if np.any(outcome.residual_rms):  # joint torques know no channels of a sensor
            console.print(sensor_table(outcome))
        console.print(
            f"{outcome.samples} samples, window {outcome.window:.1f} s of {result.duration:.1f} s "
            f"recorded, {outcome.method} estimator ({outcome.weighting} weighting), "
            f"frame {as_markup(outcome.frame_id)}"
            + (", object apart from the tool" if outcome.tool_apart else ""), highlight=False)
    else:
        total = sum(result.counts.values())
        console.print(f"{as_markup(title)}: {total} messages, {result.duration:.1f} s",
                      highlight=False)
        for topic, count in result.counts.items():
            console.print(f"  {as_markup(topic)}: {count}", highlight=False)
    for line in finding_lines(result.findings, outcome.findings, notes):
        console.print(line, highlight=False)
    printed = {f.text for f in result.findings if f.name != "verdict"}
    for line in verdict_lines(found, outcome, printed):
        console.print(line, highlight=False)


def verdict_lines(found: Diagnosis, outcome: Outcome, printed: Collection[str]) -> list[str]:
    """The verdict of the report in marked-up lines: what came out, why, and what to do.

    Args:
        printed: sentences that stand above already.
    """
    if found.tone == GOOD:
        return [f"[bold]{as_markup(summary(outcome))}[/]"]
    style = "bold red" if found.tone == BAD else "bold yellow"
    known = {sentence(text) for text in printed}
    why = [text for text in found.reasons if text not in known]
    return [f"[{style}]{as_markup(f'{found.word}: {found.said}')}[/]",
            *(f"  why: {as_markup(text)}" for text in why),
            *(f"  to do: {as_markup(text)}" for text in found.mends)]


def as_markup(text: str) -> str:
    """A text that may hold names from outside, for a console of rich."""
    return escape(printable(text))


def finding_lines(findings: Sequence[Finding], sentences: Sequence[str],
                  notes: Sequence[str]) -> list[str]:
    """One marked-up line for each finding and note, without repetitions."""
    colors = {"error": "red", "warning": "yellow", "info": "cyan"}
    lines = [f"[{colors.get(f.level, 'cyan')}]{f.level}[/]: {as_markup(f.text)}" for f in findings
             if f.name != "verdict"]  # that one is the last line of the report
    known = {f.text for f in findings}
    lines += [f"[cyan]info[/]: {as_markup(text)}" for text in dict.fromkeys(sentences)
              if text not in known]
    return lines + [f"[cyan]note[/]: {as_markup(text)}" for text in notes]


def parameter_table(estimate: Estimate, title: str) -> Table:
    """Value, 95 % interval, unit and verdict of the ten reported parameters."""
    table = Table(title=as_markup(title), title_justify="left")
    table.add_column("parameter")
    table.add_column("value", justify="right")
    table.add_column("± (95 %)", justify="right")
    table.add_column("unit")
    table.add_column("verdict")
    rows = zip(NAMES, estimate.report, estimate.sigma, SCALES, UNITS, estimate.verdict, strict=True)
    for name, value, sigma, scale, unit, verdict in rows:
        shown, spread = round_to_spread(scale * value, CONFIDENCE_95 * scale * sigma)
        table.add_row(name, shown, spread, unit,
                      f"[{_COLORS[verdict]}]{VERDICT_WORDS[verdict]}[/]",
                      end_section=name in ("mass", "COM z"))
    return table


def sensor_table(estimate: Estimate) -> Table:
    """Bias and residual of the six wrench channels."""
    table = Table()
    table.add_column("sensor")
    for name, unit in zip(CHANNELS, ("N",) * 3 + ("N m",) * 3, strict=True):
        table.add_column(f"{name} \\[{unit}]", justify="right")
    table.add_row("bias", *_wrench_cells(estimate.bias, (3, 4)))
    table.add_row("residual rms", *_wrench_cells(estimate.residual_rms, (3, 5)))
    return table


def _wrench_cells(wrench: Array, decimals: tuple[int, int]) -> list[str]:
    """Numbers of a wrench (6,) as text, with these decimals of force and torque."""
    force, torque = decimals
    return [f"{x:.{force if i < 3 else torque}f}" for i, x in enumerate(np.asarray(wrench))]
