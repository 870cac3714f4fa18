# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motion from joint states against finite differences of a hand-written chain, and Pinocchio."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from synthetic import (
    GRAVITY,
    JOINTS,
    MOUNT,
    NOWHERE,
    TILT,
    URDF,
    Recording,
    Scene,
    first_difference,
    gravity_of,
    joint_messages,
    nanoseconds,
    second_difference,
    stamps,
)

from inertial_id_ros.errors import InvalidModel, UnknownFrame
from inertial_id_ros.kinematics.joint_motion import JointMotion, RobotFrame
from inertial_id_ros.kinematics.motion import Motion
from inertial_id_ros.kinematics.robot_description import parse_urdf
from inertial_id_ros.kinematics.transform_tree import TransformTree
from inertial_id_ros.signals.ring_buffer import MISSING_JOINT, NOT_FINITE, REPEATED, STORED

MODELS = Path(__file__).resolve().parents[2] / "inertial_id_ros" / "apps" / "simulation" / "models"


def _robot(scene: Scene, gravity_frame: str = "", urdf: str = URDF) -> RobotFrame:
    """Sensor and tilt are known by static transforms where the scene has them."""
    tree = TransformTree()
    sensor = "tool0"
    if scene.mount is not NOWHERE:
        sensor = "wrench_frame"
        tree.set_static("tool0", sensor, scene.mount.translation, scene.mount.quaternion)
    if scene.base is not NOWHERE:
        tree.set_static("world", "base_link", scene.base.translation, scene.base.quaternion)
    return RobotFrame(parse_urdf(urdf), tree, sensor, gravity_frame, 9.81)


def _motion(robot: RobotFrame, scene: Scene, t: np.ndarray) -> Motion:
    return robot.motion(*scene.motion.derivatives(t), np.ones(len(t), dtype=bool))


def _assert_moves_like(motion: Motion, scene: Scene, t: np.ndarray, tolerance: float) -> None:
    around = [scene.sensor_in_world(t + k * 2e-3) for k in (-2, -1, 0, 1, 2)]
    back = around[2][0].inv()
    places = [p for _, p in around]
    turns = [(back * r).as_rotvec() for r, _ in around]
    np.testing.assert_allclose(gravity_of(motion), back.apply(GRAVITY), atol=tolerance)
    np.testing.assert_allclose(motion.acceleration, back.apply(second_difference(places)),
                               atol=tolerance)
    np.testing.assert_allclose(motion.omega, first_difference(turns), atol=tolerance)
    np.testing.assert_allclose(motion.alpha, second_difference(turns), atol=tolerance)


@pytest.mark.parametrize("scene", [Scene(), Scene(mount=MOUNT), Scene(base=TILT),
                                   Scene(base=TILT, mount=MOUNT)],
                         ids=["plain", "mount", "tilt", "tilt and mount"])
def test_the_sensor_moves_as_the_chain_written_by_hand(scene: Scene) -> None:
    t = np.linspace(0.1, 5.0, 25)
    _assert_moves_like(_motion(_robot(scene), scene, t), scene, t, 2e-7)


def test_the_whole_road_from_joint_states_follows_the_chain() -> None:
    scene, t = Scene(base=TILT, mount=MOUNT), np.linspace(0.5, 2.5, 30)
    source = JointMotion(_robot(scene), 0.15)
    _feed(source, joint_messages(scene, stamps(3.0, 500.0)))
    motion = source.motion_at(nanoseconds(t))
    assert motion.valid.all()
    _assert_moves_like(motion, scene, t, 0.02)


