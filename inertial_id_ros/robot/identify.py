# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From recordings of joint torques or motor currents to a robot; and what is wrong with a recording
or with the description, joint by joint.

So many unknowns explain wrong torques almost as well as right ones. The description's bodies may be
off by tens of percent, but efforts of the wrong sign, or of another joint, do not follow it at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.optimize import nnls

from ..errors import InvalidData, InvalidSetting, NotEnoughData
from ..inertia import Array, Body, body_from_phi, is_consistent
from ..motion.motion import BIN
from . import TERMS, RobotRequest
from .base_parameters import structural_base_parameters
from .calibration import align_recording, gains_from_payload
from .constraints import robot_limits
from .fit import Prediction, RobotFit, fit_robot
from .least_squares import description_reference, fit_unconstrained
from .model import COULOMB, DRIVE, OFFSET, VISCOUS, JointTerms, RobotModel, mean_sign
from .recording import JointRecording, RowFilter
from .robot_file import Drives, IdentifiedRobot

_MOVES = 0.01  # rad or m that a joint covers at least
_PAUSE = 20  # bins between two of a slow topic at most; longer is a break
_SPEED = 0.02  # rad/s or m/s from which on a sample counts as motion
_EACH = 2.0  # independent samples for each unknown
_SCALE = 100.0  # times the description's torques, beyond which efforts are in another unit
_OTHER_UNIT = 3.0  # times, from which on a note says so
_BEYOND_LIMIT = 10.0  # times the description's limit, which no root mean square reaches
_BETTER = 2.0  # fall of the sum of the logarithms of all errors; times, of one joint by its sign
_OUTSIDE = 0.1  # share of the samples beyond a limit from which on it is not a few bad samples
_RANGES = 10.0  # beyond a limit of a prismatic joint; two turns of others, which may count on
_CONSIDERED = 20.0  # s at the beginning that are compared
_SUSPECT = 0.05  # share of a joint's torque from which on mistakes are looked for
_UNEXPLAINED = 0.3  # share of the torque that may be left
_TINY = 1e-12  # N m
_HALF = 0.5  # the same of a joint that bears bodies; part of a torque that is the description's


@dataclass(frozen=True)
class RobotResult:
    """What a recording says about a robot."""

    fit: RobotFit  # parameters, and what the data say of the description
    prediction: Prediction  # on all the recording
    # On a test, or on the last part by a robot identified from the rest; None: there is none.
    validation: Prediction | None
    delay: float  # how much later than the positions the efforts are stamped [s]
    drives: Drives | None  # gains with which currents became torques; None: efforts are torques
    notes: tuple[str, ...]  # what a person should know
    unexplained: InvalidData | NotEnoughData | None  # why this is no robot; None: it is one

    @property
    def model(self) -> RobotModel:
        """With the gravity that was found."""
        return self.fit.model

    @property
    def robot(self) -> IdentifiedRobot:
        """What is kept in a file."""
        fit, model = self.fit, self.model
        return IdentifiedRobot(
            model.joint_names, model.bodies, model.terms, model.gravity, self.delay, fit.phi,
            fit.covariance, fit.free.noise,
            self.drives and self.drives._replace(follow=fit.follow))

    @property
    def beta(self) -> Array:
        """Base parameters (nb,)."""
        return self.fit.base.matrix @ self.fit.phi

    @property
    def beta_sigma(self) -> Array:
        """Their standard deviations (nb,)."""
        matrix = self.fit.base.matrix
        return np.sqrt(np.maximum(np.sum((matrix @ self.fit.covariance) * matrix, axis=1), 0.0))

    @property
    def consistent(self) -> np.ndarray:
        """True (bodies,) for bodies that can exist."""
        return np.array([is_consistent(own) for own in self.model.split(self.fit.phi)])

    @property
    def bodies(self) -> dict[str, Body]:
        """Mass [kg], centre of mass [m] and inertia about it [kg m^2] of each body, in the frame of
        its link. Joint torques tell base parameters only; the description says the rest."""
        return dict(zip(self.model.bodies, map(body_from_phi, self.model.split(self.fit.phi)),
                        strict=True))


