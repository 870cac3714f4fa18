# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The same recordings identified by `mujoco.sysid`, by figaroh and by `identify_robot`.

    pip install "mujoco[sysid]==4.0.0" figaroh==1.0.2     # into an environment of their own

All know the description and the tilt and delay that `identify_robot` finds. figaroh's direct effort
fit gets the low-passed rows of this package; mujoco.sysid gets motion and torques filtered as is
usual (Butterworth, forwards and backwards) and compares torques by `mj_inverse`, as positions of a
simulation in open loop drift away. What is missing is said in the table.
"""

from __future__ import annotations

import importlib
import logging
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import mujoco
import numpy as np
from scipy.signal import butter, filtfilt

from benchmarks.robot import friction
from benchmarks.robot.descriptions import data_sheet_ur10e
from benchmarks.robot.recordings import PAYLOAD, TRAINING, load_ur10e
from inertial_id_ros.apps.robot.recording_files import NamedRecording
from inertial_id_ros.apps.robot.robot_fit import fit_unconstrained
from inertial_id_ros.apps.robot.robot_identification import identify_described_robot, predict
from inertial_id_ros.export.robot_mjcf import robot_mjcf
from inertial_id_ros.inertia import (
    Array,
    body_from_phi,
    is_consistent,
    phi_from_body,
    principal_moments,
)
from inertial_id_ros.robot.joint_terms import COULOMB, DRIVE, OFFSET, VISCOUS, JointTerms
from inertial_id_ros.robot.model import BODY_SIZE, BODY_TERMS, RobotModel
from inertial_id_ros.robot.recording import (
    LOW_PASS,
    FilteredRecording,
    JointRecording,
    filter_recording,
)
from inertial_id_ros.robot.robot_file import robot_model

CUT_OFF = 5.0  # Hz, of the filter for mujoco.sysid
GRID = 0.01  # s, before the filter
SPACING = 0.1  # s, of the samples that mujoco.sysid gets
ITERATIONS = 60
FADING = 0.01  # rad/s
TERMS = JointTerms(drive_inertia=True, coulomb_velocity=FADING)
SEED = 4000


class Case(NamedTuple):
    """A robot, what it is identified from, and motions to test it on."""

    name: str
    urdf: str
    joints: tuple[str, ...]
    training: JointRecording
    tests: tuple[JointRecording, ...]


class Found(NamedTuple):
    """A robot of a method: parameters (p,) of a model; seconds: processor time."""

    model: RobotModel
    phi: Array
    delay: float
    seconds: float


def cases(folder: Path) -> list[Case]:
    """Real and simulated recordings."""
    out = []
    panda = next((text for path in map(Path, sys.path) for text in path.glob(
        "cmeel.prefix/share/example-robot-data/robots/panda_description/urdf/panda.urdf")), None)
    if panda is not None:
        data = np.load(folder / "panda_joint_torque" / "excitation.npz")
        first, rest = JointRecording.from_seconds(data["t"], data["q"], data["tau"]
                                                  ).split(TRAINING)
        out.append(Case("Panda, real", panda.read_text(), tuple(
            f"panda_joint{k}" for k in range(1, 8)), first, (rest,)))
    gain, urdf = load_ur10e(folder).makers_gain, data_sheet_ur10e()
    for name in ("unloaded", f"loaded_{PAYLOAD}kg"):
        data = np.load(folder / "ur10e_motor_current" / f"{name}.npz")
        first, rest = JointRecording.from_seconds(data["t"], data["q"], data["current"] * gain
                                                  ).split(TRAINING)
        out.append(Case(f"UR10e, real, {name.replace('_', ' ')}", urdf,
                        robot_model(urdf).joint_names, first, (rest,)))
    for kind in ("UR10e", "Panda"):
        urdf, arm = friction.make_joints(kind, SEED, True, 0.01)
        others = tuple(arm.record(10.0, SEED + 500 + 7 * k, noise=0.0) for k in range(5))
        out.append(Case(f"{kind}, simulated", urdf, arm.model.joint_names,
                        arm.record(friction.DURATION, SEED), others))
    return out


def own(case: Case, choose: bool) -> Found:
    """`identify_robot`, with the terms of the others or with those that it chooses."""
    start = time.process_time()
    named = NamedRecording(case.joints, case.training.stamps, case.training.q,
                           case.training.effort)
    result = (identify_described_robot(case.urdf, named, case.joints, held_back=0.0, choose=True)
              if choose else identify_described_robot(case.urdf, named, case.joints, TERMS, False,
                                                      held_back=0.0))
    return Found(result.model, result.identified.phi, result.robot.delay,
                 time.process_time() - start)


def rows_for(model: RobotModel, delay: float, recording: JointRecording) -> FilteredRecording:
    """Rows of a recording, low-passed as everywhere."""
    return filter_recording(model, recording, delay, LOW_PASS)


def figaroh(case: Case, like: Found, weighted: bool) -> Found:
    """figaroh's direct effort fit: all bodies consistent, near the description (weight 1e-6).

    Args:
        weighted: rows by the noise of their joint, scaled by their number, without which its solver
            (cvxopt) fails on some recordings.
    """
    physical_fit = importlib.import_module("figaroh.identification.physical_fit")
    start = time.process_time()
    model = like.model
    rows = rows_for(model, like.delay, case.training)
    weights = np.ones(rows.effort.shape)
    if weighted:
        weights /= fit_unconstrained(model, rows).rms * np.sqrt(len(weights))
    names = [f"{term}_{body}" for body in model.bodies for term in BODY_TERMS]
    names += list(model.parameter_names[len(names):])
    problem = physical_fit.build_problem(
        rows.regressor.reshape(-1, model.size), rows.effort.ravel(), names, model.bodies,
        prior=model.nominal, row_weight=weights.ravel())
    record = physical_fit.solve_direct_effort_fit(problem)
    if record.theta is None:
        raise RuntimeError(f"figaroh: {record.solver_status}")
    return Found(model, np.asarray(record.theta), like.delay, time.process_time() - start)


def mujoco_sysid(case: Case, like: Found) -> Found:
    """mujoco.sysid: pseudo-inertias in its own bounds, damping, frictionloss, armature, offsets."""
    sysid = importlib.import_module("mujoco.sysid")
    logging.disable(logging.WARNING)
    start = time.process_time()
    model, joints = like.model, len(case.joints)
    spec = mujoco.MjSpec.from_string(robot_mjcf(_lock(case.urdf, case.joints), {}))
    spec.option.gravity = model.gravity
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    bodies = [b.name for b in spec.bodies if b.joints]
    params = sysid.ParameterDict()
    compiled = spec.compile()
    for name in bodies:
        params.add(sysid.body_inertia_param(spec, compiled, name, sysid.InertiaType.Pseudo,
                                            modifier=_set_body(sysid, name)))
    for joint in case.joints:
        for key, value, most in (("damping", 1.0, 100.0), ("frictionloss", 1.0, 100.0),
                                 ("armature", 0.1, 20.0)):
            params.add(sysid.Parameter(f"{joint} {key}", value, 0.0, most, modifier=_set_joint(
                joint, key)))
        params.add(sysid.Parameter(f"{joint} offset", 0.1, -50.0, 50.0, modifier=_nothing))
    motion, torque = _usual_filter(case.training, like.delay)
    noise = fit_unconstrained(model, rows_for(model, like.delay, case.training)).rms

    def offsets() -> Array:
        return np.array([params[f"{joint} offset"].value[0] for joint in case.joints])

    def predicted(column: Array) -> Array:
        params.update_from_vector(column)
        made = sysid.apply_param_modifiers(params, spec)
        return np.asarray((_inverse(made, case.joints, motion) + offsets() - torque) / noise)

    def residual(x: Array, _: Any) -> tuple[list[Array], None, None]:
        if x.ndim == 1:
            return [predicted(x).ravel()], None, None
        return [np.stack([predicted(column).ravel() for column in x.T], axis=1)], None, None

    with redirect_stdout(StringIO()):  # a line for each iteration
        best, _ = sysid.optimize(initial_params=params, residual_fn=residual, optimizer="mujoco",
                                 verbose=False, max_iters=ITERATIONS)
    params.update_from_vector(best.as_vector())
    made = sysid.apply_param_modifiers(params, spec)
    phi = np.zeros(model.size)
    for k, name in enumerate(bodies):
        phi[model.body_slice(k)] = _body_phi(made, name)
    for j in range(joints):
        at = made.joint(case.joints[j]).dofadr[0]
        for term, value in ((VISCOUS, made.dof_damping[at]), (COULOMB, made.dof_frictionloss[at]),
                            (DRIVE, made.dof_armature[at]), (OFFSET, offsets()[j])):
            phi[model.term_index(j, term)] = value
    return Found(model, phi, like.delay, time.process_time() - start)


def _set_body(sysid: Any, name: str) -> Callable[[Any, Any], None]:
    """What sets a body of the spec. The package's own modifier compiles the spec for each body, and
    fails on bodies without shapes."""
    def change(spec: Any, parameter: Any) -> None:
        pi = sysid.model_modifier.pi_from_theta(parameter.value)
        found = body_from_phi(np.append(pi[:4], pi[4:][[0, 1, 2, 4, 5, 8]]))
        moments, axes = principal_moments(found.inertia_com)
        body = spec.body(name)
        body.mass, body.ipos, body.inertia = found.mass, found.com, moments
        mujoco.mju_mat2Quat(body.iquat, axes.ravel())
    return change


def _set_joint(joint: str, key: str) -> Callable[[Any, Any], None]:
    """What sets a number of a joint."""
    def change(spec: Any, parameter: Any) -> None:
        value, given = float(parameter.value[0]), spec.joint(joint)
        if np.ndim(getattr(given, key)):  # damping: a polynomial, from MuJoCo 4 on
            getattr(given, key)[0] = value
        else:
            setattr(given, key, value)
    return change


def _nothing(spec: Any, parameter: Any) -> None:
    """The offset of a torque is no part of the model."""


def _lock(urdf: str, joints: tuple[str, ...]) -> str:
    """A description in which only these joints move."""
    root = ElementTree.fromstring(urdf)
    for joint in root.findall("joint"):
        if joint.get("name") not in joints:
            joint.set("type", "fixed")
    return ElementTree.tostring(root, encoding="unicode")


def _usual_filter(recording: JointRecording, delay: float
                  ) -> tuple[tuple[Array, Array, Array], Array]:
    """Motion (q, dq, ddq), (n, joints) each, and torque (n, joints), low-passed without delay."""
    t = recording.stamps * 1e-9
    grid = np.arange(t[0] + 0.1, t[-1] - 0.1, GRID)
    b, a = butter(4, CUT_OFF * 2.0 * GRID)
    q = np.stack([np.interp(grid, t, x) for x in recording.q.T], axis=1)
    torque = np.stack([np.interp(grid + delay, t, x) for x in recording.effort.T], axis=1)
    q, torque = filtfilt(b, a, q, axis=0), filtfilt(b, a, torque, axis=0)
    dq = np.gradient(q, GRID, axis=0)
    ddq = np.gradient(dq, GRID, axis=0)
    kept = slice(50, -50, round(SPACING / GRID))  # without the ends, where filters fail
    return (q[kept], dq[kept], ddq[kept]), torque[kept]


def _inverse(model: mujoco.MjModel, joints: tuple[str, ...], motion: tuple[Array, Array, Array]
             ) -> Array:
    """Torques (n, joints) of a motion."""
    at = np.array([model.joint(name).dofadr[0] for name in joints])
    data = mujoco.MjData(model)
    out = np.empty((len(motion[0]), len(joints)))
    for i, (q, dq, ddq) in enumerate(zip(*motion, strict=True)):
        data.qpos[at], data.qvel[at], data.qacc[at] = q, dq, ddq
        mujoco.mj_inverse(model, data)
        out[i] = data.qfrc_inverse[at]
    return out


def _body_phi(model: mujoco.MjModel, name: str) -> Array:
    """Parameters (10,) of a body in its frame."""
    body, turn = model.body(name), np.empty(9)
    mujoco.mju_quat2Mat(turn, body.iquat)
    axes = turn.reshape(3, 3)
    return phi_from_body(float(body.mass[0]), body.ipos, axes @ np.diag(body.inertia) @ axes.T)


class Score(NamedTuple):
    """Relative torque error on the tests, all rows alike: of all joints together, and the mean of
    the joints'; bodies not clear of the border of what can exist, or beyond it."""

    together: float
    mean: float
    beyond: int


