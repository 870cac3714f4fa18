# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The compensated wrench while load, zero, stamps or the sensor itself change in motion: what is
wrong is not published for longer than it takes to see it, and soon it is right again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from live_stream import Heard, Live
from synthetic import (
    NOISE,
    RICH,
    START,
    URDF,
    PointMasses,
    Recording,
    Scene,
    joint_messages,
    nanoseconds,
    payload,
    stamps,
    texts,
)

from inertial_id_ros.estimate import Estimate
from inertial_id_ros.identification.accuracy_goal import AccuracyGoal
from inertial_id_ros.identification.compensation.load_latch import Mode
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.inertia import phi_from_body
from inertial_id_ros.regression.tool import Tool
from inertial_id_ros.settings import Settings

RATE, END = 200.0, 30.0
SCENE = Scene(replace(RICH, frequency=0.4 * RICH.frequency))
T = stamps(END, RATE)
GRIPPER = PointMasses(np.array([[0.0, 0.02, 0.04], [0.02, -0.02, 0.05], [-0.02, 0.0, 0.06]]),
                      np.array([0.4, 0.3, 0.3]))
BODY = payload()
WRONG = 2.0  # N that the load may leave in the force, averaged over a tenth of a second
pytestmark = pytest.mark.slow


@lru_cache
def load_of(name: str) -> np.ndarray:
    """Wrench (n, 6) of the gripper, of what it carries, and of a kilogram in it."""
    kilogram = PointMasses(np.array([[0.0, 0.0, 0.15]]), np.array([1.0]))
    return SCENE.load(T, {"gripper": GRIPPER, "body": BODY, "kilogram": kilogram}[name])


def held() -> np.ndarray:
    """Wrench (n, 6) of gripper and body."""
    return load_of("gripper") + load_of("body")


def since(first: float, last: float | None = None) -> np.ndarray:
    """Share (n, 1) that grows from 0 at the one time to 1 at the other; a step without it."""
    grown = (T >= first) if last is None else np.clip((T - first) / (last - first), 0.0, 1.0)
    return np.asarray(grown, dtype=float)[:, None]


def wrenches(load: np.ndarray, offset: Any = 0.0, seed: int = 1, noisy: float = 1.0) -> Recording:
    """Readings of this load (n, 6), with an offset (n, 6) of the sensor and so many times its
    noise."""
    noise = noisy * np.random.default_rng(seed).normal(size=load.shape) * NOISE
    return Recording([(int(s), "add_wrench", (int(s), "tool0", w[:3].tolist(), w[3:].tolist()))
                      for s, w in zip(nanoseconds(T), -load + offset + noise, strict=True)])


@lru_cache
def joints() -> Recording:
    return joint_messages(SCENE, T)


def until(last: float) -> Callable[[int, Any], bool]:
    """What chooses the messages before then."""
    return lambda stamp, _: stamp < START + last * 1e9


def live(**changes: Any) -> Live:
    made = Identifier(Settings().replace({k.replace("__", "."): v for k, v in changes.items()}))
    made.set_robot_description(URDF)
    return Live(made)


def wrong(heard: Heard) -> float:
    """Time [s] for which more than `WRONG` was left, where nothing touches the payload."""
    left = np.linalg.norm(heard.wrench[:, :3], axis=1)
    return float((np.convolve(left, np.ones(20) / 20.0, "same") > WRONG).sum() / RATE)


def assert_right(heard: Heard, first: float, last: float = END) -> None:
    """From then on all is published, and right."""
    later = heard.between(first, last)
    assert len(later.t) > 0.95 * (last - first) * RATE, later.silent[:1]
    assert wrong(later) == 0.0


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("change", [
    lambda: 1.0 - since(8.0, 24.0),  # a kilogram is poured out
    lambda: sum(1.0 - since(8.0 + k) for k in range(16)) / 16.0])  # or picked in portions
def test_what_is_carried_may_change_slowly(change: Callable[[], np.ndarray], seed: int) -> None:
    made = live()
    heard = made.play((joints() + wrenches(held() + change() * load_of("kilogram"), seed=seed)
                       ).sorted())
    assert wrong(heard.between(3.0, END)) < 3.5  # of 16 s
    assert np.linalg.norm(heard.between(3.0, END).wrench[:, :3], axis=1).max() < 6.0
    assert_right(heard, 28.0)
    assert {"payload_walks", "payload_changed"} & set(texts(made.made))
    outcome = made.made.solve()
    assert isinstance(outcome, Estimate)
    assert abs(outcome.body.mass - 2.4) < 2.0 * outcome.sigma[0] + 0.02


