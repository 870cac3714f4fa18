# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Which source of motion is taken, when, and the sentence that says what is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from synthetic import (
    JOINTS,
    MOUNT,
    START,
    URDF,
    Placement,
    Recording,
    Scene,
    gravity_of,
    joint_messages,
    settings,
    stamps,
    transform_messages,
)

from inertial_id_ros.errors import InvalidModel, UnknownFrame
from inertial_id_ros.findings import FindingLog, Missing
from inertial_id_ros.kinematics.joint_motion import JointMotion
from inertial_id_ros.kinematics.motion_source import MotionSelector
from inertial_id_ros.kinematics.tf_motion import TfMotion
from inertial_id_ros.signals.ring_buffer import SampleRing

OTHER = Placement(Rotation.from_euler("xyz", [0.6, -0.9, 2.0]), (0.03, -0.02, 0.08))
_HANDLERS = {"add_joint_state": "take_joint_state", "add_transform": "take_transform"}


def _selector(urdf: str | None = URDF, **changes: Any) -> MotionSelector:
    selector = MotionSelector(settings(**changes), FindingLog())
    if urdf is not None:
        selector.streams.set_robot_description(urdf)
    return selector


def _feed(selector: MotionSelector, recording: Recording) -> None:
    for _, method, arguments in recording.messages:
        getattr(selector.streams, _HANDLERS[method])(*arguments)


def _wrench(seconds: float = 0.5) -> SampleRing:
    ring = SampleRing(6, 100)
    for t in np.arange(0.0, seconds + 0.05, 0.1):
        ring.append(START + int(t * 1e9), np.zeros(6))
    return ring


def _joints(seconds: float = 1.0) -> Recording:
    return joint_messages(Scene(), stamps(seconds, 200.0))


def _transforms(child: str = "tool0", seconds: float = 1.0) -> Recording:
    t = stamps(seconds, 100.0)
    return transform_messages(*Scene().flange_in_base(t), t, "base_link", child)


def _findings(selector: MotionSelector) -> dict[str, str]:
    return {f.name: f.text for f in selector._findings.all()}


def test_joint_states_are_taken_where_a_robot_description_is_there() -> None:
    selector = _selector()
    _feed(selector, _joints())
    _feed(selector, _transforms())
    assert isinstance(selector.select_source("tool0", _wrench()), JointMotion)
    assert selector.missing is None


def test_joint_states_that_came_before_the_source_are_used() -> None:
    selector = _selector()
    _feed(selector, _joints())
    source = selector.select_source("tool0", _wrench())
    assert source is not None and source.settled_until() is not None
    assert source.motion_at(np.array([START + 500_000_000])).valid.all()


def test_transforms_are_taken_without_a_robot_description() -> None:
    selector = _selector(urdf=None)
    _feed(selector, _joints())
    _feed(selector, _transforms())
    assert isinstance(selector.select_source("tool0", _wrench()), TfMotion)
    assert selector.missing is None


def test_transforms_replace_joint_states_that_do_not_come_for_two_seconds() -> None:
    selector = _selector()
    _feed(selector, _transforms())
    assert selector.select_source("tool0", _wrench(1.9)) is None
    assert selector.missing == Missing("no joint states on 'joint_states' received")
    assert isinstance(selector.select_source("tool0", _wrench(2.1)), TfMotion)
    _feed(selector, _joints())
    assert isinstance(selector.select_source("tool0", _wrench(2.1)), JointMotion)


def test_a_wished_source_is_the_only_one() -> None:
    selector = _selector(kinematics__source="tf")
    _feed(selector, _joints())
    _feed(selector, _transforms())
    assert isinstance(selector.select_source("tool0", _wrench(9.0)), TfMotion)
    selector = _selector(kinematics__source="joint_states", joint_states__topic="/arm/joints")
    _feed(selector, _transforms())
    assert selector.select_source("tool0", _wrench(9.0)) is None
    assert selector.missing == Missing("no joint states on '/arm/joints' received")
    selector = _selector(None, kinematics__source="joint_states")
    _feed(selector, _joints())
    assert selector.select_source("tool0", _wrench(9.0)) is None
    assert selector.missing == Missing("no robot description on 'robot_description' received")


