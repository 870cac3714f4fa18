# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Numbers that no sensor with a load gives: no finite input ends in anything but an answer or a
reason in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bags
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import BODY, JOINTS, NOISE, RICH, URDF, Scene, nanoseconds, stamps
from test_torque_trouble import MODEL, PATH, TIMES, save
from torque_arm import FRAME, NAMES
from torque_arm import URDF as TORQUE_URDF

from inertial_id_ros.api import Identifier, Settings
from inertial_id_ros.apps.bag.identify_bag import main
from inertial_id_ros.apps.bag.offline import identify_recording
from inertial_id_ros.estimate import Estimate, NoEstimate
from inertial_id_ros.inertia import Array, is_consistent

T = stamps(4.0, 100.0)
Q = RICH.positions(T)
LOAD = -Scene().load(T, BODY)
NOISY = LOAD + np.random.default_rng(1).normal(size=LOAD.shape) * NOISE
LATE = T[:, None] >= 2.0
TO_AND_FRO = np.where(np.arange(len(T)) % 2, 1.0, -1.0)[:, None]
HUGE = np.finfo(float).max


def _dead(*channels: int) -> Array:
    wrench = NOISY.copy()
    wrench[:, list(channels)] = 0.0
    return wrench


def _constant(value: float) -> Array:
    return np.full_like(NOISY, value)


WRENCHES = {
    "zero": _constant(0.0), "constant": _constant(1.0), "denormal": _constant(5e-324),
    "large": _constant(1e6), "largest": _constant(HUGE),
    "largest to and fro": HUGE * TO_AND_FRO * np.ones(6),
    "to a tenth": NOISY.round(1), "to one": NOISY.round(), "to ten": NOISY.round(-1),
    "without noise": LOAD, "vanishing": 1e-200 * NOISY, "in microunits": 1e-6 * NOISY,
    "noise": NOISY - LOAD, "ramp": T[:, None] * np.ones(6),
    "one dead force": _dead(0), "one dead torque": _dead(5), "two dead": _dead(1, 3),
    "no force": _dead(0, 1, 2), "no torque": _dead(3, 4, 5), "one force": _dead(1, 2, 3, 4, 5),
    "one torque": _dead(0, 1, 2, 3, 4), "all channels the same": NOISY[:, :1] * np.ones(6),
    "one spike": np.where(T[:, None] == T[200], 1.0, _constant(0.0)),
    "zero, then a load": np.where(LATE, NOISY, 0.0),
    "a load, then zero": np.where(LATE, 0.0, NOISY),
}
POSITIONS = {
    "still": 0.0 * Q, "to a tenth": Q.round(1), "huge": 1e100 * Q, "largest": np.full_like(Q, HUGE),
    "tiny": 1e-9 * Q, "to and fro": np.pi * TO_AND_FRO * np.ones(5), "about the vertical":
    Q * [1.0, 0.0, 0.0, 0.0, 0.0], "a step": np.where(LATE, 1.0, 0.0) * np.ones(5),
}
BOX = {"shape.type": "box", "shape.size": [0.2, 0.2, 0.2], "shape.center": [0.0, 0.0, 0.1]}


def _identify(wrench: Array, q: Array = Q, times: np.ndarray | None = None,
              part: int = 100, **changes: Any) -> tuple[Estimate | NoEstimate, set[str]]:
    """Outcome and names of findings of samples that come in parts; the outcome is possible."""
    times = nanoseconds(T) if times is None else times
    made = Identifier(Settings().replace({k.replace("__", "."): v for k, v in changes.items()}))
    made.set_robot_description(URDF)
    for begin in range(0, len(times), part):
        now = slice(begin, begin + part)
        made.add_joint_states(times[now], JOINTS, q[now])
        made.add_wrenches(times[now], "tool0", wrench[now])
        made.solve()
    made.finish()
    return _checked(made)


def _checked(made: Identifier) -> tuple[Estimate | NoEstimate, set[str]]:
    """Outcome and names of findings, of which none is an internal error."""
    outcome, names = made.solve(), {finding.name for finding in made.findings()}
    assert "internal_error" not in names
    if isinstance(outcome, Estimate):
        assert is_consistent(outcome.phi) and np.isfinite(outcome.phi_covariance).all()
    else:
        assert outcome.reason
    return outcome, names


@pytest.mark.slow
@pytest.mark.parametrize("name", WRENCHES)
def test_no_wrench_breaks_the_computation(name: str) -> None:
    _identify(WRENCHES[name])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["lmi", "manifold", "entropic", "pmd", "wls"])
@pytest.mark.parametrize("name", ["zero", "to one", "no force", "one torque", "one spike"])
def test_no_wrench_breaks_another_estimator(name: str, method: str) -> None:
    _identify(WRENCHES[name], estimator__method=method,
              **{k.replace(".", "__"): v for k, v in BOX.items()})


