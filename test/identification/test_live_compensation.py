# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Each wrench without the payload, as it comes: through contact, grips, faults of the inputs."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from live_stream import Live
from scipy.spatial.transform import Rotation
from synthetic import (
    NOISE,
    RICH,
    SECOND,
    START,
    STILL,
    Placement,
    PointMasses,
    Recording,
    Scene,
    Sinusoids,
    identifier,
    joint_messages,
    payload,
    stamps,
    texts,
    wrench_messages,
)

from inertial_id_ros.estimate import IDENTIFIED
from inertial_id_ros.identification.compensation.live_compensation import (
    Blend,
    PreparedLoad,
    inputs_of,
)
from inertial_id_ros.identification.compensation.load_latch import (
    Load,
    LoadInUse,
    LoadLatch,
    Mode,
    wrench_matrix,
)
from inertial_id_ros.inertia import phi_from_body, transform_phi
from inertial_id_ros.kinematics.causal.features import FEATURES, features_of
from inertial_id_ros.kinematics.transform_tree import Pose
from inertial_id_ros.regression.newton_euler import regressor
from inertial_id_ros.settings import ContactSettings
from inertial_id_ros.settings.node import CompensationSettings

SLOW = Scene(Sinusoids(RICH.offset, RICH.amplitude, 0.4 * RICH.frequency, RICH.phase))
BODY, OTHER = payload(), payload(5, 0.6)
NOTHING = PointMasses(np.zeros((1, 3)), np.array([1e-9]))
BIAS = np.array([4.0, -3.0, 6.0, 0.2, 0.3, -0.1])
RATE = 200.0


def samples(seconds: float, body: PointMasses = BODY, start: float = 0.0, scene: Scene = SLOW,
            seed: int = 1, bias: Any = BIAS, **options: Any) -> Recording:
    """A payload for some seconds, with the noise of the data sheet."""
    t = stamps(seconds, RATE, start=start)
    return (joint_messages(scene, t) + wrench_messages(
        scene, body, t, noise=NOISE, rng=np.random.default_rng(seed), bias=bias, **options)
    ).sorted()


def live(**changes: Any) -> Live:
    return Live(identifier(**{"estimator__method": "lmi", "estimator__estimate_noise": True}
                           | changes))


def rms(wrench: np.ndarray) -> np.ndarray:
    """Root mean square (6,) in standard deviations of the noise."""
    return np.asarray(np.sqrt((wrench**2).mean(axis=0)) / NOISE)


# ---- the load as a matrix ------------------------------------------------------------------------


def test_the_matrix_of_a_load_is_newton_and_euler(rng: np.random.Generator) -> None:
    """With sign, bias, what the driver removes, and a sensor that is turned and tilted."""
    phi = phi_from_body(1.3, (0.02, -0.03, 0.1), np.diag([0.01, 0.02, 0.015]))
    removed = phi_from_body(0.4, (0.0, 0.01, 0.05), np.diag([0.002, 0.001, 0.002]))
    for sign in (1.0, -1.0):
        axes = Rotation.random(rng=rng).as_matrix()
        acceleration, omega, alpha = rng.normal(size=(3, 3))
        raw, bias = rng.normal(size=(2, 6))
        use = LoadInUse(Mode.PAYLOAD, "", Load(phi, bias, np.zeros(9)), removed=removed)
        made = PreparedLoad(use.load, use, sign)
        out = made.remove(inputs_of(raw, features_of(acceleration, 9.81 * axes, omega, alpha)))
        a = regressor(acceleration + 9.81 * axes[2], omega, alpha)
        np.testing.assert_allclose(out, raw - bias - sign * a @ (phi - removed), atol=1e-9)


def test_another_frame_is_another_view_of_the_same_contact(rng: np.random.Generator) -> None:
    """A force at a point, as it is seen in two frames: by its line of action in each."""
    turn, place = Rotation.random(rng=rng), rng.normal(size=3)
    force, at = rng.normal(size=(2, 3))
    seen = np.concatenate([force, np.cross(at, force)])
    moved_force, moved_at = turn.inv().apply(force), turn.inv().apply(at - place)
    np.testing.assert_allclose(wrench_matrix(Pose(turn.as_matrix(), place)) @ seen,
                               np.concatenate([moved_force, np.cross(moved_at, moved_force)]))