def test_the_ur5_class_robot_moves_as_pinocchio_says() -> None:
    urdf = (MODELS / "ur5_class_arm.urdf").read_text()
    model = pin.buildModelFromXML(urdf)
    data, frame = model.createData(), model.getFrameId("ft_sensor")
    model.gravity.linear = np.array([0.0, 0.0, -9.81])
    robot = RobotFrame(parse_urdf(urdf), TransformTree(), "ft_sensor", "", 9.81)
    assert robot.joint_names == list(model.names)[1:]
    rng = np.random.default_rng(2)
    frequency, phase = rng.uniform(0.5, 2.0, 6), rng.uniform(0.0, 6.0, 6)
    offset = np.deg2rad([0, -90, 60, -90, -90, 0])

    def positions(t: np.ndarray) -> np.ndarray:
        return offset + 0.7 * np.sin(frequency * t[:, None] + phase)

    source = JointMotion(robot, 0.15)
    t = stamps(2.0, 250.0)
    for s, q in zip(nanoseconds(t), positions(t), strict=True):
        source.add(int(s), robot.joint_names, q.tolist())
    wanted = np.linspace(0.3, 1.7, 12)
    motion = source.motion_at(nanoseconds(wanted))
    angle = frequency * wanted[:, None] + phase
    velocity = 0.7 * frequency * np.cos(angle)
    acceleration = -0.7 * frequency**2 * np.sin(angle)
    for k, q in enumerate(positions(wanted)):
        pin.forwardKinematics(model, data, q, velocity[k], acceleration[k])
        pin.updateFramePlacements(model, data)
        placement = data.oMf[frame]
        twist = pin.getFrameVelocity(model, data, frame, pin.LOCAL)
        spatial = pin.getFrameAcceleration(model, data, frame, pin.LOCAL)
        np.testing.assert_allclose(motion.omega[k], twist.angular, atol=2e-3)
        np.testing.assert_allclose(motion.alpha[k], spatial.angular, atol=2e-2)
        np.testing.assert_allclose(motion.acceleration[k], spatial.linear
                                   + np.cross(twist.angular, twist.linear), atol=2e-2)
        np.testing.assert_allclose(gravity_of(motion)[k], placement.rotation.T @ GRAVITY, atol=1e-4)


def test_only_the_joints_below_the_sensor_must_be_in_a_joint_state() -> None:
    assert _robot(Scene()).joint_names == list(JOINTS)
    tree = TransformTree()
    assert RobotFrame(parse_urdf(URDF), tree, "column", "", 9.81).joint_names == ["turn"]


def test_a_joint_may_have_the_name_of_a_link() -> None:
    urdf = URDF.replace('joint name="turn"', 'joint name="column"').replace(
        'joint name="finger"', 'joint name="tool0"').replace(
        'joint name="flange"', 'joint name="hand"')
    scene, t = Scene(base=TILT), np.linspace(0.1, 5.0, 5)
    robot = _robot(scene, urdf=urdf)
    assert robot.joint_names == ["column", *JOINTS[1:]]
    _assert_moves_like(_motion(robot, scene, t), scene, t, 2e-7)


@pytest.mark.parametrize("frame", ["base_link", "world"])
def test_the_gravity_frame_says_where_up_is(frame: str) -> None:
    scene = Scene(base=TILT)
    motion = _motion(_robot(scene, frame), scene, np.array([1.0]))
    turn = scene.sensor_in_world(np.array([1.0]))[0]
    up_turn = turn if frame == "world" else TILT.rotation.inv() * turn
    np.testing.assert_allclose(gravity_of(motion), up_turn.inv().apply(GRAVITY), atol=1e-9)


def test_a_gravity_frame_that_moves_with_the_robot_is_refused() -> None:
    with pytest.raises(UnknownFrame, match="'wrist' moves with the robot"):
        _robot(Scene(), "wrist")


def test_an_unknown_gravity_frame_is_named() -> None:
    with pytest.raises(UnknownFrame, match="gravity.frame 'ceiling' is neither"):
        _robot(Scene(), "ceiling")


def test_an_unknown_sensor_frame_is_named_with_the_known_ones() -> None:
    with pytest.raises(UnknownFrame, match="frame 'ft' is neither .* robot frames: arm, base_link"):
        RobotFrame(parse_urdf(URDF), TransformTree(), "ft", "", 9.81)


def test_a_sensor_that_no_joint_moves_is_refused() -> None:
    with pytest.raises(InvalidModel, match="no joint .* moves frame 'base_link'"):
        RobotFrame(parse_urdf(URDF), TransformTree(), "base_link", "", 9.81)


