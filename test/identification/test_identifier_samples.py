# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Bad samples, holes and clocks that jump: counted, left out, and recovered from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from synthetic import (
    BODY,
    JOINTS,
    SECOND,
    START,
    URDF,
    Recording,
    Scene,
    assert_body,
    identifier,
    recording,
    stamps,
    texts,
    transform_messages,
    wrench_messages,
)

from inertial_id_ros.estimate import Estimate
from inertial_id_ros.settings.inputs import KinematicsSettings


def test_repeated_samples_change_nothing() -> None:
    once, twice = identifier(), identifier()
    samples = recording(4.0)
    samples.feed(once, 0.1)
    Recording([m for m in samples.messages for _ in range(2)]).feed(twice, 0.1)
    np.testing.assert_array_equal(twice.solve().report, once.solve().report)
    assert "repeated stamp" in texts(twice)["samples_repeated.wrench"]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "finding", "bad"), [
    ("add_wrench", "samples_invalid.wrench",
     lambda s, frame, f, t: (s, frame, [f[0], np.nan, f[2]], t)),
    ("add_wrench", "samples_invalid.wrench", lambda s, frame, f, t: (s, frame, f, [np.inf] * 3)),
    ("add_wrench", "stamp_missing.wrench", lambda s, frame, f, t: (0, frame, f, t)),
    ("add_wrench", "samples_saturated.wrench", lambda s, frame, f, t: (s, frame, [500.0, 0.0, 0.0],
                                                                       t)),
    ("add_wrench", "sensor_frame.changed", lambda s, frame, f, t: (s, "other", f, t)),
    ("add_joint_state", "samples_invalid.joints", lambda s, n, q: (s, n, [np.nan] * 5)),
    ("add_joint_state", "stamp_missing.joints", lambda s, n, q: (0, n, q)),
    ("add_joint_state", "joint_states_incomplete.names", lambda s, n, q: (s, [], q)),
    ("add_joint_state", "joint_states_incomplete", lambda s, n, q: (s, n, q[:2])),
    ("add_joint_state", "joint_states_incomplete", lambda s, n, q: (s, ["x"] * 5, q)),
])
def test_bad_samples_among_good_ones_are_dropped_and_counted(
        method: str, finding: str, bad: Any) -> None:
    rng = np.random.default_rng(4)
    messages = [(s, m, bad(*a) if m == method and s > START + SECOND and rng.random() < 0.1 else a)
                for s, m, a in recording(5.0).messages]
    made = identifier(wrench__range=(300.0, 0.0))
    Recording(messages).feed(made, 0.1)
    assert_body(made.solve())
    assert "times)" in texts(made)[finding]


def test_samples_that_come_too_late_are_dropped_and_counted() -> None:
    samples = recording(4.0)
    delayed = set(range(200, 1400, 41))
    late = [(s + 400_000_000 * (k in delayed), m, a)
            for k, (s, m, a) in enumerate(samples.messages)]
    made = identifier()
    Recording(late).sorted().feed(made, 0.05)
    assert_body(made.solve())
    assert {"samples_late.wrench", "samples_late.joints"} <= texts(made).keys()