def identify_described_robot(urdf: str, recorded: Sequence[JointRecording], asked: RobotRequest,
                             tests: Sequence[JointRecording] = ()) -> RobotResult:
    """See `robot.identify_robot`; torques that the robot does not explain raise no error here."""
    # 1. Read the robot, as if level, and the joints that move.
    low_pass, wanted = asked.low_pass, asked.terms or TERMS[:3]
    terms = JointTerms(VISCOUS in wanted, COULOMB in wanted, OFFSET in wanted, DRIVE in wanted,
                       asked.coulomb_velocity)
    level = RobotModel.from_urdf(urdf, terms, False, asked.gravity, asked.joints)
    robot_limits(level.parameter_names, description_reference(level), asked.constraints)
    whole, held = _joined(level, recorded), [_joined(level, tests)] if tests else []
    cut = None if held or not asked.hold_back else int(whole.stamps[0]) + int(
        (1.0 - asked.hold_back) * int(np.ptp(whole.stamps)))
    filtered = RowFilter(whole, 0.0, low_pass)
    notes = check_motion(level, filtered) + check_description(level)
    # 2. Make torques of motor currents.
    drives = _find_gains(level, filtered, cut, asked)
    if drives is not None:
        whole, *held = (each._replace(effort=each.effort * drives.gain) for each in (whole, *held))
    # 3. Find what torques show whatever is fitted.
    suspicion = check_efforts(level, whole, low_pass, notes)
    # 4. Find tilt and delay.
    gravity, delay = level.gravity, 0.0
    if asked.align:
        try:
            gravity, delay = align_recording(level, RowFilter(whole, 0.0, low_pass))
        except InvalidData as error:
            notes.append(f"tilt and delay taken as zero: {error}")
    # 5. Fit the robot.
    filtered, model = RowFilter(whole, delay, low_pass), level.with_gravity(gravity)
    before, after = filtered.split(cut)
    if not asked.terms:  # drive inertia, and friction by the load of about these bodies
        model = model.with_terms(replace(model.terms, drive_inertia=True))
        bodies = fit_unconstrained(filtered.rows(model)[before]).phi[:model.inertial]
        model = model.with_terms(replace(model.terms, load=True, load_bodies=tuple(bodies)))
    rows, base = filtered.rows(model), structural_base_parameters(level.with_terms(model.terms))
    fit = fit_robot(rows, base, asked.method, asked.constraints, drives and drives.spread)
    # 6. Test it on motion that it, or a robot of the rest, has not seen.
    prediction, validation = fit.predict(rows), None
    if held:
        validation = fit.predict(RowFilter(held[0], delay, low_pass).rows(model))
    elif cut is not None:
        validation = fit_robot(rows[before], base, asked.method,
                               asked.constraints).predict(rows[after])
    unexplained = explain_failure(level, suspicion, [prediction, validation or prediction],
                                  np.std(rows.regressor @ model.nominal, axis=0))
    return RobotResult(fit, prediction, validation, delay, drives,
                       (*notes, *compare_with_description(fit, prediction)), unexplained)


def _joined(model: RobotModel, recorded: Sequence[JointRecording]) -> JointRecording:
    """The samples of the joints of a model, in the right unit (raises RecordingError, InvalidData).
    """
    if not recorded:
        raise InvalidData("no recording is given")
    parts = [each.of_joints(model.joint_names) for each in recorded]
    for each in parts:
        check_position_units(model, each.q)
    return JointRecording.join(parts)


def _find_gains(model: RobotModel, free: RowFilter, cut: int | None, asked: RobotRequest
                ) -> Drives | None:
    """Gains of the drives: those that are given, or those that a payload of known mass tells of two
    recordings of currents, without and with it (raises InvalidSetting, NotEnoughData)."""
    if asked.loaded is not None and asked.payload_mass is not None:
        with_drives = model.with_terms(JointTerms(drive_inertia=True))
        loaded = RowFilter(_joined(model, [asked.loaded]), 0.0, asked.low_pass)
        return gains_from_payload(free.rows(with_drives)[free.split(cut)[0]],
                                  loaded.rows(with_drives), asked.payload_mass)
    if not len(asked.gains):
        return None
    gain = np.array(asked.gains)
    if len(gain) != model.nv or not (np.isfinite(gain).all() and (gain > 0.0).all()):
        raise InvalidSetting(f"gains are {', '.join(f'{g:g}' for g in gain)} N m/A; {model.nv} "
                             f"positive numbers are needed, for {', '.join(model.joint_names)}")
    return Drives(gain, asked.gain_error**2 * np.eye(model.nv))


def check_position_units(model: RobotModel, q: Array) -> None:
    """Raise InvalidData where positions q (n, joints), as recorded, are two turns or more beyond
    their limits: in degrees or millimetres. Joints without limits are judged by their efforts."""
    for name, own, (low, high), slides in zip(model.joint_names, q.T, model.limits[0],
                                              model.slides, strict=True):
        unit, wrong, margin = ("m", "millimetres", _RANGES * (high - low)) if slides else (
            "rad", "degrees", 4.0 * np.pi)
        if np.mean((own < low - margin) | (own > high + margin)) > _OUTSIDE:
            raise InvalidData(
                f"the positions of '{name}' are from {own.min():.4g} to {own.max():.4g}; the robot "
                f"description allows {low:.4g} to {high:.4g} {unit}: are they in {wrong}?")


