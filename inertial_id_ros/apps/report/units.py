# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Names, units and digits of what is reported."""

from __future__ import annotations

import numpy as np

from ...estimate import NOTHING_CARRIED, Estimate, NoEstimate
from ...identification.verdict import summarise_verdict

CONFIDENCE_95 = 1.96  # standard deviations on either side that hold 95 % of a normal distribution

NAMES = ("mass", "COM x", "COM y", "COM z", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
UNITS = ("kg", *("mm",) * 3, *("kg m^2",) * 6)
SCALES = (1.0, *(1e3,) * 3, *(1.0,) * 6)
# Charts over time: title, unit, members and factor from SI.
PANELS = (("Mass", "kg", (0,), 1.0), ("Centre of mass", "mm", (1, 2, 3), 1e3),
          ("Moments of inertia about the COM", "g m\u00b2", (4, 7, 9), 1e3),
          ("Products of inertia about the COM", "g m\u00b2", (5, 6, 8), 1e3))
CHANNELS = ("fx", "fy", "fz", "tx", "ty", "tz")


def summary(outcome: Estimate | NoEstimate) -> str:
    """The verdict in one sentence, or why there is no estimate."""
    if isinstance(outcome, Estimate):
        if outcome.doubted:
            return f"The result is in doubt: {outcome.doubted}."
        text = (NOTHING_CARRIED if outcome.carries_nothing
                else summarise_verdict(outcome.verdict))
        return f"{text[0].upper()}{text[1:]}."
    return f"No valid estimate: {outcome.reason}"


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
