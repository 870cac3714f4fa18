# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Trouble with joint torques: every fault is named in time, and nothing wrong is published.

The arm is its description exactly, and has no friction, so that the runs are short; the payload's
torques are those of MuJoCo. `benchmarks/faults/torques.py` does the same with an arm that was
identified and has friction.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np
import pytest
from torque_arm import FRAME, NAMES, URDF

from benchmarks.joint_torque import arm, block, wide_motion
from inertial_id_ros.estimate import Estimate, NoEstimate, Outcome
from inertial_id_ros.identification.joint_torque.identifier import TorqueIdentifier
from inertial_id_ros.inertia import Array
from inertial_id_ros.robot.joint_terms import NO_TERMS
from inertial_id_ros.robot.robot_file import IdentifiedRobot, robot_model, save_robot
from inertial_id_ros.settings import Settings

START, SECOND = 1_700_000_000_000_000_000, 1_000_000_000
RATE = 125.0  # Hz
NOISE = np.array([0.5, 0.5, 0.5, 0.1, 0.1, 0.1])  # N m of one sample
ROW_NOISE = 0.25 * NOISE  # of a low-passed row, with what a robot's model misses
AT, LASTS, DURATION = 3.5, 1.0, 7.0  # s
MASS = 2.0  # kg
MODEL = robot_model(URDF, None, NO_TERMS)
TIMES = np.arange(0.0, DURATION, 1.0 / RATE)
PATH = wide_motion(DURATION, seed=3, harmonics=6)(TIMES)


class Sample(NamedTuple):
    stamp: int
    names: tuple[str, ...]
    q: list[float]
    effort: list[float]


Change = Callable[[float, Sample], list[Sample]]


def _of_mujoco(change: Callable[[mujoco.MjModel, mujoco.MjData], Array]) -> Array:
    """A row (joints,) for every time."""
    model = arm(block(1.0), friction=False)
    data, out = mujoco.MjData(model), np.empty((len(TIMES), model.nv))
    for i, (q, dq, ddq) in enumerate(zip(*PATH, strict=True)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, dq, ddq
        mujoco.mj_inverse(model, data)
        out[i] = change(model, data)
    return out


@pytest.fixture(scope="module")
def unit_payload() -> Array:
    """Torques of a block of one kilogram."""
    empty = arm(None, friction=False)
    data = mujoco.MjData(empty)

    def less_arm(_: mujoco.MjModel, loaded: mujoco.MjData) -> Array:
        data.qpos[:], data.qvel[:], data.qacc[:] = loaded.qpos, loaded.qvel, loaded.qacc
        mujoco.mj_inverse(empty, data)
        return loaded.qfrc_inverse - data.qfrc_inverse
    return _of_mujoco(less_arm)


@pytest.fixture(scope="module")
def pushed() -> Array:
    """Torques of a push of 27 N at the tool, along fixed axes of the world."""
    def push(model: mujoco.MjModel, data: mujoco.MjData) -> Array:
        jacobian, turn = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        body = model.body(FRAME).id
        mujoco.mj_jac(model, data, jacobian, turn, data.xpos[body], body)
        return -jacobian.T @ [10.0, -15.0, 20.0]
    return _of_mujoco(push)


def save(path: Path, phi: Array) -> Path:
    sd = 1e-3 * np.maximum(np.abs(phi), 1e-2)
    save_robot(path, IdentifiedRobot(NAMES, MODEL.bodies, MODEL.terms, MODEL.gravity, 0.0, 0.4, phi,
                                     np.diag(sd**2), ROW_NOISE))
    return path


@pytest.fixture(scope="module")
def robot_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("robot") / "arm.robot", MODEL.nominal)


class Heard(NamedTuple):
    """What came out: seconds and text of each finding when it first came, and all outcomes."""

    first: dict[str, tuple[float, str]]
    outcomes: list[tuple[float, Outcome]]
    last: Outcome

    def seconds(self, name: str) -> float:
        """From the fault to its finding."""
        assert name in self.first, self.first
        return self.first[name][0] - AT

    def fresh(self, since: float) -> list[Estimate]:
        """Estimates that are not stale."""
        return [o for t, o in self.outcomes if t >= since and isinstance(o, Estimate)
                and not o.stale]


def play(robot_file: Path, efforts: Array, change: Change = lambda t, s: [s], every: int = 3,
         **settings: Any) -> Heard:
    """Arm and what else its torques are of (n, joints), with noise."""
    dotted = {name.replace("__", "."): value for name, value in settings.items()}
    made = TorqueIdentifier(Settings().replace({
        "load.robot": str(robot_file), "estimator.method": "lmi",
        "wrench.sensor_frame": FRAME, **dotted}))
    made.set_robot_description(URDF)
    own = MODEL.torque(MODEL.nominal, *PATH)
    noisy = own + efforts + NOISE * np.random.default_rng(4).normal(size=own.shape)
    first: dict[str, tuple[float, str]] = {}
    outcomes = []
    for k, t in enumerate(TIMES):
        sample = Sample(START + round(t * 1e9), NAMES, PATH[0][k].tolist(), noisy[k].tolist())
        for one in change(t, sample):
            made.add_joint_state(*one)
        if k % every == every - 1:  # 24 ms
            made.advance()
            for finding in made.findings():
                first.setdefault(finding.name, (t, finding.text))
        if k % 60 == 59:
            outcomes.append((t, made.solve()))
            for finding in made.findings():
                first.setdefault(finding.name, (t, finding.text))
    made.finish()
    return Heard(first, outcomes, made.solve())


