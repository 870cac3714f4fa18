# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The report of a payload: one page, from the verdict down to the settings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...estimate import IDENTIFIED, UNOBSERVED, VERDICT_WORDS, Estimate
from ...findings import Finding
from ...geometry.shape import Shape
from ...settings import Settings
from .diagnosis import GOOD, diagnose
from .figures import Curve, chart, limits_around, place
from .page import (
    TONES,
    Card,
    Cell,
    Figure,
    Figures,
    Folded,
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
)
from .prediction import FORCE, TORQUE, HeldOut, Prediction, held_out
from .results import (
    CONFIDENCE_95,
    GROUPS,
    INERTIA_SCALE,
    INERTIA_UNIT,
    NAMES,
    Identification,
    percent,
    round_to_spread,
    two_digits,
)

LEVEL_TONES = {"error": "bad", "warning": "fair", "info": "info"}
# Errors of the set-up: of `Estimate.alignment`.
ALIGNMENT = (*((f"sensor turned about {axis}", "deg", np.rad2deg(1.0)) for axis in "xyz"),
             *((f"gravity tilted about {axis}", "deg", np.rad2deg(1.0)) for axis in "xy"),
             ("stamps of the wrench early by", "ms", 1e3))
# Charts over time: title, unit, members and factor from SI.
PANELS = (("Mass", "kg", (0,), 1.0), ("Centre of mass", "mm", (1, 2, 3), 1e3),
          ("Moments of inertia about the COM", INERTIA_UNIT, (4, 7, 9), INERTIA_SCALE))
SETTLED = 4.0  # bands up to this many times the last one fit on the axes
WRENCH_BINS = 1200  # of the end of a recording, in which single motions can be distinguished


def payload_page(result: Identification, settings: Settings, origin: ReportOrigin) -> str:
    """The report of a run, as HTML in one file (raises MissingPackage)."""
    outcome, diagnosis = result.outcome, diagnose(result)
    found = held_out(result.prediction)
    sections, cards = list[Section](), list[Card]()
    if isinstance(outcome, Estimate):
        sections += [_parameter_section(outcome, found), _place_section(outcome, result.shape)]
        cards = _cards(outcome, found, diagnosis.tone == GOOD)
    sections += [_wrench_section(result), _estimate_section(result),
                 _finding_section(result.findings), _read_section(result),
                 provenance_section(origin, settings)]
    return render(f"Payload report: {origin.title}", diagnosis, sections, cards)


def _parameter_section(estimate: Estimate, found: HeldOut | None) -> Section:
    """The ten parameters with intervals and verdicts, and what remains of the wrench."""
    parts: list[Part] = [
        parameter_table(estimate),
        Note(f"In axes of {estimate.frame_id}; inertia about the centre of mass, "
             f"off-diagonals as entries of the tensor. Method {estimate.method}, "
             f"{estimate.samples} samples, {estimate.window:.1f} s."), *_held_out(found)]
    if np.any(estimate.residual_rms):  # joint torques know no channels of a sensor
        parts.append(Folded("Sensor", sensor_table(estimate)))
    rows = [(name, *round_to_spread(scale * value, CONFIDENCE_95 * scale * sigma), unit)
            for (name, unit, scale), value, sigma in zip(
                ALIGNMENT, estimate.alignment, estimate.alignment_sigma, strict=False) if sigma]
    if rows:
        parts.append(Folded("Errors of the set-up, estimated with the payload", Table(
            "Errors of the set-up", ("", "value", "\u00b1 95 %", "unit"), rows)))
    return Section("Mass, centre of mass, inertia", "parameters", parts)


def _held_out(found: HeldOut | None) -> list[Part]:
    """Residual without and with the estimate, on data that it had not seen."""
    if found is None:
        return []
    rows = []
    for name, channels, unit in (("force", FORCE, "N"), ("torque", TORQUE, "N m")):
        without, with_ = found.lengths(channels)
        rows.append((name, f"{without:.3g}", two_digits(with_), unit, percent(with_, without)))
    left = f" {found.left_out} more during a contact are left out." if found.left_out else ""
    return [Table("Residual wrench, rms", ("", "without estimate", "with it", "unit", "share"),
                  rows),
            Note(f"On data that the estimate had not seen: each of {found.bins} means over 10 ms "
                 f"is predicted by the newest estimate before it.{left} The bias is taken out "
                 "either way.")]


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