# ---- in the course of time -----------------------------------------------------------------------


@pytest.mark.slow
def test_in_motion_the_noise_of_the_sensor_is_left() -> None:
    heard = live().play(samples(14.0)).between(6.0, 14.0)
    assert len(heard.t) == 8 * RATE and (heard.mode == Mode.PAYLOAD).all()
    assert (rms(heard.wrench) < 1.15).all(), rms(heard.wrench)


@pytest.mark.slow
def test_the_wrench_of_another_sign_is_compensated_with_its_sign() -> None:
    made = live(wrench__convention="on_environment")
    made.play(samples(8.0, sign=1.0))
    push = np.array([5.0, -3.0, 2.0, 0.1, 0.2, -0.3])
    heard = made.play(samples(1.0, start=8.0, sign=1.0, bias=BIAS + push))
    np.testing.assert_allclose(np.median(heard.wrench, axis=0), push, atol=0.05)


def scraping(seconds: float, start: float) -> np.ndarray:
    """A push (k, 6) that neither gravity nor a zero of the sensor explains."""
    turns = np.outer(stamps(seconds, RATE, start=start), [9.0, 7.0, 5.0, 4.0, 6.0, 3.0])
    return np.array([12.0, -7.0, 9.0, 0.4, -0.6, 0.5]) * (1.0 + 0.4 * np.sin(turns))