def check_motion(model: RobotModel, filtered: RowFilter) -> list[str]:
    """Notes on joints that do not move (raises NotEnoughData: nothing does, or for too short a time
    for so many unknowns)."""
    covered = np.ptp(filtered.motion[0], axis=0)
    if covered.max() < _MOVES:
        raise NotEnoughData(f"no joint moves (at most by {covered.max():.2g} rad); torques at one "
                            "pose tell nothing of the bodies")
    steps = np.minimum(np.diff(filtered.number, append=filtered.number[-1] + 1), _PAUSE)
    moved = float(steps[np.abs(filtered.motion[1]).max(axis=1) > _SPEED].sum()) * BIN
    # A Hann kernel of this length averages as a mean over two thirds of it does.
    needed = filtered.low_pass * (1.0 + _EACH * 2.0 / 3.0 * (
        len(structural_base_parameters(model).matrix) / model.nv))
    if moved < needed:
        raise NotEnoughData(
            f"the joints move for {moved:.1f} s only; the {len(model.joint_names)} joints of this "
            f"robot need at least {needed:.1f} s of motion, better ten times as much")
    return [f"{name} does not move: its friction, and part of what hangs on it, are not identified"
            for name, most in zip(model.joint_names, covered, strict=True) if most < _MOVES]


def check_description(model: RobotModel) -> list[str]:
    """Notes on bodies of the description that cannot exist, with link and values."""
    notes = []
    for body, phi in zip(model.bodies, model.split(model.nominal), strict=True):
        if phi[0] <= 0.0:
            notes.append(f"{body} has a mass of {phi[0]:g} kg in the description: it is not used")
        elif not is_consistent(phi):
            moments = np.linalg.eigvalsh(body_from_phi(phi).inertia_com)
            notes.append(
                f"the inertia of {body} in the robot description is impossible (principal moments "
                f"{', '.join(f'{m:.3g}' for m in moments)} kg m^2); its mass and centre are used")
    return notes


def follow(model: RobotModel, filtered: RowFilter, unit: Array | float = 1.0, sign: float = 1.0,
           order: np.ndarray | slice = slice(None)) -> tuple[Array, Array]:
    """Residual (joints,) of efforts, of this sign, by the description's torque, the speed, and its
    sign, norms about the means; no factor is negative, as friction brakes. And efforts over the
    description's torques (joints,); NaN where these are not most of the effort. unit: of positions
    (joints,) in rad; order: of the joints in the recording."""
    def columns(*motion: Array) -> Array:
        q, dq, ddq = (unit * each[:, order] for each in motion)
        return np.stack([model.described_torque(q, dq, ddq), dq, mean_sign(dq, ddq, _SPEED, BIN)],
                        axis=-1)

    rows, effort = (each - each.mean(axis=0) for each in (
        filtered.mean(columns), sign * filtered.effort[:, order]))
    fits = [nnls(rows[:, j], effort[:, j]) for j in range(model.nv)]
    scale = np.array([factors[0] for factors, _ in fits])
    loaded = scale * rows[:, :, 0].std(axis=0) > _HALF * effort.std(axis=0)
    return (np.maximum([norm for _, norm in fits], _TINY),
            np.where(loaded, scale, np.nan))


