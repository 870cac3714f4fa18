# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From samples to the payload, on wrenches in closed form: every way in gives the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from synthetic import (
    BODY,
    MOUNT,
    NOISE,
    NOWHERE,
    STILL,
    TILT,
    URDF,
    Message,
    PointMasses,
    Recording,
    Scene,
    in_order,
    joint_messages,
    recording,
    settings,
    stamps,
    transform_messages,
    wrench_messages,
)

from benchmarks.referee import faults, runs, situations
from benchmarks.referee.generator import FRAME
from inertial_id_ros.errors import InvalidShape
from inertial_id_ros.estimate import Estimate, NoEstimate, Outcome
from inertial_id_ros.identify.identifier import Identifier, make_identifier
from inertial_id_ros.io.sample_blocks import JointStates, Wrenches
from inertial_id_ros.settings import Settings

BIAS = np.array([2.0, -3.0, 1.0, 0.1, -0.2, 0.15])
EVERYWHERE = Scene(base=TILT, mount=MOUNT)


def make(urdf: str = URDF, scene: Scene | None = None, **changes: Any) -> Identifier:
    """An identifier that knows the fixed transforms of a scene."""
    made = make_identifier(settings(**changes))
    if urdf:
        made.set_robot_description(urdf)
    if scene is not None and scene.base is not NOWHERE:
        made.add_static_transform("world", "base_link", scene.base.translation,
                                  scene.base.quaternion)
    if scene is not None and scene.mount is not NOWHERE:
        made.add_static_transform("tool0", "sensor", scene.mount.translation,
                                  scene.mount.quaternion)
    return made


def result(made: Identifier, samples: Recording, cadence: float | None = None) -> Outcome:
    samples.outcomes(made, cadence)
    return made.solve()


def assert_truth(outcome: Outcome, body: PointMasses = BODY, tolerance: float = 1.0) -> None:
    """Within 1 g, 0.2 mm and 1 % of the inertia, times the tolerance."""
    assert isinstance(outcome, Estimate), outcome
    found, truth = outcome.report, body.report
    assert abs(found[0] - truth[0]) < 1e-3 * tolerance
    np.testing.assert_allclose(found[1:4], truth[1:4], atol=2e-4 * tolerance)
    np.testing.assert_allclose(found[4:], truth[4:], atol=1e-2 * tolerance * truth[4:].max())


def kinds(made: Identifier) -> set[str]:
    return {finding.kind for finding in made.findings() if finding.level != "info"}


@pytest.mark.parametrize(("convention", "sign"), [("on_sensor", -1.0), ("on_environment", 1.0)])
def test_both_sign_conventions_give_the_payload_and_the_bias_of_the_topic(
        convention: str, sign: float) -> None:
    outcome = result(make(wrench__convention=convention), recording(sign=sign, bias=BIAS))
    assert_truth(outcome)
    np.testing.assert_allclose(outcome.bias, BIAS, atol=0.01)


@pytest.mark.parametrize(("scene", "frame", "changes"), [
    (Scene(base=TILT), "tool0", {}), (EVERYWHERE, "sensor", {}),
    (Scene(mount=MOUNT), "some label", {"wrench__sensor_frame": "/sensor"}),
    (Scene(base=TILT), "tool0", {"gravity__frame": "world"})])
def test_fixed_transforms_place_the_base_and_the_sensor(
        scene: Scene, frame: str, changes: dict[str, str]) -> None:
    outcome = result(make(scene=scene, **changes), recording(scene=scene, frame=frame))
    assert_truth(outcome)
    assert outcome.frame_id == ("tool0" if scene.mount is NOWHERE else "sensor")


def test_gravity_may_be_down_in_another_frame_than_the_root() -> None:
    assert_truth(result(make(scene=Scene(base=TILT), gravity__frame="base_link"), recording()))


@pytest.mark.parametrize("scene", [Scene(), EVERYWHERE], ids=["plain", "tilted and mounted"])
def test_transforms_alone_are_enough(scene: Scene) -> None:
    t = stamps(6.0, 125.0)
    frame = "tool0" if scene.mount is NOWHERE else "sensor"
    samples = in_order(transform_messages(*scene.flange_in_base(t), t, "base_link", "tool0"),
                       wrench_messages(scene, BODY, stamps(6.0, 200.0), frame=frame))
    assert_truth(result(make("", scene), samples), tolerance=3.0)


def rates(wrench: float, joints: float) -> Recording:
    return recording(wrench_rate=wrench, joint_rate=joints)


