# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A wrench that follows the motion in another way than before is found; a contact is not taken for
it, however long."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from disturbed import (
    BIAS,
    FAST,
    OTHER,
    assert_truth,
    between,
    clean,
    found_at,
    identify,
    pushed,
    scraping,
    two,
)
from synthetic import BODY, SECOND, START, Recording, texts

from inertial_id_ros.estimate import Estimate

AT = 6.0  # s
WORD = "follows the motion in another way"


def read_by(gain: np.ndarray, seconds: float = 24.0) -> Recording:
    """A recording whose sensor has another gain (6, 6) from AT on."""
    def change(stamp: int, frame: str, force: list[float], torque: list[float]) -> tuple[Any, ...]:
        read = np.r_[force, torque]
        if stamp >= START + AT * 1e9:
            read = gain @ read
        return stamp, frame, read[:3].tolist(), read[3:].tolist()
    return clean(seconds, "fast", BIAS).changed("add_wrench", change)


def stuck(samples: Recording) -> Recording:
    """The sensor repeats a reading with fresh stamps from AT on."""
    held: list[Any] = []

    def change(stamp: int, frame: str, force: list[float], torque: list[float]) -> tuple[Any, ...]:
        if stamp >= START + AT * 1e9:
            held[:] = held or [force, torque]
            force, torque = held
        return stamp, frame, force, torque
    return samples.changed("add_wrench", change)


@pytest.mark.slow
def test_a_gain_that_doubles_ends_what_was_learnt_within_seconds() -> None:
    """Nothing but twice the payload explains it, so that this is what comes after it."""
    made, samples = identify(), read_by(2.0 * np.eye(6))
    assert found_at(made, samples, "estimate_lost") < AT + 12.0
    assert WORD in texts(made)["estimate_lost"]
    last = [m for m in samples.messages if m[0] > made.newest_ns]
    Recording(last).feed(made, 0.1)
    outcome = made.solve()
    assert isinstance(outcome, Estimate) and not outcome.stale
    assert outcome.report[0] == pytest.approx(2.0 * BODY.report[0], rel=0.01)
    np.testing.assert_allclose(outcome.report[1:4], BODY.report[1:4], atol=2e-3)


@pytest.mark.slow
def test_a_sensor_that_repeats_one_reading_leaves_the_estimate_before_it() -> None:
    made = identify()
    stuck(clean(24.0, "fast", BIAS)).feed(made, 0.1)
    outcome = made.solve()
    assert isinstance(outcome, Estimate) and outcome.stale
    assert "the same to the last bit" in texts(made)["input_stuck.wrench"]
    assert "estimate_lost" not in texts(made)


@pytest.mark.slow
def test_the_result_is_the_same_however_the_stream_is_cut() -> None:
    whole, cut, samples = identify(), identify(), read_by(2.0 * np.eye(6), 20.0)
    samples.feed(whole, 5.0)
    samples.feed(cut, 0.03)
    one, other = whole.solve(), cut.solve()
    assert isinstance(one, Estimate) and isinstance(other, Estimate)
    np.testing.assert_allclose(one.phi, other.phi, rtol=1e-9)
    assert WORD in texts(whole)["estimate_lost"] and WORD in texts(cut)["estimate_lost"]


@pytest.mark.slow
@pytest.mark.parametrize("scene", ["slow", "fast"])
def test_a_contact_of_a_minute_holds_the_estimate_throughout(scene: str) -> None:
    made, held = identify(), []
    samples = pushed(clean(74.0, scene), between(8.0, 68.0, scraping))
    due = START
    for stamp, method, arguments in samples.messages:
        getattr(made, method)(*arguments)
        if stamp >= due:
            made.advance()
            due = stamp + 500_000_000
            outcome = made.solve()
            if START + 9e9 < stamp < START + 68.2e9:
                held.append(isinstance(outcome, Estimate) and outcome.stale)
            assert stamp < START + 2e9 or isinstance(outcome, Estimate), outcome
    assert len(held) > 100 and all(held)
    assert assert_truth(made, BODY).stamp_ns > START + 70 * SECOND
    assert "estimate_lost" not in texts(made)


@pytest.mark.slow
@pytest.mark.parametrize("at", [4.1, 4.6])
def test_a_payload_that_is_gripped_while_no_motion_comes_never_makes_an_old_one_new(
        at: float) -> None:
    """The rows from before the gap are complete only after it, when they tell nothing of now."""
    samples = two(BODY, OTHER, at, seconds=9.0)
    kept = [m for m in samples.messages
            if m[1] != "add_joint_state" or not 4.0 < (m[0] - START) * 1e-9 < 5.5]
    made, due, fresh = identify(), START, {}
    for stamp, method, arguments in kept:
        getattr(made, method)(*arguments)
        if stamp >= due:
            made.advance()
            due = stamp + 50_000_000
            outcome = made.solve()
            if isinstance(outcome, Estimate) and not outcome.stale:
                fresh[(stamp - START) * 1e-9] = float(outcome.report[0] / OTHER.report[0]) - 1.0
    assert not [t for t, error in fresh.items() if t > at + 0.6 and abs(error) > 0.05]
    assert abs(fresh[max(fresh)]) < 0.01 and max(fresh) > 8.8


@pytest.mark.slow
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_the_first_row_after_a_gap_is_no_evidence_of_a_change_by_itself() -> None:
    """A payload is gripped just before the motion is missing: one row cannot tell what it means."""
    made, due = identify(), START
    for stamp, method, arguments in two(BODY, OTHER, 3.8, FAST, 9.0).messages:
        if method == "add_joint_state" and 4.0 < (stamp - START) * 1e-9 < 5.5:
            continue
        getattr(made, method)(*arguments)
        if stamp >= due:
            made.advance()
            due = stamp + 50_000_000
    assert_truth(made, OTHER, 0.02, 4e-3)
