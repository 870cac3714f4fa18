# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Ordinary motion of which one run went wrong once."""

from __future__ import annotations

import pytest

from benchmarks.faults.ordinary import draw, play


@pytest.mark.slow
def test_a_precise_sensor_that_has_rested_for_long_gives_the_payload() -> None:
    """What is only linearised badly when the arm sets out was taken for errors of the calibration:
    half of the estimates failed, others were wrong, and in the end all was forgotten."""
    report = play(draw(0), 60.0)
    assert not report.wrong, report.wrong
    assert report.findings["estimate_lost"] == report.findings["cable"] == 0
    assert report.estimates >= 38  # one a second, once it moves after 20 s


@pytest.mark.slow
def test_small_errors_after_long_rests_are_no_cable_and_turn_nothing() -> None:
    """They were explained by a far point that pulls along gravity, at the cost of the mass, and by
    a calibration of twice its data sheet, with a sensor turned by 30 degrees."""
    report = play(draw(3), 60.0)
    assert report.findings["cable"] == report.findings["frame_wrong"] == 0
    assert len(report.wrong) <= 2, report.wrong  # in the first two seconds of motion
    assert report.estimates >= 38
