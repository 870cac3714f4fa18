# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Parts of a report: what is left of a wrench, charts and views."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.axes import Axes
from synthetic import identifier, payload, recording

from inertial_id_ros.apps.report.diagnosis import Diagnosis, diagnose
from inertial_id_ros.apps.report.figures import Curve, chart
from inertial_id_ros.apps.report.page import Figures
from inertial_id_ros.apps.report.payload_page import estimate_section, wrench_section
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


def test_the_report_shades_contacts_within_the_time_of_a_chart(
        estimate: Estimate, monkeypatch: pytest.MonkeyPatch) -> None:
    touch = (Finding("contact", "warning", "touched"),)
    history = tuple(Snapshot(t, estimate, touch if 1.9 < t <= 3.1 else ())
                    for t in np.arange(0.5, 5.1, 0.5))
    ramp = 1e-3 * np.arange(500.0)
    trace = Trace(0, 10_000_000 * np.arange(500), np.column_stack([ramp] * 6))
    run = Identification(estimate, history, (), 5.0, {}, frozenset(), trace, (), None)
    shaded: list[tuple[float, float]] = []
    monkeypatch.setattr(Axes, "axvspan", lambda self, *span, **_: shaded.append(span))
    curves = wrench_curves(trace)
    sections = (estimate_section(run), wrench_section(curves, curves, run))
    figures = [figure for section in sections for part in section.parts
               if isinstance(part, Figures) for figure in part.figures]
    assert len(figures) == 6 and shaded == [(1.5, 3.0)] * 6


def test_a_chart_shows_the_curve_and_its_gaps() -> None:
    """As SVG, well formed: a gap begins another piece of the path."""
    time = np.linspace(0.0, 10.0, 50)
    value = np.where((time > 4.0) & (time < 6.0), np.nan, time)
    figure = chart("t", "kg", [Curve("", time, value, "x")], "d", (0.0, 10.0))
    root = ElementTree.fromstring(b64decode(figure.svg))
    paths = [path.get("d", "") for path in root.iterfind(".//{*}path")
             if "#b3261e" in path.get("style", "")]
    assert [path.count("M") for path in paths] == [2]
