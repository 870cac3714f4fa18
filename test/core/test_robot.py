# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Robot descriptions, and the motion of a chain against Pinocchio's."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from robots import panda, ur10e
from scenes import URDF

from inertial_id_ros.errors import InvalidModel, InvalidSetting, UnknownFrame
from inertial_id_ros.motion.causal import MotionNow
from inertial_id_ros.motion.frames import chain_of
from inertial_id_ros.motion.robot import parse_urdf, read_description

JOINTS = (("base", "a", "continuous", "0 0 1", ""), ("a", "b", "prismatic", "1 0 1", ""),
          ("b", "c", "revolute", "0 1 1", ""),
          ("c", "d", "revolute", "1 0 0", '<mimic joint="c" multiplier="-0.5" offset="0.2"/>'),
          ("d", "tip", "fixed", "0 0 1", ""), ("base", "finger", "prismatic", "1 0 0", ""))
MIXED = '<robot name="mixed"><link name="base"/>' + "".join(
    f'<link name="{child}"/><joint name="{child}" type="{kind}"><parent link="{parent}"/>'
    f'<child link="{child}"/><origin xyz="0.1 0.2 0.3" rpy="0.3 -0.4 0.5"/><axis xyz="{axis}"/>'
    f'<limit lower="-2" upper="2" effort="1" velocity="1"/>{mimic}</joint>'
    for parent, child, kind, axis, mimic in JOINTS) + "</robot>"
UNIT = MIXED.replace('xyz="1 0 1"', 'xyz="0.6 0 0.8"').replace('xyz="0 1 1"', 'xyz="0 0.6 0.8"')


def expected(urdf: str, frame: str, names: list[str], q: np.ndarray, dq: np.ndarray,
             ddq: np.ndarray) -> tuple[np.ndarray, ...]:
    """Rotation, position, acceleration, omega, alpha, twists by Pinocchio; joints by name."""
    model = pin.buildModelFromXML(urdf)
    data, q_all, v, a = model.createData(), pin.neutral(model), *np.zeros((2, model.nv))
    for k, name in enumerate(names):
        joint = model.joints[model.getJointId(name)]
        q_all[joint.idx_q:joint.idx_q + joint.nq] = (
            [np.cos(q[k]), np.sin(q[k])] if joint.nq == 2 else q[k])
        v[joint.idx_v], a[joint.idx_v] = dq[k], ddq[k]
    pin.forwardKinematics(model, data, q_all, v, a)
    index = model.getFrameId(frame, pin.FrameType.BODY)
    pose = pin.updateFramePlacement(model, data, index)
    felt = pin.getFrameClassicalAcceleration(model, data, index, pin.LOCAL)
    columns = [model.joints[model.getJointId(name)].idx_v for name in names]
    return (pose.rotation, pose.translation, felt.linear,
            pin.getFrameVelocity(model, data, index, pin.LOCAL).angular, felt.angular,
            pin.computeJointJacobians(model, data, q_all).T[columns])


def test_a_joint_may_mimic_one_that_mimics_another() -> None:
    mimic = '<mimic joint="a" multiplier="2" offset="0.1"/></joint><link name="d"/>'
    urdf = MIXED.replace('</joint><link name="d"/>', mimic, 1)
    *_, first, second = chain_of(urdf, "tip").joints
    assert (first.name, first.scale, first.shift) == ("a", 2.0, 0.1)
    assert (second.name, second.scale, second.shift) == ("a", -1.0, pytest.approx(0.15))


@pytest.mark.parametrize("which", ["ur10e", "panda", "mixed"])
def test_motion_is_that_of_pinocchio(which: str) -> None:
    rng = np.random.default_rng(3)
    urdf, frame = {"ur10e": (ur10e(rng), "link6"), "panda": (panda(rng), "link7"),
                   "mixed": (UNIT, "tip")}[which]
    chain = chain_of(urdf, frame)
    names = list(chain.names)
    q, dq, ddq = rng.normal(size=(3, 5, len(names)))
    got = chain.motion(np.arange(5), names, q, dq, ddq)
    every = ["a", "b", "c", "d"] if which == "mixed" else names
    for k in range(5):
        rows = [np.r_[x[k], [-0.5 * x[k, 2] + 0.2 * (x is q)]] if which == "mixed" else x[k]
                for x in (q, dq, ddq)]
        *rest, twists = expected(urdf, frame, every, *rows)
        for mine, theirs in zip(got[1:6], rest, strict=True):
            np.testing.assert_allclose(mine[k], theirs, atol=1e-12)
        np.testing.assert_allclose(got.twists[k], twists, atol=1e-12)


