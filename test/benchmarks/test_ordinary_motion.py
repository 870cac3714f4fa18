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
