# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Trouble on the way: each has a sentence, a defined effect, and an end."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from synthetic import (
    BODY,
    MOUNT,
    NOISE,
    SECOND,
    START,
    STILL,
    TILT,
    URDF,
    Recording,
    Scene,
    assert_body,
    identifier,
    joint_messages,
    recording,
    settings,
    stamps,
    texts,
    transform_messages,
    wrench_messages,
)

from inertial_id_ros.errors import InvalidModel, InvalidSetting, NotEnoughData
from inertial_id_ros.estimate import Estimate, NoEstimate, Outcome
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.signals import inbox as module


def _reason(outcome: Outcome) -> str:
    assert isinstance(outcome, NoEstimate), outcome
    assert "\n" not in outcome.reason
    return outcome.reason


# ---- nothing, or not enough ----------------------------------------------------------------------


def test_before_any_data_the_reason_is_the_missing_wrench() -> None:
    made = identifier(wrench__topic="/ft/wrench")
    assert _reason(made.solve()) == "no wrench received on '/ft/wrench'"
    assert made.advance().wrench.shape == (0, 6) and made.sensor_frame == ""
    assert made.findings() == ()


def test_a_short_recording_says_how_much_is_needed() -> None:
    made = identifier()
    recording(0.45).feed(made, 0.1)
    reason = _reason(made.solve())
    assert "an estimate needs 0.5 s" in reason and reason.startswith("0.")


def test_a_still_arm_gives_no_mass_and_says_what_to_do() -> None:
    rng = np.random.default_rng(1)
    made = identifier(estimator__method="lmi")
    recording(4.0, Scene(motion=STILL), noise=NOISE, rng=rng).feed(made, 0.1)
    assert "mass is not identified yet" in _reason(made.solve())


def test_no_new_samples_leave_the_last_estimate_marked_as_stale() -> None:
    made = identifier()
    samples = recording(5.0)
    Recording(samples.messages[:1600]).feed(made, 0.1)
    first = made.solve()
    assert isinstance(first, Estimate) and not first.stale
    second = made.solve()
    assert isinstance(second, Estimate) and second.stale
    np.testing.assert_array_equal(second.report, first.report)
    Recording(samples.messages[1600:]).feed(made, 0.1)
    assert not made.solve().stale


def test_reset_forgets_samples_and_estimate_and_says_why() -> None:
    made = identifier()
    samples = recording(4.0)
    samples.feed(made, 0.1)
    assert isinstance(made.solve(), Estimate)
    made.reset("a person asked")
    assert "no wrench" in _reason(made.solve())
    assert texts(made)["reset"] == "buffers flushed: a person asked (once)"
    samples.moved(5 * SECOND).feed(made, 0.1)
    assert_body(made.solve())


def test_a_reset_forgets_samples_that_wait() -> None:
    made = identifier()
    for _, method, arguments in recording(4.0).messages:
        getattr(made, method)(*arguments)
    assert made.waiting
    made.reset("a person asked")
    made.advance()
    assert "no wrench" in _reason(made.solve())


def test_tare_needs_samples_at_rest() -> None:
    made = identifier()
    with pytest.raises(NotEnoughData, match="none was received"):
        made.tare()
    recording(0.05).feed(made)
    with pytest.raises(NotEnoughData, match="needs 20 wrench samples within a second; 10 were"):
        made.tare()
    recording(3.0).feed(made)
    with pytest.raises(NotEnoughData, match="at rest; its readings vary by"):
        made.tare()


# ---- frames, signs, joints -----------------------------------------------------------------------


@pytest.mark.parametrize("rate", [3.0, 5.0])
@pytest.mark.parametrize("source", ["joint_states", "tf"])
def test_motion_that_comes_too_slowly_is_said_with_its_rate_and_what_is_needed(
        rate: float, source: str) -> None:
    scene, t = Scene(), stamps(8.0, rate)
    motion = (joint_messages(scene, t) if source == "joint_states" else transform_messages(
        *scene.flange_in_base(t), t, "base_link", "tool0"))
    made = identifier(URDF if source == "joint_states" else None)
    (motion + wrench_messages(scene, BODY, stamps(8.0, 200.0))).sorted().feed(made, 0.1)
    what = "joint states on 'joint_states'" if source == "joint_states" else "transforms on '/tf'"
    assert f"the {what} come at {rate:g} Hz, too slowly for accelerations" in _reason(made.solve())
    assert "10 Hz is the least" in texts(made)["motion_slow"]


def test_joint_states_at_12_hz_are_used() -> None:
    made = identifier()
    recording(12.0, joint_rate=12.0).feed(made, 0.1)
    assert isinstance(made.solve(), Estimate) and "motion_slow" not in texts(made)


