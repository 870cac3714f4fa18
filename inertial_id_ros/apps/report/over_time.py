# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Sections over the time of a recording: estimate, wrench, and what went wrong when."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...estimate import IDENTIFIED, UNOBSERVED, VERDICT_WORDS, Estimate, Outcome
from ...findings import LEVELS
from ...inertia import Array
from .curves import Curves, WrenchCurves, estimate_curves, last_part
from .drawing.charts import Axes, Curve, chart
from .drawing.elements import Markup, element, section
from .drawing.time_axis import Bar, time_axis
from .held_out import contact_spans
from .results import Identification
from .wording import CONFIDENCE_95, NAMES, two_digits

_COLOURS = ("x", "y", "z")
_SETTLED = 4.0  # bands up to this many times the last one fit on the axes
_TONES = {"error": "bad", "warning": "fair", "info": "info"}
_PANELS = (("Mass", "kg", (0,), 1.0), ("Centre of mass", "mm", (1, 2, 3), 1e3),
           ("Moments of inertia about the COM", "g m\u00b2", (4, 7, 9), 1e3),
           ("Products of inertia about the COM", "g m\u00b2", (5, 6, 8), 1e3))


def estimate_section(result: Identification) -> Markup:
    """Estimate over time, with 95 % bands."""
    curves = estimate_curves(result)
    if len(curves.time) < 2:
        return section("Estimate over time", "over-time", element(
            "p", "There was no estimate to draw." if len(curves.time) == 0 else
            "There is one estimate only; a recording shows how it comes about."))
    spans = contact_spans(result.history)
    figures = [element("figure", _parameter_chart(curves, title, unit, list(members), scale,
                                                  result.duration, spans))
               for title, unit, members, scale in _PANELS]
    return section("Estimate over time", "over-time",
                   element("p", "Value and 95 % interval. Shaded: a contact, which is left out."),
                   element("div", *figures, class_="charts"))


def _parameter_chart(curves: Curves, title: str, unit: str, members: list[int], scale: float,
                     duration: float, spans: Sequence[tuple[float, float]]) -> Markup:
    """A chart of some of the ten parameters."""
    value = scale * curves.value[:, members]
    band = scale * CONFIDENCE_95 * curves.sigma[:, members]
    shown = band <= _SETTLED * band[-1]  # the first intervals are often a hundred times wider
    limits = _limits((value - band)[shown], (value + band)[shown])
    colours = ("black",) if len(members) == 1 else _COLOURS
    lines = [Curve(NAMES[k], curves.time, value[:, i], colours[i], band[:, i])
             for i, k in enumerate(members)]
    said = "; ".join(f"{NAMES[k]} ends at {value[-1, i]:.4g} \u00b1 {two_digits(band[-1, i])} "
                     f"{unit}, {VERDICT_WORDS[curves.verdict[k]]}" for i, k in enumerate(members))
    return chart(title, unit, lines, Axes((0.0, duration), limits), said, spans)


def wrench_section(curves: WrenchCurves, predicted: WrenchCurves, result: Identification
                   ) -> Markup:
    """The wrench as measured, and as the estimates before predict it."""
    if len(curves.time) == 0:
        return section("Measured and predicted wrench", "wrench",
                       element("p", "There is no wrench over time."))
    part, predicted = last_part(curves), last_part(predicted)
    said = "Measured; there is no prediction, because no estimate could be used for one."
    if predicted.is_predicted:
        said = ("Solid: measured. Dashed: predicted by the newest estimate before, from the "
                + ("weight alone." if predicted.weight_only else "motion."))
    figures = [element("figure", _wrench_chart(part, predicted, title, unit, slice(k, k + 3),
                                               result))
               for title, unit, k in (("Force", "N", 0), ("Torque", "N m", 3))]
    return section("Measured and predicted wrench", "wrench",
                   element("p", f"{said} The last {part.time[-1] - part.time[0]:.0f} s."),
                   element("div", *figures, class_="charts"))


