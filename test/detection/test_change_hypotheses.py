# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Another payload, or another zero of the sensor: found, named, and the buffer flushed."""

from __future__ import annotations

import numpy as np
import pytest
from disturbed import (
    BIAS,
    OTHER,
    SCENES,
    SLOW,
    assert_truth,
    between,
    clean,
    found_at,
    identify,
    pushed,
    scraping,
    two,
)
from synthetic import (
    BODY,
    NOISE,
    SECOND,
    START,
    STILL,
    PointMasses,
    Scene,
    identifier,
    joint_messages,
    stamps,
    texts,
    wrench_messages,
)

from inertial_id_ros.estimate import NoEstimate

# ---- another payload -----------------------------------------------------------------------------


@pytest.mark.parametrize("scene", SCENES)
def test_a_payload_that_turns_in_the_gripper_is_another_one(scene: str) -> None:
    """It is as heavy as before; until now, it was held as a contact."""
    turned = PointMasses(BODY.points + [0.04, -0.03, 0.0], BODY.masses)
    made, samples = identify(), two(BODY, turned, 4.0, SCENES[scene])
    assert found_at(made, samples, "payload_changed") < 5.0
    assert texts(made)["payload_changed"] == (
        "payload changed: its centre of mass has moved; buffers flushed (once)")
    fresh = identify()
    samples.feed(fresh, 0.1)
    assert_truth(fresh, turned)


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize(("first", "second", "said"), [
    (BODY, OTHER, "from 1.40 to about 0.60 kg"), (OTHER, BODY, "from 0.60 to about 1.40 kg")])
def test_a_payload_that_changes_is_found_within_half_a_second(
        scene: str, first: PointMasses, second: PointMasses, said: str) -> None:
    made, samples = identify(), two(first, second, 4.0, SCENES[scene])
    assert found_at(made, samples, "payload_changed") < 4.5
    assert texts(made)["payload_changed"] == f"payload changed: {said}; buffers flushed (once)"
    outcome = made.solve()
    assert isinstance(outcome, NoEstimate) and outcome.reason.startswith(
        f"payload changed: {said}")
    fresh = identify()
    samples.feed(fresh, 0.1)
    assert assert_truth(fresh, second).window < 4.9
    assert set(texts(fresh)) <= {"payload_changed", "verdict", "misaligned.rotation",
                                 "misaligned.gravity"}


@pytest.mark.parametrize("mass", [0.1, 3.0])
def test_a_payload_gripped_at_rest_is_held_for_a_contact_until_the_arm_moves(
        mass: float) -> None:
    """At rest a contact reads the same; `test_contact_at_rest.py` has what the motion tells."""
    scene = Scene(STILL)
    both = PointMasses(np.vstack([BODY.points, [[0.05, 0.0, 0.2]]]), np.r_[BODY.masses, mass])
    made = identify()
    two(BODY, both, 2.0, scene, 4.0).feed(made, 0.02)
    assert "payload_changed" not in texts(made)
    assert "a payload gripped at rest looks the same" in texts(made)["contact"]


@pytest.mark.slow
def test_a_payload_lifted_slowly_is_found_when_it_hangs() -> None:
    """Its weight comes on within 1.5 s; before that nothing is said of its mass."""
    scene = SLOW
    a, b = scene.load(stamps(8.0, 200.0), OTHER), scene.load(stamps(8.0, 200.0), BODY)
    t = stamps(8.0, 200.0)
    extra = {round(x * 200): row for x, row in zip(t, a - b, strict=True)}

    def lifted(x: float) -> np.ndarray:
        # The reading of BODY less what does not hang yet; on_sensor reads the opposite of the load.
        share = np.clip((4.0 + 1.5 - x) / 1.5, 0.0, 1.0)
        return -share * extra[min(max(round(x * 200), 0), len(t) - 1)]

    made = identify(wrench__sensor="unknown")
    samples = pushed(clean(), lifted)
    found = found_at(made, samples, "payload_changed")
    assert 5.4 < found < 6.3
    assert texts(made)["payload_changed"].startswith(
        "payload changed: from 0.60 to about 1.4")
    fresh = identify(wrench__sensor="unknown")
    samples.feed(fresh, 0.1)
    assert_truth(fresh, BODY, 0.02, 3e-3)