def check_efforts(model: RobotModel, recording: JointRecording, low_pass: float, notes: list[str]
                  ) -> InvalidData | None:
    """How the efforts of a recording follow the description; adds a note where they are several
    times its torques, or a fraction. Returns what is wrong if a fit does not explain them either
    (raises InvalidData: a mistake that a fit may hide)."""
    for name, effort in zip(model.joint_names, recording.effort.T, strict=True):
        if np.ptp(effort) == 0.0:
            raise InvalidData(f"the efforts of '{name}' are {effort[0] + 0.0:g} throughout: they "
                              "are not measured")
    some = recording.stamps <= recording.stamps[0] + 1e9 * _CONSIDERED
    part = RowFilter(recording._replace(stamps=recording.stamps[some], q=recording.q[some],
                                        effort=recording.effort[some]), 0.0, low_pass)
    left, scale = follow(model, part)
    # Mistakes that fits of many unknowns may hide. The sine of an angle shows its unit, whatever
    # masses, gains and limits are; bodies without weight would explain efforts without gravity.
    mistakes = {
        "the positions are in degrees; they must be in rad": follow(
            model, part, np.where(model.slides, 1.0, np.pi / 180.0)),
        "the efforts hold no gravity; record what the joints bear in all, with gravity": follow(
            model.with_gravity(np.zeros(3)), part)}
    for k, (one, next_one) in enumerate(pairwise(model.joint_names)):
        order = np.arange(model.nv)
        order[k:k + 2] = k + 1, k
        mistakes[f"'{one}' and '{next_one}' are named as each other"] = follow(
            model, part, order=order)
    for why, (other, _) in mistakes.items():
        if np.sum(np.log(left / other)) > _BETTER:
            raise InvalidData(f"{why}: so the efforts follow the robot description far better")
    loaded, limits = np.isfinite(scale), model.limits[1]
    beyond = loaded & ~((1.0 / _SCALE < scale) & (scale < _SCALE))
    for j in np.flatnonzero(beyond)[:1]:
        whose = "all joints" if (beyond == loaded).all() else f"'{model.joint_names[j]}'"
        raise InvalidData(f"the efforts of {whose} are {scale[j]:.2g} times the torques of the "
                          "robot description: are they in another unit than N m?")
    rms = np.sqrt(np.mean(recording.effort**2, axis=0))
    for j in np.flatnonzero(rms > _BEYOND_LIMIT * limits)[:1]:
        raise InvalidData(f"the efforts of '{model.joint_names[j]}' are {rms[j] / limits[j]:.2g} "
                          "times what the robot description allows: are they in another unit?")
    usual = float(np.median(scale[loaded])) if loaded.any() else 1.0
    if not 1.0 / _OTHER_UNIT < usual < _OTHER_UNIT:
        notes.append(f"the efforts are {usual:.2g} times the torques of the robot description: are "
                     "they torques, and no motor currents (--gains)?")
    turned = left > _BETTER * follow(model, part, sign=-1.0)[0]
    if turned.any():
        wrong = ", ".join(f"'{model.joint_names[j]}'" for j in np.flatnonzero(turned))
        return InvalidData(f"the efforts of {'all joints' if turned.all() else wrong} have the "
                           "opposite sign of its torques; identify_robot --effort-sign turns them")
    share = float(np.linalg.norm(left) / np.linalg.norm(part.effort - part.effort.mean(axis=0)))
    return None if share <= _UNEXPLAINED else InvalidData(
        f"the robot description and friction leave {share:.0%} of the efforts unexplained: are "
        "positions and efforts those of the joints that are named, in the same order?")


def explain_failure(model: RobotModel, suspicion: InvalidData | None, tests: Sequence[Prediction],
                    expected: Array) -> InvalidData | NotEnoughData | None:
    """Why much of the torque is not explained; None where it is: by what `check_efforts` suspects,
    tests of the robot that was found, that on the recording first, and by how much the
    description's own torques vary (joints,), rms [N m]."""
    if suspicion is not None and tests[0].shares.max() > _SUSPECT:
        return suspicion
    share = max(test.relative for test in tests)
    shares = np.max([test.shares for test in tests], axis=0)
    needed = (expected > _UNEXPLAINED * tests[0].torque) & (shares > _HALF)
    if share <= _UNEXPLAINED and not needed.any():
        return None
    names = ", ".join(f"'{model.joint_names[j]}' ({shares[j]:.0%})"
                      for j in np.argsort(-shares)[:2] if shares[j] > _UNEXPLAINED)
    return NotEnoughData(
        f"the robot leaves {share:.0%} of the torque unexplained, most in {names}: are these "
        "efforts torques, and of these joints, and does the arm move?")


def compare_with_description(fit: RobotFit, found: Prediction) -> list[str]:
    """Where the data contradict the description, and on which bodies; which joints are not
    explained."""
    model = fit.model
    notes = [f"the recording contradicts the description of {body} by far (mass {phi[0]:.3g} kg, "
             f"described {described[0]:.3g} kg): is there a load or gripper that the description "
             "lacks?" for body, phi, described, is_far in zip(
                 model.bodies, model.split(fit.phi), model.split(model.nominal), fit.contradicted,
                 strict=True) if is_far and is_consistent(described)]
    if fit.eased < 1.0 and not fit.contradicted.any():
        notes.append("the description was trusted less, as it does not explain the torques; a term "
                     "of the joints may be missing (--terms)")
    return notes + [f"{share:.0%} of the torque of {name} is not explained" for name, share in zip(
        model.joint_names, found.shares, strict=True) if share > _HALF]