def test_one_joint_state_from_the_future_does_not_shut_out_the_others() -> None:
    samples = recording(6.0)
    made = identifier()
    Recording(samples.messages[:800]).feed(made, 0.1)
    made.add_joint_state(START + 1000 * SECOND, JOINTS, [0.0] * 5)
    Recording(samples.messages[800:]).feed(made, 0.1)
    made.finish()
    outcome = made.solve()
    assert_body(outcome)
    assert outcome.samples > 950


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", range(4))
def test_nothing_that_arrives_raises_an_error_or_gives_numbers_that_are_none(seed: int) -> None:
    """Nonsense of every kind among good samples, with the pipeline advanced and solved."""
    rng = np.random.default_rng(seed)
    numbers = [0.0, 1.0, -1e300, np.nan, np.inf, 1e-300, 1e8, 1e20]
    frames = ["tool0", "", "/", "base_link", "world", "nowhere", "hand"]
    jumps = [0, 10**6, SECOND // 2, -SECOND // 2, 2 * SECOND, -2 * SECOND, 10**12, -START]

    def pick(values: list[Any], count: int) -> list[Any]:
        return [values[rng.integers(len(values))] for _ in range(count)]

    t = stamps(2.0, 100.0)
    good = (recording(2.0, wrench_rate=100.0, joint_rate=100.0)
            + transform_messages(*Scene().flange_in_base(t), t, "base_link", "tool0")).sorted()
    estimates = 0
    for trial in range(8):
        made = identifier([URDF, None][trial % 2], estimator__method=["lmi", "wls"][seed % 2])
        share = rng.random(4) * 0.03 * (rng.random(4) < 0.4)
        for k, (stamp, method, arguments) in enumerate(good.messages):
            bad, at = rng.random(4) < share, stamp + pick(jumps, 1)[0]
            if bad[0]:
                made.add_wrench(at, *pick(frames, 1), pick(numbers, 3), pick(numbers, 3))
            if bad[1]:
                made.add_joint_state(at, pick([*JOINTS, "x"], 5), pick(numbers, 4 + k % 3))
            if bad[2]:
                made.add_transform(at, *pick(frames, 2), pick(numbers, 3), pick(numbers, 4))
            if bad[3]:
                made.add_static_transform(*pick(frames, 2), pick(numbers, 3), pick(numbers, 4))
            getattr(made, method)(*arguments)
            if k % 41 == 0:
                made.advance()
                outcome = made.solve()
                if isinstance(outcome, Estimate):
                    estimates += 1
                    assert all(np.isfinite(x).all() for x in (
                        outcome.report, outcome.sigma, outcome.bias, outcome.residual_rms))
        made.finish()
        made.findings()
    assert estimates > 0


# ---- holes ---------------------------------------------------------------------------------------


def test_a_gap_in_the_wrench_is_left_out() -> None:
    samples = recording(8.0).select(
        lambda s, m: m != "add_wrench" or not 3 * SECOND < s - START < 5 * SECOND)
    made = identifier()
    samples.feed(made, 0.1)
    outcome = made.solve()
    assert_body(outcome)
    assert outcome.samples < 6 * 200


def test_rows_reach_across_a_gap_only_if_it_is_shorter_than_the_longest(
        monkeypatch: pytest.MonkeyPatch) -> None:
    samples = recording(5.0).select(
        lambda s, m: m != "add_wrench" or not 3 * SECOND < s - START < 3 * SECOND + 100_000_000)
    counts = []
    for longest in (0.05, 0.5):
        monkeypatch.setattr(KinematicsSettings, "max_gap", longest)
        made = identifier()
        samples.feed(made, 0.1)
        outcome = made.solve()
        assert_body(outcome)
        counts.append(outcome.samples)
    assert counts[0] < counts[1] - 40  # half a filter on each side


@pytest.mark.slow
@pytest.mark.parametrize("lag", [0, 400_000_000])
def test_a_gap_in_the_joint_states_is_left_out_even_if_the_wrench_lags(lag: int) -> None:
    """A lagging wrench asks for motion in the middle of the gap."""
    samples = recording(8.0).select(
        lambda s, m: m != "add_joint_state" or not 3 * SECOND < s - START < 4 * SECOND)
    order = sorted(samples.messages, key=lambda m: m[0] + lag * (m[1] == "add_wrench"))
    made = identifier()
    Recording(order).feed(made, 0.02)
    assert_body(made.solve())
    assert "samples_missing.motion" in texts(made)


def test_a_wrench_that_starts_long_before_the_joints_waits_for_them() -> None:
    samples = recording(6.0).select(
        lambda s, m: m != "add_joint_state" or s > START + int(1.5 * SECOND))
    made = identifier()
    samples.feed(made, 0.1)
    assert_body(made.solve())


# ---- clocks --------------------------------------------------------------------------------------


def test_a_looping_bag_flushes_at_every_turn_and_recovers() -> None:
    # The wrench first at each stamp: it flushes, and what came before it is forgotten.
    samples = Recording(sorted(recording(4.0).messages, key=lambda m: (m[0], m[1] != "add_wrench")))
    made, single = identifier(), identifier()
    samples.feed(single, 0.1)
    for _ in range(3):
        samples.feed(made, 0.1)
        np.testing.assert_allclose(made.solve().report, single.solve().report, rtol=1e-9)
    assert texts(made)["reset"].startswith("buffers flushed: the clock jumped back by 4.0 s")


def test_joint_states_in_flight_while_the_clock_jumps_do_not_block_the_new_ones() -> None:
    samples = recording(4.0)
    later = samples.moved(100 * SECOND)
    made = identifier()
    later.feed(made, 0.1)
    wrench = next(m for m in samples.messages if m[1] == "add_wrench")
    made.add_wrench(*wrench[2])
    for _, method, arguments in later.messages[-20:]:
        if method == "add_joint_state":
            made.add_joint_state(*arguments)
    samples.feed(made, 0.1)
    assert_body(made.solve())


def test_transforms_survive_a_clock_that_jumps_back() -> None:
    t = stamps(5.0, 125.0)
    samples = (transform_messages(*Scene().flange_in_base(t), t, "base_link", "tool0")
               + wrench_messages(Scene(), BODY, stamps(5.0, 200.0))).sorted()
    made = identifier(urdf=None)
    samples.moved(50 * SECOND).feed(made, 0.1)
    samples.feed(made, 0.1)
    assert_body(made.solve(), tolerance=3.0)
