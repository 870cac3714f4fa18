# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint states or transforms that stop, and clocks that differ by seconds, have their findings."""

from __future__ import annotations

import math

import pytest
from synthetic import (
    SECOND,
    START,
    Recording,
    Scene,
    identifier,
    recording,
    stamps,
    texts,
    transform_messages,
)

from inertial_id_ros.estimate import Estimate, NoEstimate
from inertial_id_ros.findings import FindingLog
from inertial_id_ros.signals.stream_watch import APART, STOPPED, StreamWatch


def _joint_clock_ahead(samples: Recording, by: float) -> Recording:
    """The same messages at the same moments, with the stamps of the joint states moved."""
    shift = round(by * SECOND)
    return samples.changed("add_joint_state", lambda stamp, *rest: (stamp + shift, *rest))


def test_streams_that_go_on_together_are_no_finding() -> None:
    made = identifier()
    recording(6.0).feed(made, 0.1)
    assert isinstance(made.solve(), Estimate) and not {STOPPED, APART} & set(texts(made))


def test_joint_states_that_stop_are_named_and_the_estimate_is_held() -> None:
    made = identifier(joint_states__topic="/arm/joint_states")
    samples = recording(12.0)
    silent = samples.select(lambda s, m: m != "add_joint_state" or not 4.0 <= (s - START) / SECOND
                            <= 9.0)
    parts = [silent.select(lambda s, m: s < START + 5 * SECOND),
             silent.select(lambda s, m: START + 5 * SECOND <= s < START + 8 * SECOND),
             silent.select(lambda s, m: s >= START + 8 * SECOND)]
    parts[0].feed(made, 0.1)
    assert isinstance(made.solve(), Estimate) and STOPPED not in texts(made)
    parts[1].feed(made, 0.1)
    held = made.solve()
    assert isinstance(held, Estimate) and held.stale
    assert "no joint states on '/arm/joint_states' for 4 s" in texts(made)[STOPPED]
    parts[2].feed(made, 0.1)
    again = made.solve()
    assert isinstance(again, Estimate) and not again.stale and STOPPED not in texts(made)


def test_transforms_that_stop_are_named() -> None:
    scene = Scene()
    t = stamps(3.0, 100.0)
    moving = transform_messages(*scene.flange_in_base(t), t, "base_link", "tool0")
    wrench = recording(7.0).select(lambda s, m: m == "add_wrench")
    made = identifier(None)
    (moving + wrench).sorted().feed(made, 0.1)
    assert "no transforms on '/tf' for 4 s" in texts(made)[STOPPED]


@pytest.mark.parametrize(("by", "said"), [(5.0, "5.0 s behind those of the joint states"),
                                          (-3.0, "3.0 s ahead of those of the joint states")])
def test_clocks_that_differ_by_seconds_are_named(by: float, said: str) -> None:
    made = identifier()
    _joint_clock_ahead(recording(8.0), by).feed(made, 0.1)
    assert said in texts(made)[APART] and STOPPED not in texts(made)
    made.reset("asked")
    recording(3.0).moved(20 * SECOND).feed(made, 0.1)
    assert APART not in texts(made)


def test_a_wrench_that_pauses_says_nothing_about_the_joint_states() -> None:
    made = identifier()
    samples = recording(10.0)
    pause = samples.select(lambda s, m: m != "add_wrench" or not 3.0 <= (s - START) / SECOND <= 7.0)
    middle = START + 6 * SECOND
    for part in (pause.select(lambda s, m: s < middle), pause.select(lambda s, m: s >= middle)):
        part.feed(made, 0.1)
        assert not {STOPPED, APART} & set(texts(made))


@pytest.mark.slow
def test_motion_that_arrives_before_all_wrenches_has_not_stopped() -> None:
    made = identifier()
    samples = recording(30.0, wrench_rate=500.0, joint_rate=100.0)
    first = samples.select(lambda s, m: m == "add_joint_state")
    (first + samples.select(lambda s, m: m == "add_wrench")).feed(made)
    assert not {STOPPED, APART} & set(texts(made))


def test_samples_without_numbers_are_the_reason_for_no_estimate() -> None:
    made = identifier(wrench__topic="/ft")
    recording(2.0).changed("add_wrench", lambda stamp, frame, force, torque: (
        stamp, frame, [math.nan] * 3, torque)).feed(made, 0.1)
    outcome = made.solve()
    assert isinstance(outcome, NoEstimate)
    assert outcome.reason == "no usable wrench on '/ft': the samples hold NaN or infinity"


def test_an_offset_that_is_known_and_taken_out_is_no_difference_of_clocks() -> None:
    for early, said in ((0, {APART}), (3 * SECOND // 2, set())):
        findings = FindingLog()
        watch = StreamWatch(findings)
        for k in range(3):
            watch.compare(START + k * SECOND, START + k * SECOND + 3 * SECOND // 2, "joint states",
                          "joint_states", early)
        assert {finding.name for finding in findings.all()} == said
