# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Inputs that contradict each other or the arm: named, left out, and gone without a trace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from disturbed import FAST, OTHER, assert_truth, clean, identify, two
from injected_faults import AT, JOINT, TRANSFORM, WRENCH, Change, change_some, transform_recording
from synthetic import BODY, SECOND, START, Recording, texts

from inertial_id_ros.estimate import IDENTIFIED, Estimate, NoEstimate
from inertial_id_ros.identification.knowledge import Recovery
from inertial_id_ros.identification.wrench.identifier import Identifier


def froze(lasts: float) -> Change:
    """Joint states repeat a position for some seconds."""
    held: list[Any] = []

    def change(stamp: int, a: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        held[:] = held or a[2]
        return [(a[0], a[1], list(held))]
    return change_some(JOINT, change, lasts)


def stamps_moved(by: float) -> Change:
    """Joint states carry stamps of another clock for two seconds."""
    return change_some(JOINT, lambda s, a: [(a[0] + int(by * SECOND), *a[1:])], 2.0)


def contradicted(lasts: float) -> Change:
    """A second sensor, with nothing on it, publishes on the same topic."""
    return change_some(WRENCH, lambda s, a: [a, (a[0] + 2_000_000, a[1], [1.0, 0.0, -2.0],
                                                 [0.0, 0.1, 0.0])], lasts)


def shuffled(samples: Recording) -> Recording:
    """Joint states of a second carry each other's stamps."""
    rng = np.random.default_rng(4)
    hits = [k for k, m in enumerate(samples.messages) if m[1] == JOINT and AT <= m[0] < AT + SECOND]
    order = np.argsort([samples.messages[k][0] + rng.integers(0, 60_000_000) for k in hits])
    messages = list(samples.messages)
    for hit, other in zip(hits, order.tolist(), strict=True):
        stamp, kind, arguments = messages[hit]
        messages[hit] = stamp, kind, (*arguments[:2], samples.messages[hits[other]][2][2])
    return Recording(messages)


FAULTS: dict[str, tuple[Change, str]] = {
    "frozen for .2 s": (froze(0.2), "motion_frozen.joints"),
    "frozen for 3 s": (froze(3.0), "motion_frozen.joints"),
    "stamps ahead": (stamps_moved(0.4), "streams_mixed.joints"),
    "stamps behind": (stamps_moved(-0.4), "streams_mixed.joints"),
    "shuffled": (shuffled, "streams_mixed.joints"),
    "contradicted": (contradicted(2.0), "streams_mixed.wrench"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_it_is_named_and_the_estimate_is_never_wrong_and_new(name: str) -> None:
    """From a second after the fault on; in the end it is as right as ever."""
    change, finding = FAULTS[name]
    made, due, said = identify(), START, set[str]()
    for stamp, method, arguments in change(clean(12.0, "fast")).messages:
        getattr(made, method)(*arguments)
        if stamp < due:
            continue
        made.advance()
        outcome, due = made.solve(), stamp + SECOND // 5
        said |= set(texts(made))
        if isinstance(outcome, Estimate) and not outcome.stale and stamp > START + 2 * SECOND:
            np.testing.assert_allclose(outcome.report[0], BODY.report[0], rtol=0.02)
            np.testing.assert_allclose(outcome.report[1:4], BODY.report[1:4], atol=5e-3)
    assert finding in said
    assert_truth(made, BODY)
    assert not {"payload_changed", "zero_moved.wrench", "estimate_lost"} & said


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(
    FAULTS.keys() - {"stamps ahead", "stamps behind"}))
def test_the_result_is_the_same_however_the_stream_is_cut(name: str) -> None:
    """But for stamps that shift: they are seen as they arrive, and what comes too late depends on
    what was used by then."""
    outcomes = []
    for cadence in (0.02, 0.37, None):
        made = identify()
        FAULTS[name][0](clean(9.0, "fast")).feed(made, cadence)
        made.finish()
        outcomes.append((made.solve(), set(texts(made))))
    (first, said), *others = outcomes
    assert isinstance(first, Estimate)
    for outcome, texts_ in others:
        assert isinstance(outcome, Estimate) and texts_ == said
        assert outcome.samples == first.samples
        np.testing.assert_allclose(outcome.report, first.report, rtol=1e-9, atol=1e-12)


def test_joint_states_that_stay_frozen_are_named_while_they_are() -> None:
    made = identify()
    froze(9.0)(clean(4.0, "fast")).feed(made, 0.05)
    outcome = made.solve()
    assert not isinstance(outcome, Estimate) or outcome.stale
    assert "motion_frozen.joints" in texts(made) and "contact" not in texts(made)
    assert "is frozen: it moved at" in {f.name: f.text for f in made.findings()}[
        "motion_frozen.joints"]


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_joint_states_that_were_frozen_before_it_moved_are_suspected() -> None:
    """An arm that never moves tells no load that a residual could be compared with."""
    held: list[Any] = []

    def change(stamp: int, names: Any, positions: Any) -> tuple[Any, ...]:
        held[:] = held or positions
        return stamp, names, list(held)
    made = identify()
    clean(8.0, "fast").changed(JOINT, change).feed(made, 0.1)
    outcome = made.solve()
    assert not isinstance(outcome, Estimate) or IDENTIFIED not in outcome.verdict
    assert "input_stuck.joints" in texts(made)


@pytest.mark.slow
def test_transforms_that_freeze_are_named_left_out_and_forgotten() -> None:
    held: dict[str, tuple[Any, ...]] = {}

    def change(stamp: int, a: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return [(a[0], *held.setdefault(a[2], a[1:]))]
    frozen = change_some(TRANSFORM, change, 1.0)(transform_recording())
    made, said = identify(urdf=None), set[str]()
    for cadence in (0.1, None):
        made = identify(urdf=None)
        frozen.feed(made, cadence)
        assert_truth(made, BODY, 0.02, 4e-3)
        said = set(texts(made))
        assert "motion_frozen.transforms" in said and "contact" not in said


def test_two_publishers_from_the_start_give_no_estimate_but_the_reason() -> None:
    samples = clean(5.0, "fast")
    both = Recording([item for s, m, a in samples.messages for item in (
        [(s, m, a), (s, m, (a[0] + 1_000_000, a[1], [0.0] * 3, [0.0] * 3))] if m == WRENCH
        else [(s, m, a)])])
    made, due = identify(), START
    for stamp, method, arguments in both.messages:
        getattr(made, method)(*arguments)
        if stamp >= due:
            due = stamp + SECOND // 10
            made.advance()
            assert isinstance(made.solve(), NoEstimate)
    outcome = made.solve()
    assert isinstance(outcome, NoEstimate) and "two publishers" in outcome.reason
    assert {f.name: f.level for f in made.findings()}["streams_mixed.wrench"] == "error"
    samples.moved(5 * SECOND).feed(made, 0.1)
    assert_truth(made, BODY)
    assert "streams_mixed.wrench" not in texts(made)


def _is_valid(made: Identifier) -> bool:
    return isinstance(made.solve(), Estimate)


def test_publishers_that_the_graph_shows_are_believed_before_the_samples_show_it() -> None:
    made = identify()
    clean(4.0, "fast").feed(made, 0.1)
    assert _is_valid(made)
    made.add_publishers("2 publishers: /one, /two")
    clean(2.0, "fast").moved(4 * SECOND).feed(made, 0.1)
    outcome = made.solve()
    assert isinstance(outcome, NoEstimate) and outcome.reason == "2 publishers: /one, /two"
    made.add_publishers("")
    clean(4.0, "fast").moved(6 * SECOND).feed(made, 0.1)
    assert_truth(made, BODY)
    assert "several_publishers.wrench" not in texts(made)


def test_what_explains_nothing_is_forgotten_ever_more_rarely_and_then_needs_more_data() -> None:
    made, forgotten = Recovery(), []
    for second in range(200):
        if made.is_due(second * SECOND, explained=False):
            forgotten.append(second)
    assert forgotten == [10, 31, 72, 153]
    assert made.least_duration(1.0) == 3.0 and made.least_duration(5.0) == 5.0
    for second in range(200, 230):
        assert not made.is_due(second * SECOND, explained=True)
    assert made.least_duration(1.0) == 1.0
    assert [s for s in range(230, 250) if made.is_due(s * SECOND, explained=False)] == [240]


@pytest.mark.slow
def test_a_wrong_sign_that_ends_leaves_nothing_behind_that_must_be_reset() -> None:
    made, due, right = identify(), START, 0
    end = START + 12 * SECOND
    for stamp, method, a in clean(45.0).messages:
        if method == WRENCH and stamp < end:
            a = (*a[:2], (-np.array(a[2])).tolist(), (-np.array(a[3])).tolist())
        getattr(made, method)(*a)
        if stamp >= due:
            made.advance()
            outcome, due = made.solve(), stamp + SECOND // 2
            right += isinstance(outcome, Estimate)
            assert isinstance(outcome, NoEstimate) or stamp > end
    assert_truth(made, BODY)
    assert right > 10 and "identification starts again" in texts(made)["estimate_lost"]


@pytest.mark.slow
def test_no_fault_of_the_inputs_brings_back_data_from_before_another_tool_was_set() -> None:
    made, samples = identify(), two(BODY, OTHER, 3.0, FAST, 8.0)
    set_at = START + 5 * SECOND
    samples.select(lambda stamp, _: stamp < set_at).feed(made, 0.05)
    assert "payload_changed" in texts(made)
    made.set_tool(None)
    samples.select(lambda stamp, _: stamp >= set_at).feed(made, 0.05)
    made._known.take_back_changes(0)  # as a fault that has spoiled everything from the beginning on
    made._road.replay_window()
    outcome = made.solve()
    assert isinstance(outcome, Estimate) and outcome.window < 3.1
    np.testing.assert_allclose(outcome.report[0], OTHER.report[0], rtol=0.02)
