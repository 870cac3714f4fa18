# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Pictures of the report: estimate, wrench and trouble over time; and where the payload is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...estimate import IDENTIFIED, UNOBSERVED, VERDICT_WORDS, Estimate, Outcome
from ...findings import LEVELS
from ...geometry.point_sets import box_edges, equivalent_box
from ...geometry.shape import Shape
from ...inertia import Array
from .charts import (
    VIEWS,
    Axes,
    Bar,
    Curve,
    Line,
    Mark,
    chart,
    limits_around,
    space_view,
    time_axis,
    turning_buttons,
)
from .html import Markup, element, section
from .results import (
    CONFIDENCE_95,
    NAMES,
    PANELS,
    Curves,
    Identification,
    WrenchCurves,
    contact_spans,
    estimate_curves,
    last_part,
    two_digits,
)

_COLOURS = ("x", "y", "z")
_SETTLED = 4.0  # bands up to this many times the last one fit on the axes
_TONES = {"error": "bad", "warning": "fair", "info": "info"}


def estimate_section(result: Identification) -> Markup:
    """Estimate over time, with 95 % bands."""
    curves = estimate_curves(result)
    if len(curves.time) < 2:
        return section("Estimate over time", "over-time", element(
            "p", "There was no estimate to draw." if len(curves.time) == 0 else
            "There is one estimate only; a recording shows how it comes about."))
    figures = [element("figure", picture) for picture in _parameter_charts(curves, result)]
    return section("Estimate over time", "over-time",
                   element("p", "Value and 95 % interval. Shaded: a contact, which is left out."),
                   element("div", *figures, class_="charts"))


def _parameter_charts(curves: Curves, result: Identification) -> list[Markup]:
    """A chart of each group of parameters."""
    spans = contact_spans(result.history)
    return [_parameter_chart(curves, title, unit, list(members), scale, result.duration, spans)
            for title, unit, members, scale in PANELS]


def _parameter_chart(curves: Curves, title: str, unit: str, members: list[int], scale: float,
                     duration: float, spans: Sequence[tuple[float, float]]) -> Markup:
    """A chart of some of the ten parameters."""
    value = scale * curves.value[:, members]
    band = scale * CONFIDENCE_95 * curves.sigma[:, members]
    shown = band <= _SETTLED * band[-1]  # the first intervals are often a hundred times wider
    limits = limits_around((value - band)[shown], (value + band)[shown])
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
    figures = [element("figure", picture) for picture in _wrench_charts(part, predicted, result)]
    return section("Measured and predicted wrench", "wrench",
                   element("p", f"{said} The last {part.time[-1] - part.time[0]:.0f} s."),
                   element("div", *figures, class_="charts"))


def _wrench_charts(part: WrenchCurves, predicted: WrenchCurves, result: Identification
                   ) -> list[Markup]:
    """A chart of the force, and one of the torque."""
    return [_wrench_chart(part, predicted, title, unit, slice(k, k + 3), result)
            for title, unit, k in (("Force", "N", 0), ("Torque", "N m", 3))]


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
    axes = Axes((float(curves.time[0]), float(curves.time[-1])), limits_around(measured, measured))
    return chart(title, unit, lines, axes, said, contact_spans(result.history))


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


_JOINT_95 = 2.796  # standard deviations of an ellipsoid that holds 95 % of three normal variables
_CIRCLE = np.linspace(0.0, 2.0 * np.pi, 33)[:-1]
_SHARP = np.cos(np.deg2rad(20.0))  # of the angle between faces, for an edge that is drawn
_AXES = ("var(--x)", "var(--y)", "var(--z)")


