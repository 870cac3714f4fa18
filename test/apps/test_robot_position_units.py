# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`identify_robot` refuses positions in degrees or millimetres, and nothing that may be right.

Torques are those of Pinocchio's inverse dynamics of the described bodies, with friction and noise.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from inertial_id_ros.apps.robot.identify_robot import main
from inertial_id_ros.apps.simulation.description import load_description
from inertial_id_ros.errors import InvalidData
from inertial_id_ros.robot.checks import check_position_units, check_recording
from inertial_id_ros.robot.recording import LOW_PASS, JointRecording
from inertial_id_ros.robot.robot_file import robot_model

Motion = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # t, q, dq, ddq
LINK = ('<link name="{0}"><inertial><origin xyz="{1}"/><mass value="{2}"/><inertia ixx="0.03" '
        'iyy="0.04" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>')
JOINT = ('<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><origin xyz="{4}"/>'
         '<axis xyz="{5}"/>{6}</joint>')


def robot(*joints: tuple[str, str, str, str, float, str]) -> str:
    """A chain: of each joint its name, kind, origin, axis, mass of its link, and limit."""
    text, parent = '<robot name="r"><link name="base"/>', "base"
    for name, kind, origin, axis, mass, limit in joints:
        text += LINK.format(f"{name}_link", "0.05 0.02 0.2", mass)
        text += JOINT.format(name, kind, parent, f"{name}_link", origin, axis, limit)
        parent = f"{name}_link"
    return text + "</robot>"


LIMIT = '<limit lower="-2.9" upper="2.9" velocity="2" effort="200"/>'
ELBOW_ARM = (("swivel", "continuous", "0 0 0.3", "0 0 1", 4.0, ""),
             ("shoulder", "continuous", "0 0 0.1", "0 1 0", 3.0, ""),
             ("elbow", "continuous", "0 0 0.4", "0 1 0", 2.0, ""),
             ("wrist", "continuous", "0 0 0.4", "1 0 0", 1.0, ""))
PRESS = (("tilt", "revolute", "0 0 0.5", "0 1 0", 3.0, LIMIT),
         ("slide", "prismatic", "0.1 0 0", "0 0 1", 2.0,
          '<limit lower="0" upper="0.4" velocity="1" effort="500"/>'),
         ("turn", "revolute", "0 0 0.1", "1 0 0", 1.0, LIMIT))


def motion(joints: int, duration: float, amplitude: float = 0.4, seed: int = 3) -> Motion:
    """Three sines in each joint, about a pose [rad]."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, duration, 0.01)
    q, dq, ddq = np.zeros((3, len(t), joints))
    q += rng.uniform(-0.6, 0.6, joints)
    for _ in range(3):
        w, phase = rng.uniform(0.6, 3.0, joints), rng.uniform(0.0, 6.0, joints)
        q += amplitude / 2 * np.sin(np.outer(t, w) + phase)
        dq += amplitude / 2 * w * np.cos(np.outer(t, w) + phase)
        ddq -= amplitude / 2 * w**2 * np.sin(np.outer(t, w) + phase)
    return t, q, dq, ddq


def efforts(urdf: str, made: Motion) -> np.ndarray:
    """Torques (n, joints) of the described bodies, friction and noise."""
    _, q, dq, ddq = made
    model = pin.buildModelFromXML(urdf)
    data = model.createData()
    columns = [np.stack([np.cos(own), np.sin(own)], axis=1) if joint.nq == 2 else own[:, None]
               for own, joint in zip(q.T, list(model.joints)[1:], strict=True)]
    torque = np.stack([pin.rnea(model, data, *row) for row in zip(np.hstack(columns), dq, ddq,
                                                                   strict=True)])
    noise = 0.05 * np.random.default_rng(0).normal(size=q.shape)
    return torque + 2.0 * dq + np.tanh(dq / 0.01) + noise


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command: its status and what it prints to the error stream."""
    def command(urdf: str, made: Motion, q: np.ndarray) -> tuple[int, str]:
        (tmp_path / "r.urdf").write_text(urdf)
        np.savez(tmp_path / "a.npz", t=made[0], q=q, effort=efforts(urdf, made))
        status = main([str(tmp_path / "a.npz"), "--urdf", str(tmp_path / "r.urdf"), "--quiet"])
        return status, capsys.readouterr().err
    return command


def test_degrees_beyond_the_limits_are_refused_by_joint_range_and_limit(run: Run) -> None:
    urdf, made = load_description().urdf, motion(6, 12.0)
    made[1][:, 1] -= 1.5
    lift = np.degrees(made[1][:, 1])
    status, said = run(urdf, made, np.degrees(made[1]))
    assert status == 2 and said.count("\n") == 1
    named = next(name for name in load_description().joint_names if f"'{name}'" in said)
    low, high = robot_model(urdf).position_limits[load_description().joint_names.index(named)]
    assert f"{low:.4g}" in said and f"{high:.4g}" in said and lift.min() < -100.0
    assert run(urdf, made, made[1])[0] == 0


@pytest.mark.parametrize("amplitude", [0.2, 0.4, 1.5])
def test_efforts_show_degrees_before_anything_is_fitted(amplitude: float) -> None:
    """A fit of so many unknowns may explain wrong angles, too: the description alone tells."""
    urdf, made = robot(*ELBOW_ARM), motion(4, 12.0, amplitude)
    stamps, torque = np.round(1e9 * (1.0 + made[0])).astype(np.int64), efforts(urdf, made)
    model = robot_model(urdf)
    check_recording(model, JointRecording(stamps, made[1], torque), LOW_PASS)
    with pytest.raises(InvalidData):
        check_recording(model, JointRecording(stamps, np.degrees(made[1]), torque), LOW_PASS)


def test_degrees_and_millimetres_are_told_apart(run: Run) -> None:
    urdf, made = robot(*PRESS), motion(3, 12.0, 0.3)
    for column in made[1:]:
        column[:, 1] *= 0.3
    made[1][:, 1] += 0.2
    for wrong, joint in ((np.array([1.0, 1000.0, 1.0]), "slide"),
                         (np.array([57.3, 1.0, 57.3]), "tilt")):
        status, said = run(urdf, made, made[1] * wrong)
        assert status == 2 and f"'{joint}'" in said
    assert run(urdf, made, made[1])[0] == 0


@pytest.mark.parametrize("spoil", [
    lambda t, q: 1.1 * q / np.abs(q).max() * 2.9,  # a tenth beyond the limit
    lambda t, q: q + 2.0 * np.pi,  # counted from another turn
    lambda t, q: np.where(np.arange(len(q)) % 20 == 0, 1e4, q),  # single bad samples
], ids=["beyond", "another turn", "bad samples"])
def test_positions_that_may_be_right_pass(
        spoil: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
    model = robot_model(robot(("turn", "revolute", "0 0 0.1", "0 1 0", 1.0, LIMIT)))
    t = np.arange(0.0, 10.0, 0.004)
    check_position_units(model, spoil(t, np.sin(2.0 * t))[:, None])
