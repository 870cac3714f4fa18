# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Sections with the numbers of an estimate, each a table."""

from __future__ import annotations

import numpy as np

from ...estimate import VERDICT_WORDS, Estimate
from ...findings import Finding
from ...regression.row_layout import NUISANCE_STATES
from ...settings import Settings
from .drawing.elements import Markup, element, section, table
from .held_out import FORCE, TORQUE, HeldOut
from .information import information
from .wording import (
    CHANNELS,
    CONFIDENCE_95,
    NAMES,
    SCALES,
    UNITS,
    percent,
    round_to_spread,
    two_digits,
)

TONES = ("bad", "fair", "good")  # of the verdicts
_STATES = {"rotation": ("sensor turned about", "deg", np.rad2deg(1.0)),
           "tilt": ("gravity tilted about", "deg", np.rad2deg(1.0)),
           "delay": ("stamps of the wrench early by", "ms", 1e3),
           "position": ("sensor displaced along", "mm", 1e3)}


def parameter_section(estimate: Estimate) -> Markup:
    """The ten parameters with intervals and verdicts, and the bias."""
    rows = []
    for k, name in enumerate(NAMES):
        value, spread = round_to_spread(SCALES[k] * estimate.report[k],
                                        CONFIDENCE_95 * SCALES[k] * estimate.sigma[k])
        rows.append((name, value, f"\u00b1 {spread}", UNITS[k].replace("^2", "\u00b2"),
                     element("td", VERDICT_WORDS[estimate.verdict[k]],
                             class_=TONES[estimate.verdict[k]])))
    parts = [table("Payload", ("parameter", "value", "95 %", "unit", "verdict"), rows),
             element("p", f"In axes of {estimate.frame_id}; inertia about the centre of mass, "
                     f"off-diagonals as entries of the tensor. Method {estimate.method}, "
                     f"{estimate.samples} samples, {estimate.window:.1f} s.", class_="note")]
    if np.any(estimate.residual_rms):  # joint torques know no channels of a sensor
        decimals = (3, 3, 3, 4, 4, 4)
        channels = [(name, f"{round(bias, n) + 0.0:.{n}f}", two_digits(rms),
                     "N" if n == 3 else "N m")
                    for name, bias, rms, n in zip(CHANNELS, estimate.bias, estimate.residual_rms,
                                                  decimals, strict=True)]
        parts.append(table("Sensor", ("channel", "bias", "residual rms", "unit"), channels))
    return section("Mass, centre of mass, inertia", "parameters", *parts)


def held_out_section(found: HeldOut | None) -> Markup:
    """Residual without and with the estimate, on data that it had not seen."""
    if found is None:
        return section("Before and after", "held-out", element(
            "p", "No wrench could be predicted: that takes a mass and a centre of mass that are "
            "identified, and data after that."))
    rows = []
    for name, channels, unit in (("force", FORCE, "N"), ("torque", TORQUE, "N m")):
        without, with_ = found.lengths(channels)
        rows.append((name, f"{without:.3g}", two_digits(with_), unit,
                     percent(with_, without)))
    for k, name in enumerate(CHANNELS):
        rows.append((name, f"{found.without[k]:.3g}", two_digits(found.with_[k]),
                     "N" if k < 3 else "N m", percent(found.with_[k], found.without[k])))
    what = (f"each of {found.wrenches} readings is predicted from the weight of the payload"
            if found.weight_only else f"each of {found.wrenches} means over 10 ms is predicted")
    left = f" {found.left_out} more during a contact are left out." if found.left_out else ""
    return section(
        "Before and after", "held-out",
        table("Wrench that is left, rms", ("", "without estimate", "with it", "unit", "left"),
              rows),
        element("p", f"On data that the estimate had not seen: {what} by the newest estimate "
                f"before it.{left} The bias is taken out either way.", class_="note"))


def information_section(estimate: Estimate, settings: Settings, rotation_only: bool) -> Markup:
    """What the data tell of each parameter, and the motion that would tell more.

    Args:
        rotation_only: no motion tells the inertia, because the acceleration is not known.
    """
    rows = []
    for k, known in enumerate(information(estimate, settings)):
        unit = UNITS[k].replace("^2", "\u00b2")
        motion, after = "\u2013", ""
        if known.motion is not None:
            hidden = rotation_only and k >= 4
            limit = estimate.limits[0 if k == 0 else 1 if k < 4 else 2]
            motion = ("none, until the position of the sensor is known" if hidden
                      else f"none: {limit} limits it" if limit else known.motion.text)
            # The noise of a wrist sensor says nothing of what joint torques would tell.
            unsure = hidden or limit or settings.load.source != "wrench"
            after = "" if unsure else f"\u00b1 {two_digits(SCALES[k] * known.after)}"
        rows.append((NAMES[k], _meter(known.share, NAMES[k]),
                     f"\u00b1 {two_digits(SCALES[k] * known.half_width)}",
                     f"\u00b1 {two_digits(SCALES[k] * known.allowed)}", unit,
                     element("td", motion, class_="text"), after))
    return section(
        "Information, and the motion that would add to it", "information",
        table("Parameters", ("parameter", "from the data", "95 % now", "counts as known", "unit",
                             "motion that adds most", "then, at best"), rows),
        element("p", "From the data: the share of a parameter's information that does not come "
                "from a prior. The last column counts 4 s of that motion and the noise of the "
                "sensor; what a cable, or the gain and the place of the sensor leave uncertain, "
                "no motion takes away.", class_="note"))


def _meter(share: float, name: str) -> Markup:
    """A share as a bar and as a number."""
    bar = element("svg", element("rect", width="60", height="10", fill="#d5d9e0"),
                  element("rect", width=f"{60.0 * share:.1f}", height="10", fill="#1f56b5"),
                  viewBox="0 0 60 10", style="width:3.75rem;display:inline-block",
                  role="img", aria_label=f"{name}: {100.0 * share:.0f} % from the data")
    return Markup(f"{bar} {100.0 * share:.0f} %")


def alignment_section(estimate: Estimate) -> Markup:
    """Errors of the set-up that were estimated with the payload."""
    rows = []
    for state in NUISANCE_STATES:
        text, unit, scale = _STATES[state.name]
        for axis, value, sigma in zip(
                state.components, estimate.alignment[state.values],
                estimate.alignment_sigma[state.values], strict=True):
            shown, spread = round_to_spread(scale * value, CONFIDENCE_95 * scale * sigma)
            held = not sigma > 0.0
            clear = not held and abs(value) > max(3.0 * sigma, state.noteworthy)
            rows.append((f"{text} {axis}".strip(), "not estimated" if held else shown,
                         "" if held else f"\u00b1 {spread}", unit, "worth a look" if clear else ""))
    return section("Alignment of the set-up", "alignment",
                   table("Errors of the set-up, estimated with the payload",
                         ("", "value", "95 %", "unit", ""), rows))


def finding_section(findings: tuple[Finding, ...], sentences: tuple[str, ...]) -> Markup:
    """All findings, the worst first."""
    tones = {"error": "bad", "warning": "fair"}
    known = {f.text for f in findings}
    items = [element("li", element("strong", f"{f.level}: "), f.text,
                     class_=f"finding {tones.get(f.level, '')}".strip())
             for f in findings if f.name != "verdict"]
    items += [element("li", text) for text in dict.fromkeys(sentences) if text not in known]
    return section("Findings", "findings", element("ul", *items, class_="findings") if items else
                   element("p", "Nothing to report."))