def test_a_joint_with_several_degrees_of_freedom_is_refused_by_name() -> None:
    urdf = URDF.replace('name="slide" type="prismatic"', 'name="slide" type="floating"')
    with pytest.raises(InvalidModel, match="joint 'slide' has 6 degrees of freedom"):
        RobotFrame(parse_urdf(urdf), TransformTree(), "tool0", "", 9.81)


@pytest.mark.parametrize(("text", "reason"), [
    ("", "not a usable URDF"), ("hello", "not a usable URDF"), ("<robot/>", "not a usable URDF"),
    ('<!DOCTYPE x [<!ENTITY a "b">]><robot name="x"/>', "XML entities"),
    ("<robot>" + " " * 20_000_001, "at most 20000000"),
], ids=["empty", "text", "no links", "entities", "too long"])
def test_a_text_that_is_no_urdf_is_refused_in_one_sentence(text: str, reason: str) -> None:
    with pytest.raises(InvalidModel, match=reason) as caught:
        parse_urdf(text)
    assert "\n" not in str(caught.value)


def _feed(source: JointMotion, recording: Recording) -> None:
    for _, _, arguments in recording.messages:
        source.add(*arguments)


def _arrays(source: JointMotion, stamps: np.ndarray) -> list[np.ndarray]:
    motion = source.motion_at(stamps)
    assert motion.noise is not None
    return [*(np.asarray(field) for field in motion[:-2]), motion.noise.pose_covariance]


def test_joints_are_matched_by_name_in_any_order_among_others() -> None:
    scene, t = Scene(), nanoseconds(np.linspace(0.5, 1.5, 5))
    plain, mixed = (JointMotion(_robot(scene), 0.15) for _ in range(2))
    _feed(plain, joint_messages(scene, stamps(2.0, 200.0)))
    names = ("finger", "roll", "slide", "camera_pan", "turn", "bend", "lift")
    _feed(mixed, joint_messages(scene, stamps(2.0, 200.0), names))
    for a, b in zip(_arrays(plain, t), _arrays(mixed, t), strict=True):
        np.testing.assert_array_equal(a, b)


