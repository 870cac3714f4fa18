# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Provisional rows: there early, right, and a function of where the data end."""

from __future__ import annotations

import numpy as np
import pytest
from disturbed import SLOW, assert_truth, between, clean, identify, pushed, scraping
from synthetic import (
    BODY,
    NOISE,
    SECOND,
    START,
    Recording,
    Scene,
    identifier,
    joint_messages,
    payload,
    recording,
    stamps,
    texts,
    wrench_messages,
)

from inertial_id_ros.estimate import UNOBSERVED, Estimate
from inertial_id_ros.identification.wrench.identifier import Identifier


def solved(made: Identifier) -> Estimate:
    """The estimate, which there must be."""
    outcome = made.solve()
    assert isinstance(outcome, Estimate), outcome
    return outcome


def assert_equal(first: Estimate, second: Estimate) -> None:
    """Of the same rows."""
    assert (first.stamp_ns, first.samples) == (second.stamp_ns, second.samples)
    np.testing.assert_allclose(first.phi, second.phi, rtol=1e-7, atol=1e-10)


def test_rows_reach_nearly_to_the_newest_sample() -> None:
    made = identifier()
    samples = recording(3.0)
    samples.feed(made, 0.1)
    newest = samples.messages[-1][0]
    # Samples that may still be overtaken, half of the narrowest kernel, two bins that the detector
    # has not seen, one that is not full, and the grid of rows.
    assert newest - solved(made).stamp_ns < 0.02e9 + 0.1e9 + 0.03e9 + 0.05e9
    made.finish()
    assert newest - solved(made).stamp_ns < 0.1e9 + 0.03e9 + 0.05e9


def test_without_noise_they_are_as_exact_as_the_others() -> None:
    """The quartic's own error is all there is."""
    body = payload()
    made = identifier()
    recording(1.5, body=body).feed(made, 0.1)
    found = solved(made)
    np.testing.assert_allclose(found.report[:4], body.report[:4], rtol=2e-3, atol=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize("cadence", [0.013, 0.37, None])
@pytest.mark.parametrize("seconds", [1.3, 2.05, 3.21])
def test_they_do_not_depend_on_how_the_stream_is_cut(cadence: float | None,
                                                     seconds: float) -> None:
    samples = recording(seconds, noise=NOISE, rng=np.random.default_rng(3))
    one, other = identifier(), identifier()
    samples.feed(one, 0.1)
    samples.shuffled(np.random.default_rng(4), 15_000_000).feed(other, cadence)
    assert_equal(solved(one), solved(other))


@pytest.mark.slow
def test_asking_on_the_way_changes_nothing() -> None:
    samples = recording(3.0, noise=NOISE, rng=np.random.default_rng(3))
    asked, quiet = identifier(), identifier()
    for k, (_, method, arguments) in enumerate(samples.messages):
        getattr(asked, method)(*arguments)
        if k % 7 == 0:
            asked.advance()
            asked.solve()
    asked.advance()
    samples.feed(quiet)
    assert_equal(solved(asked), solved(quiet))


@pytest.mark.parametrize("ahead", ["joints", "wrench"])
def test_no_sample_after_the_end_is_used(ahead: str) -> None:
    """One of the two streams goes on for a while: the answer is that of the shorter one."""
    times = {"joints": 2.0, "wrench": 2.0, ahead: 2.3}
    noise = {"noise": NOISE, "rng": np.random.default_rng(5)}
    joints = joint_messages(Scene(), stamps(times["joints"], 200.0))
    wrenches = wrench_messages(Scene(), payload(), stamps(times["wrench"], 200.0), **noise)
    longer, even = identifier(), identifier()
    samples = (joints + wrenches).sorted()
    samples.feed(longer, 0.1)
    samples.select(lambda stamp, _: stamp < START + 2 * SECOND).feed(even, 0.1)
    assert_equal(solved(longer), solved(even))


def test_they_are_new_data_until_they_have_been_used() -> None:
    made, samples = identifier(), recording(3.0)
    samples.feed(made, 0.1)
    first = solved(made)
    assert not first.stale
    assert solved(made).stale
    assert made.advance() is not None and solved(made).stale
    later = recording(3.2).messages[len(samples.messages):]
    Recording(later).feed(made)
    second = solved(made)
    assert not second.stale and second.stamp_ns > first.stamp_ns


@pytest.mark.parametrize("push", [[30.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 6.0, -8.0, 0.0, 0.3, 0.0]])
def test_a_contact_does_not_enter_through_provisional_rows(push: list[float]) -> None:
    """Before it is found, its first samples lie where nothing has been judged yet."""
    begin = 3.0
    made = identify()
    samples = pushed(clean(), lambda t: np.asarray(push) * (t > begin))
    done = 0
    for seconds in np.arange(2.8, 3.6, 0.02):
        part = [m for m in samples.messages[done:] if m[0] < START + int(seconds * SECOND)]
        done += len(part)
        Recording(part).feed(made)
        if "contact" in texts(made):
            break
        assert_truth(made, BODY)
        late = seconds
    assert begin + 0.1 < late < begin + 0.3
    assert solved(made).stamp_ns < START + int(begin * SECOND)


def test_at_the_time_of_a_change_of_payload_the_estimate_is_of_one_or_none() -> None:
    other = payload(5, 0.6)
    made = identify()
    rng = np.random.default_rng(2)
    samples = (joint_messages(SLOW, stamps(6.0, 200.0))
               + wrench_messages(SLOW, BODY, stamps(3.0, 200.0), noise=NOISE, rng=rng)
               + wrench_messages(SLOW, other, stamps(3.0, 200.0, start=3.0), noise=NOISE,
                                 rng=rng)).sorted()
    done, masses, off = 0, [], []
    for seconds in np.arange(2.5, 6.0, 0.05):
        part = [m for m in samples.messages[done:] if m[0] < START + int(seconds * SECOND)]
        done += len(part)
        Recording(part).feed(made)
        outcome = made.solve()
        if isinstance(outcome, Estimate) and outcome.verdict[0] != UNOBSERVED:
            masses.append(outcome.report[0])
            errors = [abs(masses[-1] - m) for m in (BODY.report[0], 0.6)]
            off.append(min(errors) / np.sqrt(outcome.phi_covariance[0, 0]))
    assert max(off) < 4.0  # standard deviations: at first little is known of the new one
    assert masses[-1] == pytest.approx(0.6, rel=0.02)


@pytest.mark.slow
def test_stamps_do_not_go_back_when_the_newest_rows_turn_out_doubtful() -> None:
    """A push begins: rows that counted are left out, which a finding says; then they go on."""
    made = identify()
    samples = pushed(clean(), between(3.0, 4.0, scraping))
    seen, said, done = [], [], 0
    for seconds in np.arange(2.8, 7.0, 0.02):
        part = [m for m in samples.messages[done:] if m[0] < START + int(seconds * SECOND)]
        done += len(part)
        Recording(part).feed(made)
        outcome = solved(made)
        seen.append(outcome.stamp_ns)
        said.append(any("before the stamp are left out" in text for text in outcome.findings))
        # What the finding says is where the data of the estimate end.
        end = (made._window_solver.window_content().last + 1) * 10_000_000
        assert said[-1] == (outcome.stamp_ns > end)
    assert (np.diff(seen) >= 0).all()
    assert any(said) and not said[-1] and seen[-1] > START + 6.5 * SECOND