def assert_mass(heard: Heard, mass: float = MASS, tolerance: float = 0.03) -> None:
    assert isinstance(heard.last, Estimate), heard.last
    assert heard.last.report[0] == pytest.approx(mass, rel=tolerance)


def while_on(change: Callable[[Sample], list[Sample]]) -> Change:
    return lambda t, s: change(s) if AT <= t < AT + LASTS else [s]


AFTER = (TIMES >= AT)[:, None]
DURING = AFTER & (TIMES < AT + LASTS)[:, None]


def test_nothing_is_said_of_a_motion_without_trouble(robot_file: Path, unit_payload: Array) -> None:
    heard = play(robot_file, MASS * unit_payload)
    assert set(heard.first) <= {"verdict", "joint_residual"}
    assert_mass(heard)


def test_contact_is_found_and_left_out(robot_file: Path, unit_payload: Array, pushed: Array
                                       ) -> None:
    heard = play(robot_file, MASS * unit_payload + DURING * pushed)
    assert heard.seconds("contact") < 0.35
    assert "payload_changed" not in heard.first and "zero_moved.joints" not in heard.first
    assert_mass(heard)
    assert all(e.report[0] == pytest.approx(MASS, rel=0.05) for e in heard.fresh(0.0))


@pytest.mark.slow
@pytest.mark.parametrize(("before", "after", "said"), [
    (2.0, 0.0, r"from 2\.\d\d to about 0\.\d\d kg"), (2.0, 1.0, r"from 2\.\d\d to about [01]\.\d"),
    (0.0, 2.0, r"payload changed: (by about \+|from 0\.\d\d to about )[12]\.\d")])
def test_a_payload_released_exchanged_or_gripped_is_found_within_half_a_second(
        robot_file: Path, unit_payload: Array, before: float, after: float, said: str) -> None:
    heard = play(robot_file, np.where(AFTER, after, before) * unit_payload)
    assert heard.seconds("payload_changed") < 0.5
    assert re.search(said, heard.first["payload_changed"][1])
    for estimate in heard.fresh(AT + 0.5):
        assert estimate.report[0] == pytest.approx(after, rel=0.05, abs=0.02)
    if after:
        assert_mass(heard, after)
    else:
        assert not isinstance(heard.last, Estimate)
        assert heard.last.reason.startswith("payload changed: from 2")


@pytest.mark.slow
def test_the_same_is_found_however_the_stream_is_cut(robot_file: Path, unit_payload: Array) -> None:
    """As a node hears it, and as a recording is read."""
    live, read = (play(robot_file, np.where(AFTER, 1.0, 2.0) * unit_payload, every=every)
                  for every in (1, 97))
    assert live.first["payload_changed"][1] == read.first["payload_changed"][1]
    assert isinstance(live.last, Estimate) and isinstance(read.last, Estimate)
    np.testing.assert_allclose(live.last.phi, read.last.phi, rtol=1e-6)
    assert live.last.window == read.last.window


def test_a_zero_that_moves_is_found_and_estimated(robot_file: Path, unit_payload: Array) -> None:
    heard = play(robot_file, MASS * unit_payload + AFTER * [0.0, 6.0, -4.0, 2.0, 0.0, 0.0])
    assert heard.seconds("contact") < 0.35  # not called by its name yet, but left out
    assert heard.seconds("zero_moved.joints") < 3.2
    for estimate in heard.fresh(AT + 0.5):
        assert estimate.report[0] == pytest.approx(MASS, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "change"), [
    ("samples_invalid.joints", lambda s: [s._replace(effort=[np.nan] * 6)]),
    ("samples_invalid.joints", lambda s: [s._replace(q=[np.inf] * 6)]),
    ("samples_saturated.joints", lambda s: [s._replace(effort=[0.0, 150.0, 0.0, 0.0, 0.0, 0.0])]),
    ("joint_states_incomplete.efforts", lambda s: [s._replace(effort=[])]),
    ("joint_states_incomplete", lambda s: [Sample(s.stamp, NAMES[1:], s.q[1:], s.effort[1:])]),
    ("samples_missing.joints", lambda s: []),
    ("samples_repeated.joints", lambda s: [s, s]),
    ("stamp_missing.joints", lambda s: [s, s._replace(stamp=0)]),
    ("stamp_stray.joints", lambda s: [s, s._replace(stamp=s.stamp + 100 * SECOND)])])
def test_samples_that_cannot_be_used_are_named_and_do_no_harm(
        robot_file: Path, unit_payload: Array, name: str,
        change: Callable[[Sample], list[Sample]]) -> None:
    heard = play(robot_file, MASS * unit_payload, while_on(change))
    assert heard.seconds(name) < (0.1 if name != "samples_missing.joints" else LASTS + 0.5)
    assert_mass(heard)
    assert all(e.report[0] == pytest.approx(MASS, rel=0.05) for e in heard.fresh(0.0))