def test_angles_wrapped_to_pi_make_no_jump() -> None:
    motion = Scene().motion
    scene = Scene(motion=type(motion)(motion.offset + [3.1, -3.1, 0.0, 3.0, 3.1], motion.amplitude,
                                      motion.frequency, motion.phase))
    t = stamps(2.0, 200.0)
    plain, wrapped = (JointMotion(_robot(scene), 0.15) for _ in range(2))
    q = scene.motion.positions(t)
    modulo = np.where(np.array(JOINTS) == "slide", q, (q + np.pi) % (2.0 * np.pi) - np.pi)
    assert (np.abs(np.diff(modulo, axis=0)) > 3.0).any()
    for s, a, b in zip(nanoseconds(t), q, modulo, strict=True):
        plain.add(int(s), JOINTS, a.tolist())
        wrapped.add(int(s), JOINTS, b.tolist())
    at = nanoseconds(np.linspace(0.2, 1.8, 40))
    for a, b in zip(_arrays(plain, at), _arrays(wrapped, at), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_joint_states_that_cannot_be_used_say_why() -> None:
    source = JointMotion(_robot(Scene()), 0.15)
    good = [0.1] * 5
    assert source.add(1, JOINTS, good) == STORED
    assert source.add(1, JOINTS, good) == REPEATED
    assert source.add(2, JOINTS[:4], good[:4]) == MISSING_JOINT
    assert source.add(2, JOINTS, good[:4]) == MISSING_JOINT
    assert source.add(2, JOINTS, [0.1, np.nan, 0.1, 0.1, 0.1]) == NOT_FINITE
    assert source.add(2, JOINTS, [0.1, 1e200, 0.1, 0.1, 0.1]) == NOT_FINITE
    assert source.add(2, ("x", *JOINTS), [np.nan, *good]) == STORED


@pytest.mark.parametrize(("rate", "longest"), [(30.0, 0.9), (125.0, 0.15), (1000.0, 0.15)])
def test_motion_settles_half_a_window_after_the_last_joint_state(
        rate: float, longest: float) -> None:
    source = JointMotion(_robot(Scene()), 0.15)
    assert source.settled_until() is None
    t = stamps(3.0, rate)
    _feed(source, joint_messages(Scene(), t))
    assert 0.15 <= source.window <= longest
    settled = source.settled_until()
    assert settled == nanoseconds(t)[-1] - int(0.5e9 * source.window)
    assert source.motion_at(np.array([settled])).valid.all()


@pytest.mark.parametrize(("count", "apart"), [(1, 0.0), (4, 1e-4), (8, 5e-5), (4, 0.0)])
def test_bursts_of_joint_states_move_the_sensor_late_and_nothing_else(count: int, apart: float
                                                                      ) -> None:
    """A stamp of each burst is right, the others are late; where all are equal, one is kept. The
    motion of 20 s is that of the chain, in little memory."""
    scene, source = Scene(), JointMotion(_robot(Scene()), 0.15)
    t = np.arange(0.0, 21.0, 0.002)
    last = np.minimum((np.arange(len(t)) // count + 1) * count, len(t)) - 1
    late = t[last] + (np.arange(len(t)) - last) * apart - t
    rows = scene.motion.positions(t)
    kept = [source.add(int(s), JOINTS, q.tolist()) == STORED
            for s, q in zip(nanoseconds(t + late), rows, strict=True)]
    assert np.mean(kept) == pytest.approx(1.0 if apart or count == 1 else 1.0 / count, rel=0.01)
    wanted = np.arange(0.5, 20.5, 0.01)
    tracemalloc.start()
    try:
        motion = source.motion_at(nanoseconds(wanted))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert motion.valid.all() and peak < 100e6
    some = slice(None, None, 40)
    some_motion = Motion(motion.axes[some], motion.gravity, *(
        field[some] for field in (motion.acceleration, motion.omega, motion.alpha, motion.valid)))
    _assert_moves_like(some_motion, scene, wanted[some] - late[np.array(kept)].mean(), 0.03)


def test_times_without_joint_states_are_marked_and_never_an_error() -> None:
    source = JointMotion(_robot(Scene()), 0.15)
    _feed(source, joint_messages(Scene(), stamps(1.0, 200.0)))
    for wanted in ([5.0], [-5.0, -4.0], [0.5, 5.0]):
        motion = source.motion_at(nanoseconds(np.array(wanted)))
        assert motion.valid.tolist() == [0.0 < t < 1.0 for t in wanted]
        assert all(np.isfinite(part).all() for part in motion[:-2])


def test_robots_are_alike_only_with_the_same_links_mounting_and_gravity() -> None:
    plain = _robot(Scene())
    assert plain.same_geometry(_robot(Scene()))
    for other in (_robot(Scene(mount=MOUNT)), _robot(Scene(base=TILT)),
                  _robot(Scene(), urdf=URDF.replace('xyz="0.3 0.0 0.1"', 'xyz="0.3 0.0 0.2"'))):
        assert not plain.same_geometry(other)


def test_the_pose_of_a_frame_is_that_of_the_chain() -> None:
    scene = Scene()
    robot = _robot(scene)
    tree = TransformTree()
    tree.set_static("tool0", "camera", MOUNT.translation, MOUNT.quaternion)
    turn, shift = scene.flange_in_base(np.array([0.7]))
    pose = robot.pose("camera", tree, scene.motion.positions(np.array([0.7]))[0])
    np.testing.assert_allclose(pose.rotation, (turn * MOUNT.rotation).as_matrix()[0], atol=1e-12)
    np.testing.assert_allclose(pose.translation, (shift + turn.apply(MOUNT.translation))[0],
                               atol=1e-12)


def test_noise_of_joints_moves_and_turns_the_sensor_as_accelerations_of_joints_do() -> None:
    robot = _robot(Scene())
    joints = len(JOINTS)
    q, variance = np.linspace(-1.0, 1.0, joints), np.linspace(1.0, 2.0, joints)
    still = np.zeros((joints, joints))
    moved = robot.motion(np.tile(q, (joints, 1)), still, np.diag(np.sqrt(variance)),
                         np.ones(joints, dtype=bool))
    each = np.concatenate([moved.acceleration, moved.alpha], axis=1)
    np.testing.assert_allclose(robot.sensor_pose_covariance(q, variance), each.T @ each, atol=1e-12)
