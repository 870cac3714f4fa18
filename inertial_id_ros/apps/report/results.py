# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is reported of a run over a recording: names, units and digits, and the estimate over
time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...estimate import NOTHING_CARRIED, UNOBSERVED, Estimate, NoEstimate, Outcome
from ...kinds import Finding
from ...model.tool import Tool
from .prediction import Prediction

CONFIDENCE_95 = 1.96  # standard deviations on either side that hold 95 % of a normal distribution

NAMES = ("mass", "COM x", "COM y", "COM z", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
# In tables, whose inertia is copied into files that want kg m^2.
UNITS = ("kg", *("mm",) * 3, *("kg m^2",) * 6)
SCALES = (1.0, *(1e3,) * 3, *(1.0,) * 6)
GROUPS = (("mass", slice(0, 1)), ("centre of mass", slice(1, 4)), ("inertia", slice(4, 10)))


def summary(outcome: Outcome) -> str:
    """What came out in one sentence, or why there is no estimate."""
    if isinstance(outcome, NoEstimate):
        return f"No valid estimate: {outcome.reason}"
    if outcome.doubted:
        return f"The result is in doubt: {outcome.doubted}."
    walk = f", and changes: {outcome.walk}" if outcome.walk else ""
    if outcome.carries_nothing:
        return f"{NOTHING_CARRIED[0].upper()}{NOTHING_CARRIED[1:]}{walk}."
    said = []
    for word, unknown in (("identified", False), ("not identified by this motion", True)):
        names = [name for name, members in GROUPS
                 if (UNOBSERVED in outcome.verdict[members]) == unknown]
        if names:
            listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
            said.append(f"{listed} {'is' if len(names) == 1 else 'are'} {word}")
    text = "; ".join(said)
    return f"{text[0].upper()}{text[1:]}{walk}."


def is_identified(outcome: Outcome) -> bool:
    """True if mass and centre of mass are known, or that the tool carries nothing."""
    return isinstance(outcome, Estimate) and (
        outcome.carries_nothing or UNOBSERVED not in outcome.verdict[:4])


def percent(part: float, whole: float) -> str:
    """A part as percentage of a whole, with two significant digits below 10 %.

    Examples:
        >>> percent(0.13, 13.8), percent(7.1, 6.92)
        ('0.94 %', '103 %')
    """
    share = 100.0 * part / max(whole, 1e-300)
    return f"{share:.2g} %" if share < 9.95 else f"{share:.0f} %"


def two_digits(value: float) -> str:
    """A number to its second significant digit, with an exponent only from a million on.

    Examples:
        >>> two_digits(123.4), two_digits(0.0447)
        ('120', '0.045')
    """
    shown = float(f"{value:.2g}")
    return f"{shown:.0f}" if 100.0 <= abs(shown) < 1e6 else f"{shown:.2g}"


def round_to_spread(value: float, spread: float) -> tuple[str, str]:
    """Round a value and its spread to the second significant digit of the spread.

    Examples:
        >>> round_to_spread(0.93312, 0.00447)
        ('0.9331', '0.0045')
    """
    if not np.isfinite(spread) or spread <= 0.0:
        return f"{value:.6g}", f"{spread:g}"
    decimals = 1 - int(np.floor(np.log10(spread)))
    if -4 <= decimals < 0:
        return f"{round(value, decimals) + 0.0:.0f}", two_digits(spread)
    if not 0 <= decimals <= 9:
        return f"{value:.3g}", f"{spread:.2g}"
    shown = round(value, decimals) + 0.0  # + 0.0 makes 0.0 of -0.0
    return f"{shown:.{decimals}f}", f"{spread:.{decimals}f}"


def interval(value: float, spread: float, positive: bool = False) -> str:
    """A value with its interval, which does not reach below zero where that cannot be.

    Examples:
        >>> interval(0.93312, 0.00447), interval(3.71, 7.28, True)
        ('0.9331 ± 0.0045', '3.7 (0 to 11.0)')
    """
    shown, about = round_to_spread(value, spread)
    if positive and value < spread:
        return f"{shown} (0 to {round_to_spread(value + spread, spread)[0]})"
    return f"{shown} ± {about}"


class Snapshot(NamedTuple):
    """What was known at a time [s] since the start of the recording."""

    time: float
    outcome: Outcome
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Identification:
    """The result of a run over a recording.

    Attributes:
        outcome: the last estimate, or why there is none.
        history: the outcomes in between, oldest first.
        findings: of the recording, and of the identifier at the end.
        duration: length of the recording [s]; counts: messages read, by topic.
        notes: choices that were made for the user.
        tool: that was taken out of the estimate; None: none.
        prediction: of the wrench at the end of the recording; None: there is none.
    """

    outcome: Outcome
    history: tuple[Snapshot, ...]
    findings: tuple[Finding, ...]
    duration: float
    counts: dict[str, int]
    notes: tuple[str, ...] = ()
    tool: Tool | None = None
    prediction: Prediction | None = None
