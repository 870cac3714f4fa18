"""Contact, changes of payload and of the sensor's zero: found, named, left out or flushed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from synthetic import (
    RICH,
    START,
    STILL,
    PointMasses,
    Recording,
    Scene,
    Sinusoids,
    identifier,
    joint_messages,
    payload,
    recording,
    stamps,
    texts,
    wrench_messages,
)

from inertial_id_ros.estimate import Estimate, NoEstimate
from inertial_id_ros.identifier import Identifier

SECOND = 1_000_000_000
NOISE = np.repeat([0.1, 0.005], 3)
BODY, OTHER = payload(), payload(5, 0.6)
SLOW = Scene(Sinusoids(RICH.offset, RICH.amplitude, 0.4 * RICH.frequency, RICH.phase))
Push = Callable[[float], np.ndarray]  # wrench (6,) that is added, over seconds since the start


def _clean(seconds: float = 9.0, scene: Scene = SLOW, seed: int = 1, **options: Any) -> Recording:
    return recording(seconds, scene, noise=NOISE, rng=np.random.default_rng(seed), **options)


def _pushed(samples: Recording, push: Push) -> Recording:
    """The same with what else acts on the payload."""
    def change(stamp: int, frame: str, force: list[float],
               torque: list[float]) -> tuple[int, str, list[float], list[float]]:
        extra = push((stamp - START) * 1e-9)
        return (stamp, frame, (np.array(force) + extra[:3]).tolist(),
                (np.array(torque) + extra[3:]).tolist())
    return samples.changed("add_wrench", change)


def _between(first: float, last: float, push: Any) -> Push:
    """A wrench, or a function of time that gives one, from `first` to `last` [s]."""
    def at(t: float) -> np.ndarray:
        if not first < t < last:
            return np.zeros(6)
        return np.asarray(push(t) if callable(push) else push, dtype=float)
    return at


def _scraping(t: float) -> np.ndarray:
    """A push that neither gravity nor a zero of the sensor explains."""
    return np.array([9.0 + 3.0 * np.sin(9.0 * t), 4.0 * np.cos(7.0 * t),
                     6.0 + 2.0 * np.sin(5.0 * t), 0.3 * np.sin(4.0 * t), 0.5,
                     -0.4 * np.cos(6.0 * t)])


def _two(first: PointMasses, second: PointMasses, at: float, scene: Scene = SLOW,
         seconds: float = 9.0) -> Recording:
    """One payload until `at` [s], then the other."""
    rng = np.random.default_rng(2)
    return (joint_messages(scene, stamps(seconds, 200.0))
            + wrench_messages(scene, first, stamps(at, 200.0), noise=NOISE, rng=rng)
            + wrench_messages(scene, second, stamps(seconds - at, 200.0, start=at), noise=NOISE,
                              rng=rng)).sorted()


def _made(**changes: Any) -> Identifier:
    return identifier(estimator__method="lmi", estimator__estimate_noise=True, **changes)


def _found_at(made: Identifier, samples: Recording, name: str, step: float = 0.02) -> float:
    """Seconds of stamps after which a finding is there."""
    due = START
    for stamp, method, arguments in samples.messages:
        getattr(made, method)(*arguments)
        if stamp >= due:
            made.advance()
            due = stamp + int(step * 1e9)
            if name in texts(made):
                return (stamp - START) * 1e-9
    raise AssertionError(f"{name} was not found: {texts(made)}")


def _assert_truth(made: Identifier, body: PointMasses, mass: float = 0.01,
                  com: float = 2e-3) -> Estimate:
    outcome = made.solve()
    assert isinstance(outcome, Estimate), outcome
    assert outcome.report[0] == pytest.approx(body.report[0], rel=mass)
    np.testing.assert_allclose(outcome.report[1:4], body.report[1:4], atol=com)
    return outcome


# ---- nothing happens -----------------------------------------------------------------------------


@pytest.mark.parametrize("scene", [SLOW, Scene()], ids=["slow", "fast"])
@pytest.mark.parametrize(("mass", "noise"), [(0.2, 1.0), (8.0, 1.0), (1.4, 5.0)])
def test_ordinary_motion_raises_nothing(scene: Scene, mass: float, noise: float) -> None:
    """Light and heavy, with five times the noise of the data sheet, and a biased sensor."""
    made = _made()
    recording(8.0, scene, payload(4, mass), noise=noise * NOISE, rng=np.random.default_rng(5),
              bias=[4.0, -3.0, 6.0, 0.2, 0.3, -0.1]).feed(made, 0.1)
    assert isinstance(made.solve(), Estimate)
    assert not {"contact", "payload_changed", "sensor_zeroed", "estimate_lost"} & set(texts(made))


def test_a_heavy_payload_on_a_sensor_that_is_turned_raises_nothing() -> None:
    """Two degrees are four standard deviations of what is expected of a mounting."""
    turn = Rotation.from_rotvec(np.deg2rad([1.2, -1.0, 1.2]))

    def turned(stamp: int, frame: str, force: list[float],
               torque: list[float]) -> tuple[Any, ...]:
        return stamp, frame, turn.apply(force).tolist(), turn.apply(torque).tolist()

    made = _made()
    recording(9.0, Scene(), payload(4, 6.0), noise=NOISE, rng=np.random.default_rng(5)).changed(
        "add_wrench", turned).feed(made, 0.1)
    assert not {"contact", "payload_changed", "sensor_zeroed"} & set(texts(made))


def test_a_sensor_that_vibrates_raises_nothing() -> None:
    """3 N and 0.2 N m at 12 Hz, and 0.5 N at 3 Hz that the filters let through."""
    def shaken(t: float) -> np.ndarray:
        fast, slow = np.sin(75.4 * t), np.sin(18.8 * t)
        return np.array([3.0 * fast, 0.5 * slow, 2.0 * fast, 0.2 * fast, 0.02 * slow, 0.1 * fast])

    made = _made()
    _pushed(_clean(), shaken).feed(made, 0.1)
    _assert_truth(made, BODY, 0.02, 5e-3)
    assert not {"contact", "payload_changed", "sensor_zeroed"} & set(texts(made))


# ---- contact -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scene", [SLOW, Scene()], ids=["slow", "fast"])
@pytest.mark.parametrize(("push", "last"), [
    ([30.0, 0.0, 0.0, 0.0, 0.0, 0.0], 3.6), ([0.0, 12.0, 16.0, 0.0, 0.3, 0.0], 3.03),
    (_scraping, 6.0), ([1.0, 2.0, -1.0, 0.0, 0.0, 0.1], 3.9)])
def test_contact_is_left_out_and_the_estimate_is_that_without_it(
        scene: Scene, push: Any, last: float) -> None:
    made, free = _made(), _made()
    _pushed(_clean(scene=scene), _between(3.0, last, push)).feed(made, 0.1)
    _clean(scene=scene).feed(free, 0.1)
    outcome, reference = _assert_truth(made, BODY), _assert_truth(free, BODY)
    assert outcome.report[0] == pytest.approx(reference.report[0], rel=2e-3)
    np.testing.assert_allclose(outcome.report[1:4], reference.report[1:4], atol=1e-3)
    assert texts(made)["contact"].startswith("contact left out (once so far")
    assert "residual_large" not in texts(made)
    assert 5.0 * (reference.samples - outcome.samples) < 1000.0 * (last - 3.0 + 0.7)


def test_while_the_contact_lasts_the_estimate_before_it_stands_and_is_stale() -> None:
    made = _made()
    samples = _pushed(_clean(), _between(4.0, 99.0, _scraping))
    before = [k for k, m in enumerate(samples.messages) if m[0] < START + 4 * SECOND][-1]
    Recording(samples.messages[:before]).feed(made, 0.1)
    first = _assert_truth(made, BODY)
    assert not first.stale
    Recording(samples.messages[before:]).feed(made, 0.1)
    made.solve()
    held = _assert_truth(made, BODY)
    assert held.stale and held.stamp_ns < START + int(4.2 * SECOND)
    assert "is left out" in texts(made)["contact"]


def test_contact_before_there_is_an_estimate_is_left_out() -> None:
    made = _made()
    scene = Scene(Sinusoids(SLOW.motion.offset, SLOW.motion.amplitude, SLOW.motion.frequency,
                            np.full(5, 0.5 * np.pi)))  # at rest at the beginning
    _pushed(_clean(scene=scene), _between(0.8, 3.0, _scraping)).feed(made, 0.1)
    _assert_truth(made, BODY)
    assert "contact" in texts(made)


def test_switched_off_contact_stays_in() -> None:
    made = _made(contact__detect=False, change__detect=False)
    samples = _clean()
    _pushed(samples, _between(3.0, 6.0, _scraping)).feed(made, 0.1)
    made.solve()
    assert "contact" not in texts(made) and "residual_large" in texts(made)


def test_a_wrench_that_never_fits_again_flushes_the_buffer() -> None:
    made = _made(contact__longest=2.0, change__detect=False)
    samples = _pushed(_clean(), _between(4.0, 99.0, [3.0, -4.0, 2.0, 0.1, 0.2, -0.1]))
    samples.feed(made, 0.1)
    assert texts(made)["estimate_lost"].startswith(
        "the wrench did not fit the estimate for 2 s; buffers flushed")
    _assert_truth(made, BODY, 0.02, 4e-3)  # the push is the sensor's bias now


# ---- another payload -----------------------------------------------------------------------------


@pytest.mark.parametrize("scene", [SLOW, Scene()], ids=["slow", "fast"])
@pytest.mark.parametrize(("first", "second", "said"), [
    (BODY, OTHER, "from 1.40 to about 0.60 kg"), (OTHER, BODY, "from 0.60 to about 1.40 kg")])
def test_a_payload_that_changes_is_found_within_half_a_second(
        scene: Scene, first: PointMasses, second: PointMasses, said: str) -> None:
    made, samples = _made(), _two(first, second, 4.0, scene)
    assert _found_at(made, samples, "payload_changed") < 4.5
    assert texts(made)["payload_changed"] == f"payload changed: {said}; buffers flushed (once)"
    outcome = made.solve()
    assert isinstance(outcome, NoEstimate) and outcome.reason.startswith(
        f"payload changed: {said}")
    fresh = _made()
    samples.feed(fresh, 0.1)
    assert _assert_truth(fresh, second).window < 4.9
    assert set(texts(fresh)) <= {"payload_changed", "verdict", "sensor_rotated", "gravity_tilted"}


@pytest.mark.parametrize("mass", [0.1, 3.0])
def test_a_payload_gripped_at_rest_before_any_estimate_is_found(mass: float) -> None:
    scene = Scene(STILL)
    both = PointMasses(np.vstack([BODY.points, [[0.05, 0.0, 0.2]]]), np.r_[BODY.masses, mass])
    made = _made()
    assert _found_at(made, _two(BODY, both, 2.0, scene, 4.0), "payload_changed") < 2.5
    assert texts(made)["payload_changed"].startswith(
        f"payload changed: by about +{mass:.2f} kg; buffers flushed")


def test_a_payload_lifted_slowly_is_found_when_it_hangs() -> None:
    """Its weight comes on within 1.5 s; before that nothing is said of its mass."""
    scene = SLOW
    a, b = scene.load(stamps(9.0, 200.0), OTHER), scene.load(stamps(9.0, 200.0), BODY)
    t = stamps(9.0, 200.0)
    extra = {round(x * 200): row for x, row in zip(t, a - b, strict=True)}

    def lifted(x: float) -> np.ndarray:
        # The reading of BODY less what does not hang yet; on_sensor reads the opposite of the load.
        share = np.clip((4.0 + 1.5 - x) / 1.5, 0.0, 1.0)
        return -share * extra[min(max(round(x * 200), 0), len(t) - 1)]

    made = _made()
    samples = _pushed(_clean(), lifted)
    found = _found_at(made, samples, "payload_changed")
    assert 5.4 < found < 6.3
    assert texts(made)["payload_changed"].startswith(
        "payload changed: from 0.60 to about 1.4")
    fresh = _made()
    samples.feed(fresh, 0.1)
    _assert_truth(fresh, BODY, 0.02, 3e-3)


def test_a_tool_that_is_set_down_and_taken_up_again_is_found_twice() -> None:
    made = _made()
    nothing = PointMasses(BODY.points, 1e-6 * BODY.masses)
    rng = np.random.default_rng(2)
    bias = [4.0, -3.0, 6.0, 0.2, 0.3, -0.1]
    parts = [wrench_messages(SLOW, body, stamps(4.0, 200.0, start=4.0 * k), noise=NOISE, rng=rng,
                             bias=bias) for k, body in enumerate((BODY, nothing, BODY))]
    samples = joint_messages(SLOW, stamps(12.0, 200.0))
    for part in parts:
        samples = samples + part
    samples.sorted().feed(made, 0.1)
    _assert_truth(made, BODY)
    assert "(2 times)" in texts(made)["payload_changed"]
    assert "sensor_zeroed" not in texts(made)


def test_a_change_of_payload_is_not_looked_for_where_that_is_switched_off() -> None:
    made = _made(change__detect=False)
    _two(BODY, OTHER, 4.0).feed(made, 0.1)
    _assert_truth(made, BODY)
    assert "payload_changed" not in texts(made) and "contact" in texts(made)


# ---- another zero --------------------------------------------------------------------------------


def test_a_sensor_that_is_zeroed_while_it_carries_something_is_named() -> None:
    """Its reading jumps to nothing, and turning shows the weight again."""
    biased = _clean(bias=[4.0, -3.0, 6.0, 0.2, 0.3, -0.1])
    at = next(m for m in biased.messages if m[1] == "add_wrench" and m[0] > START + 4 * SECOND)[2]
    jump = -np.r_[at[2], at[3]]
    made = _made()
    _pushed(biased, _between(4.0, 99.0, jump)).feed(made, 0.1)
    _assert_truth(made, BODY)
    assert texts(made)["sensor_zeroed"].startswith("the sensor was zeroed, or its driver restarted")
    assert "payload_changed" not in texts(made)


@pytest.mark.parametrize("pause", [0.0, 2.0])
def test_a_driver_that_restarts_with_another_zero_is_named(pause: float) -> None:
    jump = np.array([3.0, -4.0, 2.0, 0.1, 0.2, -0.1])
    samples = _pushed(_clean(12.0), _between(4.0, 99.0, jump)).select(
        lambda s, m: m != "add_wrench" or not 4.0 < (s - START) * 1e-9 < 4.0 + pause)
    made = _made()
    samples.feed(made, 0.1)
    _assert_truth(made, BODY)
    assert "sensor_zeroed" in texts(made) and "payload_changed" not in texts(made)
    assert ("wrench_gap" in texts(made)) is (pause > 0.5)


def test_a_tare_does_not_survive_another_zero() -> None:
    """The bias would otherwise be held at its old value."""
    rng = np.random.default_rng(2)
    bias = np.array([4.0, -3.0, 6.0, 0.2, 0.3, -0.1])
    jump = np.array([3.0, -4.0, 2.0, 0.1, 0.2, 0.1])
    nothing = PointMasses(BODY.points, 1e-9 * BODY.masses)
    empty = (joint_messages(Scene(STILL), stamps(2.0, 200.0)) + wrench_messages(
        Scene(STILL), nothing, stamps(2.0, 200.0), noise=NOISE, rng=rng, bias=bias)).sorted()
    made = _made()
    empty.moved(-30 * SECOND).feed(made, 0.1)
    made.tare()
    _pushed(_clean(bias=bias), _between(4.0, 99.0, jump)).feed(made, 0.1)
    outcome = _assert_truth(made, BODY)
    np.testing.assert_allclose(outcome.bias, bias + jump, atol=0.3)


# ---- however the stream is cut -------------------------------------------------------------------


@pytest.mark.parametrize("cadence", [0.013, 0.5, None])
def test_the_same_is_found_however_the_stream_is_cut(cadence: float | None) -> None:
    samples = _pushed(_two(BODY, OTHER, 5.0), _between(2.5, 3.2, _scraping))
    made, other = _made(), _made()
    samples.feed(made, 0.1)
    samples.feed(other, cadence)
    np.testing.assert_allclose(other.solve().report, made.solve().report, rtol=1e-9, atol=1e-12)
    assert texts(other) == texts(made)
    assert {"contact", "payload_changed"} <= set(texts(made))