def score(case: Case, found: Found) -> Score:
    """How good a robot is."""
    made = [predict(rows_for(found.model, found.delay, test), found.phi) for test in case.tests]
    error, torque = (np.sqrt(np.mean([getattr(p, name)**2 for p in made], axis=0))
                     for name in ("error", "torque"))
    bodies = found.phi[:BODY_SIZE * len(found.model.bodies)].reshape(-1, BODY_SIZE)
    return Score(float(np.linalg.norm(error) / np.linalg.norm(torque)),
                 float(np.mean(error / torque)), sum(not is_consistent(phi) for phi in bodies))


def table(folder: Path) -> list[str]:
    """Markdown rows."""
    lines = ["| recording | method | torque error, held back, % | mean of the joints, % | "
             "processor, s | bodies on or beyond the border of consistency |", "|---" * 6 + "|"]
    for case in cases(folder):
        same = own(case, choose=False)
        described = same._replace(phi=same.model.nominal, seconds=0.0)
        runs: list[tuple[str, Callable[[], Found]]] = [
            ("the description, no friction", lambda found=described: found),
            ("mujoco.sysid", lambda case=case, same=same: mujoco_sysid(case, same)),
            ("figaroh", lambda case=case, same=same: figaroh(case, same, False)),
            ("figaroh, joints weighted", lambda case=case, same=same: figaroh(case, same, True)),
            ("identify_robot, the same terms", lambda found=same: found),
            ("identify_robot", lambda case=case: own(case, choose=True))]
        for name, run in runs:
            try:
                found = run()
            except (ImportError, AttributeError, RuntimeError) as error:
                lines.append(f"| {case.name} | {name} | - | - | - | {error} |")
                continue
            result = score(case, found)
            lines.append(f"| {case.name} | {name} | {100.0 * result.together:.2f} | "
                         f"{100.0 * result.mean:.1f} | {found.seconds:.1f} | {result.beyond} of "
                         f"{len(found.model.bodies)} |")
    return lines