def _wrench_chart(curves: WrenchCurves, predicted: WrenchCurves, title: str, unit: str,
                  channels: slice, result: Identification) -> Markup:
    """A chart of three channels, measured and predicted."""
    measured, model = curves.measured[:, channels], predicted.model[:, channels]
    lines = [Curve(name, curves.time, measured[:, k], name) for k, name in enumerate(_COLOURS)]
    if np.isfinite(model).any():
        lines += [Curve("predicted" if k == 0 else "", predicted.time, model[:, k], "black",
                        dashed=True) for k in range(3)]
    known = np.isfinite(model).all(axis=1)
    error = (predicted.measured[:, channels] - model)[known]
    rms = np.sqrt(np.mean(error**2, axis=0)) if known.any() else None
    said = (f"measured {title.lower()} over time" if rms is None else
            "rms of measured less predicted "
            + ", ".join(f"{two_digits(v)} {unit} along {n}"
                        for v, n in zip(rms, _COLOURS, strict=True)))
    axes = Axes((float(curves.time[0]), float(curves.time[-1])), _limits(measured, measured))
    return chart(title, unit, lines, axes, said, contact_spans(result.history))


def _limits(low: Array, high: Array) -> tuple[float, float]:
    """Limits of an axis around values."""
    bottom, top = float(np.min(low)), float(np.max(high))
    margin = 0.06 * (top - bottom) or 0.1 * abs(top) or 1.0
    return bottom - margin, top + margin


def time_axis_section(result: Identification) -> Markup:
    """What was known when, and which findings held when."""
    if len(result.history) < 2:
        return section("Gates and faults over time", "faults",
                       element("p", "There is one estimate only, and no time axis."))
    rows = [("estimate", _estimate_bars(result)), *_finding_rows(result)]
    said = ("Green: mass, centre of mass and inertia identified. Amber: mass and centre of mass, "
            "or a warning. Red: none of it, or an error. Grey: no estimate. Blue: for information.")
    return section("Gates and faults over time", "faults", element("p", said),
                   element("figure", time_axis("Estimate and findings over time", rows,
                                               result.duration)))


def _estimate_bars(result: Identification) -> list[Bar]:
    """Stretches of the same verdict."""
    bars: list[Bar] = []
    before = 0.0
    for item in result.history:
        tone, word = _tone(item.outcome)
        if bars and (bars[-1].tone, bars[-1].word) == (tone, word):
            bars[-1] = bars[-1]._replace(last=item.time)
        else:
            bars.append(Bar(before, item.time, tone, word))
        before = item.time
    return bars


def _tone(outcome: Outcome) -> tuple[str, str]:
    """Tone and word of an outcome."""
    if not isinstance(outcome, Estimate):
        return "none", "none"
    if outcome.stale:
        return "none", "held"
    if all(v == IDENTIFIED for v in outcome.verdict):
        return "good", "identified"
    return ("bad", "not identified") if UNOBSERVED in outcome.verdict[:4] else (
        "fair", "mass and centre of mass")


def _finding_rows(result: Identification) -> list[tuple[str, list[Bar]]]:
    """A row for each finding that came and went, or came during the recording; the worst first."""
    rows: dict[str, list[Bar]] = {}
    before = 0.0
    for item in result.history:
        for finding in item.findings:
            if finding.name == "verdict":
                continue
            bars = rows.setdefault(finding.name, [])
            tone = _TONES[finding.level]
            if bars and bars[-1].last == before and bars[-1].tone == tone:
                bars[-1] = bars[-1]._replace(last=item.time)
            else:
                bars.append(Bar(before, item.time, tone, finding.level))
        before = item.time
    worst = {name: max(LEVELS.index(bar.word) for bar in bars) for name, bars in rows.items()}
    return [(name.replace("_", " "), rows[name])
            for name in sorted(rows, key=lambda name: (-worst[name], rows[name][0].first))]
