# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The report of a payload: one page, from the verdict down to the settings."""

from __future__ import annotations

import numpy as np

from ...estimate import IDENTIFIED, UNOBSERVED, VERDICT_WORDS, Estimate, Outcome
from ...findings import LEVELS, Finding
from ...geometry.shape import Shape
from ...regression.row_layout import NUISANCE_STATES
from ...settings import Settings
from .diagnosis import GOOD, diagnose, try_frames
from .figures import Bar, Curve, chart, limits_around, place, time_axis
from .page import (
    TONES,
    Card,
    Cell,
    Figure,
    Figures,
    Items,
    Note,
    Part,
    ReportOrigin,
    Section,
    Table,
    parameter_table,
    provenance_section,
    render,
    sensor_table,
    setup_section,
)
from .results import (
    CONFIDENCE_95,
    FORCE,
    INERTIA_SCALE,
    INERTIA_UNIT,
    NAMES,
    PANELS,
    TORQUE,
    HeldOut,
    Identification,
    WrenchCurves,
    contact_spans,
    estimate_curves,
    held_out,
    last_part,
    percent,
    round_to_spread,
    two_digits,
    weight_curves,
    wrench_curves,
)

_LEVEL_TONES = {"error": "bad", "warning": "fair", "info": "info"}
_STATES = {"rotation": ("sensor turned about", "deg", np.rad2deg(1.0)),
           "tilt": ("gravity tilted about", "deg", np.rad2deg(1.0)),
           "delay": ("stamps of the wrench early by", "ms", 1e3),
           "position": ("sensor displaced along", "mm", 1e3)}
_SETTLED = 4.0  # bands up to this many times the last one fit on the axes


def payload_page(result: Identification, settings: Settings, origin: ReportOrigin) -> str:
    """The report of a run, as HTML in one file (raises MissingPackage)."""
    outcome = result.outcome
    trial = try_frames(result.trace, settings.wrench.sign, outcome.frame_id,
                       settings.gravity.frame)
    curves = wrench_curves(result.trace)
    predicted = curves if curves.is_predicted else weight_curves(
        result, settings.wrench.sign, settings.gravity.acceleration)
    found = (held_out(predicted, outcome.bias, result.history) if isinstance(outcome, Estimate)
             else None)
    diagnosis = diagnose(result, trial, found)
    over_time = [wrench_section(curves, predicted, result), estimate_section(result)]
    last = [_finding_section(result.findings, outcome.findings), setup_section(result, settings),
            provenance_section(origin, settings)]
    title = f"Payload report: {origin.title}"
    if not isinstance(outcome, Estimate):
        return render(title, diagnosis, [time_axis_section(result), *over_time, *last])
    numbers = [_parameter_section(outcome), _held_out_section(found),
               _place_section(outcome, result.shape)]
    return render(title, diagnosis, [*numbers, *over_time, time_axis_section(result),
                                     _alignment_section(outcome), *last],
                  _cards(outcome, found, diagnosis.tone == GOOD))


def _parameter_section(estimate: Estimate) -> Section:
    """The ten parameters with intervals and verdicts, and the bias."""
    parts: list[Part] = [
        parameter_table(estimate),
        Note(f"In axes of {estimate.frame_id}; inertia about the centre of mass, "
             f"off-diagonals as entries of the tensor. Method {estimate.method}, "
             f"{estimate.samples} samples, {estimate.window:.1f} s.")]
    if np.any(estimate.residual_rms):  # joint torques know no channels of a sensor
        parts.append(sensor_table(estimate))
    return Section("Mass, centre of mass, inertia", "parameters", parts)


def _held_out_section(found: HeldOut | None) -> Section:
    """Residual without and with the estimate, on data that it had not seen."""
    if found is None:
        return Section("Before and after", "held-out", [
            "No wrench could be predicted: that takes a mass and a centre of mass that are "
            "identified, and data after that."])
    rows = []
    for name, channels, unit in (("force", FORCE, "N"), ("torque", TORQUE, "N m")):
        without, with_ = found.lengths(channels)
        rows.append((name, f"{without:.3g}", two_digits(with_), unit, percent(with_, without)))
    what = (f"each of {found.wrenches} readings is predicted from the weight of the payload"
            if found.weight_only else f"each of {found.wrenches} means over 10 ms is predicted")
    left = f" {found.left_out} more during a contact are left out." if found.left_out else ""
    return Section("Before and after", "held-out", [
        Table("Residual wrench, rms", ("", "without estimate", "with it", "unit", "share"), rows),
        Note(f"On data that the estimate had not seen: {what} by the newest estimate before it."
             f"{left} The bias is taken out either way.")])


