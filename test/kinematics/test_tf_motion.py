# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motion from transforms alone against analytic rotations and the hand-written chain."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from synthetic import (
    GRAVITY,
    MOUNT,
    TILT,
    Scene,
    first_difference,
    gravity_of,
    nanoseconds,
    second_difference,
    stamps,
    transform_messages,
)

from inertial_id_ros.errors import UnknownFrame
from inertial_id_ros.kinematics.tf_motion import TfMotion
from inertial_id_ros.kinematics.transform_tree import TransformTree


def _fill(tree: TransformTree, turn: Rotation, shift: np.ndarray, t: np.ndarray, parent: str,
          child: str) -> None:
    for _, _, arguments in transform_messages(turn, shift, t, parent, child).messages:
        tree.add(*arguments)


def _source(tree: TransformTree, sensor: str = "sensor", gravity_frame: str = "") -> TfMotion:
    source = TfMotion(tree, sensor, gravity_frame, 9.81, 0.15)
    assert source.settled_until() is not None
    return source


@pytest.mark.parametrize("axis", np.eye(3).tolist() + [[0.6, -0.48, 0.64]])
def test_a_turn_about_a_fixed_axis_has_its_analytic_velocity_and_acceleration(
        axis: list[float]) -> None:
    t, wanted = stamps(2.0, 250.0), np.linspace(0.3, 1.7, 20)
    tree = TransformTree()
    turn = Rotation.from_rotvec(np.outer(0.9 * np.sin(2.0 * t), axis))
    _fill(tree, turn, np.zeros((len(t), 3)), t, "world", "sensor")
    motion = _source(tree).motion_at(nanoseconds(wanted))
    assert motion.valid.all()
    np.testing.assert_allclose(motion.omega, np.outer(1.8 * np.cos(2.0 * wanted), axis), atol=1e-4)
    np.testing.assert_allclose(motion.alpha, np.outer(-3.6 * np.sin(2.0 * wanted), axis), atol=5e-3)
    now = Rotation.from_rotvec(np.outer(0.9 * np.sin(2.0 * wanted), axis))
    np.testing.assert_allclose(gravity_of(motion), now.inv().apply(GRAVITY), atol=1e-5)
    np.testing.assert_allclose(motion.acceleration, 0.0, atol=1e-9)


def test_precession_and_spin_give_the_angular_acceleration_of_a_gyroscope() -> None:
    """Steady spin s about a body axis that precesses at p: alpha = p x s, not zero."""
    t, wanted = stamps(2.0, 250.0), np.linspace(0.3, 1.7, 9)
    p, s = 1.5, 2.0
    tree = TransformTree()
    turn = Rotation.from_euler("ZYX", np.stack([p * t, np.full_like(t, 0.4), s * t], axis=1))
    _fill(tree, turn, np.zeros((len(t), 3)), t, "world", "sensor")
    motion = _source(tree).motion_at(nanoseconds(wanted))
    now = Rotation.from_euler("ZYX", np.stack([p * wanted, np.full(9, 0.4), s * wanted], axis=1))
    precession = now.inv().apply([0.0, 0.0, p])
    spin = np.array([s, 0.0, 0.0])
    np.testing.assert_allclose(motion.omega, precession + spin, atol=2e-4)
    np.testing.assert_allclose(motion.alpha, np.cross(precession, spin), atol=1e-2)


def test_noise_of_the_nearest_transform_does_not_make_the_motion_jump(
        rng: np.random.Generator) -> None:
    """Just before and after the middle between two stamps another one is the nearest."""
    t, middles = stamps(2.0, 100.0), 0.505 + 0.1 * np.arange(8)
    turn = Rotation.from_euler("ZYX", np.stack([1.5 * t, np.full_like(t, 0.4), 2.0 * t], axis=1))
    turn = turn * Rotation.from_rotvec(rng.normal(size=(len(t), 3)) * 0.02)
    tree = TransformTree()
    _fill(tree, turn, np.zeros((len(t), 3)), t, "world", "sensor")
    source = _source(tree)
    before, after = (source.motion_at(nanoseconds(middles) + d) for d in (-1000, 1000))
    np.testing.assert_allclose(before.omega, after.omega, atol=1e-3)
    np.testing.assert_allclose(before.alpha, after.alpha, atol=2e-2)


@pytest.mark.parametrize("rate", [50.0, 125.0, 500.0])
@pytest.mark.parametrize("tilted", [False, True])
def test_transforms_of_a_robot_give_the_motion_of_its_chain(rate: float, tilted: bool) -> None:
    scene = Scene(mount=MOUNT, base=TILT) if tilted else Scene(mount=MOUNT)
    tree = TransformTree()
    if tilted:
        tree.set_static("world", "base_link", TILT.translation, TILT.quaternion)
    tree.set_static("tool0", "sensor", MOUNT.translation, MOUNT.quaternion)
    t, wanted = stamps(4.0, rate), np.linspace(1.0, 3.0, 15)
    _fill(tree, *scene.flange_in_base(t), t, "base_link", "tool0")
    motion = _source(tree).motion_at(nanoseconds(wanted))
    around = [scene.sensor_in_world(wanted + k * 2e-3) for k in (-2, -1, 0, 1, 2)]
    back = around[2][0].inv()
    turns = [(back * r).as_rotvec() for r, _ in around]
    # Slower transforms need a longer window, which follows a turn of 3 rad/s less closely.
    slow = 12.0 if rate < 100.0 else 1.0
    assert motion.valid.all()
    np.testing.assert_allclose(gravity_of(motion), back.apply(GRAVITY), atol=1e-3 * slow)
    np.testing.assert_allclose(motion.omega, first_difference(turns), atol=4e-3 * slow)
    np.testing.assert_allclose(motion.alpha, second_difference(turns), atol=3e-2 * slow)
    np.testing.assert_allclose(motion.acceleration,
                               back.apply(second_difference([p for _, p in around])),
                               atol=2e-2 * slow)