def test_joint_states_of_a_gripper_in_between_do_no_harm(robot_file: Path, unit_payload: Array
                                                         ) -> None:
    heard = play(robot_file, MASS * unit_payload, lambda t, s: [
        s, Sample(s.stamp + 1000, ("finger",), [0.01], [0.2])])
    assert set(heard.first) <= {"verdict", "joint_residual"}
    assert_mass(heard)


def test_joint_states_that_come_too_slowly_are_said_with_their_rate(
        robot_file: Path, unit_payload: Array) -> None:
    heard = play(robot_file, MASS * unit_payload, lambda t, s: [s] if round(t * RATE) % 25 == 0
                 else [])
    assert isinstance(heard.last, NoEstimate)
    assert "joint states on 'joint_states' come at 5 Hz, too slowly" in heard.last.reason


def test_a_clock_that_jumps_back_starts_anew(robot_file: Path, unit_payload: Array) -> None:
    heard = play(robot_file, MASS * unit_payload, lambda t, s: [
        s._replace(stamp=s.stamp - 60 * SECOND) if t >= AT else s])
    assert "the clock jumped back by 60.0 s" in heard.first["reset"][1]
    assert heard.seconds("reset") < 0.1
    assert_mass(heard)
    assert heard.last.window < DURATION - AT


@pytest.mark.parametrize(("signs", "said"), [
    (-np.ones(6), "the efforts have the opposite sign of the torques that move this robot"),
    (np.array([1.0, -1.0, 1.0, 1.0, 1.0, 1.0]), "the efforts of 'shoulder_lift_joint' have")])
def test_torques_with_the_wrong_sign_give_no_estimate(
        robot_file: Path, unit_payload: Array, signs: Array, said: str) -> None:
    heard = play(robot_file, MASS * unit_payload, lambda t, s: [
        s._replace(effort=(signs * s.effort).tolist())])
    assert said in heard.first["sign_wrong"][1]
    assert "convention" not in heard.first["sign_wrong"][1]
    assert heard.first["sign_wrong"][0] < 2.1
    assert not heard.fresh(0.0)


def test_a_robot_file_of_another_robot_gives_no_estimate(unit_payload: Array, tmp_path: Path
                                                         ) -> None:
    heavier = np.array(MODEL.nominal)
    heavier *= 1.5
    heard = play(save(tmp_path / "other.robot", heavier), MASS * unit_payload)
    assert "a robot file of another robot" in heard.first["load_unexplained.joints"][1]
    assert not heard.fresh(0.0)


def test_a_robot_file_that_is_somewhat_wrong_is_warned_of(unit_payload: Array, tmp_path: Path
                                                          ) -> None:
    heavier = np.array(MODEL.nominal)
    heavier[MODEL.body_slice(1)] *= 1.2
    heard = play(save(tmp_path / "worn.robot", heavier), MASS * unit_payload)
    assert "times the noise of the identified robot" in heard.first["residual_large"][1]


@pytest.mark.slow
def test_a_payload_frame_on_another_body_gives_no_estimate(robot_file: Path, unit_payload: Array
                                                           ) -> None:
    heard = play(robot_file, MASS * unit_payload, wrench__sensor_frame="forearm_link")
    assert "wrench.sensor_frame" in heard.first["robot_wrong"][1]
    assert not heard.fresh(0.0)


def test_a_robot_identified_with_a_payload_in_its_hand_is_named(
        robot_file: Path, unit_payload: Array) -> None:
    heard = play(robot_file, -1.0 * unit_payload)
    assert "the robot carried a payload when it was" in heard.first["robot_wrong.mass"][1]
    assert not heard.fresh(0.0)


def test_while_two_publishers_send_joint_states_there_is_no_estimate(
        robot_file: Path, unit_payload: Array) -> None:
    made = TorqueIdentifier(Settings().replace({
        "load.robot": str(robot_file), "estimator.method": "lmi",
        "wrench.sensor_frame": FRAME}))
    made.set_robot_description(URDF)
    torques = MODEL.torque(MODEL.nominal, *PATH) + MASS * unit_payload
    said = {0.0: "", 2.0: "2 publishers: /one, /two", 4.0: ""}
    for t, q, effort in zip(TIMES, PATH[0].tolist(), torques.tolist(), strict=True):
        if (text := said.pop(float(t), None)) is not None:
            outcome = made.solve()
            assert isinstance(outcome, Estimate) == (t == 2.0)
            if isinstance(outcome, NoEstimate) and t == 4.0:
                assert outcome.reason == "2 publishers: /one, /two"
            made.add_publishers(text)
        made.add_joint_state(START + round(t * 1e9), NAMES, q, effort)
        made.advance()
    made.finish()
    outcome = made.solve()
    assert isinstance(outcome, Estimate) and not said
    assert outcome.body.mass == pytest.approx(MASS, rel=0.01)
    assert "several_publishers.joints" not in {f.name for f in made.findings()}
