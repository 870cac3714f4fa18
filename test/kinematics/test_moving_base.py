# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""An IMU on a base that drives, turns and tilts, against differences of paths in the world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from live_stream import Live
from scipy.spatial.transform import Rotation
from synthetic import (
    BODY,
    GRAVITY,
    JOINTS,
    URDF,
    Placement,
    Recording,
    Scene,
    assert_body,
    first_difference,
    identifier,
    joint_messages,
    nanoseconds,
    second_difference,
    stamps,
    texts,
    wrench_messages,
)

from inertial_id_ros.errors import InvalidSetting
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.kinematics.joint_motion import JointMotion, RobotFrame
from inertial_id_ros.kinematics.moving_base import BaseImu
from inertial_id_ros.kinematics.robot_description import parse_urdf
from inertial_id_ros.kinematics.transform_tree import Pose, TransformTree
from inertial_id_ros.settings import Settings

IMU = Placement(Rotation.from_euler("xyz", [2.9, 0.3, -1.0]), (0.4, -0.3, -0.2))
TOPIC = {"base_imu__topic": "imu"}
_STEP = 2e-3


@dataclass(frozen=True)
class Driving(Scene):
    """A scene whose base accelerates by about 1 m/s^2, turns and tilts."""

    def base_at(self, t: np.ndarray) -> tuple[Rotation, np.ndarray]:
        """Rotation and translation (n, 3) of base_link in the world."""
        t = np.asarray(t)
        turn = Rotation.from_euler("zyx", np.column_stack([
            0.8 * np.sin(0.9 * t), 0.05 * np.sin(1.4 * t), 0.04 * np.sin(1.1 * t + 1.0)]))
        return turn, np.column_stack([0.4 * np.sin(1.6 * t), 0.3 * np.sin(1.9 * t + 0.5),
                                      0.01 * np.sin(2.5 * t)])

    def sensor_in_world(self, t: np.ndarray) -> tuple[Rotation, np.ndarray]:
        turn, shift = super().sensor_in_world(t)
        base, place = self.base_at(t)
        return base * turn, base.apply(shift) + place

    def imu_readings(self, t: np.ndarray) -> np.ndarray:
        """Specific force and angular velocity (n, 6) in the axes of the IMU."""
        around = [self.base_at(t + k * _STEP) for k in (-2, -1, 0, 1, 2)]
        turn = around[2][0] * IMU.rotation
        force = second_difference([r.apply(IMU.translation) + p for r, p in around]) - GRAVITY
        omega = first_difference([(turn.inv() * r * IMU.rotation).as_rotvec() for r, _ in around])
        return np.hstack([turn.inv().apply(force), omega])


SCENE = Driving()


def imu_messages(t: np.ndarray, frame: str = "imu", change: float = 0.0) -> Recording:
    """Readings; change: of the specific force along the world's vertical, over gravity."""
    readings = SCENE.imu_readings(t)
    turn = SCENE.base_at(t)[0] * IMU.rotation
    readings[:, :3] -= change * turn.inv().apply(np.tile(GRAVITY, (len(t), 1)))
    return Recording([(int(s), "add_imu", (int(s), frame, r[:3].tolist(), r[3:].tolist()))
                      for s, r in zip(nanoseconds(t), readings, strict=True)])


def driven(seconds: float, imu: Recording | None = None) -> Recording:
    t = stamps(seconds, 200.0)
    imu = imu_messages(stamps(seconds, 100.0)) if imu is None else imu
    return (joint_messages(SCENE, t) + wrench_messages(SCENE, BODY, t) + imu).sorted()


def made(**changes: object) -> Identifier:
    out = identifier(**(TOPIC | changes))
    out.add_static_transform("base_link", "imu", list(IMU.translation), IMU.quaternion)
    return out