def test_gravity_is_down_in_the_frame_that_was_named() -> None:
    tree = TransformTree()
    tree.set_static("world", "base_link", TILT.translation, TILT.quaternion)
    t = stamps(1.0, 100.0)
    _fill(tree, Rotation.identity(len(t)), np.zeros((len(t), 3)), t, "base_link", "sensor")
    at = nanoseconds(np.array([0.5]))
    level = gravity_of(_source(tree, gravity_frame="base_link").motion_at(at))[0]
    tilted = gravity_of(_source(tree).motion_at(at))[0]
    np.testing.assert_allclose(level, GRAVITY, atol=1e-9)
    np.testing.assert_allclose(tilted, TILT.rotation.inv().apply(GRAVITY), atol=1e-9)


def test_times_without_transforms_are_marked_and_never_an_error() -> None:
    tree = TransformTree()
    t = stamps(1.0, 100.0)
    _fill(tree, Rotation.identity(len(t)), np.zeros((len(t), 3)), t, "world", "sensor")
    source = _source(tree)
    for wanted in ([9.0], [-9.0], [0.5, 9.0]):
        motion = source.motion_at(nanoseconds(np.array(wanted)))
        assert motion.valid.tolist() == [0.0 < s < 1.0 for s in wanted]
        assert all(np.isfinite(part).all() for part in motion[:-2])


def test_motion_settles_half_a_window_after_the_slowest_edge() -> None:
    tree = TransformTree()
    t = stamps(3.0, 200.0)
    _fill(tree, Rotation.identity(len(t)), np.zeros((len(t), 3)), t, "world", "base")
    source = TfMotion(tree, "base", "world", 9.81, 0.15)
    t = stamps(1.0, 100.0)
    _fill(tree, Rotation.identity(len(t)), np.zeros((len(t), 3)), t, "base", "sensor")
    source = TfMotion(tree, "sensor", "", 9.81, 0.15)
    settled = source.settled_until()
    assert source.window is not None and source.window > 0.15
    assert settled == nanoseconds(t)[-1] - int(0.5e9 * source.window)
    assert source.motion_at(np.array([settled])).valid.all()


def test_too_few_transforms_settle_nothing() -> None:
    tree = TransformTree()
    t = stamps(0.1, 100.0)
    _fill(tree, Rotation.identity(len(t)), np.zeros((len(t), 3)), t, "world", "sensor")
    assert TfMotion(tree, "sensor", "", 9.81, 0.15).settled_until() is None


def test_an_unknown_frame_is_named() -> None:
    tree = TransformTree()
    tree.set_static("world", "base", [0, 0, 0], [0, 0, 0, 1])
    with pytest.raises(UnknownFrame, match="'elsewhere'"):
        TfMotion(tree, "base", "elsewhere", 9.81, 0.15)


def test_rotation_only_means_turned_and_never_moved() -> None:
    t = stamps(1.0, 100.0)
    turning = Rotation.from_rotvec(np.outer(t, [0.3, 0.0, 0.0]))
    shift = np.outer(t, [0.1, 0.0, 0.0])
    still, stay = Rotation.identity(len(t)), np.zeros((len(t), 3))
    for turn, place, expected in ((turning, stay, True), (turning, shift, False),
                                  (still, stay, False), (still, shift, False)):
        tree = TransformTree()
        _fill(tree, turn, place, t, "world", "sensor")
        source = _source(tree)
        source.motion_at(nanoseconds(np.array([0.5])))
        assert source.rotation_only is expected


def test_a_source_knows_when_the_tree_has_changed_under_it() -> None:
    t = stamps(1.0, 100.0)

    def made() -> tuple[TransformTree, TfMotion]:
        tree = TransformTree()
        tree.set_static("tool0", "sensor", MOUNT.translation, MOUNT.quaternion)
        _fill(tree, Rotation.identity(len(t)), np.zeros((len(t), 3)), t, "base", "tool0")
        source = _source(tree)
        assert source.is_current()
        return tree, source

    tree, source = made()
    tree.set_static("tool0", "sensor", TILT.translation, TILT.quaternion)
    assert not source.is_current()
    tree, source = made()
    tree.set_static("world", "base", TILT.translation, TILT.quaternion)
    assert not source.is_current()
    tree, source = made()
    tree.set_static("base", "tool0", TILT.translation, TILT.quaternion)
    assert not source.is_current()
    tree, source = made()
    tree.begin_motion()
    assert not source.is_current()
    tree, source = made()
    tree.set_static("tool0", "camera", TILT.translation, TILT.quaternion)
    assert source.is_current()
