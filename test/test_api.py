# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The interface without ROS: arrays in, the same estimates as of single samples, clear mistakes."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torque_arm
from synthetic import (
    BODY,
    JOINTS,
    SECOND,
    URDF,
    Recording,
    Scene,
    assert_body,
    identifier,
    joint_messages,
    nanoseconds,
    recording,
    settings,
    stamps,
    transform_messages,
    wrench_messages,
)

from inertial_id_ros import api
from inertial_id_ros.api import Estimate, Identifier, NoEstimate, Settings
from inertial_id_ros.apps.bag.identify_bag import main as identify_bag
from inertial_id_ros.apps.simulation.cobot import SimulatedCobot
from inertial_id_ros.apps.simulation.command_line import write_bag
from inertial_id_ros.errors import (
    InvalidData,
    InvalidModel,
    InvalidSetting,
    InvalidShape,
    NotEnoughData,
    RecordingError,
)
from inertial_id_ros.identification.joint_torque.identifier import TorqueIdentifier

T = stamps(6.0, 200.0)
STAMPS = nanoseconds(T)
POSITIONS = Scene().motion.positions(T)
WRENCH = -Scene().load(T, BODY)


def make(**changes: Any) -> Identifier:
    """An identifier of this interface that knows the robot."""
    made = Identifier(settings(**changes))
    made.set_robot_description(URDF)
    return made


def add(made: Identifier, begin: int = 0, end: int | None = None) -> None:
    """Samples number `begin` to `end` of the recording."""
    part = slice(begin, end)
    made.add_joint_states(STAMPS[part], JOINTS, POSITIONS[part])
    made.add_wrenches(STAMPS[part], "tool0", WRENCH[part])


def one_by_one(*solve_at: float, **changes: Any) -> list[Any]:
    """What the identifier says of single samples at these times [s] and at the end."""
    made, results = identifier(**changes), []
    messages = recording().messages
    for begin, end in zip((0.0, *solve_at), (*solve_at, 10.0), strict=True):
        Recording([m for m in messages
                   if begin <= (m[0] - STAMPS[0]) / SECOND < end]).feed(made)
        results.append(made.solve())
    return results