def test_a_frame_that_only_tf_knows_takes_the_motion_from_tf_and_keeps_that_source() -> None:
    selector = _selector()
    _feed(selector, _joints())
    _feed(selector, _transforms("gripper_sensor"))
    first = selector.select_source("gripper_sensor", _wrench())
    assert isinstance(first, TfMotion)
    assert selector.select_source("gripper_sensor", _wrench()) is first


def test_an_unknown_frame_is_named_with_the_known_ones() -> None:
    selector = _selector()
    _feed(selector, _joints())
    assert selector.select_source("ft_sensor", _wrench()) is None
    assert selector.missing.text.startswith("frame 'ft_sensor' is neither in the robot description")
    assert "arm, base_link" in selector.missing.text
    selector = _selector(urdf=None)
    _feed(selector, _transforms())
    assert selector.select_source("ft_sensor", _wrench()) is None
    assert "'ft_sensor' of the wrench is unknown" in selector.missing.text
    assert "known frames: base_link, tool0" in selector.missing.text


def test_a_wrench_without_a_frame_says_which_setting_helps() -> None:
    selector = _selector()
    _feed(selector, _joints())
    assert selector.select_source("", _wrench()) is None
    assert "set wrench.sensor_frame" in selector.missing.text


def test_fixed_transforms_alone_are_no_motion() -> None:
    selector = _selector(urdf=None)
    selector.streams.take_static_transform("base_link", "tool0", [0, 0, 0], [0, 0, 0, 1])
    assert selector.select_source("tool0", _wrench()) is None
    assert "does not move " in selector.missing.text


def test_a_missing_joint_is_named() -> None:
    selector = _selector()
    _feed(selector, joint_messages(Scene(), stamps(1.0, 200.0), ("turn", "lift", "bend", "roll")))
    source = selector.select_source("tool0", _wrench())
    assert source is not None and source.settled_until() is None
    text = selector.missing.text
    assert "joint 'slide'" in text and "turn, lift, bend, roll" in text
    assert "joint 'slide'" in _findings(selector)["joint_states_incomplete"]


def test_joint_states_of_a_gripper_beside_those_of_the_arm_do_no_harm() -> None:
    selector = _selector()
    both = (_joints() + joint_messages(Scene(), stamps(1.0, 50.0, start=0.001), ("finger",)))
    _feed(selector, both.sorted())
    assert selector.select_source("tool0", _wrench()) is not None
    assert selector.missing is None


@pytest.mark.parametrize(("arguments", "finding"), [
    ((START, [], [1.0]), "joint_states_incomplete.names"),
    ((0, JOINTS, [0.0] * 5), "stamp_missing.joints"),
    ((-5, JOINTS, [0.0] * 5), "stamp_missing.joints"),
    ((START, JOINTS, [0.0, np.nan, 0.0, 0.0, 0.0]), "samples_invalid.joints"),
    ((START, JOINTS, [0.0] * 3), "joint_states_incomplete"),
    ((START, JOINTS, []), "joint_states_incomplete"),
])
def test_joint_states_that_cannot_be_used_are_counted_by_name(
        arguments: tuple[Any, ...], finding: str) -> None:
    selector = _selector()
    for _ in range(3):
        selector.streams.take_joint_state(*arguments)
    _feed(selector, _joints())
    selector.select_source("tool0", _wrench())
    assert "(3 times)" in _findings(selector)[finding]


