# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What motions of the guide tell: what is recorded of them, which faults of a set-up the small one
names, what the proof accepts, and that they stay within limits."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from wiggled import BIAS, DELAY, EPOCH, receive, record, wiggle

from inertial_id_ros.apps.excitation.arm import Arm
from inertial_id_ros.apps.excitation.information import Knowledge
from inertial_id_ros.apps.excitation.motions import MotionLimits, MotionPlanner, violations
from inertial_id_ros.apps.guide.checks import FAILED, OPEN, PASSED, check_by_motion, failed, prove
from inertial_id_ros.apps.simulation.cobot import SENSOR_FRAME, Scenario, load_description
from inertial_id_ros.apps.simulation.motion import START_POSE
from inertial_id_ros.apps.simulation.payload import PAYLOADS, Part, Payload
from inertial_id_ros.errors import InvalidData
from inertial_id_ros.io.inputs import ROBOT_DESCRIPTION, WRENCH
from inertial_id_ros.settings import Settings

ATI = Settings().replace({"wrench.sensor": "ati_gamma"})
UR = Settings().replace({"wrench.sensor": "ur_e_series"})
DESCRIPTION = load_description()
NAMES = DESCRIPTION.joint_names
POSE = dict(zip(NAMES, START_POSE.tolist(), strict=True))
LIMITS = MotionLimits()
TRUTH = PAYLOADS["drill"].phi


# ---- what is recorded ----------------------------------------------------------------------------


def test_what_is_recorded_is_what_newton_and_euler_say() -> None:
    recorder = receive(seconds=4.0)
    facts = recorder.facts()
    assert facts["wrench"].shape == (800, 6) and facts["joints"] == 800
    assert len(recorder.wrench(0.1)) == 20
    assert facts["ages"] == pytest.approx({"wrench": DELAY * 1e-9, "joint states": DELAY * 1e-9})
    assert set(recorder.pose()) == set(NAMES) and facts["speed"] > 0.1
    assert set(facts["chain"]) == set(NAMES) and not facts["missing"]
    heard = recorder.read()
    assert facts["frame"] == "ft_sensor" and heard.streams.urdf
    np.testing.assert_allclose(heard.place_in_root("base_link"), np.eye(4), atol=1e-12)
    window = heard.window
    assert window.used.sum() > 350
    assert window.count[window.used].mean() == pytest.approx(2.0, abs=0.1)
    proof = prove(window, np.array(BIAS), np.zeros(10), TRUTH, Settings())
    assert proof is not None
    left = np.nanstd(proof.measured - proof.after, axis=0)
    assert (left < 3.0 * np.repeat([0.1, 0.005], 3)).all()

    recorder.messages[WRENCH].append((EPOCH, b"damaged"))
    recorder.messages[ROBOT_DESCRIPTION].append((EPOCH, b"damaged"))
    heard = recorder.read()
    assert len(recorder.wrench()) == 800 and heard.streams.urdf and heard.problem
    recorder.begin()
    heard = recorder.read()
    assert not len(recorder.wrench()) and not heard.window.used.any() and heard.streams.urdf
    assert recorder.pose() and recorder.facts()["missing"]


# ---- the small motion ----------------------------------------------------------------------------


def rows_of(settings=ATI, **changes):
    return {row.check: row for row in check_by_motion(record(**changes), settings)}


@pytest.mark.slow
@pytest.mark.parametrize(("payload", "turn"), [("drill", 0), ("hammer", 0), ("box_offset", 4)])
def test_a_right_set_up_passes_whatever_it_carries_with_a_small_turn_as_measured(payload, turn):
    rows = rows_of(payload=payload, sensor_rotation_error=(0, 0, turn))
    assert [row.verdict for row in rows.values()] == [PASSED] * 4, rows
    size, spread = map(float, re.findall(r"[\d.]+", rows["axes of the sensor"].measured))
    assert abs(size - turn) < spread < 2.0


@pytest.mark.slow
@pytest.mark.parametrize(("changes", "check", "measured"), [
    ({"convention": "on_environment"}, "sign of the wrench", "-1.4"),
    ({"sensor_rotation_error": (0, 0, 90)}, "axes of the sensor", "yaw 90"),
    ({"sensor_rotation_error": (180, 0, 0)}, "axes of the sensor", "180, "),
    ({"sensor_rotation_error": (0, 0, 30)}, "axes of the sensor", "yaw 30"),
    ({"tilt_error": (12, 0)}, "direction of gravity", "0.97"),
    ({"tilt_error": (0, 45)}, "direction of gravity", "(-0.7"),
    ({"clock_offset": 0.15}, "clocks", " ms after"),
    ({"settings": ATI.replace({"load.reference_mass": 3.0})}, "payload mass", "3.000 kg"),
])
def test_a_fault_is_named_with_what_to_do(changes, check, measured):
    rows = rows_of(**changes)
    assert [row.check for row in failed(rows.values())] == [check], rows
    assert measured in rows[check].measured and rows[check].advice