def assert_equal(one: Any, other: Any) -> None:
    """Two estimates that differ in nothing but the time that they took."""
    assert isinstance(one, Estimate) and isinstance(other, Estimate), (one, other)
    for name in ("phi", "phi_covariance", "bias", "data_share", "alignment", "residual_rms"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in ("stamp_ns", "frame_id", "verdict", "samples", "window", "findings", "stale"):
        assert getattr(one, name) == getattr(other, name), name


# ---- samples -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["wls", "density"])
def test_arrays_give_the_estimate_of_single_samples_to_the_last_bit(method: str) -> None:
    made = make(estimator__method=method)
    add(made)
    result = made.solve()
    assert_equal(result, one_by_one(estimator__method=method)[0])
    assert_body(result, 10.0 if method == "density" else 1.0)


def test_solving_on_the_way_gives_the_estimates_of_single_samples_to_the_last_bit() -> None:
    made, results = make(), []
    for begin, end in ((0, 400), (400, 700), (700, None)):
        add(made, begin, end)
        results.append(made.solve())
    for one, other in zip(results, one_by_one(2.0, 3.5), strict=True):
        assert_equal(one, other)


@pytest.mark.slow
def test_streams_may_be_added_one_after_the_other_however_long() -> None:
    t = stamps(60.0, 200.0)
    q, scene = Scene().motion.positions(t), Scene()
    early, late = make(), make()
    wrench = -scene.load(t, BODY)
    early.add_joint_states(nanoseconds(t), JOINTS, q)
    early.add_wrenches(nanoseconds(t), "tool0", wrench)
    for part in np.array_split(np.arange(len(t)), 40):
        late.add_wrenches(nanoseconds(t[part]), "tool0", wrench[part])
        late.add_joint_states(nanoseconds(t[part]), JOINTS, q[part])
        late.findings()
    np.testing.assert_allclose(early.solve().phi, late.solve().phi, rtol=1e-9)


def test_samples_of_a_sensor_with_another_rate_are_taken() -> None:
    t = stamps(6.0, 730.0)
    made = make()
    made.add_wrenches(nanoseconds(t), "tool0", -Scene().load(t, BODY))
    made.add_joint_states(STAMPS, JOINTS, POSITIONS)
    assert_body(made.solve())


def test_joints_that_two_drivers_publish_are_taken() -> None:
    made, reference = make(), identifier()
    names = "finger",
    made.add_joint_states(STAMPS + 1000, names, np.zeros((len(T), 1)))
    add(made)
    (recording() + joint_messages(Scene(), T + 1e-6, names)).sorted().feed(reference)
    assert_equal(made.solve(), reference.solve())


def test_transforms_serve_instead_of_joint_states() -> None:
    turn, shift = Scene().flange_in_base(T)
    made, reference = Identifier(settings()), identifier(None)
    made.add_transforms(STAMPS, "base_link", "flange", np.hstack([shift, turn.as_quat()]))
    made.add_static_transform("flange", "tool0", [0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0])
    made.add_wrenches(STAMPS, "tool0", WRENCH)
    reference.add_static_transform("flange", "tool0", [0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0])
    (transform_messages(turn, shift, T, "base_link", "flange")
     + wrench_messages(Scene(), BODY, T)).sorted().feed(reference, 0.1)
    result, expected = made.solve(), reference.solve()
    assert_body(result)
    np.testing.assert_allclose(result.phi, expected.phi, rtol=1e-9)  # quaternions are rounded


def test_arrays_may_change_after_they_were_added() -> None:
    made = make()
    q, wrench = POSITIONS.copy(), WRENCH.copy()
    made.add_joint_states(STAMPS, JOINTS, q)
    made.add_wrenches(STAMPS, "tool0", wrench)
    q[:], wrench[:] = 0.0, 0.0
    assert_body(made.solve())


def test_bad_samples_are_left_out_and_named() -> None:
    made, wrench = make(), WRENCH.copy()
    wrench[300:310, 2] = np.nan
    made.add_joint_states(STAMPS, JOINTS, POSITIONS)
    made.add_wrenches(STAMPS, "tool0", wrench)
    assert_body(made.solve())
    assert [f.text for f in made.findings() if f.name == "samples_invalid.wrench"] == [
        "wrench samples with NaN or infinity dropped (10 times)"]


@pytest.mark.slow
def test_joint_torques_serve_instead_of_wrenches(tmp_path: Path) -> None:
    robot, recorded = torque_arm.write_robot(tmp_path / "robot"), torque_arm.loaded(2.0, 1, 6.0)
    asked = Settings().replace({"load.robot": str(robot),
                                "wrench.sensor_frame": torque_arm.FRAME})
    made, reference = Identifier(asked), TorqueIdentifier(asked)
    made.set_robot_description(torque_arm.URDF)
    reference.set_robot_description(torque_arm.URDF)
    for stamp, q, effort in torque_arm.joint_states(recorded):
        reference.add_joint_state(stamp, torque_arm.NAMES, q, effort)
    reference.advance()
    made.add_joint_states([stamp for stamp, _, _ in torque_arm.joint_states(recorded)],
                          torque_arm.NAMES, recorded.q, recorded.effort)
    result, expected = made.solve(), reference.solve()
    np.testing.assert_array_equal(result.phi, expected.phi)
    np.testing.assert_allclose(result.body.mass, 2.0, rtol=0.03)
    with pytest.raises(InvalidSetting, match="uses no wrenches; add joint states with efforts"):
        made.add_wrenches(STAMPS, "tool0", WRENCH)


# ---- results -----------------------------------------------------------------------------------


def test_the_example_of_the_class_holds() -> None:
    assert doctest.testmod(api) == (0, 2)


def test_a_result_prints_as_numbers_and_words() -> None:
    made = make()
    add(made)
    result = made.solve()
    assert result.valid
    assert str(result.verdict) == f"({', '.join(['identified'] * 10)})"
    assert str(result.body).startswith("Body(mass=1.39")
    assert result.sigma.shape == (len(api.PARAMETER_NAMES),)


def test_without_enough_data_the_result_says_why_and_holds_no_numbers() -> None:
    made = make()
    add(made, 0, 80)
    result = made.solve()
    assert isinstance(result, NoEstimate) and not result.valid
    assert "an estimate needs 0.5 s" in result.reason
    for name in ("body", "sigma", "verdict"):
        with pytest.raises(NotEnoughData, match="an estimate needs 0.5 s"):
            getattr(result, name)
        assert not hasattr(result, name) and getattr(result, name, None) is None


def test_an_estimate_without_new_samples_is_stale() -> None:
    made = make()
    add(made)
    assert [made.solve().stale, made.solve().stale] == [False, True]


def test_a_tool_is_taken_out(tmp_path: Path) -> None:
    empty = make()
    empty.add_joint_states(STAMPS, JOINTS, POSITIONS)
    empty.add_wrenches(STAMPS, "tool0", 0.25 * WRENCH)
    file = str(tmp_path / "tool")
    api.save_tool(file, api.tool_from_estimate(empty.solve()))
    made, named = make(), make(tool__file=file)
    made.set_tool(api.load_tool(file))
    for one in (made, named):
        add(one)
        result = one.solve()
        assert result.tool_apart
        np.testing.assert_allclose(result.body.mass, 0.75 * BODY.report[0], atol=1e-3)


def test_a_tare_is_the_mean_reading_at_rest() -> None:
    made = make()
    bias = np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])
    made.add_wrenches(STAMPS[:300], "tool0", np.tile(bias, (300, 1)))
    assert "1.0" in made.tare()
    assert "is dropped" in made.untare() and "no tare" in made.untare()
    with pytest.raises(NotEnoughData, match="none was received"):
        make().tare()


