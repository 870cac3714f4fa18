# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A driver that removes a payload and tells which: the estimate is of both, whatever changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from synthetic import (
    START,
    STILL,
    PointMasses,
    Recording,
    Scene,
    identifier,
    joint_messages,
    payload,
    recording,
    settings,
    stamps,
    texts,
    wrench_messages,
)

from inertial_id_ros.errors import InvalidSetting, NotEnoughData
from inertial_id_ros.estimate import Estimate, NoEstimate
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.inertia import body_from_phi, phi_from_points, six_from_tensor

TRUE = payload(3, 1.4)
FIRST, SECOND = payload(5, 0.6), payload(9, 1.0)
GAP = 600_000_000  # ns within which a change settles


def told(body: PointMasses) -> tuple[Any, ...]:
    """Mass, com, inertia about it (6,) of a payload in the sensor frame."""
    r = body_from_phi(phi_from_points(body.points, body.masses))
    return r.mass, r.com.tolist(), six_from_tensor(r.inertia_com).tolist()


def configured(body: PointMasses) -> dict[str, Any]:
    """The settings that tell this payload."""
    mass, com, inertia = told(body)
    return {"precompensated__mass": mass, "precompensated__com": tuple(com),
            "precompensated__inertia": tuple(inertia)}


def tells(stamp: int, body: PointMasses, frame: str = "") -> Recording:
    return Recording([(stamp, "add_removed_payload", (frame, *told(body)))])


def driver(**changes: Any) -> Identifier:
    return identifier(precompensated__source="inertia", precompensated__topic="/payload", **changes)


def assert_both(outcome: Any) -> None:
    assert isinstance(outcome, Estimate), outcome
    np.testing.assert_allclose(outcome.report[0], TRUE.report[0], atol=1e-3)
    np.testing.assert_allclose(outcome.report[1:4], TRUE.report[1:4], atol=1e-4)
    np.testing.assert_allclose(outcome.report[4:], TRUE.report[4:],
                               atol=0.01 * TRUE.report[4:].max())


def test_the_estimate_is_the_sum_of_what_the_driver_removes_and_what_is_measured() -> None:
    made = driver()
    (tells(START, FIRST) + recording(body=TRUE, without=FIRST)).feed(made, 0.1)
    assert_both(made.solve())


def test_nothing_is_estimated_before_the_driver_tells() -> None:
    made = driver()
    recording(seconds=3.0, body=TRUE, without=FIRST).feed(made, 0.1)
    outcome = made.solve()
    assert isinstance(outcome, NoEstimate) and "waiting for the payload" in outcome.reason
    made.add_removed_payload("", *told(FIRST))
    made.advance()
    assert_both(made.solve())


def test_an_unknown_frame_of_the_driver_is_named_and_nothing_is_estimated() -> None:
    made = driver()
    (tells(START, FIRST, "elsewhere") + recording(body=TRUE, without=FIRST)).feed(made, 0.1)
    outcome = made.solve()
    assert isinstance(outcome, NoEstimate) and "elsewhere" in outcome.reason


def test_frames_of_the_driver_are_found_by_fixed_transforms() -> None:
    turn, shift = Rotation.from_euler("xyz", [0.4, -0.9, 2.0]), np.array([0.03, -0.02, 0.08])
    made = driver()
    made.add_static_transform("tool0", "flange_of_driver", shift.tolist(),
                              turn.as_quat().tolist())
    in_driver = PointMasses(turn.inv().apply(FIRST.points - shift), FIRST.masses)
    (tells(START, in_driver, "flange_of_driver")
     + recording(body=TRUE, without=FIRST)).feed(made, 0.1)
    assert_both(made.solve())


def test_the_configured_frame_replaces_a_wrong_one() -> None:
    made = driver(precompensated__frame="tool0")
    (tells(START, FIRST, "link6_by_mistake") + recording(body=TRUE, without=FIRST)).feed(made, 0.1)
    assert_both(made.solve())


def test_another_configured_payload_flushes_what_was_measured_before() -> None:
    """Six seconds with one, six with the other; the word comes 0.2 s after the wrench changed."""
    made = driver()
    wrenches = (wrench_messages(Scene(), TRUE, stamps(6.0, 200.0), without=FIRST)
                + wrench_messages(Scene(), TRUE, stamps(6.0, 200.0, start=6.0), without=SECOND,
                                  bias=[5.0, -3.0, 2.0, 0.3, 0.2, 0.1]))  # zeroed anew
    samples = (tells(START, FIRST) + wrenches + joint_messages(Scene(), stamps(12.0, 200.0))
               + tells(START + 6_200_000_000, SECOND)).sorted()
    half = Recording([m for m in samples.messages if m[0] < START + 6_000_000_000])
    half.feed(made, 0.1)
    assert_both(made.solve())
    rest = Recording([m for m in samples.messages if m[0] >= START + 6_000_000_000])
    rest.feed(made, 0.1)
    assert "changed from 0.600 to 1.000 kg" in texts(made)["reset"]
    outcome = made.solve()
    assert_both(outcome)
    assert isinstance(outcome, Estimate) and outcome.window < 5.4