def test_a_transform_that_is_no_pose_is_counted() -> None:
    selector = _selector()
    selector.streams.take_transform(START, "a", "b", [0, 0, 0], [0, 0, 0, 0])
    selector.streams.take_static_transform("a", "b", [np.nan, 0, 0], [0, 0, 0, 1])
    assert "dropped: transform a -> b" in _findings(selector)["samples_invalid.transforms"]
    assert "(2 times)" in _findings(selector)["samples_invalid.transforms"]


def test_leading_slashes_of_frames_are_ignored() -> None:
    selector = _selector(urdf=None)
    selector.streams.take_static_transform("/tool0", "/sensor", MOUNT.translation, MOUNT.quaternion)
    _feed(selector, _transforms())
    assert isinstance(selector.select_source("sensor", _wrench()), TfMotion)


def test_a_bad_robot_description_leaves_the_one_before_in_use() -> None:
    selector = _selector()
    with pytest.raises(InvalidModel):
        selector.streams.set_robot_description("<robot")
    _feed(selector, _joints())
    assert isinstance(selector.select_source("tool0", _wrench()), JointMotion)


@pytest.mark.parametrize(("parent", "child"), [("tool0", "sensor"), ("world", "base_link")])
@pytest.mark.parametrize("urdf", [URDF, None], ids=["joint states", "tf"])
def test_a_changed_fixed_transform_on_the_way_changes_the_mounting(
        urdf: str | None, parent: str, child: str) -> None:
    selector = _selector(urdf)
    for edge in (("tool0", "sensor"), ("world", "base_link")):
        selector.streams.take_static_transform(*edge, MOUNT.translation, MOUNT.quaternion)
    _feed(selector, _joints())
    _feed(selector, _transforms())
    assert selector.select_source("sensor", _wrench()) is not None
    selector.streams.take_static_transform("tool0", "camera", MOUNT.translation, MOUNT.quaternion)
    selector.streams.take_static_transform(parent, child, MOUNT.translation, MOUNT.quaternion)
    assert selector.select_source("sensor", _wrench()) is not None and not selector.mounting_changed
    before = selector.select_source("sensor", _wrench())
    assert before is not None and before.settled_until() is not None
    at = np.array([START + 500_000_000])
    old = gravity_of(before.motion_at(at))
    selector.streams.take_static_transform(parent, child, OTHER.translation, OTHER.quaternion)
    after = selector.select_source("sensor", _wrench())
    assert selector.mounting_changed and after is not None
    assert after.settled_until() is not None
    assert np.abs(gravity_of(after.motion_at(at)) - old).max() > 0.1


def test_the_same_robot_description_again_changes_nothing() -> None:
    selector = _selector()
    _feed(selector, _joints())
    source = selector.select_source("tool0", _wrench())
    selector.streams.set_robot_description(URDF)
    assert selector.select_source("tool0", _wrench()) is source and not selector.mounting_changed


def test_another_robot_description_changes_the_mounting() -> None:
    selector = _selector()
    _feed(selector, _joints())
    selector.select_source("tool0", _wrench())
    selector.streams.set_robot_description(URDF.replace('xyz="0.3 0.0 0.1"', 'xyz="0.4 0.0 0.1"'))
    selector.select_source("tool0", _wrench())
    assert selector.mounting_changed
    selector.streams.set_robot_description(URDF.replace('name="tool0"', 'name="tip"').replace(
        'link="tool0"', 'link="tip"'))
    assert selector.select_source("tool0", _wrench()) is not None
    assert "'tool0'" in _findings(selector)["robot_description_invalid.frame"]


def test_a_moving_frame_that_becomes_fixed_is_no_error() -> None:
    selector = _selector(urdf=None)
    _feed(selector, _transforms())
    source = selector.select_source("tool0", _wrench())
    assert source is not None and source.settled_until() is not None
    selector.streams.take_static_transform("base_link", "tool0", [0, 0, 0], [0, 0, 0, 1])
    assert selector.select_source("tool0", _wrench()) is None
    assert "does not move in TF" in selector.missing.text


