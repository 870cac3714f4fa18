# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Parts of a report: what is left of a wrench, charts and views."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from synthetic import identifier, payload, recording

from inertial_id_ros.apps.report.charts import (
    Axes,
    Curve,
    Line,
    chart,
    project,
    space_view,
    thin,
    ticks,
)
from inertial_id_ros.apps.report.diagnosis import Diagnosis, diagnose
from inertial_id_ros.apps.report.payload_pictures import (
    estimate_section,
    sharp_edges,
    wrench_section,
)
from inertial_id_ros.apps.report.results import (
    Identification,
    Snapshot,
    Trace,
    WrenchCurves,
    contact_spans,
    held_out,
    wrench_curves,
)
from inertial_id_ros.estimate import IDENTIFIED, UNOBSERVED, Estimate, NoEstimate
from inertial_id_ros.findings import Finding
from inertial_id_ros.geometry.shape import shape_from_settings
from inertial_id_ros.settings import Settings


@pytest.fixture(scope="module")
def estimate() -> Estimate:
    made = identifier(estimator__method="density")
    recording(3.0, body=payload(4, 1.2)).feed(made)
    outcome = made.solve()
    assert isinstance(outcome, Estimate)
    return outcome


def test_what_is_left_of_a_wrench_leaves_contacts_out() -> None:
    """Closed form: a known error everywhere, and a large one in a contact."""
    time = 0.01 * np.arange(400)
    bias = np.arange(6.0)
    model = np.tile(bias + 2.0, (400, 1))
    model[:50] = np.nan
    measured = np.where(np.isfinite(model), model, 0.0) + 0.5
    measured[200:300] += 40.0
    touch = (Finding("contact", "warning", "touched"),)
    outcome = NoEstimate(0, "", "none")
    history = tuple(Snapshot(t, outcome, touch if 1.9 < t <= 3.1 else ())
                    for t in np.arange(0.5, 4.1, 0.5))
    assert contact_spans(history) == [(1.5, 3.0)]
    found = held_out(WrenchCurves(time, measured, model), bias, history)
    assert found is not None and found.left_out == 151 and found.wrenches == 350 - 151
    assert np.allclose(found.with_, 0.5) and np.allclose(found.without, 2.5)


def verdict(outcome: Estimate, *findings: Finding) -> Diagnosis:
    run = Identification(outcome, (Snapshot(1.0, outcome, findings),), findings, 1.0, {},
                         frozenset(), Trace(), (), None)
    return diagnose(run, None, None)


def test_what_an_estimate_allows_for_is_on_the_first_screen(estimate: Estimate) -> None:
    """With what to do about it; the estimate is good all the same."""
    sure = replace(estimate, verdict=(IDENTIFIED,) * 10)
    found = verdict(sure, Finding("clock_offset", "warning", "the stamps are 50 ms too late"))
    assert found.tone == "good" and found.reasons == ("The stamps are 50 ms too late.",)
    assert found.mends[0] == "The payload can be used." and "one clock" in found.mends[1]
    small = verdict(sure, Finding("clock_offset", "info", "the stamps are 3 ms too late"))
    assert small.mends == ("Nothing; the payload can be used.",)


def test_contact_that_is_over_is_on_the_first_screen(estimate: Estimate) -> None:
    """It may be why something is missing; nothing is wrong with what came out."""
    touch = Finding("contact", "info", "contact left out (once so far, 2.7 s in all)")
    said = "Contact left out (once so far, 2.7 s in all)."
    for verdicts in ((IDENTIFIED,) * 10, (*(IDENTIFIED,) * 4, *(UNOBSERVED,) * 6)):
        assert said in verdict(replace(estimate, verdict=verdicts), touch).reasons


@pytest.mark.parametrize(("missing", "said"), [
    ({0}, "mass"), ({3}, "centre of mass"), ({0, 1}, "mass and centre of mass")])
def test_only_what_is_missing_is_said_to_be_missing(
        estimate: Estimate, missing: set[int], said: str) -> None:
    verdicts = tuple(UNOBSERVED if k in missing else IDENTIFIED for k in range(10))
    found = verdict(replace(estimate, verdict=verdicts))
    assert found.said == f"The motion does not tell {said}."


def test_what_to_do_is_said_once(estimate: Estimate) -> None:
    sure = replace(estimate, verdict=(IDENTIFIED,) * 10)
    found = verdict(sure, Finding("misaligned.rotation", "warning", "the sensor is turned"),
                    Finding("misaligned.gravity", "warning", "gravity is tilted"))
    assert len(found.reasons) == 2 and len(found.mends) == len(set(found.mends)) == 2


def test_a_residual_that_widens_intervals_is_the_reason_where_something_is_missing(
        estimate: Estimate) -> None:
    raised = Finding("residual_large.raised", "info", "the residual is 2.7 times the errors")
    missing = replace(estimate, verdict=(UNOBSERVED,) + (IDENTIFIED,) * 9)
    found = verdict(missing, raised)
    assert found.tone == "bad" and "More is left of the wrench" in found.said
    assert "cable" in found.mends[0] and "Tilt the sensor" in found.mends[1]
    assert verdict(replace(estimate, verdict=(IDENTIFIED,) * 10), raised).tone == "good"