def test_joint_states_in_degrees_are_named_with_the_joint_and_no_frame_is_blamed() -> None:
    made = identifier(joint_states__topic="/arm/joints")
    samples = recording(5.0)
    degrees = [(stamp, kind, (stamp, names, np.rad2deg(rest[0]).tolist())
                if kind == "add_joint_state" else (stamp, names, *rest))
               for stamp, kind, (_, names, *rest) in samples.messages]
    Recording(degrees).feed(made, 0.1)
    reason = _reason(made.solve())
    assert reason.startswith("joint 'bend' stands at ")
    assert "the joint states are in degrees; publish radians (topic '/arm/joints')" in reason
    assert {"wrong_units.joints"} == {n for n, f in ((f.name, f) for f in made.findings())
                               if f.level == "error"}
    made.reset("radians from now on")
    samples.moved(7 * SECOND).feed(made, 0.1)
    assert_body(made.solve())


def test_a_joint_that_turns_beyond_its_limits_is_no_matter_of_units() -> None:
    """Wrists turn farther than some descriptions say; and a single wild value is no unit."""
    made = identifier()
    wild = {150, 151, 400}
    joints = [(stamp, kind, (stamp, names, [q[0], q[1], q[2], q[3] + 2.0 * np.pi * (k not in wild),
                                            q[4]]))
              for k, (stamp, kind, (_, names, q)) in enumerate(
                  joint_messages(Scene(), stamps(5.0, 200.0)).messages)]
    (Recording(joints) + wrench_messages(Scene(), BODY, stamps(5.0, 200.0))).sorted().feed(
        made, 0.1)
    assert isinstance(made.solve(), Estimate) and "wrong_units.joints" not in texts(made)


@pytest.mark.parametrize(("convention", "sign", "other"), [
    ("on_sensor", 1.0, "on_environment"), ("on_environment", -1.0, "on_sensor")])
@pytest.mark.parametrize("method", ["wls", "lmi"])
def test_a_wrong_sign_is_said_in_words(
        convention: str, sign: float, other: str, method: str) -> None:
    made = identifier(wrench__convention=convention, estimator__method=method)
    recording(5.0, sign=sign).feed(made, 0.1)
    reason = _reason(made.solve())
    assert f"wrench.convention is '{convention}', set it to '{other}'" in reason
    assert "-1.4" in reason


def test_a_wrong_sensor_frame_shows_in_the_residual() -> None:
    made = identifier(estimator__method="lmi", wrench__sensor_frame="hand")
    recording(5.0).feed(made, 0.1)
    made.solve()
    assert "a wrong sensor or gravity frame" in texts(made)["residual_large"]


def test_contact_shows_in_the_residual_and_leaves_with_the_window() -> None:
    def push(stamp: int, frame: str, force: list[float], torque: list[float]) -> tuple[Any, ...]:
        touching = START + 2 * SECOND < stamp < START + int(2.6 * SECOND)
        return stamp, frame, [force[0] + 30.0 * touching, *force[1:]], torque

    samples = recording(9.0).changed("add_wrench", push)
    made = identifier(estimator__method="lmi", buffer__window=4.0, contact__detect=False,
                      change__detect=False)
    Recording(samples.messages[:1600]).feed(made, 0.1)
    made.solve()
    assert "contact" in texts(made)["residual_large"]
    Recording(samples.messages[1600:]).feed(made, 0.1)
    assert_body(made.solve())
    assert "residual_large" not in texts(made)


def test_a_missing_joint_is_named() -> None:
    names = ("turn", "lift", "slide", "roll")
    made = identifier()
    samples = (joint_messages(Scene(), stamps(3.0, 200.0), names)
               + wrench_messages(Scene(), BODY, stamps(3.0, 200.0))).sorted()
    samples.feed(made, 0.1)
    reason = _reason(made.solve())
    assert "joint 'bend'" in reason and "they carry: turn, lift, slide, roll" in reason


def test_joint_states_without_names_say_so() -> None:
    made = identifier()
    recording(3.0).changed("add_joint_state", lambda s, n, q: (s, [], q)).feed(made, 0.1)
    assert "no joint states" in _reason(made.solve()) or "unknown" in _reason(made.solve())
    assert "without joint names" in texts(made)["joint_states_incomplete.names"]


@pytest.mark.parametrize("urdf", [URDF, None], ids=["joint states", "tf"])
def test_an_unknown_frame_is_named(urdf: str | None) -> None:
    made = identifier(urdf)
    t = stamps(3.0, 100.0)
    (recording(3.0, frame="uf_ft_sensor") + transform_messages(
        *Scene().flange_in_base(t), t, "base_link", "tool0")).sorted().feed(made, 0.1)
    reason = _reason(made.solve())
    assert "'uf_ft_sensor'" in reason and "tool0" in reason