@pytest.mark.slow
@pytest.mark.parametrize("name", POSITIONS)
@pytest.mark.parametrize("wrench", ["zero", "without noise"])
def test_no_joint_positions_break_the_computation(name: str, wrench: str) -> None:
    _identify(WRENCHES[wrench], POSITIONS[name])


@pytest.mark.parametrize("name", ["zero", "denormal", "constant"])
def test_a_wrench_that_stands_still_while_the_arm_moves_is_named(name: str) -> None:
    outcome, names = _identify(WRENCHES[name])
    assert isinstance(outcome, NoEstimate) and "input_stuck.wrench" in names


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_a_few_samples_give_a_reason(count: int) -> None:
    for wrench in (NOISY, 0.0 * NOISY):
        outcome, _ = _identify(wrench[:count], Q[:count], nanoseconds(T)[:count])
        assert isinstance(outcome, NoEstimate)


@pytest.mark.slow
@pytest.mark.parametrize("first", [1, 2**53, 2**63 - 1 - 10**10])
@pytest.mark.parametrize("wrench", ["zero", "without noise"])
def test_stamps_may_begin_anywhere(first: int, wrench: str) -> None:
    times = nanoseconds(T)
    outcome, _ = _identify(WRENCHES[wrench], times=times - times[0] + first)
    assert isinstance(outcome, Estimate) == (wrench == "without noise")


def test_a_clock_that_is_set_from_1970_to_today_takes_no_time() -> None:
    times = nanoseconds(T)
    times = np.where(T < 1.0, times - times[0] + 1, times)
    assert isinstance(_identify(LOAD, times=times)[0], Estimate)


@pytest.mark.slow
@settings(max_examples=15, deadline=None, derandomize=True)
@given(scale=st.lists(st.sampled_from([0.0, 1e-300, 1e-9, 1.0, 30.0]), min_size=6, max_size=6),
       step=st.sampled_from([0.0, 0.01, 1.0, 50.0]),
       offset=st.sampled_from([0.0, 1e-3, 1.0, 200.0]),
       noise=st.booleans(), joints=st.lists(st.booleans(), min_size=5, max_size=5))
def test_no_mixture_of_dead_scaled_and_rounded_channels_breaks_the_computation(
        scale: list[float], step: float, offset: float, noise: bool, joints: list[bool]) -> None:
    wrench = (NOISY if noise else LOAD) * scale + offset
    _identify(np.round(wrench / step) * step if step else wrench, Q * joints, part=400)


TORQUES = {
    "zero": 0.0, "constant": 1.0, "denormal": 5e-324, "large": 1e6, "largest": HUGE}


@pytest.fixture(scope="module")
def robot_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("robot") / "arm.robot", MODEL.nominal)


def _identify_torques(robot_file: Path, efforts: Array, q: Array, count: int | None = None) -> None:
    made = Identifier(Settings().replace({"load.robot": str(robot_file),
                                          "wrench.sensor_frame": FRAME}))
    made.set_robot_description(TORQUE_URDF)
    times = nanoseconds(TIMES)
    for begin in range(0, len(times) if count is None else count, 200):
        now = slice(begin, min(begin + 200, count or len(times)))
        made.add_joint_states(times[now], NAMES, q[now], efforts[now])
        made.solve()
    made.finish()
    _checked(made)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*TORQUES, "own", "to one", "to ten", "one dead", "one joint"])
@pytest.mark.parametrize("moves", [True, False])
def test_no_joint_torques_break_the_computation(robot_file: Path, name: str, moves: bool) -> None:
    own = MODEL.torque(MODEL.nominal, *PATH)
    efforts = {"own": own, "to one": own.round(), "to ten": own.round(-1),
               "one dead": own * (np.arange(6) != 1), "one joint": own * (np.arange(6) == 1)}
    q = PATH[0] if moves else np.broadcast_to(PATH[0][0], PATH[0].shape)
    _identify_torques(robot_file, efforts[name] if name in efforts
                      else np.full_like(own, TORQUES[name]), q)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_a_few_joint_torques_give_a_reason(robot_file: Path, count: int) -> None:
    _identify_torques(robot_file, MODEL.torque(MODEL.nominal, *PATH), PATH[0], count)


def test_a_recording_of_zeros_is_read_to_its_end(tmp_path: Path) -> None:
    still = bags.wrench_stream(4.0, bags.Payload(), noise=0.0)
    for _, message in still.samples:
        for part in (message.wrench.force, message.wrench.torque):
            part.x = part.y = part.z = 0.0
    path = bags.write_bag(tmp_path / "zeros", [
        still, bags.joint_stream(4.0), bags.text_stream("/robot_description", bags.URDF)])
    assert main([str(path)]) == 1
    findings = identify_recording(path, Settings()).findings
    assert "input_stuck.wrench" in {finding.name for finding in findings}