@pytest.mark.parametrize("seconds", [10.0, 12.0])
def test_a_load_that_pours_fast_is_taken_for_no_contact(seconds: float) -> None:
    made, named, off, last = live(), set[str](), [], 0
    pouring = 1.0 - since(8.0, 8.0 + seconds)
    recording = (joints() + wrenches(held() + pouring * load_of("kilogram"))).sorted()
    for end in range(START + 10**9, START + int(26e9), 5 * 10**8):
        heard = made.play(recording.select(
            lambda stamp, _, a=last, b=end: a <= stamp < b))  # type: ignore[misc]
        last, outcome = end, made.made.solve()
        named |= set(texts(made.made))
        if end > START + 11e9:
            assert wrong(heard) == 0.0
            assert isinstance(outcome, Estimate) and not outcome.stale
            true = 2.4 + np.interp((end - START) * 1e-9, T, pouring[:, 0])
            off.append((outcome.body.mass - true) / outcome.sigma[0])
    assert "payload_walks" in named and not {"contact", "payload_changed"} & named
    assert np.mean(np.abs(off) < 2.0) > 0.9 and outcome.mass_rate == 0.0  # it has stopped


def test_the_estimate_says_how_fast_a_load_pours() -> None:
    made = live()
    pouring = (joints() + wrenches(held() + (1.0 - since(8.0, 24.0)) * load_of("kilogram"))
               ).sorted()
    made.play(pouring.select(until(20.0)))
    outcome = made.made.solve()
    assert isinstance(outcome, Estimate)
    assert outcome.mass_rate == pytest.approx(-1.0 / 16.0, rel=0.15)  # kg/s
    assert outcome.walk.startswith("-6") and outcome.walk.split(",")[0].endswith(" g/s")
    made.play(pouring.select(lambda stamp, _: stamp >= START + 20.0 * 1e9))
    outcome = made.made.solve()
    assert isinstance(outcome, Estimate) and outcome.mass_rate == 0.0


def test_hysteresis_is_not_taken_for_a_load_that_pours() -> None:
    clean = held()
    half, moved, at = 0.3 * np.ptp(clean, axis=0), np.empty_like(clean), clean[0]
    for k, now in enumerate(clean):
        at = moved[k] = np.clip(at, now - half, now + half)
    made, recording = live(), (joints() + wrenches(clean + 0.15 * (moved - clean))).sorted()
    said: set[str] = set()
    for second in range(int(END)):
        made.play(recording.select(
            lambda stamp, _, k=second: k <= (stamp - START) * 1e-9 < k + 1.0))  # type: ignore[misc]
        said |= {f.name for f in made.made.findings()}
    assert "hysteresis" in said and "payload_walks" not in said


def test_a_load_that_is_poured_out_is_taken_for_no_cable() -> None:
    made, named = live(), set[str]()
    recording = (joints() + wrenches(held() + (1.0 - since(8.0, 24.0)) * load_of("kilogram"))
                 ).sorted()
    for half in range(16, 52):
        first, last = START + (half * 5 - 5) * 10**8, START + half * 5 * 10**8
        made.play(recording.select(lambda stamp, _, a=first if half > 16 else 0, b=last:  # type: ignore[misc]
                                   a <= stamp < b))
        named |= set(texts(made.made))
    assert "payload_walks" in named and "cable" not in named


def test_a_sensor_that_drifts_stays_compensated() -> None:
    drift = np.outer(T / 60.0, [4.0, -3.0, 3.0, 0.05, 0.05, 0.02])
    heard = live().play((joints() + wrenches(held(), drift)).sorted())
    assert wrong(heard.between(3.0, END)) == 0.0 and len(heard.t) > 0.85 * len(T)


@pytest.mark.parametrize("mean", [0.005, 0.5, 1.0])  # s of readings that become the zero
@pytest.mark.parametrize("late", [0.0, 0.3])  # s that this takes
def test_a_zero_that_is_taken_in_motion_is_told_from_contact(mean: float, late: float) -> None:
    begins, bias = int(12.0 * RATE), np.array([4.0, -3.0, 6.0, 0.2, 0.3, -0.1])
    zero = held()[begins - int(mean * RATE):begins].mean(axis=0)
    made = live()
    heard = made.play((joints() + wrenches(held(), bias + since(12.0 + late) * (zero - bias))
                       ).sorted().select(until(21.0)))
    assert "was zeroed" in texts(made.made)["zero_moved.wrench"]
    assert wrong(heard.between(3.0, 21.0)) < 1.0
    assert_right(heard, 16.0, 21.0)