def place_section(estimate: Estimate, shape: Shape | None) -> Markup:
    """The section with the view that can be turned, and three views from the side."""
    lines, marks = scene(estimate, shape)
    lengths, _ = equivalent_box(estimate.body)
    com = ", ".join(f"{round(1e3 * v, 1) + 0.0:.1f}" for v in estimate.body.com)
    said = (f"Axes of {estimate.frame_id}; centre of mass at {com} mm; a box of "
            + " x ".join(f"{1e3 * v:.0f}" for v in lengths) + " mm has the same mass and inertia")
    trust = ("" if estimate.inertia_is_known else
             " The box is dashed, because the inertia is not identified.")
    oblique = element(
        "figure", space_view("Payload in the sensor frame", said, lines, marks), turning_buttons(),
        element("figcaption", element("span", "Drag, or use the arrow keys, to turn it. ",
                                      class_="turn"),
                f"{said}.{trust}"), class_="views")
    sides = [element("figure", space_view(f"{name}: {across} to the right, {up} upwards", said,
                                          lines, marks, (turn, lift), turns=False),
                     element("figcaption", f"{name}: {across} to the right, {up} upwards"),
                     class_="views") for name, across, up, turn, lift in VIEWS]
    key = ("Red, green, blue: axes x, y, z of the sensor. Orange: centre of mass, with the "
           "ellipsoid that holds it with 95 %. Blue: the equivalent box.")
    parts = [element("p", key), element("p", _place_in_shape(estimate, shape)),
             oblique, element("div", *sides, class_="sides")]
    return section("Where it is", "place", *parts)


def scene(estimate: Estimate, shape: Shape | None) -> tuple[list[Line], list[Mark]]:
    """Lines and words of the view, in the sensor frame."""
    body = estimate.body
    lengths, axes = equivalent_box(body)
    edges = box_edges(body.com, lengths, axes)
    lines = [Line(edge, "#1f56b5", 1.4, dashed=not estimate.inertia_is_known) for edge in edges]
    reach = max(float(np.abs(edges).max()), 0.05)
    if shape is not None:
        lines += [Line(edge, "#8b93a1", 1.0) for edge in sharp_edges(shape)]
    lines += _ellipsoid(body.com, estimate.covariance[1:4, 1:4])
    arrows = 0.6 * reach * np.eye(3)
    lines += [Line(np.array([np.zeros(3), tip]), colour, 2.2)
              for tip, colour in zip(arrows, _AXES, strict=True)]
    marks = [Mark(1.08 * tip, name) for tip, name in zip(arrows, "xyz", strict=True)]
    return lines, marks


def _ellipsoid(com: Array, covariance: Array) -> list[Line]:
    """Three circles of the ellipsoid that holds the centre of mass, and a cross within it."""
    variance, axes = np.linalg.eigh(covariance)
    half = _JOINT_95 * np.sqrt(np.maximum(variance, 0.0)) * axes
    circle = np.column_stack([np.cos(_CIRCLE), np.sin(_CIRCLE)])
    lines = [Line(com + circle @ half[:, [a, b]].T, "#c2410c", 1.3, closed=True, fill=0.15)
             for a, b in ((0, 1), (1, 2), (0, 2))]
    size = 0.5 * float(np.linalg.norm(half, axis=0).max())
    return lines + [Line(com + np.array([[-size], [size]]) * axis, "#c2410c", 1.8)
                    for axis in np.eye(3)]


def sharp_edges(shape: Shape) -> list[Array]:
    """Edges (2, 3) of the hull of a shape at which its faces turn; its bounding box where there are
    none, as those of a ball."""
    from scipy.spatial import ConvexHull  # loads slowly, and only shapes need it

    hull = ConvexHull(shape.surface)
    normals = hull.equations[:, :3]
    edges = []
    for face, others in enumerate(hull.neighbors):
        for k, other in enumerate(others):
            if face < other and normals[face] @ normals[other] < _SHARP:
                edges.append(shape.surface[np.delete(hull.simplices[face], k)])
    if edges and len(edges) <= 400:
        return edges
    lower, upper = shape.bounds
    return list(box_edges(0.5 * (lower + upper), upper - lower, np.eye(3)))


def _place_in_shape(estimate: Estimate, shape: Shape | None) -> str:
    """Where the centre of mass is in the shape, in words."""
    if shape is None:
        return "No shape of the object was given."
    com = estimate.body.com
    lower, upper = shape.bounds
    offset = ", ".join(f"{round(1e3 * v, 1) + 0.0:.1f}" for v in com - 0.5 * (lower + upper))
    inside = bool(np.all(shape.hull[:, :3] @ com + shape.hull[:, 3] <= 0.0))
    return (f"Grey: the shape, {shape.name}, or its bounding box where it has no edges. The centre "
            f"of mass lies {'inside' if inside else 'outside'} of it, ({offset}) mm from its "
            "middle.")