def test_a_held_estimate_is_not_called_good(estimate: Estimate) -> None:
    """Nor one that a finding of level error speaks against; the fresh one without findings is."""
    sure = replace(estimate, verdict=(IDENTIFIED,) * 10)
    held = replace(sure, stale=True, stale_reason="the wrench has stopped")
    assert verdict(sure).tone == "good"
    assert verdict(held).tone == "fair" and "The wrench has stopped." in verdict(held).reasons
    assert verdict(sure, Finding("odd", "error", "something is odd")).tone == "fair"


def test_nothing_is_claimed_of_a_wrench_that_nothing_predicted() -> None:
    nothing = WrenchCurves(np.arange(50.0), np.ones((50, 6)), np.full((50, 6), np.nan))
    assert held_out(nothing, np.zeros(6), ()) is None and not nothing.is_predicted


@pytest.mark.parametrize(("kind", "size", "count"), [
    ("box", (0.2, 0.3, 0.4), 12), ("sphere", (0.1,), 12)])
def test_the_edges_of_a_shape_are_drawn(kind: str, size: tuple, count: int) -> None:
    """Twelve of a box; a ball has none, and shows its bounding box."""
    shape = shape_from_settings(Settings().replace(
        {"shape.type": kind, "shape.size": size, "shape.bounding": True}).shape)
    assert shape is not None
    edges = sharp_edges(shape)
    assert len(edges) == count
    corners = np.concatenate(edges)
    assert np.allclose([corners.min(axis=0), corners.max(axis=0)], shape.bounds, atol=1e-9)


def test_views_are_seen_from_where_they_say() -> None:
    """From the front x goes right and z up; from the side y; from above y goes up."""
    axes = np.eye(3)
    assert np.allclose(project(axes, 0.0, 0.0), [[1, 0], [0, 0], [0, 1]])
    assert np.allclose(project(axes, -90.0, 0.0), [[0, 0], [1, 0], [0, 1]])
    assert np.allclose(project(axes, 0.0, 90.0), [[1, 0], [0, 1], [0, 0]], atol=1e-12)


def test_a_view_can_be_turned_from_the_points_in_it() -> None:
    """The script finds the points of each part, which project to what is drawn."""
    corners = np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.1], [0.1, -0.2, 0.4]])
    svg = ElementTree.fromstring(space_view("title", "words", [Line(corners, "black")], []))
    line = next(svg.iter("polyline"))
    points = np.array([p.split(",") for p in line.get("data-p", "").split()], dtype=float)
    drawn = np.array([p.split(",") for p in line.get("points", "").split()], dtype=float)
    flat = project(points, -35.0, 25.0) * float(svg.get("data-scale", "")) * [1, -1]
    assert np.allclose(drawn, flat + float(svg.get("data-half", "")), atol=0.11)


def test_a_chart_draws_the_curve_and_its_gaps() -> None:
    time = np.linspace(0.0, 10.0, 50)
    value = np.where((time > 4.0) & (time < 6.0), np.nan, time)
    axes = Axes((0.0, 10.0), (0.0, 10.0))
    svg = ElementTree.fromstring(chart("t", "kg", [Curve("m", time, value, "x")], axes, "d"))
    lines = list(svg.iter("polyline"))
    assert len(lines) == 2
    first = np.array(lines[0].get("points", "").split()[0].split(","), dtype=float)
    assert np.allclose(first, [axes.x(0.0), axes.y(0.0)], atol=0.06)


@pytest.mark.parametrize(("low", "high"), [(0.0, 15.0), (-1.2, 1.4), (1.351, 1.4402), (3e-5, 9e-5)])
def test_ticks_are_round_and_inside(low: float, high: float) -> None:
    found = ticks(low, high)
    assert 2 <= len(found) <= 6
    assert all(low - 1e-12 <= v <= high + 1e-12 for v in found)
    steps = np.diff(found)
    assert np.allclose(steps, steps[0])
    assert round(float(steps[0] / 10.0 ** np.floor(np.log10(steps[0]))), 6) in (1.0, 2.0, 5.0, 10.0)


def test_long_curves_keep_both_ends() -> None:
    kept = thin(100_000)
    assert len(kept) <= 400 and kept[0] == 0 and kept[-1] == 99_999


def test_the_report_shades_contacts_on_every_axis_that_shows_their_time(estimate: Estimate) -> None:
    touch = (Finding("contact", "warning", "touched"),)
    history = tuple(Snapshot(t, estimate, touch if 1.9 < t <= 3.1 else ())
                    for t in np.arange(0.5, 5.1, 0.5))
    ramp = 1e-3 * np.arange(500.0)
    trace = Trace(0, 10_000_000 * np.arange(500), np.column_stack([ramp] * 6))
    run = Identification(estimate, history, (), 5.0, {}, frozenset(), trace, (), None)
    curves = wrench_curves(trace)
    whole = ElementTree.fromstring(
        f"<div>{estimate_section(run)}{wrench_section(curves, curves, run)}</div>")
    charts = list(whole.iter("svg"))
    axes = Axes((0.0, 5.0), (0.0, 1.0))
    first, last = float(axes.x(1.5)), float(axes.x(3.0))
    assert len(charts) == 6
    for picture in charts:
        (shaded,) = picture.findall("{*}rect")
        left, width = float(shaded.get("x", "")), float(shaded.get("width", ""))
        assert left == pytest.approx(first, abs=0.6) and width == pytest.approx(last - first, abs=1)