def test_a_wrench_without_a_frame_names_the_setting() -> None:
    made = identifier()
    recording(3.0, frame="").feed(made, 0.1)
    assert "wrench.sensor_frame" in _reason(made.solve())


@pytest.mark.slow
@pytest.mark.parametrize("urdf", [URDF, None], ids=["joint states", "tf"])
def test_a_fixed_transform_that_comes_late_flushes_what_was_wrong(urdf: str | None) -> None:
    scene = Scene(base=TILT, mount=MOUNT)
    t = stamps(8.0, 200.0)
    samples = (joint_messages(scene, t) + wrench_messages(scene, BODY, t, frame="sensor"))
    if urdf is None:
        samples = samples + transform_messages(*scene.flange_in_base(t), t, "base_link", "tool0")
    samples = samples.sorted()
    made = identifier(urdf)
    made.add_static_transform("tool0", "sensor", MOUNT.translation, MOUNT.quaternion)
    half = len(samples.messages) // 2
    Recording(samples.messages[:half]).feed(made, 0.1)
    made.add_static_transform("world", "base_link", TILT.translation, TILT.quaternion)
    Recording(samples.messages[half:]).feed(made, 0.1)
    outcome = made.solve()
    assert_body(outcome, tolerance=3.0)
    assert outcome.window < 4.2
    assert "mounting" in texts(made)["mounting_changed"]


def test_a_fixed_transform_that_comes_late_unblocks_an_unknown_frame() -> None:
    made = identifier()
    samples = recording(6.0, Scene(mount=MOUNT), frame="sensor")
    Recording(samples.messages[:600]).feed(made, 0.1)
    assert "'sensor'" in _reason(made.solve())
    made.add_static_transform("tool0", "sensor", MOUNT.translation, MOUNT.quaternion)
    Recording(samples.messages[600:]).feed(made, 0.1)
    assert_body(made.solve())


def test_a_robot_description_that_comes_late_takes_over() -> None:
    made = identifier(urdf=None)
    samples = recording(6.0)
    Recording(samples.messages[:600]).feed(made, 0.1)
    assert "no robot description" in _reason(made.solve())
    made.set_robot_description(URDF)
    Recording(samples.messages[600:]).feed(made, 0.1)
    assert_body(made.solve())


def test_a_bad_robot_description_is_refused_and_the_one_before_stays() -> None:
    made = identifier()
    with pytest.raises(InvalidModel):
        made.set_robot_description("not xml")
    recording(4.0).feed(made, 0.1)
    assert_body(made.solve())


# ---- settings, load, threads ---------------------------------------------------------------------


def test_settings_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(InvalidSetting, match=r"precompensated\.mass is 0 kg, but precompensated"):
        Identifier(settings(precompensated__com=[0.0, 0.0, 0.1]))


def test_an_unknown_estimator_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidSetting, match="'magic'; allowed: .*lmi.*wls"):
        settings(estimator__method="magic")


def test_samples_lost_to_overload_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_INBOX", 500)
    made = identifier()
    recording(2.0).feed(made)
    text = texts(made)["overload"]
    assert "too slow" in text and "(300 times)" in text


def test_samples_may_come_from_another_thread() -> None:
    """None is lost or torn. Estimates on the way leave the point where the next begins, and the
    clock offset by which the stamps are read: 1e-7 in the last one."""
    made, samples = identifier(), recording(5.0)
    done = threading.Event()

    def push() -> None:
        for _, method, arguments in samples.messages:
            getattr(made, method)(*arguments)
        done.set()

    thread = threading.Thread(target=push)
    thread.start()
    while not done.is_set():
        made.advance()
        made.solve()
    thread.join()
    made.finish()
    alone = identifier()
    samples.feed(alone, 0.1)
    alone.finish()
    one, other = made.solve(), alone.solve()
    assert isinstance(one, Estimate) and isinstance(other, Estimate)
    assert one.samples == other.samples
    np.testing.assert_allclose(one.report, other.report, rtol=1e-6)


@pytest.mark.parametrize("broken", [np.linalg.LinAlgError("Singular matrix"),
                                    ZeroDivisionError("float division by zero"),
                                    OverflowError()])
def test_a_breakdown_of_the_numbers_is_a_reason_and_not_the_end(
        broken: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    made = identifier()
    samples = recording(3.0)
    samples.feed(made)

    def breaks(self: object, *arguments: object) -> None:
        raise broken

    with monkeypatch.context() as patch:
        patch.setattr(type(made._known.solver.estimator), "solve", breaks)
        outcome = made.solve()
    assert (str(broken) or "OverflowError") in _reason(outcome)
    assert_body(made.solve())