def jittered() -> Recording:
    rng = np.random.default_rng(5)
    return in_order(joint_messages(Scene(), stamps(6.0, 200.0, rng, jitter=0.8)),
                    wrench_messages(Scene(), BODY, stamps(6.0, 500.0, rng, jitter=0.8)))


@pytest.mark.parametrize("samples", [
    jittered, lambda: rates(500.0, 125.0), lambda: rates(125.0, 500.0),
    lambda: rates(1000.0, 250.0)],
    ids=["jitter", "500 and 125 Hz", "125 and 500 Hz", "1000 and 250 Hz"])
def test_rates_and_jitter_do_not_matter(samples: Callable[[], Recording]) -> None:
    assert_truth(result(make(), samples()), tolerance=2.0)


@pytest.mark.parametrize("method", ["wls", "lmi", "density"])
def test_with_noise_the_truth_lies_within_the_intervals(
        rng: np.random.Generator, method: str) -> None:
    outcome = result(make(estimator__method=method), recording(
        10.0, bias=BIAS, noise=NOISE, rng=rng, wrench_rate=500.0))
    assert isinstance(outcome, Estimate) and outcome.method == method
    error = np.abs(outcome.report - BODY.report) / outcome.sigma
    assert error.max() < 4.0 and error.mean() < 1.6
    assert outcome.min_eigenvalue > 0.0 and outcome.verdict[0] == 2
    assert outcome.samples == pytest.approx(10.0 * 500.0, rel=0.1)


