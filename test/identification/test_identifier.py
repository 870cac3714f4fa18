# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The pipeline end to end on closed-form wrenches: every way in gives the payload's truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from synthetic import (
    BODY,
    JOINTS,
    MOUNT,
    NOISE,
    NOWHERE,
    RICH,
    STILL,
    TILT,
    URDF,
    PointMasses,
    Recording,
    Scene,
    Sinusoids,
    identifier,
    joint_messages,
    payload,
    recording,
    stamps,
    transform_messages,
    wrench_messages,
)

from inertial_id_ros.estimate import Estimate, Outcome
from inertial_id_ros.identification.wrench.identifier import Identifier

BIAS = np.array([2.0, -3.0, 1.0, 0.1, -0.2, 0.15])


def _static(made: Identifier, scene: Scene) -> str:
    """Publish what the scene has of fixed transforms; returns the name of the sensor frame."""
    if scene.base is not NOWHERE:
        made.add_static_transform("world", "base_link", scene.base.translation,
                                  scene.base.quaternion)
    if scene.mount is NOWHERE:
        return "tool0"
    made.add_static_transform("tool0", "sensor", scene.mount.translation, scene.mount.quaternion)
    return "sensor"


def _outcome(made: Identifier, samples: Recording, cadence: float | None = 0.1) -> Outcome:
    samples.feed(made, cadence)
    made.finish()
    return made.solve()


def _assert_truth(outcome: Outcome, body: PointMasses = BODY, tolerance: float = 1.0,
                  bias: np.ndarray | float = 0.0) -> None:
    """Within 0.5 g, 0.02 mm and 0.5 % of the inertia, times the tolerance."""
    assert isinstance(outcome, Estimate), outcome
    report, truth = outcome.report, body.report
    assert abs(report[0] - truth[0]) < 5e-4 * tolerance
    np.testing.assert_allclose(report[1:4], truth[1:4], atol=2e-5 * tolerance)
    np.testing.assert_allclose(report[4:], truth[4:], atol=5e-3 * tolerance * truth[4:].max())
    np.testing.assert_allclose(outcome.bias, np.full(6, bias) if np.isscalar(bias) else bias,
                               atol=5e-3 * tolerance)


@pytest.mark.parametrize(("convention", "sign"), [("on_sensor", -1.0), ("on_environment", 1.0)])
def test_both_sign_conventions_give_the_payload_and_the_bias_of_the_topic(
        convention: str, sign: float) -> None:
    made = identifier(wrench__convention=convention)
    _assert_truth(_outcome(made, recording(sign=sign, bias=BIAS)), bias=BIAS)


@pytest.mark.parametrize("scene", [Scene(base=TILT), Scene(mount=MOUNT),
                                   Scene(base=TILT, mount=MOUNT)],
                         ids=["tilted base", "mounted sensor", "both"])
def test_fixed_transforms_place_the_base_and_the_sensor(scene: Scene) -> None:
    made = identifier()
    frame = _static(made, scene)
    outcome = _outcome(made, recording(scene=scene, frame=frame))
    _assert_truth(outcome)
    assert outcome.frame_id == frame


@pytest.mark.parametrize("scene", [Scene(), Scene(base=TILT, mount=MOUNT)],
                         ids=["plain", "tilted base and mounted sensor"])
def test_transforms_alone_are_enough(scene: Scene) -> None:
    made = identifier(urdf=None)
    frame = _static(made, scene)
    t = stamps(6.0, 125.0)
    samples = (transform_messages(*scene.flange_in_base(t), t, "base_link", "tool0")
               + wrench_messages(scene, BODY, stamps(6.0, 200.0), frame=frame)).sorted()
    _assert_truth(_outcome(made, samples), tolerance=3.0)


def test_the_setting_sensor_frame_overrides_the_frame_of_the_messages() -> None:
    scene = Scene(mount=MOUNT)
    made = identifier(wrench__sensor_frame="/sensor")
    _static(made, scene)
    outcome = _outcome(made, recording(scene=scene, frame="some label"))
    _assert_truth(outcome)
    assert outcome.frame_id == "sensor" == made.sensor_frame