def _place_section(estimate: Estimate, shape: Shape | None) -> Section:
    """Where the centre of mass is, in pictures and, in the shape, in words."""
    said = "No shape of the object was given."
    if shape is not None:
        com, (lower, upper) = estimate.body.com, shape.bounds
        offset = ", ".join(f"{round(1e3 * v, 1) + 0.0:.1f}" for v in com - 0.5 * (lower + upper))
        inside = bool(np.all(shape.hull[:, :3] @ com + shape.hull[:, 3] <= 0.0))
        said = (f"Grey: the hull of the shape, {shape.name}. The centre of mass lies "
                f"{'inside' if inside else 'outside'} of it, ({offset}) mm from its middle.")
    box = "" if estimate.inertia_is_known else " It is dashed: the inertia is not identified."
    return Section("Where it is", "place", [
        "Orange: centre of mass, with the ellipsoid that holds it with 95 %. Blue: the box of the "
        f"same mass and inertia.{box} {said}", Figures([place(estimate, shape)])])


def estimate_section(result: Identification) -> Section:
    """Estimate over time, with 95 % bands."""
    curves = estimate_curves(result)
    if len(curves.time) < 2:
        return Section("Estimate over time", "over-time", [
            "There was no estimate to draw." if len(curves.time) == 0 else
            "There is one estimate only; a recording shows how it comes about."])
    figures = []
    for title, unit, members, scale in PANELS:
        value = scale * curves.value[:, list(members)]
        band = scale * CONFIDENCE_95 * curves.sigma[:, list(members)]
        shown = band <= _SETTLED * band[-1]  # the first are often a hundred times wider
        colours = ("black",) if len(members) == 1 else ("x", "y", "z")
        said = "; ".join(
            f"{NAMES[k]} ends at {value[-1, i]:.4g} \u00b1 {two_digits(band[-1, i])} {unit}, "
            f"{VERDICT_WORDS[curves.verdict[k]]}" for i, k in enumerate(members))
        figures.append(chart(
            title, unit, [Curve(NAMES[k], curves.time, value[:, i], colours[i], band[:, i])
                          for i, k in enumerate(members)], said,
            limits_around((value - band)[shown], (value + band)[shown]),
            contact_spans(result.history)))
    return Section("Estimate over time", "over-time", [
        "Value and 95 % interval. Shaded: a contact, which is left out.", Figures(figures)])


def wrench_section(curves: WrenchCurves, predicted: WrenchCurves, result: Identification
                   ) -> Section:
    """The wrench as measured, and as the estimates before predict it."""
    if len(curves.time) == 0:
        return Section("Measured and predicted wrench", "wrench",
                       ["There is no wrench over time."])
    part, predicted = last_part(curves), last_part(predicted)
    said = "Measured; there is no prediction, because no estimate could be used for one."
    if predicted.is_predicted:
        said = ("Solid: measured. Dashed: predicted by the newest estimate before, from the "
                + ("weight alone." if predicted.weight_only else "motion."))
    return Section("Measured and predicted wrench", "wrench", [
        f"{said} The last {part.time[-1] - part.time[0]:.0f} s.",
        Figures([_wrench_chart(part, predicted, title, unit, slice(k, k + 3), result)
                 for title, unit, k in (("Force", "N", 0), ("Torque", "N m", 3))])])


def _wrench_chart(curves: WrenchCurves, predicted: WrenchCurves, title: str, unit: str,
                  channels: slice, result: Identification) -> Figure:
    """A chart of three channels, measured and predicted."""
    measured, model = curves.measured[:, channels], predicted.model[:, channels]
    lines = [Curve(name, curves.time, measured[:, k], name) for k, name in enumerate("xyz")]
    known = np.isfinite(model).all(axis=1)
    said = f"measured {title.lower()} over time"
    if known.any():
        lines += [Curve("predicted" if k == 0 else "", predicted.time, model[:, k], "black",
                        dashed=True) for k in range(3)]
        rms = np.sqrt(np.mean((predicted.measured[:, channels] - model)[known]**2, axis=0))
        said = "rms of measured less predicted " + ", ".join(
            f"{two_digits(v)} {unit} along {n}" for v, n in zip(rms, "xyz", strict=True))
    begin, end = float(curves.time[0]), float(curves.time[-1])
    spans = [(max(first, begin), min(last, end)) for first, last in contact_spans(result.history)
             if last > begin and first < end]
    return chart(title, unit, lines, said, limits_around(measured, measured), spans)