def test_reset_begins_anew_also_with_earlier_stamps() -> None:
    made = make()
    add(made)
    first = made.solve()
    made.reset()
    assert not made.solve().valid
    add(made)
    np.testing.assert_array_equal(made.solve().phi, first.phi)


# ---- mistakes ----------------------------------------------------------------------------------

N = 5
GOOD = {"stamps": STAMPS[:N], "wrench": WRENCH[:N], "positions": POSITIONS[:N], "names": JOINTS}
WRONG_STAMPS = [
    (STAMPS[:N] * 1e-9, "type float64; they must be whole nanoseconds"),
    (np.arange(1, 21), "1 ns apart.*must be in nanoseconds"),
    (np.arange(1, 21) * 5000, "5000 ns apart.*must be in nanoseconds"),
    (np.arange(N) * 5_000_000, "begin at 0 ns; they must be positive"),
    (STAMPS[:N][::-1], "must increase; number 1 is"),
    (np.repeat(STAMPS[:N], 2)[:N], "must increase; number 1 is"),
    (STAMPS[:N, None], r"shape \(5, 1\); \(n,\) is needed"),
    (STAMPS[:N].astype(str), "type <U21; they must be whole"),
]
WRONG_ROWS = [
    ("wrench", WRENCH[:N, :3], r"wrench has shape \(5, 3\); \(5, 6\) is needed"),
    ("wrench", WRENCH[:N].T, r"wrench has shape \(6, 5\); \(5, 6\) is needed"),
    ("wrench", WRENCH[:N].astype(complex), "wrench has type complex128; real numbers"),
    ("wrench", [[1.0] * 6, [1.0] * 5], "wrench cannot be made an array"),
    ("positions", POSITIONS[:N, :3], r"positions has shape \(5, 3\); \(5, 5\) is needed"),
    ("positions", POSITIONS[:3], r"positions has shape \(3, 5\); \(5, 5\) is needed"),
    ("names", "turn", "must be a list of names"),
    ("names", ("turn",) * 5, "must be different names"),
    ("names", (), "at least one"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG_STAMPS)
def test_wrong_stamps_are_refused_with_what_is_allowed(wrong: Any, message: str) -> None:
    made = make()
    with pytest.raises(InvalidData, match=f"stamps of wrenches.*{message}"):
        made.add_wrenches(wrong, "tool0", WRENCH[:N])
    with pytest.raises(InvalidData, match=f"stamps of joint states.*{message}"):
        made.add_joint_states(wrong, JOINTS, POSITIONS[:N])


def test_stamps_of_arrival_of_samples_that_come_together_are_taken() -> None:
    """Most of them within a microsecond of the one before."""
    burst = 10**18 + (2_000_000 * np.arange(25)[:, None] + 1000 * np.arange(8)).ravel()
    made = make()
    for together in (burst, burst[-1] + 1000 * np.arange(1, 6)):
        made.add_wrenches(together, "tool0", np.zeros((len(together), 6)))


@pytest.mark.parametrize(("name", "wrong", "message"), WRONG_ROWS)
def test_a_wrong_array_is_refused_and_leaves_no_trace(name: str, wrong: Any, message: str) -> None:
    made, given = make(), {**GOOD, name: wrong}
    with pytest.raises(InvalidData, match=message):
        if name == "wrench":
            made.add_wrenches(given["stamps"], "tool0", given["wrench"])
        else:
            made.add_joint_states(given["stamps"], given["names"], given["positions"])
    add(made)
    assert_body(made.solve())


@pytest.mark.parametrize("wrong", ["/tmp/arm.urdf", Path("arm.urdf"), ""])
def test_a_path_in_place_of_a_robot_description_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidModel, match="the text of a URDF is needed"):
        Identifier().set_robot_description(wrong)


def test_frames_without_names_and_rotations_that_are_none_are_refused() -> None:
    one = np.array([10**18])
    with pytest.raises(InvalidData, match="frame_id is 5; it must be the name of a frame"):
        Identifier().add_wrenches(one, 5, np.zeros((1, 6)))
    with pytest.raises(InvalidData, match="child is None; it must be the name of a frame"):
        Identifier().add_transforms(one, "base", None, np.zeros((1, 7)))
    with pytest.raises(InvalidData, match=r"quaternion is \[0, 0, 0, 0\]"):
        Identifier().add_static_transform("base", "tool", [0, 0, 0], [0, 0, 0, 0])


