# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a small motion tells of a set-up: each fault is named, and a right set-up passes."""

from dataclasses import replace

import numpy as np
import pytest
from wiggled import BIAS, record, wiggle

from inertial_id_ros.apps.guide.by_motion import check_by_motion, check_joint_order
from inertial_id_ros.apps.guide.checks import Verdict, failed
from inertial_id_ros.apps.guide.proof import prove
from inertial_id_ros.apps.simulation.payload import PAYLOADS, Part, Payload
from inertial_id_ros.settings import Settings

ATI = Settings().replace({"wrench.sensor": "ati_gamma"})
UR = Settings().replace({"wrench.sensor": "ur_e_series"})


def rows_of(settings=ATI, **changes):
    return {row.check: row for row in check_by_motion(record(**changes), settings)}


@pytest.mark.slow
@pytest.mark.parametrize("payload", ["drill", "hammer", "box_offset"])
def test_a_right_set_up_passes_whatever_it_carries(payload):
    rows = rows_of(payload=payload)
    assert [row.verdict for row in rows.values()] == [Verdict.PASSED] * 4, rows


@pytest.mark.slow
@pytest.mark.parametrize(("changes", "check", "measured"), [
    ({"convention": "on_environment"}, "sign of the wrench", "-1.4"),
    ({"sensor_rotation_error": (0, 0, 90)}, "axes of the sensor", "yaw 90"),
    ({"sensor_rotation_error": (180, 0, 0)}, "axes of the sensor", "180, "),
    ({"sensor_rotation_error": (0, 0, 30)}, "axes of the sensor", "yaw 30"),
    ({"tilt_error": (12, 0)}, "direction of gravity", "0.97"),
    ({"tilt_error": (0, 45)}, "direction of gravity", "(-0.7"),
    ({"clock_offset": 0.15}, "clocks", " ms after"),
])
def test_a_fault_is_named_with_what_to_do(changes, check, measured):
    rows = rows_of(**changes)
    assert [row.check for row in failed(rows.values())] == [check], rows
    assert measured in rows[check].measured and rows[check].advice


@pytest.mark.slow
@pytest.mark.parametrize("joint", [3, 4])
def test_a_swing_about_one_axis_does_not_tell_where_gravity_points(joint):
    """What the force has along the axis may be the zero of the sensor as well."""
    for seed in range(3):
        rows = rows_of(payload="drill", sensor="ati_gamma", seed=seed,
                       motion=wiggle(joints=(joint,)))
        assert not failed(rows.values()), rows
        assert rows["direction of gravity"].verdict is Verdict.OPEN, rows


@pytest.mark.slow
def test_what_is_small_against_the_errors_of_the_sensor_stays_open():
    light = Payload("dice", (Part("box", (0.02, 0.02, 0.02), 500.0),))  # 4 g
    for changes in ({"carried": light, "sensor": "ur_e_series"},
                    {"motion": wiggle(angle=2.0)}):
        assert {row.verdict for row in rows_of(UR, **changes).values()} == {Verdict.OPEN}
    whole = record(seconds=4.0)
    holed = replace(whole, used=whole.used & (np.arange(len(whole.used)) % 10 > 0))
    assert {row.verdict for row in check_by_motion(holed, ATI)} == {Verdict.OPEN}


@pytest.mark.parametrize(("moved", "is_part", "verdict", "said"), [
    ({"a": 0.29, "b": 0.001}, False, Verdict.PASSED, "'a' moved by 17°"),
    ({"a": 0.001, "b": 0.3}, False, Verdict.FAILED, "'b' moved by 17°"),
    ({"a": 0.001}, False, Verdict.FAILED, "no joint moved"),
    ({"a": 0.1}, True, None, ""), ({}, True, None, ""),
    ({"a": 0.0, "b": 0.1}, True, Verdict.FAILED, "no joint moved")])
def test_the_joint_that_was_told_to_move_must_be_the_one_that_moves(moved, is_part, verdict, said):
    rows = check_joint_order({"a": 0.3, "b": 0.0}, moved, is_part)
    assert [row.verdict for row in rows] == ([verdict] if verdict else [])
    assert all(said in row.measured for row in rows)


@pytest.mark.slow
def test_the_true_payload_is_proved_and_another_is_not():
    """MuJoCo's wrench of a motion is what the true payload predicts, and no other."""
    window = record(motion=wiggle(angle=30.0, move=0.9, joints=(3, 4, 5)))
    truth = PAYLOADS["drill"].phi
    proof = prove(window, np.array(BIAS), np.zeros(10), truth, ATI)
    (before, _), (after, _) = proof.residuals
    assert proof.is_given and after < 0.05 * before
    # The weight of the drill is what is left without it, in forces.
    assert before == pytest.approx(9.81 * PAYLOADS["drill"].mass, rel=0.02)
    assert not prove(window, np.array(BIAS), np.zeros(10), 1.2 * truth, ATI).is_given
    assert not prove(window, np.array(BIAS), truth, 1.2 * truth, ATI).is_given
    moved = truth + 0.03 * truth[0] * np.eye(10)[1]
    assert not prove(window, np.array(BIAS), np.zeros(10), moved, ATI).is_given
    short = replace(window, used=window.used & (np.arange(len(window.used)) < 45))
    assert prove(short, None, np.zeros(10), truth, ATI) is None
    unknown = prove(window, None, np.zeros(10), truth, ATI)
    np.testing.assert_allclose(unknown.measured.mean(axis=0), 0.0, atol=1e-9)
