# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The report of a payload: one page, from the verdict down to the settings."""

from __future__ import annotations

import numpy as np

from ...estimate import IDENTIFIED, UNOBSERVED, Estimate
from ...settings import Settings
from .curves import weight_curves, wrench_curves
from .diagnosis import GOOD, diagnose, verdict_section
from .drawing.elements import Markup, element
from .drawing.style import page
from .frame_trials import try_frames
from .held_out import FORCE, TORQUE, HeldOut, held_out
from .over_time import estimate_section, time_axis_section, wrench_section
from .payload_tables import (
    TONES,
    alignment_section,
    finding_section,
    held_out_section,
    information_section,
    parameter_section,
)
from .place import place_section
from .provenance import Origin, provenance_section, setup_section
from .results import Identification
from .wording import CONFIDENCE_95, round_to_spread, two_digits


def payload_page(result: Identification, settings: Settings, origin: Origin) -> str:
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
    rotation_only = any(f.name == "translation_constant" for f in result.findings)
    if not isinstance(outcome, Estimate):
        return page(f"Payload report: {origin.title}", head, verdict, last[0], *over_time,
                    *last[1:])
    numbers = element(
        "div", parameter_section(outcome),
        element("div", held_out_section(found), place_section(outcome, result.shape)),
        class_="charts numbers")
    return page(f"Payload report: {origin.title}", head, verdict,
                cards(outcome, found, diagnosis.tone == GOOD), numbers,
                *over_time, information_section(outcome, settings, rotation_only), last[0],
                alignment_section(outcome), *last[1:])


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
    tensor = estimate.body.inertia_com
    moments = ", ".join(f"{1e3 * tensor[k, k]:.3g}" for k in range(3))
    return [f"({moments}) ", f"\u00b1 {two_digits(1e3 * width[[4, 7, 9]].max())} g m\u00b2"]


def _worst(estimate: Estimate, members: slice, is_trusted: bool) -> str:
    """The tone of the worst verdict of a group."""
    verdicts = estimate.verdict[members]
    return TONES[0] if UNOBSERVED in verdicts else (
        TONES[2] if is_trusted and all(v == IDENTIFIED for v in verdicts) else TONES[1])
