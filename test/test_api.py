# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The interface without ROS: arrays in, estimates out, clear mistakes."""

import doctest
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scenes import BIAS, BODY, FRAME, GRAVITY, NOISE, START, URDF, cobot, in_sensor, moved
from scenes import NAMES as JOINTS

from inertial_id_ros import api, identify
from inertial_id_ros.api import Estimate, Identifier, NoEstimate, Settings
from inertial_id_ros.apps.bag.identify_bag import main as identify_bag
from inertial_id_ros.apps.simulation.cobot import Scenario
from inertial_id_ros.apps.simulation.write import topics_of, write_bag
from inertial_id_ros.errors import InvalidData, MissingPackage, NotEnoughData, RecordingError
from inertial_id_ros.extras import optional_packages
from inertial_id_ros.identify.beliefs import Beliefs, Tare
from inertial_id_ros.model.tool import Tool

RATE = 250.0
MOTION = moved(1, 8.0, RATE)
TRUTH = BODY.report()
(STATES, (_, _, WRENCH), *_), = cobot(8.0, rate=RATE, noise=1.0, bias=BIAS).record(
    8.0, START).parts
STAMPS, _, POSITIONS, *_ = STATES
NOISY = np.random.default_rng(1).normal(size=(len(STAMPS), 6))


def make() -> Identifier:
    """An identifier that knows the robot."""
    made = Identifier()
    made.set_robot_description(URDF)
    return made


def add(made: Identifier, begin: int = 0, end: int | None = None) -> None:
    """Samples number `begin` to `end` of the recording."""
    part = slice(begin, end)
    made.add_joint_states(STAMPS[part], JOINTS, POSITIONS[part])
    made.add_wrenches(STAMPS[part], FRAME, WRENCH[part])


def require_truth(result: Any, times: float = 1.0) -> None:
    """Mass and centre within 1 %, 3 mm and three deviations of the truth, times a factor."""
    assert isinstance(result, Estimate), result
    gap = np.abs(result.report - TRUTH)
    assert gap[0] < 0.01 * times * TRUTH[0]
    assert np.linalg.norm(gap[1:4]) < 0.003 * times
    assert (gap[:4] < 3.0 * result.sigma[:4]).all()


def test_the_example_of_the_class_holds() -> None:
    assert doctest.testmod(identify) == (0, 2)


def test_without_enough_data_the_result_says_why_and_holds_no_numbers() -> None:
    made = make()
    add(made, 0, 200)
    result = made.solve()
    assert isinstance(result, NoEstimate) and result.reason
    assert not any(hasattr(result, name) for name in ("body", "sigma", "verdict"))


def test_an_estimate_stays_without_new_samples_and_is_gone_after_a_reset() -> None:
    made = make()
    add(made)
    first = made.solve()
    np.testing.assert_array_equal(made.solve().phi, first.phi)
    made.add_joint_states(STAMPS + 8 * 10**9, JOINTS, POSITIONS)  # and the wrench is silent
    assert made.solve().stale and not first.stale
    made.reset()
    assert not made.solve().valid
    add(made)  # stamps begin anew
    np.testing.assert_array_equal(made.solve().phi, first.phi)


# ---- mistakes ----------------------------------------------------------------------------------

N = 5
GOOD = {"stamps": STAMPS[:N], "wrench": WRENCH[:N], "positions": POSITIONS[:N], "names": JOINTS}
WRONG_STAMPS = [
    STAMPS[:N] * 1e-9, np.arange(1, 21), np.arange(1, 21) * 5000, np.arange(N) * 5_000_000,
    STAMPS[:N][::-1], np.repeat(STAMPS[:N], 2)[:N], STAMPS[:N, None], STAMPS[:N].astype(str)]
WRONG_ROWS = [
    ("wrench", WRENCH[:N, :3]), ("wrench", WRENCH[:N].T), ("wrench", WRENCH[:N].astype(complex)),
    ("wrench", [[1.0] * 6, [1.0] * 5]), ("positions", POSITIONS[:N, :3]),
    ("positions", POSITIONS[:3]), ("names", "turn"), ("names", ("turn",) * 6), ("names", ())]


@pytest.mark.parametrize("wrong", WRONG_STAMPS)
def test_wrong_stamps_are_refused(wrong: Any) -> None:
    made = make()
    with pytest.raises(InvalidData, match="stamps of wrenches"):
        made.add_wrenches(wrong, FRAME, WRENCH[:N])
    with pytest.raises(InvalidData, match="stamps of joint states"):
        made.add_joint_states(wrong, JOINTS, POSITIONS[:N])


@pytest.mark.parametrize(("name", "wrong"), WRONG_ROWS)
def test_a_wrong_array_is_refused_by_name_and_leaves_no_trace(name: str, wrong: Any) -> None:
    made, given = make(), {**GOOD, name: wrong}
    with pytest.raises(InvalidData, match=name):
        made.add_wrenches(given["stamps"], FRAME, given["wrench"])
        made.add_joint_states(given["stamps"], given["names"], given["positions"])
    assert not made.solve().valid


def test_frames_without_names_and_rotations_that_are_none_are_refused() -> None:
    one = np.array([10**18])
    with pytest.raises(InvalidData, match="frame_id"):
        Identifier().add_wrenches(one, 5, np.zeros((1, 6)))
    with pytest.raises(InvalidData, match="child"):
        Identifier().add_transforms(one, "base", None, np.zeros((1, 7)))
    with pytest.raises(InvalidData, match="quaternion"):
        Identifier().add_static_transform("base", "tool", [0, 0, 0], [0, 0, 0, 0])