def test_a_reset_waits_for_new_samples_and_keeps_what_is_fixed() -> None:
    selector = _selector()
    selector.streams.take_static_transform("tool0", "sensor", MOUNT.translation, MOUNT.quaternion)
    _feed(selector, _joints())
    selector.select_source("sensor", _wrench())
    selector.begin_stream()
    assert selector.select_source("sensor", _wrench()) is None
    assert "no joint states" in selector.missing.text
    _feed(selector, _joints())
    assert isinstance(selector.select_source("sensor", _wrench()), JointMotion)


def test_transforms_that_only_turn_are_pointed_out_until_they_move() -> None:
    t = stamps(1.0, 100.0)
    turn = Rotation.from_rotvec(np.outer(t, [0.0, 0.4, 0.0]))
    selector = _selector(urdf=None)
    _feed(selector, transform_messages(turn, np.zeros((len(t), 3)), t, "world", "imu"))
    source = selector.select_source("imu", _wrench())
    assert source is not None and source.settled_until() is not None
    selector.report_coverage(source.motion_at(np.array([START + 500_000_000])).valid)
    assert "rotation only" in _findings(selector)["translation_constant"]
    t = t + 1.0
    _feed(selector, transform_messages(turn, np.outer(t, [0.1, 0, 0]), t, "world", "imu"))
    selector.report_coverage(source.motion_at(np.array([START + 1_500_000_000])).valid)
    assert "translation_constant" not in _findings(selector)


def test_holes_in_the_motion_count_only_after_the_first_motion() -> None:
    selector = _selector()
    selector.report_coverage(np.array([False, False]))
    selector.report_coverage(np.array([False, True]))
    assert "samples_missing.motion" not in _findings(selector)
    selector.report_coverage(np.array([True, False, True]))
    assert "(once)" in _findings(selector)["samples_missing.motion"]


@pytest.mark.parametrize("urdf", [URDF, None], ids=["joint states", "tf"])
def test_frames_are_looked_up_on_the_newest_pose(urdf: str | None) -> None:
    selector = _selector(urdf)
    selector.streams.take_static_transform("tool0", "sensor", MOUNT.translation, MOUNT.quaternion)
    _feed(selector, _joints())
    _feed(selector, _transforms(seconds=0.995))
    selector.select_source("sensor", _wrench())
    newest = np.array([0.995 if urdf else 0.98])
    turn, shift = Scene().flange_in_base(newest)
    rotation, translation, moment = selector.streams.lookup("base_link", "sensor")
    np.testing.assert_allclose(rotation, (turn * MOUNT.rotation).as_matrix()[0], atol=1e-9)
    np.testing.assert_allclose(translation, (shift + turn.apply(MOUNT.translation))[0], atol=1e-9)
    back, offset, _ = selector.streams.lookup("sensor", "base_link")
    assert moment == START + round(newest[0] * 1e9)
    assert selector.streams.lookup("sensor", "tool0")[2] is None  # fixed to each other
    np.testing.assert_allclose(back @ rotation, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(back @ translation + offset, 0.0, atol=1e-12)
    with pytest.raises(UnknownFrame, match="'camera'"):
        selector.streams.lookup("camera", "sensor")


def test_joint_states_that_wait_are_few_where_each_is_large() -> None:
    selector = _selector(None)
    positions = [0.0] * 1000
    for k in range(500):
        selector.streams.take_joint_state(START + k, [f"j{k}_{n}" for n in range(1000)], positions)
    waiting = selector.streams._pending
    assert len(waiting) == 200 and waiting[-1][0] == START + 499
    for k in range(5000):
        selector.streams.take_joint_state(START + k, ["a", "b"], positions)
    assert len(waiting) == 4096


def test_names_of_joints_that_are_texts_are_refused_by_name() -> None:
    selector = _selector()
    selector.streams.take_joint_state(START, ["x" * 256], [0.0])
    assert "more than 255 characters" in _findings(selector)["joint_states_incomplete.long_names"]
    assert not selector.streams._pending