@pytest.mark.slow
@pytest.mark.parametrize(("payload", "tilt", "verdict"), [
    ("hammer", (20, 0), FAILED), ("box_offset", (0, 0), OPEN)])
def test_a_noisy_sensor_passes_no_direction_that_it_cannot_measure(payload, tilt, verdict):
    rows = rows_of(UR, sensor="ur_e_series", payload=payload, tilt_error=tilt)
    row = rows["direction of gravity"]
    assert row.verdict == verdict and "±" in row.measured and row.advice, row


@pytest.mark.slow
@pytest.mark.parametrize("joint", [3, 4])
def test_a_swing_about_one_axis_does_not_tell_where_gravity_points(joint):
    """What the force has along the axis may be the zero of the sensor as well."""
    for seed in range(3):
        rows = rows_of(payload="drill", sensor="ati_gamma", seed=seed,
                       motion=wiggle(joints=(joint,)))
        assert not failed(rows.values()), rows
        assert rows["direction of gravity"].verdict == OPEN, rows


@pytest.mark.slow
def test_what_is_small_against_the_errors_of_the_sensor_stays_open():
    light = Payload("dice", (Part("box", (0.02, 0.02, 0.02), 500.0),))  # 4 g
    for changes in ({"payload": light, "sensor": "ur_e_series"},
                    {"motion": wiggle(angle=2.0)}):
        assert {row.verdict for row in rows_of(UR, **changes).values()} == {OPEN}
    whole = record(seconds=4.0)
    holed = replace(whole, used=whole.used & (np.arange(len(whole.used)) % 10 > 0))
    assert {row.verdict for row in check_by_motion(holed, ATI)} == {OPEN}


# ---- the proof -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_true_payload_is_proved_and_another_is_not():
    """MuJoCo's wrench of a motion is what the true payload predicts, and no other."""
    window, bias = record(motion=wiggle(angle=30.0, move=0.9, joints=(3, 4, 5))), np.array(BIAS)
    proof = prove(window, bias, np.zeros(10), TRUTH, ATI)
    (before, _), (after, _) = proof.residuals
    assert proof.is_proof and after < 0.05 * before
    # The weight of the drill is what is left without it, in forces.
    assert before == pytest.approx(9.81 * PAYLOADS["drill"].mass, rel=0.02)
    assert not prove(window, bias, np.zeros(10), 1.2 * TRUTH, ATI).is_proof
    assert not prove(window, bias, TRUTH, 1.2 * TRUTH, ATI).is_proof
    moved = TRUTH + 0.03 * TRUTH[0] * np.eye(10)[1]
    assert not prove(window, bias, np.zeros(10), moved, ATI).is_proof
    short = replace(window, used=window.used & (np.arange(len(window.used)) < 45))
    assert prove(short, bias, np.zeros(10), TRUTH, ATI) is None


# ---- the motions themselves ----------------------------------------------------------------------


def make_planner(urdf=DESCRIPTION.urdf) -> MotionPlanner:
    box = np.array([[-0.1, -0.1, 0.0], [0.1, 0.1, 0.2]])
    arm = Arm(urdf, SENSOR_FRAME, box)
    return MotionPlanner(arm, LIMITS, arm.positions(POSE), Knowledge.usual(ATI))


@pytest.fixture(scope="module")
def planner() -> MotionPlanner:
    return make_planner()


def ups(motion):
    """Direction of gravity in the sensor over a motion, by MuJoCo."""
    q = motion.sample(np.linspace(0.0, motion.duration, 100)).q
    return Scenario().engine.evaluate(q, 0.0 * q, 0.0 * q).rotation[:, 2]


def angle(a, b):
    return np.degrees(np.arccos(np.clip(a @ b, -1.0, 1.0)))


@pytest.mark.slow
def test_the_wiggle_tilts_the_sensor_about_two_axes_and_comes_back(planner):
    motions = planner.wiggle(START_POSE)
    assert len(motions) == 2
    axes = []
    for motion in motions:
        assert set(motion.joint_names) == set(NAMES)
        np.testing.assert_allclose(motion.positions[-1], motion.positions[0], atol=1e-9)
        directions = ups(motion)
        assert max(angle(up, directions[0]) for up in directions) > 15.0
        axes.append(np.cross(directions[0], directions[len(directions) // 4]))
        assert violations(planner.arm, motion, START_POSE, LIMITS) == ()
    assert 60.0 < angle(*(axis / np.linalg.norm(axis) for axis in axes)) < 120.0


def test_a_wrist_without_room_can_make_no_motion():
    tree = ElementTree.fromstring(DESCRIPTION.urdf)
    for joint in tree.iter("joint"):
        limit, at = joint.find("limit"), POSE.get(joint.get("name", ""))
        if limit is not None and at is not None:
            limit.set("lower", str(at - 0.01))
            limit.set("upper", str(at + 0.01))
    tight = make_planner(ElementTree.tostring(tree, "unicode"))
    with pytest.raises(InvalidData):
        tight.wiggle(START_POSE)