@pytest.mark.parametrize("cadence", [0.013, 0.1, 0.7])
def test_live_and_recorded_data_give_the_same_numbers_whatever_arrives_late(
        rng: np.random.Generator, cadence: float) -> None:
    samples = Recording(m for m in recording(6.0, noise=NOISE, rng=rng, bias=BIAS) if not (
        (m.kind is Wrenches and m.stamp % 4_000_000_000 < 300_000_000)
        or (m.kind is JointStates and m.stamp % 5_000_000_000 < 900_000_000)))  # holes in both
    once = result(make(), samples)
    live = result(make(), samples.shuffled(rng, 15_000_000), cadence)
    assert isinstance(once, Estimate) and isinstance(live, Estimate)
    np.testing.assert_allclose(live.report, once.report, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(live.sigma, once.sigma, rtol=1e-9)
    assert live.samples == once.samples and live.stamp_ns == once.stamp_ns


def test_a_still_arm_gives_no_numbers_that_look_known() -> None:
    outcome = result(make(), recording(4.0, scene=Scene(motion=STILL), bias=BIAS))
    assert isinstance(outcome, NoEstimate) or outcome.verdict[4:] == (0,) * 6


@pytest.mark.parametrize(("samples", "named"), [
    (lambda: recording().changed(JointStates, np.degrees), "wrong_units"),
    (lambda: recording(sign=1.0, noise=NOISE, rng=np.random.default_rng(1)), "sign_wrong"),
    (lambda: recording(noise=NOISE, rng=np.random.default_rng(1)).changed(
        Wrenches, lambda row: row * np.repeat([1.0, 1e3], 3)), "wrong_units")],
    ids=["degrees", "sign", "N mm"])
def test_what_is_wrong_is_named_and_nothing_is_claimed(
        samples: Callable[[], Recording], named: str) -> None:
    made = make(wrench__sensor="ati_gamma", wrench__range=(0.0, 0.0))
    outcomes = samples().outcomes(made, 0.5)
    assert named in kinds(made)
    assert not any(isinstance(o, Estimate) and not o.stale for o in outcomes[-2:])
    assert isinstance(made.solve(), NoEstimate)


def test_nothing_that_arrives_raises_an_error_or_gives_numbers_that_are_none() -> None:
    """Samples with NaN, infinite or huge values, zero stamps and repeated ones."""
    rng = np.random.default_rng(11)
    values = [np.nan, np.inf, -np.inf, 1e300, 0.0]

    def spoil(message: Message) -> Message:
        if rng.random() > 0.02:
            return message
        return message._replace(stamp=int(rng.choice([0, message.stamp])),
                                row=rng.choice(values, len(message.row)))

    made = make(wrench__range=(1e3, 1e2))
    outcomes = Recording(spoil(m) for m in recording(8.0)).outcomes(made, 0.1)
    for outcome in outcomes:
        if isinstance(outcome, Estimate):
            assert np.isfinite(outcome.report).all() and outcome.min_eigenvalue > 0.0
    assert_truth(made.solve(), tolerance=5.0)
    assert "samples_invalid" in kinds(made)


def test_settings_and_what_the_driver_compensates_may_change_while_it_runs() -> None:
    made = make()
    first = result(made, recording())
    made.set_settings(settings(estimator__method="lmi"))
    second = made.solve()
    assert isinstance(second, Estimate) and second.method == "lmi"
    np.testing.assert_allclose(second.report[:4], first.report[:4], atol=1e-3)
    with pytest.raises(InvalidShape):
        made.set_settings(settings(estimator__method="entropic"))
    assert made.settings.estimator.method == "lmi"
    made.set_settings(settings(precompensated__mass=0.5))
    assert isinstance(made.solve(), NoEstimate)  # what was measured before is of another wrench


# The fault that each checks: samples, clocks, motion, what is carried, set-up.
NAMES = ("motion missing", "clock jumps back", "sensor saturated", "second wrench, zeros",
         "joints frozen for 5 s", "joints stamped behind", "contact", "payload changed",
         "sensor zeroed", "wrong sign")
LATEST, WRONG = 1.0, 1.0  # s


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_fault_is_named_in_time_and_no_new_estimate_is_wrong(name: str) -> None:
    found = runs.fault(name, 3)
    assert found["wrong_s"] <= WRONG
    assert found["named_s"] <= LATEST + (2.0 if faults.FAULTS[name].setup else 0.0)


SEED, SECONDS = 400_700, 15.0
Samples = tuple[str, tuple[str, ...], np.ndarray, np.ndarray, np.ndarray]
WHEN = ("solve_time", "stale", "stale_reason", "findings")


def seen(scene: situations.Scene) -> Samples:
    wrench, positions = scene.measured(np.random.default_rng(SEED))
    part = scene.t < SECONDS
    return scene.arm.urdf, scene.arm.names, scene.stamps[part], positions[part], wrench[part]


SCENES: dict[str, Callable[[], situations.Scene]] = {
    "grip": lambda: situations.grip(SEED), "contact": lambda: situations.motion_contact(SEED)}


def run(samples: Samples, size: int, rate: float, asks: bool = True
        ) -> tuple[dict[int, Outcome], Identifier]:
    """All fresh estimates that became due, by their stamps, of samples in blocks of a size.

    Args:
        asks: True to ask in between, too, which changes nothing.
    """
    urdf, names, stamps, positions, wrench = samples
    made = Identifier(Settings().replace({"estimator.rate": rate, "buffer.window": 8.0}))
    due: list[Outcome] = []
    made.set_robot_description(urdf)
    for first in range(0, len(stamps), size):
        part = slice(first, first + size)
        due += made.add_arrays([JointStates(stamps[part], names, positions[part]),
                                Wrenches(stamps[part], FRAME, wrench[part])])
        if asks:
            made.solve()
    due += made.finish()
    return {o.stamp_ns: o for o in due if isinstance(o, Estimate) and not o.stale}, made


def require_same(one: Outcome, other: Outcome) -> None:
    """All fields that do not tell when it was asked for are the same."""
    assert type(one) is type(other)
    if not isinstance(one, Estimate):
        return
    for item in fields(Estimate):
        a, b = getattr(one, item.name), getattr(other, item.name)
        if item.name in WHEN:
            continue
        if isinstance(a, np.ndarray | float):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=item.name)
        else:
            assert a == b, item.name


@pytest.mark.parametrize("name", SCENES)
def test_blocks_do_not_matter(name: str) -> None:
    samples = seen(SCENES[name]())
    slow, made = run(samples, 100, 2.0, asks=False)
    load = made.course.load
    assert len(slow) > 8
    for size, asks in ((1, False), (7, False), (250, True), (10**6, True)):
        found, other = run(samples, size, 2.0, asks)
        assert set(found) == set(slow)
        for stamp in slow:
            require_same(slow[stamp], found[stamp])
        same = other.course.load
        assert same.mode is load.mode and same.reason == load.reason
        np.testing.assert_allclose(same.phi, load.phi, rtol=1e-9, atol=1e-12)
        assert {f.name for f in made.findings()} == {f.name for f in other.findings()}


def test_the_rate_does_not_matter() -> None:
    samples = seen(SCENES["grip"]())
    usual, made = run(samples, 25, 2.0, asks=False)
    for rate in (0.5, 10.0):
        found, other = run(samples, 25, rate, asks=False)
        common = set(usual) & set(found)
        assert len(common) >= min(len(usual), len(found)) - 1 > 4
        for stamp in common:
            require_same(usual[stamp], found[stamp])
        np.testing.assert_allclose(other.course.load.phi, made.course.load.phi, rtol=1e-9)