def time_axis_section(result: Identification) -> Section:
    """What was known when, and which findings held when."""
    if len(result.history) < 2:
        return Section("Gates and faults over time", "faults",
                       ["There is one estimate only, and no time axis."])
    return Section("Gates and faults over time", "faults", [
        "Green: mass, centre of mass and inertia identified. Amber: mass and centre of mass, "
        "or a warning. Red: none of it, or an error. Grey: no estimate. Blue: for information.",
        Figures([time_axis("Estimate and findings over time", _bars(result), result.duration)])])


def _bars(result: Identification) -> list[tuple[str, list[Bar]]]:
    """Stretches of the same verdict, and of each finding, the worst first."""
    rows: dict[str, list[Bar]] = {"estimate": []}
    before = 0.0
    for item in result.history:
        held = [("estimate", *_tone(item.outcome)), *(
            (f.name, _LEVEL_TONES[f.level], f.level) for f in item.findings
            if f.name != "verdict")]
        for name, tone, word in held:
            bars = rows.setdefault(name, [])
            if bars and bars[-1][1:] == (before, tone, word):
                bars[-1] = bars[-1]._replace(last=item.time)
            else:
                bars.append(Bar(before, item.time, tone, word))
        before = item.time
    worst = {name: max(LEVELS.index(bar.word) for bar in bars) for name, bars in rows.items()
             if name != "estimate"}
    names = sorted(worst, key=lambda name: (-worst[name], rows[name][0].first))
    return [(name.replace("_", " "), rows[name]) for name in ("estimate", *names)]


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


def _alignment_section(estimate: Estimate) -> Section:
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
    return Section("Alignment of the set-up", "alignment", [
        Table("Errors of the set-up, estimated with the payload", ("", "value", "95 %", "unit", ""),
              rows)])


def _finding_section(findings: tuple[Finding, ...], sentences: tuple[str, ...]) -> Section:
    """All findings, the worst first."""
    known = {f.text for f in findings}
    items: list[str | Cell] = [Cell(f"{f.level}: {f.text}", _LEVEL_TONES[f.level])
                               for f in findings if f.name != "verdict"]
    items += [text for text in dict.fromkeys(sentences) if text not in known]
    return Section("Findings", "findings", [Items(items) if items else "Nothing to report."])


def _cards(estimate: Estimate, found: HeldOut | None, is_trusted: bool) -> list[Card]:
    """The most important numbers, each with the colour of its verdict; none is green where the
    whole is not trusted."""
    body, width = estimate.body, CONFIDENCE_95 * estimate.sigma
    mass, spread = round_to_spread(body.mass, width[0])
    com = ", ".join(f"{round(1e3 * v, 1) + 0.0:.1f}" for v in body.com)
    inertia = "not identified by this motion"
    if estimate.inertia_is_known:
        moments = ", ".join(f"{INERTIA_SCALE * body.inertia_com[k, k]:.3g}" for k in range(3))
        inertia = (f"({moments}) \u00b1 {two_digits(INERTIA_SCALE * width[[4, 7, 9]].max())} "
                   f"{INERTIA_UNIT}")

    def worst(members: slice) -> str:
        verdicts = estimate.verdict[members]
        return TONES[0] if UNOBSERVED in verdicts else (
            TONES[2] if is_trusted and all(v == IDENTIFIED for v in verdicts) else TONES[1])

    out = [Card("Mass", f"{mass} \u00b1 {spread} kg", worst(slice(0, 1))),
           Card("Centre of mass", f"({com}) \u00b1 {two_digits(1e3 * width[1:4].max())} mm",
                worst(slice(1, 4))),
           Card("Inertia", inertia, worst(slice(4, 10)))]
    if found is not None:
        force, torque = found.lengths(FORCE), found.lengths(TORQUE)
        out.append(Card("Residual wrench, on data not seen before",
                        f"{force[0]:.3g} \u2192 {two_digits(force[1])} N, "
                        f"{two_digits(torque[0])} \u2192 {two_digits(torque[1])} N m"))
    return out