def test_motion_now_follows_samples() -> None:
    """A quadratic is followed exactly, once its beginning has faded."""
    chain = chain_of(UNIT, "tip")
    now, rate = MotionNow(chain), np.array([0.3, -0.2, 0.4])
    stamps = 10**15 + 2_000_000 * np.arange(500)
    t = 1e-9 * (stamps - stamps[0])[:, None]
    q = 0.1 + rate * t + 0.5 * t * t
    names = ("finger", *chain.names)
    for stamp, row in zip(stamps.tolist(), q, strict=True):
        now.update(stamp, names, [0.0, *row])
    moves, still = now.at(int(stamps[-1]) + 1_000_000), now.at(int(stamps[-1]), "gravity")
    assert moves is not None and still is not None
    at = t[-1] + 1e-3
    want = chain.motion(np.zeros(1, np.int64), chain.names, (0.1 + rate * at + 0.5 * at * at)[None],
                        (rate + at)[None], np.ones((1, 3)))
    for mine, theirs in zip(moves[1:-2], want[1:-2], strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-6)
    assert now.at(int(stamps[-1]) + 10**9) is None
    np.testing.assert_allclose(still.acceleration, 0.0, atol=1e-9)


def test_gravity_frame_and_links() -> None:
    with pytest.raises(UnknownFrame, match="'nowhere'"):
        chain_of(UNIT, "nowhere")
    with pytest.raises(UnknownFrame, match="'c'"):
        chain_of(UNIT, "tip", "c")
    with pytest.raises(InvalidModel):
        chain_of(UNIT, "base")
    tilted = UNIT.replace('<link name="base"/>', '<link name="world"/><link name="base"/><joint '
                          'name="mount" type="fixed"><parent link="world"/><child link="base"/>'
                          '<origin rpy="0 0.5 0"/></joint>')
    still = np.zeros((1, 3))
    one, other = (chain_of(tilted, "tip", up).motion(
        np.zeros(1, np.int64), ("a", "b", "c"), still, still, still) for up in ("world", "base"))
    turn = pin.rpy.rpyToMatrix(0.0, 0.5, 0.0)
    np.testing.assert_allclose(one.rotation[0], turn @ other.rotation[0], atol=1e-12)


@pytest.mark.parametrize("urdf", [
    "<robot", "",
    "x" * 20_000_001, UNIT.replace("0.1 0.2 0.3", "nan 0 0")])
def test_what_is_no_description_is_refused(urdf: str) -> None:
    with pytest.raises(InvalidModel):
        parse_urdf(urdf)


@pytest.mark.parametrize(("mass", "ixx"), [("nan", "1"), ("heavy", "1"), ("", "1"), ("1", "")])
def test_masses_that_are_no_numbers_are_refused_where_they_matter(mass: str, ixx: str) -> None:
    urdf = UNIT.replace('<link name="a"/>', f'<link name="a"><inertial><mass value="{mass}"/>'
                        f'<inertia ixx="{ixx}" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
                        "</link>")
    with pytest.raises(InvalidModel, match="link 'a' .* must be a number"):
        parse_urdf(urdf, dynamics=True)


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(URDF)
    assert read_description(file) == URDF
    (tmp_path / "arm.xacro").write_text(URDF)
    (tmp_path / "bytes.urdf").write_bytes(b"\xff\xfe\x00")
    for name in ("arm.xacro", "bytes.urdf"):
        with pytest.raises(InvalidModel, match=name):
            read_description(tmp_path / name)
    with pytest.raises(InvalidSetting, match="nowhere.urdf"):
        read_description(tmp_path / "nowhere.urdf")
