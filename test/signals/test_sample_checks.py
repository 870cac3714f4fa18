# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Gates at intake, and the log of findings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from synthetic import START, settings

from inertial_id_ros.findings import FindingLog
from inertial_id_ros.signals.ring_buffer import LATE, REORDERED, REPEATED, STORED, SampleRing
from inertial_id_ros.signals.sample_checks import WrenchChecks
from inertial_id_ros.signals.stream_watch import DropCounters


def _gate(**changes: float) -> tuple[WrenchChecks, FindingLog]:
    log = FindingLog()
    return WrenchChecks(settings(**changes).wrench, log), log


def test_a_good_sample_passes_unchanged() -> None:
    gate, log = _gate(wrench__range=(100.0, 5.0))
    sample = gate.check(START, [1.0, -99.8, 3.0], [0.1, 0.2, -4.9])
    assert sample == (1.0, -99.8, 3.0, 0.1, 0.2, -4.9)
    assert log.all() == ()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("channel", range(6))
def test_a_sample_that_is_not_finite_in_any_channel_is_dropped(bad: float, channel: int) -> None:
    gate, log = _gate()
    values = [0.0] * 6
    values[channel] = bad
    assert gate.check(START, values[:3], values[3:]) is None
    assert [f.name for f in log.all()] == ["samples_invalid.wrench"]


@pytest.mark.parametrize("stamp", [0, -1])
def test_a_sample_without_a_stamp_is_dropped(stamp: int) -> None:
    gate, log = _gate()
    assert gate.check(stamp, [0.0] * 3, [0.0] * 3) is None
    assert [f.name for f in log.all()] == ["stamp_missing.wrench"]


@pytest.mark.parametrize(("force", "torque", "passes"), [
    ([0.0, 99.95, 0.0], [0.0] * 3, False), ([0.0, 0.0, -100.0], [0.0] * 3, False),
    ([0.0, 0.0, 250.0], [0.0] * 3, False), ([0.0] * 3, [0.0, 0.0, 5.0], False),
    ([99.0, 0.0, 0.0], [4.9, 0.0, 0.0], True),
])
def test_a_saturated_channel_drops_the_sample(
        force: list[float], torque: list[float], passes: bool) -> None:
    gate, log = _gate(wrench__range=(100.0, 5.0))
    assert (gate.check(START, force, torque) is not None) is passes
    assert [f.name for f in log.all()] == ([] if passes else ["samples_saturated.wrench"])


def test_without_a_range_only_the_impossible_is_dropped() -> None:
    gate, log = _gate()
    assert gate.check(START, [9e5] * 3, [9e5] * 3) is not None and log.all() == ()
    assert gate.check(START, [1e200, 0.0, 0.0], [0.0] * 3) is None
    assert [f.name for f in log.all()] == ["samples_saturated.wrench"]


def test_what_the_ring_says_is_counted() -> None:
    log = FindingLog()
    drops, ring = DropCounters(log, "wrench", "wrench samples"), SampleRing(1, 10)
    for result, strays in ((STORED, 0), (REORDERED, 0), (REPEATED, 0), (LATE, 0), (LATE, 1)):
        ring.strays = strays
        drops.count(result, ring)
    assert {f.name: f.text for f in log.all()} == {
        "samples_reordered.wrench": "wrench samples that came out of order put where they belong "
                                    "(once)",
        "stamp_stray.wrench": "wrench samples with a stamp far from those before and after "
                              "dropped (once)",
        "samples_repeated.wrench": "wrench samples with a repeated stamp dropped (once)",
        "samples_late.wrench": "wrench samples that came too late dropped (2 times)"}


def test_stamps_that_stand_still_are_named_and_doubled_ones_are_not() -> None:
    log = FindingLog()
    drops, ring = DropCounters(log, "wrench", "wrench samples"), SampleRing(1, 1000)
    for stamp in range(START, START + 300):  # each three times
        for _ in range(3):
            drops.count(ring.append(stamp, [0.0]), ring)
    assert [f.name for f in log.all()] == ["samples_repeated.wrench"]
    for _ in range(50):
        drops.count(ring.append(START + 299, [0.0]), ring)
    still, = (f for f in log.all() if f.name == "stamps_still.wrench")
    assert still.level == "warning" and "stands still" in still.text and "(once)" in still.text


def test_findings_are_kept_by_name_with_errors_first() -> None:
    log = FindingLog()
    log.count("a", "seen", "info")
    log.count("a", "seen", "info")
    log.set("b", "error", "broken")
    log.set("c", "warning", "old")
    log.set("c", "warning", "new")
    assert [(f.name, f.text) for f in log.all()] == [
        ("b", "broken"), ("c", "new"), ("a", "seen (2 times)")]
    log.clear("a", "unknown")
    log.count("a", "seen")
    assert [f.text for f in log.all() if f.name == "a"] == ["seen (once)"]
    log.clear_all()
    assert log.all() == () and np.size(log.all()) == 0


def test_what_kept_all_samples_out_is_the_reason() -> None:
    gate, _ = _gate(wrench__range=(100.0, 0.0))
    assert gate.explain_silence("/ft", None) == "no wrench received on '/ft'"
    for stamp, force, said in ((START, math.nan, "hold NaN or infinity"),
                               (0, 1.0, "are without a stamp"),
                               (START, 100.0, "are saturated, or not in N and N m")):
        assert gate.check(stamp, [force, 0.0, 0.0], [0.0] * 3) is None
        assert gate.explain_silence("/ft", "a reset") == (
            f"no usable wrench on '/ft': the samples {said}")
    assert gate.check(START, [1.0, 0.0, 0.0], [0.0] * 3) is not None
    assert gate.explain_silence("/ft", None) == "no wrench received on '/ft'"