@pytest.mark.slow
@pytest.mark.parametrize("longest", [120.0, 15.0])
def test_a_contact_of_a_minute_is_compensated_throughout(
        longest: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the identifier gives it up meanwhile."""
    monkeypatch.setattr(ContactSettings, "longest", longest)
    made = live()
    made.play(samples(10.0))
    t, push = stamps(60.0, RATE, start=10.0), scraping(60.0, 10.0)
    scene = Scene(replace(SLOW.motion, amplitude=0.3 * SLOW.motion.amplitude))
    moving = (joint_messages(scene, t) + wrench_messages(
        scene, BODY, t, bias=BIAS + push, noise=NOISE, rng=np.random.default_rng(3))).sorted()
    heard = made.play(moving)
    heard = heard.between(10.5, 70.0)  # the motion begins anew at 10 s
    assert not heard.silent and (heard.mode == Mode.PAYLOAD).all()
    left = heard.wrench - push[-len(heard.t):]
    assert (rms(left) < 1.5).all(), rms(left)


@pytest.mark.slow
def test_a_payload_that_is_gone_is_removed_no_longer_and_nothing_jumps() -> None:
    """Released, then another one gripped: known again within 3 s of motion each time."""
    made, parts = live(), []
    for body, start in ((BODY, 0.0), (NOTHING, 8.0), (OTHER, 16.0)):
        parts.append(made.play(samples(8.0, body, start, seed=int(start))))
    for part, start, body in zip(parts[1:], (8.0, 16.0), (NOTHING, OTHER), strict=True):
        assert not part.silent
        soon = part.between(start + 1.2, start + 8.0)
        assert soon.mode[0] == Mode.TOOL  # noticed
        bare = wrench_messages(SLOW, body, soon.t[:1]).messages[0][2]
        assert np.linalg.norm(soon.wrench[0, :3] - bare[2]) < 0.5 * 9.81 * 1.4  # and blended
        if body is OTHER:  # known to a tenth is better than not known
            soon = part.between(start + 2.2, start + 8.0)
            assert (soon.mode == Mode.PAYLOAD).all() and np.abs(soon.wrench[:, :3]).max() < 1.0
        again = part.between(start + 3.0, start + 8.0)
        assert (rms(again.wrench) < 1.3).all(), rms(again.wrench)
    whole = [np.concatenate([getattr(p, name) for p in parts]) for name in ("t", "removed")]
    steps = np.abs(np.diff(whole[1], axis=0)).max(axis=0) / NOISE
    assert (steps < 3.0).all(), steps


@pytest.mark.slow
@pytest.mark.parametrize("body", [BODY, OTHER])
def test_after_a_pause_of_the_wrench_nothing_is_removed_until_an_estimate_comes(
        body: PointMasses) -> None:
    """Meanwhile the payload may have changed, and the driver may have zeroed the sensor."""
    made = live()
    made.play(samples(8.0))
    t = stamps(1.5, RATE, start=8.0)
    made.play(joint_messages(SLOW, t))
    heard = made.play(samples(5.0, body, 9.5))
    late = heard.between(9.75, 14.5)
    assert "no usable wrench came for 1.5 s" in late.silent[0][1]
    known = late.t[late.mode == Mode.PAYLOAD]
    assert len(known) and (rms(heard.between(13.5, 14.5).wrench) < 1.5).all()


@pytest.mark.slow
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_contact_that_turns_with_the_sensor_is_not_taken_for_its_zero(sign: float) -> None:
    """As a tool that is pressed on a curved surface with a constant force along itself."""
    made = live(wrench__convention="on_environment" if sign > 0.0 else "on_sensor")
    made.play(samples(8.0, sign=sign))
    push = np.array([1.0, -2.0, 10.0, 0.1, 0.2, -0.1])
    held = made.play(samples(12.0, start=8.0, sign=sign, bias=BIAS + push))
    assert "contact that turns with it, or another zero" in texts(made.made)["zero_or_contact"]
    assert "are left in the wrench" in made.live.status().reason
    assert made.made.doubtful_zero().endswith("call ~/reset")
    gone = made.play(samples(8.0, start=20.0, sign=sign))
    for heard, contact in ((held, push), (gone, np.zeros(6))):
        assert len(heard.t) == RATE * (12.0 if heard is held else 8.0)  # never silent
        assert (rms(heard.wrench - contact) < 1.5).all(), rms(heard.wrench - contact)
    assert made.live.status().reason == "the payload is known"
    assert made.made.doubtful_zero() == ""


@pytest.mark.slow
def test_a_contact_that_turned_with_the_sensor_may_end_while_it_hardly_turns() -> None:
    """Its end is no release of a payload, which would look the same."""
    slow = Scene(replace(SLOW.motion, frequency=0.25 * SLOW.motion.frequency))
    push = np.array([1.0, -2.0, 10.0, 0.1, 0.2, -0.1])
    made = live()
    made.play(samples(20.0, scene=slow))
    made.play(samples(20.0, start=20.0, scene=slow, bias=BIAS + push))
    assert made.made.doubtful_zero()
    gone = made.play(samples(2.0, start=40.0, scene=slow))
    assert made.made.doubtful_zero() == "" and "payload_changed" not in texts(made.made)
    assert len(gone.t) == 2 * RATE and (rms(gone.wrench) < 1.5).all()


def test_of_an_offset_nothing_stays_when_the_bias_is_as_before() -> None:
    """Its end may look like something else, such as a change of payload."""
    def estimate(bias: np.ndarray) -> Any:
        return SimpleNamespace(verdict=(IDENTIFIED,) * 10, phi_covariance=np.zeros((10, 10)),
                               bias=bias, alignment=np.zeros(9), stamp_ns=1)

    latch, weighed, push = LoadLatch(), NOISE[[0, 3, 4, 5]], np.array([0, 0, 10.0, 0, 0.2, 0])
    latch.take(estimate(BIAS), np.zeros(10), weighed, explains=True)
    latch.add_offset(push, "offset", NOISE)
    for left in (push, 0.5 * push):  # it fades, and what is left is contact still
        latch.take(estimate(BIAS + left), np.zeros(10), weighed, explains=True)
        np.testing.assert_allclose(latch.load.bias, BIAS)
        assert f"{np.linalg.norm(left[:3]):.3g} N and" in latch.reason
    latch.end_payload("payload changed", np.zeros(10))
    latch.take(estimate(BIAS + 0.5 * NOISE), np.zeros(10), weighed, explains=True)
    assert latch.reason == "the payload is known"
    np.testing.assert_allclose(latch.load.bias, BIAS + 0.5 * NOISE)


@pytest.mark.slow
def test_an_unknown_payload_can_be_met_with_silence() -> None:
    made = live(compensation__unknown_payload="silent")
    made.play(samples(8.0))
    heard = made.play(samples(3.0, OTHER, 8.0))
    assert {Mode.PAYLOAD} == set(heard.mode)
    assert any("payload changed" in reason for _, reason in heard.silent)


@pytest.mark.slow
def test_when_the_zero_moves_nothing_is_published_until_it_is_known() -> None:
    made = live()
    made.play(samples(8.0))
    weight = wrench_messages(SLOW, BODY, stamps(0.1, RATE, start=8.0)).messages[0][2]
    zeroed = -np.array([*weight[2], *weight[3]])  # the driver zeroes the sensor under load
    heard = made.play(samples(8.0, start=8.0, bias=zeroed))
    reasons = [reason for _, reason in heard.silent]
    assert any("zero" in reason for reason in reasons), set(reasons)
    assert (rms(heard.between(12.0, 16.0).wrench) < 1.3).all()


@pytest.mark.slow
def test_a_tare_is_the_bias_at_once() -> None:
    made = live()
    still = Scene(STILL)
    made.play(samples(2.0, NOTHING, scene=still))
    made.made.tare()
    made.use()
    heard = made.play(samples(1.0, NOTHING, 2.0, scene=still, seed=9))
    assert (heard.mode == Mode.TOOL).all() and not heard.silent
    assert (rms(heard.wrench) < 1.2).all()


@pytest.mark.slow
@pytest.mark.parametrize("stop_after", [0.0, 5.2])
def test_an_old_estimate_is_treated_as_the_settings_say(
        stop_after: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CompensationSettings, "max_age", 5.0)
    made = live(compensation__stop_after=stop_after)
    made.play(samples(8.0))
    heard = made.play(samples(8.0, start=8.0, bias=BIAS + scraping(8.0, 8.0)))
    status = made.live.status()
    assert status.old and status.age > 5.0
    late = heard.between(14.0, 16.0)
    if stop_after:
        assert not len(late.t) and "5.2 s" in status.reason and status.mode is Mode.SILENT
    else:
        assert not late.silent and (late.mode == Mode.PAYLOAD).all()
        assert "older than 5 s" in status.reason


# ---- inputs that are wrong -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def known() -> Live:
    """One that knows the payload after 6 s of noise-free samples."""
    made = live(estimator__estimate_noise=False)
    t = stamps(6.0, RATE)
    made.play((joint_messages(SLOW, t) + wrench_messages(SLOW, BODY, t)).sorted())
    return made


def following(known: Live, count: int) -> Recording:
    """The next samples, without noise."""
    t = np.round(RATE * known.now + 1.0 + np.arange(count)) / RATE
    return (joint_messages(SLOW, t) + wrench_messages(SLOW, BODY, t)).sorted()


def test_without_noise_nothing_is_left(known: Live) -> None:
    heard = known.play(following(known, 100))
    assert not heard.silent
    assert np.abs(heard.wrench[:, :3]).max() < 0.1 and np.abs(heard.wrench[:, 3:]).max() < 0.01


@pytest.mark.parametrize("wrong, said", [
    (np.nan, "NaN or infinity"), (np.inf, "NaN or infinity"), (1e9, "saturated")])
def test_numbers_that_are_none_are_answered_by_silence(known: Live, wrong: float,
                                                       said: str) -> None:
    (_, _, (stamp, frame, force, torque)) = following(known, 1).messages[-1]
    for channel in range(6):
        wrench = np.array([*force, *torque])
        wrench[channel] = wrong
        assert known.live.compensate(stamp, frame, wrench.tolist()) is None
        assert said in known.live.status().reason
    assert known.play(following(known, 2)).silent == []


def test_stamps_that_go_back_or_repeat_are_answered_by_silence(known: Live) -> None:
    known.play(following(known, 3))
    stamp, frame = START + round(known.now * 1e9), "tool0"
    for late in (0, 1, 50_000_000):
        assert known.live.compensate(stamp - late, frame, [0.0] * 6) is None
        assert "go back" in known.live.status().reason
    assert known.live.compensate(0, frame, [0.0] * 6) is None
    assert known.play(following(known, 2)).silent == []


def test_a_wrench_in_another_frame_is_answered_by_silence(known: Live) -> None:
    known.play(following(known, 3))
    stamp = START + round(known.now * 1e9) + 5_000_000
    assert known.live.compensate(stamp, "elsewhere", [0.0] * 6) is None
    assert "frame 'elsewhere' instead of 'tool0'" in known.live.status().reason


def test_without_fresh_joint_states_there_is_silence(known: Live) -> None:
    known.play(following(known, 3))
    first = known.now
    heard = known.play(following(known, 60).select(lambda _, method: method == "add_wrench"))
    assert heard.t[-1] == pytest.approx(first + 0.1, abs=0.006)
    assert all("joint state is more than 0.1 s older" in reason for _, reason in heard.silent)
    assert len(known.play(following(known, 200)).between(known.now - 0.2, known.now).t) > 30


@pytest.mark.slow
@pytest.mark.parametrize("joints", [slice(None), slice(0, 1)], ids=["all joints", "one joint"])
def test_joint_states_that_freeze_in_motion_are_answered_by_silence(joints: slice) -> None:
    """The arm goes on: its pose, and with it the weight in sensor axes, is not known any more."""
    held: list[float] = []

    def change(stamp: int, names: Any, positions: Any) -> tuple[Any, ...]:
        if stamp < START + 8 * SECOND:
            return stamp, names, positions
        row = list(positions)
        held[:] = held or row
        row[joints] = held[joints]
        return stamp, names, row
    made = live()
    heard = made.play(samples(12.0).changed("add_joint_state", change))
    assert len(heard.between(7.0, 8.0).t) == RATE
    frozen = heard.between(8.25, 12.0)
    assert not len(frozen.t) and "is frozen" in frozen.silent[-1][1]
    assert {f.name: f.level for f in made.made.findings()}["motion_frozen.joints"] == "error"


def test_a_load_that_nobody_judges_any_more_is_not_removed(known: Live) -> None:
    """The identifier's thread may hang while a payload is released."""
    known.play(following(known, 3))
    later = START + round(known.now * 1e9)
    known.now += 2.1
    assert known.live.compensate(later + 5_000_000, "tool0", [0.0] * 6) is None
    assert "too busy for 2 s" in known.live.status().reason
    known.use()
    assert known.live.compensate(later + 10_000_000, "tool0", [0.0] * 6) is not None
    known.now -= 2.1


def test_nothing_is_computed_before_a_subscriber_comes() -> None:
    made = live()
    made.live.end()
    assert not made.live.is_on


# ---- blending ------------------------------------------------------------------------------------


def in_use(mass: float, **changes: Any) -> LoadInUse:
    phi = phi_from_body(mass, (0.0, 0.0, 0.1), 0.01 * np.eye(3))
    return replace(LoadInUse(Mode.PAYLOAD, "", Load(phi, np.zeros(6), np.zeros(9)), noise=NOISE),
                   **changes)


@pytest.mark.parametrize("period", [0.001, 0.01, 0.1])
def test_one_load_follows_another_within_three_standard_deviations(period: float) -> None:
    features = np.zeros(FEATURES)
    features[3:12] = 9.81 * np.eye(3).ravel()
    inputs = inputs_of([0.0] * 6, features)
    blend, wrenches, loads = Blend(in_use(0.1), -1.0, 0.5), [], [3.0, 0.1, 2.0]
    wrenches.append(blend.remove(inputs, period))
    for mass in loads:
        blend.follow(in_use(mass))
        while blend.share < 1.0:
            wrenches.append(blend.remove(inputs, period))
            if mass == 3.0 and len(wrenches) == 5:  # another one before the first is reached
                break
    steps = np.abs(np.diff(wrenches, axis=0)) / NOISE
    assert steps.max() < 2.01
    assert len(wrenches) >= round(0.5 / period)
    np.testing.assert_allclose(wrenches[-1][2], 2.0 * 9.81)
    assert blend.load.phi[0] == 2.0


def test_a_better_estimate_of_the_same_payload_is_used_at_once() -> None:
    features = np.zeros(FEATURES)
    features[3:12] = 9.81 * np.eye(3).ravel()
    blend = Blend(in_use(1.0), -1.0, 0.5)
    blend.follow(in_use(1.001))
    blend.remove(inputs_of([0.0] * 6, features), 0.002)
    assert blend.share == 1.0


def test_what_is_removed_on_the_way_is_a_body(rng: np.random.Generator) -> None:
    from inertial_id_ros.inertia import is_consistent

    first, second = in_use(0.5).load, in_use(2.0).load
    moved = replace(second, phi=transform_phi(second.phi, np.eye(3), rng.normal(size=3)))
    assert all(is_consistent(first.mixed(moved, s).phi) for s in np.linspace(0.0, 1.0, 11))


# ---- another frame -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_frame_fixed_to_the_sensor_is_where_the_wrench_is_given() -> None:
    """A tool tip, known by a fixed transform: a push there has no torque about it."""
    tip = Placement(Rotation.from_euler("xyz", [0.3, 0.5, -1.0]), (0.05, -0.1, 0.2))
    made = live(compensation__frame="tip", estimator__estimate_noise=False)
    made.made.add_static_transform("tool0", "tip", tip.translation, tip.quaternion)
    made.play(samples(8.0))
    force = np.array([12.0, 5.0, -8.0])
    push = np.concatenate([force, np.cross(tip.translation, force)])
    heard = made.play(samples(1.0, start=8.0, bias=BIAS + push))
    assert made.live.target_frame == made.live.status().frame_id == "tip"
    expected = np.concatenate([tip.rotation.inv().apply(force), np.zeros(3)])
    np.testing.assert_allclose(np.median(heard.wrench, axis=0), expected, atol=0.06)


def test_a_frame_that_is_not_known_is_named() -> None:
    made = live(compensation__frame="nowhere")
    made.play(samples(0.5))
    assert "compensation.frame is 'nowhere'" in made.live.status().reason


@pytest.mark.parametrize(("frame", "is_fixed"), [
    ("hand", True), ("arm", False), ("base_link", False)])
def test_a_link_of_the_robot_is_a_target_only_where_it_moves_with_the_sensor(
        frame: str, is_fixed: bool) -> None:
    """The robot description places them; transforms know some of them, too."""
    made = live(compensation__frame=frame)
    made.made.add_static_transform("world", "base_link", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    made.play(samples(3.0))
    status = made.live.status()
    assert (status.mode is Mode.PAYLOAD) == is_fixed, status.reason
    assert is_fixed or "not known to be fixed to the sensor" in status.reason


# ---- motion from transforms ----------------------------------------------------------------------


@pytest.mark.slow
def test_transforms_serve_where_no_joint_states_come() -> None:
    from synthetic import transform_messages

    t, fast = stamps(12.0, RATE), stamps(12.0, 250.0)
    turn, shift = SLOW.flange_in_base(fast)
    made = live(urdf=None)
    heard = made.play((transform_messages(turn, shift, fast, "base_link", "tool0")
                       + wrench_messages(SLOW, BODY, t, bias=BIAS, noise=NOISE,
                                         rng=np.random.default_rng(4))).sorted())
    late = heard.between(7.0, 12.0)
    assert len(late.t) == 5 * RATE and (rms(late.wrench) < 1.3).all(), rms(late.wrench)