def test_the_sensor_moves_with_its_base() -> None:
    robot = RobotFrame(parse_urdf(URDF), TransformTree(), "tool0", "", 9.81)
    robot.imu = Pose(IMU.rotation.as_matrix(), np.array(IMU.translation))
    source, t = JointMotion(robot, 0.15, BaseImu()), stamps(3.0, 500.0)
    assert source.base is not None
    for stamp, q, reading in zip(nanoseconds(t).tolist(), SCENE.motion.positions(t),
                                 SCENE.imu_readings(t), strict=True):
        source.add(stamp, JOINTS, q.tolist())
        source.base.add(stamp, "imu", reading[:3], reading[3:])
    wanted = stamps(2.0, 50.0, start=0.5)
    motion = source.motion_at(nanoseconds(wanted))
    around = [SCENE.sensor_in_world(wanted + k * _STEP) for k in (-2, -1, 0, 1, 2)]
    back = around[2][0].inv()
    turns = [(back * r).as_rotvec() for r, _ in around]
    assert motion.valid.all()
    np.testing.assert_allclose(motion.proper_acceleration, back.apply(
        second_difference([p for _, p in around]) - GRAVITY), atol=0.02)
    np.testing.assert_allclose(motion.omega, first_difference(turns), atol=0.003)
    np.testing.assert_allclose(motion.alpha, second_difference(turns), atol=0.03)


@pytest.mark.slow
def test_the_payload_is_found_on_a_base_that_drives_and_not_without_its_imu() -> None:
    with_imu, without = made(), identifier()
    driven(12.0).feed(with_imu, 0.1)
    driven(12.0, Recording()).feed(without, 0.1)
    assert_body(with_imu.solve(), 3.0)
    with pytest.raises(AssertionError):
        assert_body(without.solve(), 30.0)


@pytest.mark.slow
def test_nothing_is_left_of_the_compensated_wrench_on_a_base_that_drives() -> None:
    live = Live(made())
    heard = live.play(driven(14.0)).between(10.0, 14.0)
    assert len(heard.t) > 700
    assert np.abs(heard.wrench[:, :3]).max() < 0.5  # N, of 14 N of weight and 1.4 N of the base
    assert np.abs(heard.wrench[:, :3]).mean() < 0.05


@pytest.mark.parametrize(("imu", "words"), [
    (imu_messages(stamps(4.0, 100.0), change=-1.0), "publish specific force"),  # without gravity
    (imu_messages(stamps(4.0, 100.0), frame="tool0"), "not fixed to the robot's root 'base_link'"),
    (imu_messages(stamps(4.0, 100.0), frame="nowhere"), "not fixed to the robot's root"),
    (imu_messages(stamps(4.0, 5.0)), "come at 5 Hz"),
    (imu_messages(stamps(4.0, 100.0)).changed(
        "add_imu", lambda t, *rest: (t + 5_000_000_000, *rest)), "another clock")])
def test_readings_that_cannot_be_used_are_refused_in_a_sentence(
        imu: Recording, words: str) -> None:
    found = made()
    driven(4.0, imu).feed(found, 0.1)
    outcome = found.solve()
    assert not outcome.valid and words in outcome.reason
    assert words in texts(found)["samples_invalid.base"]


def test_a_missing_imu_is_waited_for_and_damaged_readings_are_dropped() -> None:
    found = made()
    driven(4.0, Recording()).feed(found, 0.1)
    assert found.solve().reason == "no base IMU on 'imu' received"
    found = made()
    nan = Recording([(m[0] + 1, m[1], (m[2][0] + 1, "imu", [np.nan] * 3, [0.0] * 3))
                     for m in imu_messages(stamps(1.0, 10.0)).messages])
    driven(6.0, imu_messages(stamps(6.0, 100.0)) + nan).feed(found, 0.1)
    assert found.solve().valid and "10" in texts(found)["samples_invalid.imu"]


@pytest.mark.parametrize("other", [{"kinematics.source": "tf"},
                                   {"load.robot": "a.robot", "wrench.sensor_frame": "tool0"}])
def test_settings_that_leave_no_use_for_the_imu_are_refused(other: dict[str, str]) -> None:
    with pytest.raises(InvalidSetting, match="base_imu.topic"):
        Settings().replace({"base_imu.topic": "/imu"} | other)