def test_a_wrench_that_is_stuck_is_named_and_not_compensated() -> None:
    made = live()
    messages = wrenches(held()).messages
    first, last = int(12.0 * RATE), int(17.0 * RATE)
    for k in range(first, last):
        stamp, method, (_, frame, *_) = messages[k]
        messages[k] = stamp, method, (stamp, frame, *messages[first - 1][2][2:])
    recording = (joints() + Recording(messages)).sorted()
    halfway = START + int(15e9)
    heard = made.play(recording.select(lambda stamp, _: stamp < halfway))
    stuck = heard.between(12.5, 15.0)
    assert len(stuck.t) == 0 and "the same to the last bit" in stuck.silent[0][1]
    found = next(f for f in made.made.findings() if f.name == "input_stuck.wrench")
    assert found.level == "warning" and "while the sensor turned" in found.text
    rest = made.play(recording.select(lambda stamp, _: stamp >= halfway))
    assert wrong(heard.between(3.0, 15.0)) == 0.0 and wrong(rest) == 0.0
    assert len(rest.between(17.3, END).t) > 0.95 * (END - 17.3) * RATE
    outcome = made.made.solve()
    assert isinstance(outcome, Estimate) and abs(outcome.body.mass - 2.4) < 0.03


@pytest.mark.parametrize("shift", [0.4, -0.4, 0.08, -0.08])
def test_stamps_of_joint_states_may_shift(shift: float) -> None:
    """As when a driver begins to stamp its messages another way; they arrive as before."""
    def moved(stamp: int, names: list[str], positions: list[float]) -> tuple[Any, ...]:
        late = shift if stamp >= START + 12e9 else 0.0
        return stamp + int(late * 1e9), names, positions

    shifted = joints().changed("add_joint_state", moved)
    made = live()
    heard = made.play((shifted + wrenches(held())).sorted().select(until(21.0)))
    assert f"have shifted by {shift:+.2f} s" in texts(made.made)["reset"]
    assert wrong(heard.between(3.0, 21.0)) < 0.5
    assert_right(heard, 16.0, 21.0)


def test_wrenches_that_are_late_by_more_than_a_second_are_met_with_silence() -> None:
    def arrival(message: tuple[int, str, tuple[Any, ...]]) -> float:
        stamp, method, _ = message
        t = (stamp - START) * 1e-9
        return t + (1.5 if method == "add_wrench" and 12.0 < t < 16.0 else 0.0)

    recording = Recording(sorted((joints() + wrenches(held())).messages, key=arrival))
    heard = live().play(recording)
    assert len(heard.between(12.05, 15.9).t) == 0
    assert wrong(heard.between(3.0, END)) == 0.0
    assert_right(heard, 21.0)


def test_a_grip_leaves_what_was_known_out() -> None:
    """The gripper goes on being removed while what it has gripped is unknown."""
    made = live()
    heard = made.play((joints() + wrenches(load_of("gripper") + since(12.0) * load_of("body"))
                       ).sorted())
    body = np.linalg.norm(load_of("body")[:, :3], axis=1).max()
    assert np.linalg.norm(heard.between(12.0, END).wrench[:, :3], axis=1).max() < body + 1.0
    assert_right(heard, 15.0)


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_a_known_tool_that_is_empty_is_a_result(noise: float) -> None:
    made = live(compensation__unknown_payload="silent")
    mass, com, *_ = GRIPPER.report
    xx, xy, xz, yy, yz, zz = GRIPPER.report[4:]
    tool = phi_from_body(mass, GRIPPER.report[1:4],
                         [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    made.made.set_tool(Tool("tool0", tool, 1e-8 * np.eye(10), START))
    samples = (joints() + wrenches(load_of("gripper"), noisy=noise)).sorted()
    heard = made.play(samples.select(lambda stamp, _: stamp < START + 10e9))
    outcome = made.made.solve()
    assert isinstance(outcome, Estimate) and outcome.carries_nothing
    assert outcome.body.mass < 2.0 * outcome.sigma[0] < 0.05
    assert AccuracyGoal(mass=0.05, com=0.002).describe_missing(outcome) == ""
    assert AccuracyGoal().describe_reached(outcome).startswith("nothing is carried beside the tool")
    assert not any(f.level != "info" for f in made.made.findings()), texts(made.made)
    later = heard.between(5.0, 10.0)  # and known well enough to be removed
    assert len(later.t) == 5 * RATE and (later.mode == Mode.PAYLOAD).all() and wrong(later) == 0.0