def test_samples_before_those_added_are_refused() -> None:
    made = make()
    add(made, 400, 700)
    with pytest.raises(InvalidData):
        add(made, 0, 400)


# ---- recordings and accelerations --------------------------------------------------------------


@pytest.mark.slow
def test_a_recording_gives_what_identify_bag_gives(tmp_path: Path) -> None:
    cobot_bag = tmp_path / "bag"
    write_bag(cobot_bag, topics_of(Scenario().record(8.0)))
    assert identify_bag([str(cobot_bag), "--json", str(tmp_path / "out.json")]) == 0
    told = json.loads((tmp_path / "out.json").read_text())
    result = api.identify_recording(cobot_bag)
    assert result.body.mass == told["mass"] and result.body.com.tolist() == told["com"]
    assert result.covariance.tolist() == told["covariance"]
    with pytest.raises(RecordingError):
        api.identify_recording(tmp_path)


# Motion and wrench at the sensor, as `identify_accelerations` takes them.
MEASURED = {"stamps": STAMPS, "rotation": MOTION.rotation, "wrench": WRENCH, "omega": MOTION.omega,
            "acceleration": MOTION.a_g + in_sensor(MOTION, GRAVITY), "alpha": MOTION.alpha}


@pytest.mark.parametrize("given", [
    {}, {"alpha": None}, {"alpha": MOTION.alpha + NOISY[:, 3:]}])  # noise of 1 rad/s^2
def test_measured_accelerations_give_the_payload(given: dict[str, Any]) -> None:
    asked = Settings().replace({"wrench.sensor_frame": FRAME})
    result = api.identify_accelerations(**MEASURED | given, settings=asked)
    require_truth(result)
    assert (result.report[[4, 7, 9]] > 0.7 * TRUTH[[4, 7, 9]]).all() and result.frame_id == FRAME
    assert STAMPS[0] < result.stamp_ns <= STAMPS[-1]


@pytest.mark.parametrize(("name", "wrong"), [
    ("rotation", np.zeros((len(STAMPS), 4))), ("rotation", np.ones((len(STAMPS), 3, 3))),
    ("omega", np.full((len(STAMPS), 3), np.nan)), ("stamps", 1e-9 * STAMPS)])
def test_wrong_motion_is_refused_by_name(name: str, wrong: Any) -> None:
    with pytest.raises(InvalidData, match=name):
        api.identify_accelerations(**MEASURED | {name: wrong})


@pytest.mark.parametrize("block", [50, len(STAMPS)])
def test_a_tare_with_the_payload_on_is_given_up(block: int) -> None:
    made, count = make(), 500
    before = START - 3_000_000_000 + np.round(1e9 / RATE * np.arange(count)).astype(np.int64)
    made.add_joint_states(before, JOINTS, np.tile(POSITIONS[:1], (count, 1)))
    made.add_wrenches(before, FRAME, WRENCH[0] + NOISE * NOISY[:count])
    made.tare()
    for begin in range(0, len(STAMPS), block):
        add(made, begin, begin + block)
    made.finish()
    require_truth(found := made.solve())
    assert np.abs(found.bias - BIAS).max() < 0.1
    assert {finding.name for finding in made.findings()} == {"tare_not_used"}


def test_a_sensor_may_wander_within_its_accuracy_in_a_tare() -> None:
    made = Identifier(Settings().replace({"wrench.sensor": "onrobot_hex"}))
    made.set_robot_description(URDF)
    slow = np.sin(np.arange(len(STAMPS)) * 3.0 / RATE)[:, None] * np.repeat(
        made.settings.wrench.accuracy, 3)
    made.add_joint_states(STAMPS, JOINTS, np.tile(POSITIONS[:1], (len(STAMPS), 1)))
    made.add_wrenches(STAMPS, FRAME, BIAS + slow + 0.01 * NOISE * NOISY)
    assert made.tare()


def test_tare_and_tool_hold_until_they_are_taken_back() -> None:
    made, count = make(), 500
    with pytest.raises(NotEnoughData):
        made.tare()
    before = START - 3_000_000_000 + np.round(1e9 / RATE * np.arange(count)).astype(np.int64)
    made.add_joint_states(before, JOINTS, np.tile(POSITIONS[:1], (count, 1)))
    made.add_wrenches(before, FRAME, BIAS + NOISE * NOISY[:count])  # nothing is attached
    made.tare()
    add(made)
    made.finish()
    require_truth(made.solve())
    assert np.abs(made.solve().bias - BIAS).max() < 0.1
    part = Tool("elsewhere", 0.25 * BODY.phi(), 1e-12 * np.eye(10), 1)
    apart = Identifier(beliefs=Beliefs(Tare(2.0 * BIAS, 1, part.frame_id), part))
    apart.set_robot_description(URDF)
    add(apart)
    assert not apart.solve().valid  # those of another frame
    assert "tare_not_used" in {finding.name for finding in apart.findings()}
    apart.set_tool(replace(part, frame_id=FRAME))
    with pytest.raises(NotEnoughData):
        apart.tare()  # it moves
    found = apart.solve()
    assert np.abs(found.bias - BIAS).max() < 0.1 and found.tool_apart
    assert abs(found.report[0] - 0.75 * TRUTH[0]) < 0.01 * TRUTH[0]
    assert made.untare() != made.untare()  # there was one, and there is none


def test_a_package_that_is_missing_is_named_with_its_extra() -> None:
    with pytest.raises(MissingPackage, match=r"mujoco.*\[simulation\]"):
        with optional_packages("a simulation"):
            raise ModuleNotFoundError("no", name="mujoco.mjx")
    with pytest.raises(ModuleNotFoundError), optional_packages("a simulation"):
        raise ModuleNotFoundError("no", name="nothing_of_ours")