@pytest.mark.slow
def test_gravity_may_be_down_in_another_frame_than_the_root() -> None:
    made = identifier(gravity__frame="world")
    _static(made, Scene(base=TILT))
    _assert_truth(_outcome(made, recording(scene=Scene(base=TILT))))
    made = identifier(gravity__frame="base_link")
    _static(made, Scene(base=TILT))
    _assert_truth(_outcome(made, recording(scene=Scene())))


def _with_joints(names: tuple[str, ...]) -> Recording:
    scene = Scene()
    return (joint_messages(scene, stamps(6.0, 200.0), names)
            + wrench_messages(scene, BODY, stamps(6.0, 200.0))).sorted()


def test_the_order_of_joints_and_other_joints_do_not_matter() -> None:
    expected = _outcome(identifier(), _with_joints(JOINTS))
    mixed = _outcome(identifier(), _with_joints(
        ("finger", "roll", "slide", "camera", "turn", "bend", "lift")))
    _assert_truth(mixed)
    np.testing.assert_array_equal(mixed.report, expected.report)


def test_joints_wrapped_to_pi_give_the_same_answer() -> None:
    scene = Scene(motion=Sinusoids(RICH.offset + [2.9, -2.9, 0.0, 2.8, 3.0], RICH.amplitude,
                                   RICH.frequency, RICH.phase))

    def wrap(stamp: int, names: list[str], q: list[float]) -> tuple[Any, ...]:
        return stamp, names, [x if n == "slide" else (x + np.pi) % (2 * np.pi) - np.pi
                              for n, x in zip(names, q, strict=True)]

    samples = recording(scene=scene)
    wrapped = samples.changed("add_joint_state", wrap)
    assert wrapped.messages != samples.messages
    a, b = (_outcome(identifier(), s) for s in (samples, wrapped))
    _assert_truth(b)
    np.testing.assert_allclose(b.report, a.report, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(("wrench_rate", "joint_rate", "tolerance"), [
    (500.0, 125.0, 1.0), (125.0, 500.0, 1.0), (1000.0, 250.0, 1.0), (30.0, 200.0, 1.5),
])
def test_wrench_and_joints_may_have_their_own_rates(
        wrench_rate: float, joint_rate: float, tolerance: float) -> None:
    outcome = _outcome(identifier(), recording(wrench_rate=wrench_rate, joint_rate=joint_rate))
    _assert_truth(outcome, tolerance=tolerance)


def test_slow_joint_states_do_for_a_slow_motion() -> None:
    slow = Sinusoids(RICH.offset, RICH.amplitude, 0.3 * RICH.frequency, RICH.phase)
    samples = recording(seconds=20.0, scene=Scene(motion=slow), joint_rate=30.0)
    outcome = _outcome(identifier(), samples)
    assert isinstance(outcome, Estimate)
    np.testing.assert_allclose(outcome.report[:4], BODY.report[:4], atol=1e-3)


def test_jittering_stamps_give_the_same_payload(rng: np.random.Generator) -> None:
    scene = Scene()
    samples = (joint_messages(scene, stamps(6.0, 200.0, rng, jitter=0.8))
               + wrench_messages(scene, BODY, stamps(6.0, 500.0, rng, jitter=0.8))).sorted()
    _assert_truth(_outcome(identifier(), samples))


@pytest.mark.parametrize("method", ["wls", "lmi"])
def test_with_noise_the_truth_lies_within_the_intervals(
        rng: np.random.Generator, method: str) -> None:
    made = identifier(estimator__method=method, estimator__estimate_noise=True)
    outcome = _outcome(made, recording(10.0, bias=BIAS, noise=NOISE, rng=rng, wrench_rate=500.0))
    assert isinstance(outcome, Estimate) and outcome.method == method
    error = np.abs(outcome.report - BODY.report) / outcome.sigma
    assert error.max() < 4.0 and error.mean() < 1.6
    assert outcome.min_eigenvalue > 0.0 and outcome.verdict == (2,) * 10
    assert outcome.samples == pytest.approx(10.0 * 500.0, rel=0.1)
    assert outcome.window == pytest.approx(10.0, abs=0.6)


def test_the_blend_of_both_models_finds_mass_and_centre_of_a_slow_motion() -> None:
    slow = Sinusoids(RICH.offset, RICH.amplitude, 0.1 * RICH.frequency, RICH.phase)
    made = identifier(estimator__weighting="dynamism", estimator__method="lmi")
    outcome = _outcome(made, recording(20.0, scene=Scene(motion=slow), wrench_rate=100.0))
    assert isinstance(outcome, Estimate) and outcome.weighting == "dynamism"
    np.testing.assert_allclose(outcome.report[:4], BODY.report[:4], atol=2e-2)


def test_a_payload_that_the_driver_takes_out_is_added_again() -> None:
    tool = payload(seed=8, mass=0.6)
    xx, xy, xz, yy, yz, zz = tool.report[4:]
    made = identifier(precompensated__mass=tool.report[0],
                      precompensated__com=tool.report[1:4].tolist(),
                      precompensated__inertia=[xx, xy, xz, yy, yz, zz])
    _assert_truth(_outcome(made, recording(without=tool)))
    without = identifier()
    outcome = _outcome(without, recording(without=tool))
    assert isinstance(outcome, Estimate) or "cannot exist" in outcome.reason
    if isinstance(outcome, Estimate):
        assert outcome.report[0] == pytest.approx(BODY.report[0] - tool.report[0], abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("cadence", [0.013, 0.1, 0.7, 10.0])
def test_live_and_recorded_data_give_the_same_numbers(
        rng: np.random.Generator, cadence: float) -> None:
    samples = recording(8.0, noise=NOISE, rng=rng, bias=BIAS)
    samples = samples.select(lambda s, m: not (  # holes in both topics
        (m == "add_wrench" and s % 4_000_000_000 < 300_000_000)
        or (m == "add_joint_state" and s % 5_000_000_000 < 900_000_000)))
    once, live = (_outcome(identifier(estimator__estimate_noise=True), samples, c)
                  for c in (None, cadence))
    assert isinstance(once, Estimate) and isinstance(live, Estimate)
    np.testing.assert_allclose(live.report, once.report, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(live.sigma, once.sigma, rtol=1e-9)
    assert live.samples == once.samples and live.stamp_ns == once.stamp_ns


@pytest.mark.slow
def test_a_long_recording_pushed_at_once_loses_nothing() -> None:
    """More samples wait than any ring holds."""
    samples = recording(25.0, wrench_rate=250.0, joint_rate=500.0)
    once, live = (_outcome(identifier(), samples, c) for c in (None, 0.5))
    np.testing.assert_allclose(once.report, live.report, rtol=1e-9, atol=1e-12)
    assert once.samples == live.samples > 24.0 * 250.0


@pytest.mark.slow
@pytest.mark.parametrize("source", ["joint states", "tf"])
@pytest.mark.parametrize("cadence", [0.005, 0.1])
def test_samples_that_arrive_out_of_order_give_the_same_numbers(
        rng: np.random.Generator, cadence: float, source: str) -> None:
    samples, urdf = recording(5.0), URDF
    if source == "tf":
        t = stamps(5.0, 125.0)
        moving = transform_messages(*Scene().flange_in_base(t), t, "base_link", "tool0")
        samples = (samples.select(lambda s, m: m == "add_wrench") + moving).sorted()
        urdf = None
    shuffled = samples.shuffled(rng, 20_000_000)
    assert shuffled.messages != samples.messages
    a, b = (_outcome(identifier(urdf), s, cadence) for s in (samples, shuffled))
    np.testing.assert_allclose(b.report, a.report, rtol=1e-9, atol=1e-12)
    assert a.samples == b.samples


def test_one_window_after_the_payload_changed_only_the_new_one_is_seen() -> None:
    new = payload(seed=5, mass=0.8)
    scene, change = Scene(), 4.0
    samples = (joint_messages(scene, stamps(8.0, 200.0))
               + wrench_messages(scene, BODY, stamps(change, 200.0))
               + wrench_messages(scene, new, stamps(4.0, 200.0, start=change))).sorted()
    made = identifier(buffer__window=3.0)
    outcome = _outcome(made, samples)
    _assert_truth(outcome, new, tolerance=2.0)
    assert outcome.window <= 3.0
    alone = identifier(buffer__window=3.0)
    late = samples.select(lambda s, m: s >= samples.messages[0][0] + int(4.2e9))
    np.testing.assert_allclose(_outcome(alone, late).report, outcome.report, rtol=1e-6, atol=1e-9)


def test_in_between_the_residual_says_that_two_payloads_are_mixed() -> None:
    scene = Scene()
    samples = (joint_messages(scene, stamps(6.0, 200.0))
               + wrench_messages(scene, BODY, stamps(3.0, 200.0))
               + wrench_messages(scene, payload(5, 0.4), stamps(3.0, 200.0, start=3.0))).sorted()
    made = identifier(estimator__method="lmi", contact__detect=False, change__detect=False)
    _outcome(made, samples)
    assert "residual_large" in {f.name for f in made.findings()}


@pytest.mark.parametrize(("convention", "sign"), [("on_sensor", -1.0), ("on_environment", 1.0)])
def test_the_compensated_wrench_is_what_else_acts_on_the_payload(
        convention: str, sign: float) -> None:
    """A constant push of the environment is left over, with the sign of the topic."""
    scene, push = Scene(), np.array([3.0, 0.0, -1.0, 0.2, 0.0, 0.1])
    made = identifier(wrench__convention=convention)
    assert len(_feed_all(made, recording(5.0, sign=sign, bias=BIAS))) == 0
    assert isinstance(made.solve(), Estimate)
    t = stamps(1.0, 200.0, start=5.0)
    samples = joint_messages(scene, t) + wrench_messages(scene, BODY, t, sign=sign,
                                                         bias=BIAS + push)
    results = samples.sorted().feed(made, 0.1)
    wrench = np.concatenate([r.wrench for r in results])
    times = np.concatenate([r.stamps_ns for r in results])
    assert (np.diff(times) > 0).all() and len(times) > 80
    after = times > samples.messages[0][0] + 20_000_000
    np.testing.assert_allclose(wrench[after], np.tile(push, (after.sum(), 1)), atol=0.02)
    assert {r.frame_id for r in results} == {"tool0"}


def _feed_all(made: Identifier, samples: Recording) -> np.ndarray:
    return np.concatenate([r.stamps_ns for r in samples.feed(made, 0.1)])


def test_tare_takes_the_bias_at_rest_and_keeps_it_over_a_reset(rng: np.random.Generator) -> None:
    nothing = PointMasses(np.zeros((1, 3)), np.zeros(1))
    made = identifier()
    recording(2.0, Scene(motion=STILL), nothing, bias=BIAS, noise=NOISE, rng=rng).feed(made, 0.1)
    assert made.tare().startswith("bias set to force [")
    made.reset("asked")
    t = stamps(3.0, 200.0, start=3.0)
    still = Scene(motion=STILL)
    samples = (joint_messages(still, t) + wrench_messages(still, BODY, t, bias=BIAS, noise=NOISE,
                                                          rng=rng)).sorted()
    outcome = _outcome(made, samples)
    assert isinstance(outcome, Estimate)  # with a known bias one pose tells the mass
    assert outcome.report[0] == pytest.approx(BODY.report[0], abs=0.05)
    np.testing.assert_allclose(outcome.bias, BIAS, atol=0.1)


def test_shape_and_settings_can_change_between_estimates() -> None:
    made = identifier(estimator__method="wls")
    recording(4.0).feed(made, 0.1)
    assert made.solve().method == "wls"
    made.set_settings(made.settings.replace({"estimator.method": "lmi"}))
    outcome = made.solve()
    assert outcome.method == "lmi" and not outcome.stale
    made.set_shape(None)
    assert not made.solve().stale


def test_frames_can_be_looked_up_from_the_sensor() -> None:
    made = identifier()
    _static(made, Scene(mount=MOUNT))
    recording(1.0, Scene(mount=MOUNT), frame="sensor").feed(made, 0.1)
    rotation, translation, _ = made.lookup("/tool0", "sensor")
    np.testing.assert_allclose(rotation, MOUNT.rotation.as_matrix(), atol=1e-12)
    np.testing.assert_allclose(translation, MOUNT.translation, atol=1e-12)


def test_a_lookup_knows_the_samples_that_still_wait() -> None:
    made = identifier()
    samples = recording(2.0).messages
    for k, (_, method, arguments) in enumerate(samples):
        getattr(made, method)(*arguments)
        if k == len(samples) // 2:
            made.advance()
    before = made.lookup("base_link", "tool0")[0]  # that of the newest joint state
    made.advance()
    np.testing.assert_array_equal(before, made.lookup("base_link", "tool0")[0])
