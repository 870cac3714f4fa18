# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Robots of the tests as URDF texts: published kinematics, bodies made up; and their recordings."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from inertial_id_ros.inertia import Body, body_from_phi, point_columns, six_from_tensor
from inertial_id_ros.io.inputs import JointStates
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.recording import Rows

HALF = np.pi / 2


class Joint(NamedTuple):
    """A joint and the link below it. parent: number of the link above (-1: root)."""

    parent: int
    pose: pin.SE3
    kind: str = "revolute"
    axis: Sequence[float] = (0.0, 0.0, 1.0)


def urdf(joints: Sequence[Joint], bodies: Sequence[Body | None], root: Body | None = None) -> str:
    """Text of a robot with links link1 ... below joint1 ..., and link0 as root."""
    text = ['<?xml version="1.0"?>', '<robot name="benchmark">']
    for k, body in enumerate([root, *bodies]):
        text.append(f'<link name="link{k}">')
        if body is not None:
            xx, xy, xz, yy, yz, zz = six_from_tensor(body.inertia_com).tolist()
            text.append(
                f'<inertial><origin xyz="{_words(body.com)}"/><mass value="{body.mass}"/>'
                f'<inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" iyz="{yz}" izz="{zz}"/>'
                '</inertial>')
        text.append("</link>")
    for k, joint in enumerate(joints):
        text.append(
            f'<joint name="joint{k + 1}" type="{joint.kind}">'
            f'<parent link="link{joint.parent + 1}"/><child link="link{k + 1}"/>'
            f'<origin xyz="{_words(joint.pose.translation)}" '
            f'rpy="{_words(pin.rpy.matrixToRpy(joint.pose.rotation))}"/>'
            f'<axis xyz="{_words(joint.axis)}"/>'
            '<limit lower="-3" upper="3" effort="100" velocity="10"/></joint>')
    return "\n".join([*text, "</robot>"])


def _words(values: Iterable[float]) -> str:
    return " ".join(repr(float(v)) for v in values)


def random_body(rng: np.random.Generator, mass: float, size: Sequence[float],
                centre: Sequence[float] = (0.0, 0.0, 0.0)) -> Body:
    """Ten point masses in a box of lengths `size` [m] about `centre`."""
    points = np.asarray(centre) + rng.uniform(-0.5, 0.5, (10, 3)) * np.asarray(size)
    return body_from_phi(point_columns(points) @ (mass * rng.dirichlet(np.ones(10))))


def turned(axis: str, angle: float, translation: Sequence[float]) -> pin.SE3:
    """A pose that is turned about an axis."""
    return pin.SE3(Rotation.from_euler(axis, angle).as_matrix(), np.array(translation))


def standard_dh(alpha: Sequence[float], a: Sequence[float],
                d: Sequence[float]) -> tuple[list[Joint], list[pin.SE3]]:
    """Joints of standard Denavit-Hartenberg parameters, and each table frame in its URDF link.

    The frame of a URDF link stands on the joint that moves it; that of the table at its far end.
    """
    ends = [turned("x", angle, [x, 0.0, z]) for angle, x, z in zip(alpha, a, d, strict=True)]
    starts = [pin.SE3.Identity(), *ends[:-1]]
    return [Joint(k - 1, start) for k, start in enumerate(starts)], ends


# Barrett WAM, seven links (Sousa and Cortesao 2014, Table 2).
WAM_ALPHA = (-HALF, HALF, -HALF, HALF, -HALF, HALF, 0.0)
WAM_A = (0.0, 0.0, 0.045, -0.045, 0.0, 0.0, 0.0)
WAM_D = (0.0, 0.0, 0.55, 0.0, 0.3, 0.0, 0.06)
# Franka Emika Panda: the manufacturer's modified parameters, without the flange.
PANDA_ALPHA = (0.0, -HALF, HALF, HALF, -HALF, HALF, HALF)
PANDA_A = (0.0, 0.0, 0.0, 0.0825, -0.0825, 0.0, 0.088)
PANDA_D = (0.333, 0.0, 0.316, 0.0, 0.384, 0.0, 0.0)
# Universal Robots UR10e: the manufacturer's standard parameters.
UR10E_ALPHA = (HALF, 0.0, 0.0, HALF, -HALF, 0.0)
UR10E_A = (0.0, -0.6127, -0.57155, 0.0, 0.0, 0.0)
UR10E_D = (0.1807, 0.0, 0.0, 0.17415, 0.11985, 0.11655)


def arm_bodies(rng: np.random.Generator, count: int, first: float = 4.0) -> list[Body]:
    """Bodies of an arm, lighter towards its tip."""
    masses = first * 0.8 ** np.arange(count)
    return [random_body(rng, m, (0.12, 0.12, 0.3), (0.0, 0.0, 0.1)) for m in masses]


