# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Planned motions of whole arms beside sinusoids: torque errors on other motions.

UR5 and Panda of example-robot-data with their own collision meshes. MuJoCo gives the torques of an
arm whose bodies differ from the description, with friction, noise and encoder noise. Contacts are
counted by coal on the meshes as they are, every millisecond.
"""

from __future__ import annotations

import os
import sysconfig
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from benchmarks.excitation import gain_of
from inertial_id_ros.apps.excitation.arm import Arm
from inertial_id_ros.apps.excitation.config import parse_options
from inertial_id_ros.apps.excitation.limits import Excess, Limits
from inertial_id_ros.apps.excitation.objective import Objective
from inertial_id_ros.apps.excitation.optimise import Basis, FourierMotion, dense_times
from inertial_id_ros.apps.excitation.plan_excitation import Planned, make_plan
from inertial_id_ros.apps.robot.robot_identification import (
    find_coulomb_velocity,
    identify_robot,
    predict,
)
from inertial_id_ros.apps.simulation.motion import JointMotion, Motion, Sinusoid, SmoothStart
from inertial_id_ros.inertia import Array
from inertial_id_ros.robot.joint_terms import JointTerms
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.recording import LOW_PASS, JointRecording, filter_recording
from inertial_id_ros.robot.robot_file import robot_model

SHARE = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share"
RATE, DURATION, HARMONICS = 250.0, 20.0, 5  # Hz, s
ENCODER = 2e-5  # rad
FREQUENCY = 1.28 * np.array([0.05, 0.07, 0.08, 0.10, 0.13, 0.16, 0.19])  # Hz, of the sinusoids
OTHERS = (101, 102, 103, 104, 105)  # seeds of the motions to be predicted
REACH = 0.8  # rad, of those


@dataclass(frozen=True)
class Case:
    """An arm: its description, the link that carries the tool, start pose of its joints [rad],
    noise, Coulomb [N m] and viscous friction [N m s/rad] of each."""

    urdf: str
    frame: str
    start: tuple[float, ...]
    noise: tuple[float, ...]
    coulomb: tuple[float, ...]
    viscous: tuple[float, ...]


CASES = {
    "UR5": Case("ur_description/urdf/ur5_robot.urdf", "tool0",
                (0.0, -1.57, 1.05, -1.57, -1.57, 0.0), (0.5, 0.5, 0.5, 0.1, 0.1, 0.1),
                (3.0, 4.0, 3.0, 0.6, 0.6, 0.5), (6.0, 6.0, 5.0, 1.0, 1.0, 0.8)),
    "Panda": Case("panda_description/urdf/panda.urdf", "panda_hand",
                  (0.0, -0.785, 0.0, -2.0, 0.0, 1.571, 0.785),
                  (0.3, 0.3, 0.3, 0.3, 0.1, 0.1, 0.1), (1.0, 1.0, 0.8, 0.8, 0.5, 0.4, 0.3),
                  (1.0, 1.0, 0.8, 0.8, 0.4, 0.4, 0.3))}


class Robot:
    """One of `CASES` for the planner, for the identification and in MuJoCo."""

    def __init__(self, name: str) -> None:
        self.case = CASES[name]
        self.path = SHARE / "example-robot-data/robots" / self.case.urdf
        self.text = self.path.read_text()
        self.arm = Arm(self.text, self.case.frame, packages=[SHARE])
        self.active = np.array([self.arm.joint_names.index(j) for j in self.arm.chain])
        self.start = np.zeros(len(self.arm.joint_names))
        self.start[self.active] = self.case.start
        self.physics = physics(self.text, self.arm.chain, self.case)

    def model(self, fading: float) -> RobotModel:
        """For the identification, with a speed below which Coulomb friction fades [rad/s]."""
        return robot_model(self.text, self.arm.chain, JointTerms(coulomb_velocity=fading))

    def all_joints(self, motion: Motion) -> Motion:
        """A motion of the moving joints as one of all joints, the others at their start."""
        def moved(t: ArrayLike) -> JointMotion:
            parts = motion(t)
            out = [np.tile(pose, (len(parts.q), 1)) for pose in (self.start, 0.0 * self.start,
                                                                 0.0 * self.start)]
            for whole, part in zip(out, parts, strict=True):
                whole[:, self.active] = part
            return JointMotion(*out)
        return moved

    def moving_joints(self, motion: Motion) -> Motion:
        """The part of a motion of all joints that moves."""
        return lambda t: JointMotion(*(part[:, self.active] for part in motion(t)))


def physics(text: str, joints: Sequence[str], case: Case) -> mujoco.MjModel:
    """The arm in MuJoCo without shapes, other joints locked: bodies up to 20 % heavier or lighter
    than described and up to a centimetre off their centres, with friction."""
    tree = ElementTree.fromstring(text)
    for link in tree.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    for joint in tree.iter("joint"):
        if joint.get("type") not in (None, "fixed") and joint.get("name") not in joints:
            joint.set("type", "fixed")
    for extra in [*tree.findall("transmission"), *tree.findall("gazebo")]:
        tree.remove(extra)
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(tree, "unicode"))
    spec.compiler.fusestatic = False
    model = spec.compile()
    model.dof_damping[:], model.dof_frictionloss[:] = case.viscous, case.coulomb
    # MuJoCo's friction is soft: with its usual constants it never saturates in a light joint.
    model.opt.timestep = 1e-6
    model.dof_solref[:] = 2e-6, 1.0
    rng = np.random.default_rng(7)
    for k in range(model.nbody):
        if model.body_weldid[k] != 0:
            factor = rng.uniform(0.8, 1.2)
            model.body_mass[k] *= factor
            model.body_inertia[k] *= factor
            model.body_ipos[k] += rng.uniform(-0.01, 0.01, 3)
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def record(robot: Robot, motion: Motion, seed: int, noise: float = 1.0) -> JointRecording:
    """MuJoCo's inverse dynamics of a motion of the moving joints, with noise of a seed."""
    t = np.arange(0.0, DURATION, 1.0 / RATE)
    q, dq, ddq = motion(t)
    data = mujoco.MjData(robot.physics)
    effort = np.empty_like(q)
    for i in range(len(t)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[i], dq[i], ddq[i]
        mujoco.mj_inverse(robot.physics, data)
        effort[i] = data.qfrc_inverse
    rng = np.random.default_rng(seed)
    return JointRecording.from_seconds(
        t, q + noise * ENCODER * rng.normal(size=q.shape),
        effort + noise * np.array(robot.case.noise) * rng.normal(size=q.shape))


def wide_motion(start: Array, seed: int) -> Motion:
    """A random Fourier motion of all joints, up to `REACH` from the start."""
    basis = Basis(DURATION, 8)
    x = np.random.default_rng(seed).normal(size=(len(start), basis.size))
    reach = np.abs(basis.at(np.linspace(0.0, DURATION, 400))[0] @ x.T).max(axis=0)
    return FourierMotion(basis, start, np.arange(len(start)), REACH * x / reach[:, None])


def sinusoid(robot: Robot, limits: Limits) -> Motion:
    """Sinusoids of all joints, as large as the limits allow, collisions included."""
    excess = Excess(robot.arm, limits, robot.start, robot.active)
    times, start = dense_times(DURATION), np.array(robot.case.start)
    frequency = FREQUENCY[:len(start)]
    low, high = 0.0, 2.0
    for _ in range(12):
        middle = 0.5 * (low + high)
        motion = Sinusoid(SmoothStart(1.0, 1.0), start, np.full(len(start), middle), frequency)
        allowed = excess.worst(*robot.all_joints(motion)(times))[0] <= 0.0
        low, high = (middle, high) if allowed else (low, middle)
    return Sinusoid(SmoothStart(1.0, 1.0), start, np.full(len(start), low), frequency)


def torque_errors(robot: Robot, motion: Motion, seeds: Sequence[int]) -> Array:
    """Relative torque errors [%] (runs, motions) on `OTHERS`, without noise, after identification
    from one motion."""
    start = np.array(robot.case.start)
    others = [record(robot, wide_motion(start, seed), seed, 0.0) for seed in OTHERS]
    out = []
    for seed in seeds:
        recorded = record(robot, motion, seed)
        model = robot.model(find_coulomb_velocity(robot.model, recorded, LOW_PASS))
        phi = identify_robot(model, recorded, LOW_PASS, held_back=0.0).identified.phi
        out.append([100.0 * predict(filter_recording(model, other), phi).relative
                    for other in others])
    return np.array(out)


def contacts(robot: Robot, motion: Motion) -> int:
    """Instants, a millisecond apart, at which meshes meet that neither are neighbours nor meet in
    the start pose."""
    model = pin.buildModelFromXML(robot.text)
    shapes = pin.buildGeomFromUrdfString(model, robot.text, pin.GeometryType.COLLISION,
                                         package_dirs=[str(SHARE)])
    shapes.addAllCollisionPairs()
    data, seen = model.createData(), shapes.createData()

    def meeting(q: Array) -> set[int]:
        pin.computeCollisions(model, data, shapes, seen, q, False)
        return {k for k, result in enumerate(seen.collisionResults) if result.isCollision()}

    for pair in list(shapes.collisionPairs):
        first, second = (shapes.geometryObjects[k].parentJoint for k in (pair.first, pair.second))
        if first == second or first == model.parents[second] or second == model.parents[first]:
            shapes.removeCollisionPair(pair)
    seen = shapes.createData()
    usual = meeting(robot.start)
    q = robot.all_joints(motion)(np.arange(0.0, DURATION, 1e-3)).q
    return sum(bool(meeting(pose) - usual) for pose in q)


def plan(robot: Robot, limits: Limits, budget: float) -> tuple[Planned, str]:
    """The motion that `plan_excitation` finds, and its time as two cells of the table [s]."""
    os.environ["AMENT_PREFIX_PATH"] = str(SHARE.parent)  # where the meshes are
    options = parse_options([
        str(robot.path), "--frame", robot.case.frame, "--for", "robot",
        "--start=" + _words(robot.start), "--noise", _words(robot.case.noise),
        "--duration", f"{DURATION}", "--rate", f"{RATE}", "--budget", f"{budget}",
        "--tool-speed", f"{limits.tool_speed}",
        "--link-speed", f"{limits.link_speed}"])
    wall, processor = time.monotonic(), time.process_time()
    planned = make_plan(options, wall)
    return planned, (f"{time.monotonic() - wall:.0f} | {time.process_time() - processor:.0f}")


def table(budget: float = 120.0, runs: int = 5) -> list[str]:
    """Sinusoids and planned motions of both arms, within the same limits."""
    lines = ["| arm | motion | planned in, s | processor, s | information, nats | peak tool speed, "
             "m/s | instants with contact | torque error on five other motions, % (worst) | "
             "sinusoid's / this |", "|---|---|---|---|---|---|---|---|---|"]
    limits = Limits(link_speed=np.inf)  # that of the sinusoids is of the tool alone
    for name in CASES:
        robot, before = Robot(name), 0.0
        plain = sinusoid(robot, limits)
        planned, times = plan(robot, limits, budget)
        told = planned.objective
        before, line = _row(robot, name, "sinusoids", "- | -", plain, told, runs, before)
        motion = robot.moving_joints(planned.found.motion)
        lines += [line, _row(robot, name, "planned", times, motion, told, runs, before)[1]]
    return lines


def _row(robot: Robot, name: str, title: str, times: str, motion: Motion, told: Objective,
         runs: int, before: float) -> tuple[float, str]:
    """Mean torque error [%] of a motion, and its line."""
    whole = robot.all_joints(motion)
    errors = torque_errors(robot, motion, range(runs))
    mean = float(errors.mean())
    speed = robot.arm.frame_motion(*whole(np.arange(0.0, DURATION, 1e-3))).point_speeds(
        [[0.0, 0.0, 0.0]]).max()
    nats = gain_of(whole, told, RATE, DURATION)
    better = f"{before / mean:.2f}" if before > 0.0 else "-"
    return mean, (f"| {name} | {title} | {times} | {nats:.0f} | {speed:.3f} | "
                  f"{contacts(robot, motion)} | {mean:.2f} ({errors.mean(axis=0).max():.2f}) | "
                  f"{better} |")


def _words(values: Sequence[float] | Array) -> str:
    return ",".join(f"{float(value):g}" for value in values)