def test_samples_before_those_added_are_refused() -> None:
    made = make()
    add(made, 400, 700)
    with pytest.raises(InvalidData, match=r"were added before; add them in order, or call reset"):
        add(made, 0, 400)


def test_empty_arrays_are_nothing() -> None:
    made = make()
    made.add_wrenches([], "tool0", np.zeros((0, 6)))
    made.add_joint_states([], JOINTS, np.zeros((0, 5)))
    assert "no wrench received" in made.solve().reason


def test_settings_that_cannot_be_used_are_refused_at_once() -> None:
    with pytest.raises(InvalidShape, match="needs the shape of the object; set shape.type"):
        Identifier(Settings().replace({"estimator.method": "pmd"}))
    with pytest.raises(InvalidSetting, match="tool file .* cannot be read"):
        Identifier(Settings().replace({"tool.file": "/nowhere/tool"}))


# ---- recordings and accelerations --------------------------------------------------------------


@pytest.mark.slow
def test_a_recording_gives_what_identify_bag_gives(tmp_path: Path) -> None:
    cobot_bag, cobot = tmp_path / "bag", SimulatedCobot()
    write_bag(cobot_bag, cobot, cobot.blocks(5.0))
    assert identify_bag([str(cobot_bag), "--json", str(tmp_path / "out.json"), "--quiet"]) == 0
    told = json.loads((tmp_path / "out.json").read_text())
    result = api.identify_recording(cobot_bag)
    assert result.body.mass == told["mass"] and result.body.com.tolist() == told["com"]
    assert result.body.inertia_com.tolist() == told["inertia_com"]
    assert result.covariance.tolist() == told["covariance"]
    with pytest.raises(RecordingError):
        api.identify_recording(tmp_path)


@pytest.fixture(scope="module")
def measured() -> dict[str, np.ndarray]:
    """Motion and wrench at the sensor, as `identify_accelerations` takes them."""
    scene = Scene()
    step = 2e-3
    around = [scene.sensor_in_world(T + k * step) for k in (-2, -1, 0, 1, 2)]
    turn = around[2][0]
    acceleration = turn.inv().apply(_second([p for _, p in around], step))
    omega = _omega(scene, T, step)
    return {"stamps": STAMPS, "rotation": turn.as_matrix(), "acceleration": acceleration,
            "omega": omega, "wrench": WRENCH,
            "alpha": (_omega(scene, T + step, step) - _omega(scene, T - step, step)) / (2 * step)}


def _second(path: list[np.ndarray], step: float) -> np.ndarray:
    a, b, c, d, e = path
    return (-a + 16.0 * b - 30.0 * c + 16.0 * d - e) / (12.0 * step**2)


def _omega(scene: Scene, t: np.ndarray, step: float) -> np.ndarray:
    before, after = (scene.sensor_in_world(t + k * step)[0] for k in (-1, 1))
    return (before.inv() * after).as_rotvec() / (2.0 * step)


@pytest.mark.parametrize("given", ["alpha", "omega alone"])
def test_measured_accelerations_give_the_payload(given: str,
                                                 measured: dict[str, np.ndarray]) -> None:
    asked = settings(wrench__sensor_frame="tool0")
    if given != "alpha":
        measured = {**measured, "alpha": None}
    result = api.identify_accelerations(**measured, settings=asked)
    assert_body(result, 2.0)
    assert result.frame_id == "tool0"
    assert STAMPS[0] < result.stamp_ns <= STAMPS[-1]


def test_a_wrench_that_no_payload_explains_is_no_estimate(measured: dict[str, np.ndarray]) -> None:
    turned = {**measured, "rotation": measured["rotation"].transpose(0, 2, 1)}
    result = api.identify_accelerations(**turned, settings=settings())
    assert not result.valid and "may be transposed" in result.reason


def test_too_short_a_motion_is_no_estimate(measured: dict[str, np.ndarray]) -> None:
    short = {name: values[:20] for name, values in measured.items()}
    result = api.identify_accelerations(**short, settings=settings())
    assert not result.valid and "the filter needs" in result.reason
    assert result.stamp_ns == STAMPS[19]


@pytest.mark.parametrize(("name", "wrong", "message"), [
    ("rotation", np.zeros((len(T), 4)), r"rotation has shape .* \(1200, 3, 3\) is needed"),
    ("rotation", np.ones((len(T), 3, 3)), "rotation must hold rotation matrices; number 0"),
    ("omega", np.full((len(T), 3), np.nan), "omega holds numbers that are not finite"),
    ("stamps", T, "must be whole nanoseconds"),
])
def test_wrong_motion_is_refused(name: str, wrong: Any, message: str,
                                 measured: dict[str, np.ndarray]) -> None:
    with pytest.raises(InvalidData, match=message):
        api.identify_accelerations(**{**measured, name: wrong})
