# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The report of a payload: one page, from the verdict down to the settings.
"""

from __future__ import annotations

import numpy as np

from ...estimate import IDENTIFIED, UNOBSERVED, VERDICT_WORDS, Estimate
from ...findings import Finding
from ...regression.row_layout import NUISANCE_STATES
from ...settings import Settings
from .diagnosis import GOOD, diagnose, try_frames, verdict_section
from .html import (
    Markup,
    ReportOrigin,
    element,
    page,
    provenance_section,
    section,
    setup_section,
    table,
)
from .payload_pictures import estimate_section, place_section, time_axis_section, wrench_section
from .results import (
    CHANNELS,
    CONFIDENCE_95,
    FORCE,
    INERTIA_SCALE,
    INERTIA_UNIT,
    NAMES,
    SCALES,
    TORQUE,
    UNITS,
    HeldOut,
    Identification,
    held_out,
    percent,
    round_to_spread,
    two_digits,
    weight_curves,
    wrench_curves,
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


def payload_page(result: Identification, settings: Settings, origin: ReportOrigin) -> str:
    """The report of a run, as HTML in one file."""
    outcome = result.outcome
    trial = try_frames(result.trace, settings.wrench.sign, outcome.frame_id,
                       settings.gravity.frame)
    curves = wrench_curves(result.trace)
    predicted = curves if curves.is_predicted else weight_curves(
        result, settings.wrench.sign, settings.gravity.acceleration)
    found = (held_out(predicted, outcome.bias, result.history) if isinstance(outcome, Estimate)
             else None)
    diagnosis = diagnose(result, trial, found)
    verdict = verdict_section(diagnosis)
    head = element("h1", f"Payload report: {origin.title}")
    over_time = [wrench_section(curves, predicted, result), estimate_section(result)]
    last = [time_axis_section(result), finding_section(result.findings, outcome.findings),
            setup_section(result, settings), provenance_section(origin, settings)]
    if not isinstance(outcome, Estimate):
        return page(f"Payload report: {origin.title}", head, verdict, last[0], *over_time,
                    *last[1:])
    numbers = element(
        "div", parameter_section(outcome),
        element("div", held_out_section(found), place_section(outcome, result.shape)),
        class_="charts numbers")
    return page(f"Payload report: {origin.title}", head, verdict,
                cards(outcome, found, diagnosis.tone == GOOD), numbers,
                *over_time, last[0], alignment_section(outcome), *last[1:])


def cards(estimate: Estimate, found: HeldOut | None, is_trusted: bool) -> Markup:
    """The most important numbers, each with the colour of its verdict; none is green where the
    whole is not trusted."""
    body, width = estimate.body, CONFIDENCE_95 * estimate.sigma
    mass, spread = round_to_spread(body.mass, width[0])
    com = ", ".join(f"{round(1e3 * v, 1) + 0.0:.1f}" for v in body.com)
    items = [("Mass", [f"{mass} \u00b1 {spread} kg"], _worst(estimate, slice(0, 1), is_trusted)),
             ("Centre of mass", [f"({com}) ", f"\u00b1 {two_digits(1e3 * width[1:4].max())} mm"],
              _worst(estimate, slice(1, 4), is_trusted)),
             ("Inertia", _inertia_texts(estimate, width),
              _worst(estimate, slice(4, 10), is_trusted))]
    if found is not None:
        force, torque = found.lengths(FORCE), found.lengths(TORQUE)
        items.append(("Wrench that is left, on data not seen before",
                      [f"{force[0]:.3g} \u2192 {two_digits(force[1])} N, ",
                       f"{two_digits(torque[0])} \u2192 {two_digits(torque[1])} N m"], ""))
    return element("ul", *(element("li", element("span", name), element(
        "b", *(element("span", text) for text in texts)), class_=tone or None)
        for name, texts, tone in items), class_="cards")


def _inertia_texts(estimate: Estimate, width: np.ndarray) -> list[str]:
    """Moments of inertia, or that they are not known, in pieces that stay on a line each."""
    if not estimate.inertia_is_known:
        return ["not identified ", "by this motion"]
    tensor, widest = estimate.body.inertia_com, width[[4, 7, 9]].max()
    moments = ", ".join(f"{INERTIA_SCALE * tensor[k, k]:.3g}" for k in range(3))
    return [f"({moments}) ", f"\u00b1 {two_digits(INERTIA_SCALE * widest)} {INERTIA_UNIT}"]


def _worst(estimate: Estimate, members: slice, is_trusted: bool) -> str:
    """The tone of the worst verdict of a group."""
    verdicts = estimate.verdict[members]
    return TONES[0] if UNOBSERVED in verdicts else (
        TONES[2] if is_trusted and all(v == IDENTIFIED for v in verdicts) else TONES[1])