def panda(rng: np.random.Generator) -> str:
    """A seven-link arm with the Panda's kinematics: the frames of modified (Craig)
    Denavit-Hartenberg parameters are those of links."""
    return urdf([Joint(k - 1, turned("x", angle, [x, 0.0, 0.0]) * turned("x", 0.0, [0.0, 0.0, z]))
                 for k, (angle, x, z) in enumerate(zip(
                     PANDA_ALPHA, PANDA_A, PANDA_D, strict=True))], arm_bodies(rng, 7))


def ur10e(rng: np.random.Generator) -> str:
    """A six-link arm with the UR10e's kinematics."""
    return urdf(standard_dh(UR10E_ALPHA, UR10E_A, UR10E_D)[0], arm_bodies(rng, 6, 8.0))


def data_sheet_ur10e() -> str:
    """A UR10e with masses and centres of mass of its data sheet; moments of inertia estimated."""
    joints, ends = standard_dh(UR10E_ALPHA, UR10E_A, UR10E_D)
    masses = (7.369, 13.051, 3.989, 2.1, 1.98, 0.615)
    centres = ([0.021, 0.0, 0.027], [0.38, 0.0, 0.158], [0.24, 0.0, 0.068], [0.0, 0.007, 0.018],
               [0.0, 0.007, 0.018], [0.0, 0.0, -0.026])
    moments = ([0.0315, 0.0219, 0.0315], [0.0367, 0.4218, 0.4218], [0.0112, 0.1111, 0.1111],
               [0.0051] * 3, [0.0051] * 3, [0.0005] * 3)
    return urdf(joints, [
        Body(mass, end * np.array(centre), end.rotation @ np.diag(moment) @ end.rotation.T)
        for end, mass, centre, moment in zip(ends, masses, centres, moments, strict=True)])


def random_tree(rng: np.random.Generator, count: int, branch: float = 0.3,
                kinds: Sequence[str] = ("revolute",), rooted: bool = False) -> str:
    """A random tree of `count` joints and bodies; `rooted`: the root link has a body too.

    Args:
        branch: chance that a link hangs elsewhere than on the last one.
    """
    joints, bodies = [], []
    for k in range(count):
        parent = k - 1 if k == 0 or rng.uniform() > branch else int(rng.integers(-1, k))
        axis = rng.normal(size=3)
        place = rng.uniform(-0.3, 0.3, 3)
        pose = pin.SE3(Rotation.random(rng=rng).as_matrix(), place)
        kind = str(rng.choice(list(kinds)))
        joints.append(Joint(parent, pose, kind, axis / np.linalg.norm(axis)))
        bodies.append(random_body(rng, rng.uniform(0.5, 3.0), rng.uniform(0.08, 0.3, 3),
                                  rng.uniform(-0.1, 0.1, 3)))
    root = random_body(rng, 8.0, (0.3, 0.3, 0.4)) if rooted else None
    return urdf(joints, bodies, root)


def recording(t: np.ndarray, q: np.ndarray, effort: np.ndarray) -> JointStates:
    """A recording with times (n,) in seconds; samples that repeat a time are left out."""
    stamps = np.round(1e9 * t).astype(np.int64)
    new = np.append(True, np.diff(stamps) > 0)
    return JointStates(stamps[new], (), q[new], effort[new])


def makers_gains(data_folder: Path) -> list[float]:
    """Gains (6,) [N m/A] that the controller of a UR10e itself uses: its target torques by target
    currents."""
    d = np.load(data_folder / "ur10e_motor_current" / "unloaded.npz")
    return [1.0 / np.linalg.lstsq(np.column_stack([
        d["torque_target"][:, j], d["dq"][:, j], np.sign(d["dq"][:, j]), np.ones(len(d["t"]))]),
        d["current_target"][:, j])[0][0] for j in range(6)]


def unfiltered(model: RobotModel, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray,
               torque: np.ndarray) -> Rows:
    """Rows of motions and torques."""
    return Rows(model, np.arange(len(q)), model.regressor(q, dq, ddq), torque)


def mujoco_torque(text: str, names: Sequence[str], q: np.ndarray, dq: np.ndarray,
                  ddq: np.ndarray) -> np.ndarray:
    """Torques (n, k) of named joints by MuJoCo's inverse dynamics, of a robot on a fixed base whose
    joints have no friction; other joints stay where they are locked."""
    spec = mujoco.MjSpec.from_string(text)
    for geom in spec.geoms:  # bodies come of inertias alone
        geom.mass = 0.0
    model = spec.compile()
    model.opt.disableflags |= (mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
                               | mujoco.mjtDisableBit.mjDSBL_CONTACT)
    model.dof_damping[:] = 0.0
    places, data, out = [model.joint(n).dofadr[0] for n in names], mujoco.MjData(model), []
    for state in zip(q, dq, ddq, strict=True):
        data.qpos[places], data.qvel[places], data.qacc[places] = state
        mujoco.mj_inverse(model, data)
        out.append(data.qfrc_inverse[places])
    return np.array(out)