def test_a_tool_that_is_set_down_and_taken_up_again_is_found_twice() -> None:
    made = identify()
    nothing = PointMasses(BODY.points, 1e-6 * BODY.masses)
    rng = np.random.default_rng(2)
    parts = [wrench_messages(SLOW, body, stamps(4.0, 200.0, start=4.0 * k), noise=NOISE, rng=rng,
                             bias=BIAS) for k, body in enumerate((BODY, nothing, BODY))]
    samples = joint_messages(SLOW, stamps(12.0, 200.0))
    for part in parts:
        samples = samples + part
    samples.sorted().feed(made, 0.1)
    assert_truth(made, BODY)
    assert "(2 times)" in texts(made)["payload_changed"]
    assert "zero_moved.wrench" not in texts(made)


def test_a_change_of_payload_is_not_looked_for_where_that_is_switched_off() -> None:
    made = identify(change__detect=False)
    two(BODY, OTHER, 4.0).feed(made, 0.1)
    assert_truth(made, BODY)
    assert "payload_changed" not in texts(made) and "contact" in texts(made)


# ---- another zero --------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_sensor_that_is_zeroed_while_it_carries_something_is_named() -> None:
    """Its reading jumps to nothing, and turning shows the weight again."""
    biased = clean(bias=BIAS)
    at = next(m for m in biased.messages if m[1] == "add_wrench" and m[0] > START + 4 * SECOND)[2]
    jump = -np.r_[at[2], at[3]]
    made = identify()
    pushed(biased, between(4.0, 99.0, jump)).feed(made, 0.1)
    assert_truth(made, BODY)
    assert texts(made)["zero_moved.wrench"].startswith("the sensor was zeroed, or its driver")
    assert "payload_changed" not in texts(made)


@pytest.mark.slow
@pytest.mark.parametrize("pause", [0.0, 2.0])
def test_a_driver_that_restarts_with_another_zero_is_named(pause: float) -> None:
    """Without a pause, contact that turns with the sensor would look the same."""
    jump = np.array([3.0, -4.0, 2.0, 0.1, 0.2, -0.1])
    samples = pushed(clean(12.0), between(4.0, 99.0, jump)).select(
        lambda s, m: m != "add_wrench" or not 4.0 < (s - START) * 1e-9 < 4.0 + pause)
    made = identify()
    samples.feed(made, 0.1)
    assert_truth(made, BODY)
    assert ("zero_moved.wrench" if pause else "zero_or_contact") in texts(made)
    assert "payload_changed" not in texts(made)
    assert ("samples_missing.wrench" in texts(made)) is (pause > 0.5)


def test_a_tare_does_not_survive_another_zero() -> None:
    """The bias would otherwise be held at its old value."""
    rng = np.random.default_rng(2)
    jump = np.array([3.0, -4.0, 2.0, 0.1, 0.2, 0.1])
    nothing = PointMasses(BODY.points, 1e-9 * BODY.masses)
    empty = (joint_messages(Scene(STILL), stamps(2.0, 200.0)) + wrench_messages(
        Scene(STILL), nothing, stamps(2.0, 200.0), noise=NOISE, rng=rng, bias=BIAS)).sorted()
    made = identify()
    empty.moved(-30 * SECOND).feed(made, 0.1)
    made.tare()
    pushed(clean(bias=BIAS), between(4.0, 99.0, jump)).feed(made, 0.1)
    outcome = assert_truth(made, BODY)
    np.testing.assert_allclose(outcome.bias, np.array(BIAS) + jump, atol=0.3)


# ---- however the stream is cut -------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("cadence", [0.013, 0.5, None])
def test_the_same_is_found_however_the_stream_is_cut(cadence: float | None) -> None:
    samples = pushed(two(BODY, OTHER, 5.0, SCENES["fast"], 10.0), between(2.5, 3.2, scraping))
    made, other = (identifier(estimator__estimate_noise=True) for _ in range(2))
    samples.feed(made, 0.1)
    samples.feed(other, cadence)
    np.testing.assert_allclose(other.solve().report, made.solve().report, rtol=1e-9, atol=1e-12)
    assert texts(other) == texts(made)
    assert {"contact", "payload_changed"} <= set(texts(made))