def test_a_payload_of_the_settings_is_said_to_be_that() -> None:
    made = identifier(**configured(FIRST))
    recording(body=TRUE, without=FIRST).feed(made, 0.1)
    assert_both(made.solve())
    assert "0.600 kg" in texts(made)["removed_payload"]
    assert "precompensated.mass" in texts(made)["removed_payload"]


def test_what_the_driver_tells_is_said_to_be_its_word() -> None:
    made = driver()
    (tells(START, FIRST) + recording(body=TRUE, without=FIRST)).feed(made, 0.1)
    assert "0.600 kg from the wrench, as it reports itself" in texts(made)["removed_payload"]


def test_without_a_removed_payload_nothing_is_said_of_one() -> None:
    made = identifier()
    recording(body=TRUE).feed(made, 0.1)
    assert "removed_payload" not in texts(made)


@pytest.mark.slow
def test_another_payload_in_the_settings_flushes_what_was_measured_before() -> None:
    """For drivers that do not tell: whoever sets the payload there sets it here, too."""
    made = identifier(**configured(FIRST))
    recording(body=TRUE, without=FIRST).feed(made, 0.1)
    assert_both(made.solve())
    made.set_settings(settings(**configured(SECOND)))
    assert "set to 1.000 kg" in texts(made)["reset"]
    assert isinstance(made.solve(), NoEstimate)
    recording(body=TRUE, without=SECOND, bias=[5.0, -3.0, 2.0, 0.3, 0.2, 0.1]).moved(
        6_000_000_000).feed(made, 0.1)
    assert_both(made.solve())


def test_a_removed_payload_that_no_body_has_is_refused_while_running() -> None:
    made = identifier()
    with pytest.raises(InvalidSetting, match="no body has it"):
        made.check_settings(settings(precompensated__mass=1.0,
                                     precompensated__inertia=(1.0, 0.0, 0.0, 0.1, 0.0, 0.1)))


def test_the_same_word_again_changes_nothing() -> None:
    made = driver()
    words = [tells(START + k * 100_000_000, FIRST).messages[0] for k in range(60)]
    (recording(body=TRUE, without=FIRST) + Recording(words)).sorted().feed(made, 0.1)
    assert_both(made.solve())
    assert "reset" not in texts(made)


def test_a_zeroing_flushes_data_and_tare() -> None:
    still = Scene(motion=STILL)
    nothing = PointMasses(np.zeros((1, 3)), np.array([1e-9]))
    made = identifier()
    recording(seconds=2.0, scene=still, body=nothing, bias=[2.0] * 6).feed(made, 0.1)
    made.tare()
    assert made.state().tare is not None
    made.add_zeroing("the robot's program started")
    made.advance()
    assert made.state().tare is None and "program started" in texts(made)["reset"]
    recording(body=TRUE, bias=[-6.0, 4.0, 1.0, 0.2, 0.1, 0.3]).moved(10_000_000_000).feed(made, 0.1)
    assert_both(made.solve())


def test_a_clock_that_jumps_back_after_a_change_does_not_silence_the_sensor() -> None:
    made = driver()
    (tells(START, FIRST) + recording(body=TRUE, without=FIRST)).feed(made, 0.1)
    made.add_removed_payload("", *told(SECOND))
    recording(body=TRUE, without=SECOND).moved(-3_600_000_000_000).feed(made, 0.1)
    assert_both(made.solve())


def test_an_impossible_payload_is_ignored_in_words() -> None:
    made = driver()
    (tells(START, FIRST) + recording(body=TRUE, without=FIRST)).feed(made, 0.1)
    for mass in (-1.0, float("nan")):
        made.add_removed_payload("", mass, [0.0] * 3, [0.0] * 6)
        made.advance()
        assert "cannot exist" in texts(made)["removed_payload.invalid"]
    assert_both(made.solve())


def test_no_tare_while_a_payload_is_removed() -> None:
    made = driver()
    made.add_removed_payload("", *told(FIRST))
    recording(seconds=2.0, scene=Scene(motion=STILL), body=TRUE).feed(made, 0.1)
    with pytest.raises(NotEnoughData, match="0.6 kg"):
        made.tare()


@pytest.mark.parametrize(("changes", "words"), [
    ({"source": "inertia"}, "precompensated.topic is empty"),
    ({"source": "franka"}, "precompensated.topic is empty"),
    ({"source": "dynamic_joint_states"}, "dynamic_joint_states.topic is empty"),
    ({"source": "inertia", "topic": "/x", "mass": 1.0}, "give one of the two"),
])
def test_sources_without_what_they_need_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidSetting, match=words):
        identifier(**{f"precompensated__{k}": v for k, v in changes.items()})