def _estimate_section(result: Identification) -> Section:
    """Estimate over time, with 95 % bands."""
    valid = [(s.time, s.outcome) for s in result.history if isinstance(s.outcome, Estimate)]
    if len(valid) < 2:
        return Section("Estimate over time", "over-time", ["There was no estimate to draw."
                                                           if not valid else "There is one only."])
    time = np.array([at for at, _ in valid])
    report, sigma = (np.array([getattr(e, name) for _, e in valid]) for name in ("report", "sigma"))
    figures = []
    for title, unit, members, scale in PANELS:
        value = scale * report[:, list(members)]
        band = scale * CONFIDENCE_95 * sigma[:, list(members)]
        shown = band <= SETTLED * band[-1]  # the first are often a hundred times wider
        colours = ("black",) if len(members) == 1 else ("x", "y", "z")
        said = "; ".join(
            f"{NAMES[k]} ends at {value[-1, i]:.4g} \u00b1 {two_digits(band[-1, i])} {unit}, "
            f"{VERDICT_WORDS[valid[-1][1].verdict[k]]}" for i, k in enumerate(members))
        figures.append(chart(
            title, unit, [Curve(NAMES[k], time, value[:, i], colours[i], band[:, i])
                          for i, k in enumerate(members)], said,
            limits_around((value - band)[shown], (value + band)[shown]), result.contact_spans()))
    return Section("Estimate over time", "over-time", [
        "Value and 95 % interval. Shaded: a contact, which is left out.", Figures(figures)])


def _wrench_section(result: Identification) -> Section:
    """The wrench as measured, and as the estimates before predict it."""
    if result.prediction is None or not np.isfinite(result.prediction.measured).any():
        return Section("Measured and predicted wrench", "wrench",
                       ["There is no wrench with a known motion."])
    part = result.prediction.part(slice(-WRENCH_BINS, None))
    said = ("Solid: measured. Dashed: predicted by the newest estimate before."
            if np.isfinite(part.model).any() else
            "Measured; there is no prediction, because there was no estimate before.")
    return Section("Measured and predicted wrench", "wrench", [
        f"{said} The last {part.time[-1] - part.time[0]:.0f} s.",
        Figures([_wrench_chart(part, title, unit, slice(k, k + 3), result.contact_spans())
                 for title, unit, k in (("Force", "N", 0), ("Torque", "N m", 3))])])


def _wrench_chart(part: Prediction, title: str, unit: str, channels: slice,
                  contacts: Sequence[tuple[float, float]]) -> Figure:
    """A chart of three channels, measured and predicted."""
    measured, model = part.measured[:, channels], part.model[:, channels]
    lines = [Curve(name, part.time, measured[:, k], name) for k, name in enumerate("xyz")]
    known = np.isfinite(model).all(axis=1)
    said = f"measured {title.lower()} over time"
    if known.any():
        lines += [Curve("predicted" if k == 0 else "", part.time, model[:, k], "black",
                        dashed=True) for k in range(3)]
        rms = np.sqrt(np.mean((measured - model)[known]**2, axis=0))
        said = "rms of measured less predicted " + ", ".join(
            f"{two_digits(v)} {unit} along {n}" for v, n in zip(rms, "xyz", strict=True))
    begin, end = float(part.time[0]), float(part.time[-1])
    spans = [(max(first, begin), min(last, end)) for first, last in contacts
             if last > begin and first < end]
    there = measured[np.isfinite(measured).all(axis=1)]
    return chart(title, unit, lines, said, limits_around(there, there), spans)


def _finding_section(findings: Sequence[Finding]) -> Section:
    """All findings, the worst first."""
    items = [Cell(f"{f.level}: {f.text}", LEVEL_TONES[f.level]) for f in findings]
    return Section("Findings", "findings", [Items(items) if items else "Nothing to report."])


def _read_section(result: Identification) -> Section:
    """What was read, and what was chosen."""
    parts: list[Part] = [Table(f"What was read, {result.duration:.1f} s", ("topic", "messages"),
                               [(name, str(count)) for name, count in result.counts.items()])]
    notes = [*result.notes, *([] if result.tool is None else [
        f"The object is apart from {result.tool.describe()}"])]
    return Section("Recording", "recording", [*parts, *([Items(notes)] if notes else [])])


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
    texts = (f"{mass} \u00b1 {spread} kg",
             f"({com}) \u00b1 {two_digits(1e3 * width[1:4].max())} mm", inertia)
    out = []
    for (name, members), text in zip(GROUPS, texts, strict=True):
        verdicts = estimate.verdict[members]
        tone = TONES[0] if UNOBSERVED in verdicts else (
            TONES[2] if is_trusted and all(v == IDENTIFIED for v in verdicts) else TONES[1])
        out.append(Card(name.capitalize(), text, tone))
    if found is not None:
        force, torque = found.lengths(FORCE), found.lengths(TORQUE)
        out.append(Card("Residual wrench, on data not seen before",
                        f"{force[0]:.3g} \u2192 {two_digits(force[1])} N, "
                        f"{two_digits(torque[0])} \u2192 {two_digits(torque[1])} N m"))
    return out
