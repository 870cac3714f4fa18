# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From recordings of joint torques or motor currents to a robot; and what is wrong with a recording
or with the description, joint by joint.

So many unknowns explain wrong torques almost as well as right ones. The description's bodies may be
off by tens of percent, but efforts of the wrong sign, or of another joint, do not follow it at all.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from ..errors import InvalidData, InvalidSetting, NotEnoughData
from ..inertia import Array, Body, body_from_phi, is_consistent
from ..io.inputs import JointStates
from ..motion.motion import BIN
from . import TERMS, RobotRequest
from .base_parameters import structural_base_parameters
from .calibration import align_recording, gains_from_payload
from .fit import Prediction, RobotFit, fit_robot
from .model import JointTerms, RobotModel
from .recording import PAUSE, RowFilter, of_joints
from .robot_file import Drives, IdentifiedRobot

_MOVES = 0.01  # rad or m that a joint covers at least
_SPEED = 0.02  # rad/s or m/s from which on a sample counts as motion
_EACH = 2.0  # independent samples for each unknown
_OTHER_UNIT, _NO_TORQUE = 3.0, 100.0  # times the description's torques: said, and refused
_BEYOND_LIMIT = 10.0  # times the description's limit, which no root mean square reaches
_BETTER = 2.0  # fall of the sum of the logarithms of all errors; times, of one joint by its sign
_SUSPECT = 0.05  # share of a joint's torque from which on mistakes are looked for
_UNEXPLAINED = 0.3  # share of the torque that may be left
_HALF = 0.5  # the same of a joint that bears bodies; part of a torque that is the description's
_TINY = 1e-12  # N m
_BREAK = 4_000_000_000  # ns, between recordings that are joined


class RobotResult(NamedTuple):
    """What a recording says about a robot."""

    fit: RobotFit  # parameters, and what the data say of the description
    prediction: Prediction  # on all the recording
    # On a test, or on the last part by a robot identified from the rest; None: there is none.
    validation: Prediction | None
    delay: float  # how much later than the positions the efforts are stamped [s]
    drives: Drives | None  # gains with which currents became torques; None: efforts are torques
    notes: tuple[str, ...]  # what a person should know

    @property
    def robot(self) -> IdentifiedRobot:
        """What is kept in a file."""
        fit, model = self.fit, self.fit.model
        return IdentifiedRobot(
            model.joint_names, model.bodies, model.terms, model.gravity, self.delay, fit.phi,
            fit.covariance, fit.free.noise,
            self.drives and self.drives._replace(follow=fit.follow))

    @property
    def beta(self) -> tuple[Array, Array]:
        """Base parameters (nb,), and their standard deviations (nb,)."""
        matrix = self.fit.base.matrix
        variance = np.sum((matrix @ self.fit.covariance) * matrix, axis=1)
        return matrix @ self.fit.phi, np.sqrt(np.maximum(variance, 0.0))

    @property
    def consistent(self) -> np.ndarray:
        """True (bodies,) for bodies that can exist."""
        return np.array([is_consistent(own) for own in self.fit.model.split(self.fit.phi)])

    @property
    def bodies(self) -> dict[str, Body]:
        """Mass [kg], centre of mass [m] and inertia about it [kg m^2] of each body, in the frame of
        its link. Joint torques tell base parameters only; the description says the rest."""
        model = self.fit.model
        return dict(zip(model.bodies, map(body_from_phi, model.split(self.fit.phi)), strict=True))


def identify_described_robot(urdf: str, recorded: Sequence[JointStates], asked: RobotRequest,
                             tests: Sequence[JointStates] = ()) -> RobotResult:
    """See `robot.identify_robot`."""
    # 1. Read the robot, as if level, and the joints that move.
    # Without limits, friction by load may come out negative; to correct that spoils other values.
    usual = TERMS[:4] if asked.method == "ols+bpfc" else TERMS
    terms = JointTerms(tuple(term for term in TERMS if term in (asked.terms or usual)),
                       asked.coulomb_velocity)
    level = RobotModel.from_urdf(urdf, terms, asked.gravity, asked.joints)
    whole = _joined(level, recorded, asked)
    held = [_joined(level, tests, asked)] if tests else []
    share = 1.0 if held else 1.0 - asked.hold_back
    filtered = RowFilter(whole, 0.0, asked.low_pass)
    notes = check_motion(level, filtered)
    # 2. Make torques of motor currents.
    drives = _find_gains(level, filtered, share, asked)
    if drives is not None:
        whole, *held = (each._replace(efforts=np.asarray(each.efforts) * drives.gain)
                         for each in (whole, *held))
        filtered = RowFilter(whole, 0.0, asked.low_pass)
    # 3. Find what torques show whatever is fitted.
    notes += check_efforts(level, filtered)
    # 4. Find tilt and delay.
    gravity, delay = level.gravity, 0.0
    if asked.align:
        try:
            gravity, delay = align_recording(level, filtered)
        except InvalidData as error:
            notes.append(f"tilt and delay taken as zero: {error}")
    # 5. Fit the robot.
    filtered, model = RowFilter(whole, delay, asked.low_pass), level.with_gravity(gravity)
    before, after = filtered.split(share)
    rows, base = filtered.rows(model), structural_base_parameters(level)
    fit = fit_robot(rows, base, asked.method, asked.constraints, drives and drives.spread)
    # 6. Test it on motion that it, or a robot of the rest, has not seen.
    prediction, validation = fit.predict(rows), None
    if held:
        validation = fit.predict(RowFilter(held[0], delay, asked.low_pass).rows(model))
    elif share < 1.0:
        validation = fit_robot(rows[before], base, asked.method,
                               asked.constraints).predict(rows[after])
    check_explained(level, filtered, [prediction, validation or prediction],
                    np.std(rows.regressor @ model.nominal, axis=0))
    notes += compare_with_description(model, fit.phi, fit.contradicted, fit.eased)
    return RobotResult(fit, prediction, validation, delay, drives, tuple(notes))


def _joined(model: RobotModel, recorded: Sequence[JointStates], asked: RobotRequest) -> JointStates:
    """The samples of the joints of a model, recordings one after the other with breaks that no
    filter bridges; the first keeps its times (raises RecordingError, InvalidData)."""
    if not recorded:
        raise InvalidData("no recording is given")
    parts = [of_joints(each, model.joint_names, asked.effort_sign) for each in recorded]
    for k in range(1, len(parts)):
        late = parts[k].stamps[0] - parts[k - 1].stamps[-1] - _BREAK
        parts[k] = parts[k]._replace(stamps=parts[k].stamps - late)
    stamps, q, effort = (np.concatenate(each) for each in zip(*(
        (part.stamps, part.positions, part.efforts) for part in parts), strict=True))
    for name, own in zip(model.joint_names, effort.T, strict=True):
        if np.ptp(own) == 0.0:
            raise InvalidData(f"the efforts of '{name}' are {own[0] + 0.0:g} throughout: they are "
                              "not measured")
    return JointStates(stamps, model.joint_names, q, effort)


def _find_gains(model: RobotModel, free: RowFilter, share: float, asked: RobotRequest
                ) -> Drives | None:
    """Gains of the drives: those that are given, or those that a payload of known mass tells of two
    recordings of currents, without and with it (raises InvalidSetting, NotEnoughData)."""
    if asked.loaded is not None and asked.payload_mass is not None:
        loaded = RowFilter(_joined(model, [asked.loaded], asked), 0.0, asked.low_pass)
        return gains_from_payload(free.rows(model)[free.split(share)[0]], loaded.rows(model),
                                  asked.payload_mass)
    if not len(asked.gains):
        return None
    gain = np.array(asked.gains)
    if len(gain) != model.nv or not (np.isfinite(gain).all() and (gain > 0.0).all()):
        raise InvalidSetting(f"gains are {', '.join(f'{g:g}' for g in gain)} N m/A; {model.nv} "
                             f"positive numbers are needed, for {', '.join(model.joint_names)}")
    return Drives(gain, asked.gain_error**2 * np.eye(model.nv))


def check_motion(model: RobotModel, filtered: RowFilter) -> list[str]:
    """Notes on joints that do not move.

    Raises:
        NotEnoughData: nothing moves, or for too short a time for so many unknowns.
        InvalidData: a mistake that a fit of so many unknowns may hide.
    """
    covered = np.ptp(filtered.motion[0], axis=0)
    if covered.max() < _MOVES:
        raise NotEnoughData(f"no joint moves (at most by {covered.max():.2g} rad); torques at one "
                            "pose tell nothing of the bodies")
    # The sine of an angle shows its unit, whatever masses and gains are; and bodies without weight
    # would explain efforts without gravity.
    mistakes: dict[str, dict[str, Any]] = {
        "the positions are in degrees; they must be in rad": {
            "unit": np.where(model.slides, 1.0, np.pi / 180.0)},
        "the positions are in millimetres; they must be in m": {
            "unit": np.where(model.slides, 1e-3, 1.0)},
        "the efforts hold no gravity; record what the joints bear in all, with gravity": {
            "model": model.with_gravity(np.zeros(3))},
        **{f"'{one}' and '{two}' are named as each other": {
            "order": [{i: k, k: i}.get(j, j) for j in range(model.nv)]}
           for (i, one), (k, two) in combinations(enumerate(model.joint_names), 2)}}
    error = np.log(follow(model, filtered)[0]).sum()
    for why, change in mistakes.items():
        other, _ = follow(**{"model": model, "filtered": filtered, **change})
        if error - np.log(other).sum() > _BETTER:
            raise InvalidData(f"{why}: so the efforts follow the robot description far better")
    steps = np.minimum(np.diff(filtered.number, append=filtered.number[-1] + 1), PAUSE)
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


def follow(model: RobotModel, filtered: RowFilter, unit: Array | float = 1.0, sign: float = 1.0,
           order: Sequence[int] | slice = slice(None)) -> tuple[Array, Array]:
    """Fit `sign` times each effort by the description's torque, the speed and the sign of the
    speed, all less their means, with factors that are not negative, as friction brakes.

    Args:
        unit: factor (joints,) of recorded positions; order: recorded joint of each of the model.

    Returns:
        Norm (joints,) of what is left of the effort, in its unit. Factor (joints,) of the torque;
        NaN where torques make less than most of the effort.
    """
    def columns(*motion: Array) -> Array:
        q, dq, ddq = (unit * each[:, order] for each in motion)
        return np.stack([model.described_torque(q, dq, ddq), dq, np.tanh(dq / _SPEED)], axis=-1)

    rows, effort = (each - each.mean(axis=0) for each in (
        filtered.mean(columns), sign * filtered.effort[:, order]))
    fits = [nnls(rows[:, j], effort[:, j]) for j in range(model.nv)]
    scale = np.array([factors[0] for factors, _ in fits])
    loaded = scale * rows[:, :, 0].std(axis=0) > _HALF * effort.std(axis=0)
    return np.maximum([norm for _, norm in fits], _TINY), np.where(loaded, scale, np.nan)


def check_efforts(model: RobotModel, filtered: RowFilter) -> list[str]:
    """Raise InvalidData where efforts are in another unit; returns a note where they are several
    times the description's torques, or a fraction."""
    scale = follow(model, filtered)[1]
    over = np.sqrt(np.mean(filtered.effort**2, axis=0)) / model.effort_limits
    for j in np.flatnonzero(over > _BEYOND_LIMIT)[:1]:
        raise InvalidData(f"the efforts of '{model.joint_names[j]}' are {over[j]:.2g} times what "
                          "the robot description allows: are they in another unit than N m?")
    usual = float(np.nanmedian(scale)) if np.isfinite(scale).any() else 1.0
    said = f"efforts made by bodies above all are {usual:.2g} times those of the description: "
    if abs(np.log(usual)) > np.log(_NO_TORQUE):
        raise InvalidData(f"{said}are they in another unit than N m?")
    return [f"{said}are they motor currents (--gains), or is a load missing there?"] if (
        abs(np.log(usual)) > np.log(_OTHER_UNIT)) else []


def check_explained(model: RobotModel, filtered: RowFilter, tests: Sequence[Prediction],
                    expected: Array) -> None:
    """Raise InvalidData or NotEnoughData where much of the torque is not explained.

    Args:
        tests: of the robot that was found, that on the recording first.
        expected: rms (joints,) by how much the description's own torques vary [N m].
    """
    turned = follow(model, filtered)[0] > _BETTER * follow(model, filtered, sign=-1.0)[0]
    if tests[0].shares.max() > _SUSPECT and turned.any():
        wrong = ", ".join(f"'{model.joint_names[j]}'" for j in np.flatnonzero(turned))
        raise InvalidData(
            f"the efforts of {'all joints' if turned.all() else wrong} have the opposite sign of "
            "the description's torques; identify_robot --effort-sign turns them")
    share, shares = (np.max(each, axis=0) for each in zip(*(
        (test.relative, test.shares) for test in tests), strict=True))
    needed = (expected > _UNEXPLAINED * tests[0].torque) & (shares > _HALF)
    if share > _UNEXPLAINED or needed.any():
        names = ", ".join(f"'{model.joint_names[j]}' ({shares[j]:.0%})"
                          for j in np.argsort(-shares)[:2] if shares[j] > _UNEXPLAINED)
        raise NotEnoughData(
            f"the robot leaves {share:.0%} of the torque unexplained, most in {names}: are these "
            "efforts torques, and of these joints, in the same order, and does the arm move?")


def compare_with_description(model: RobotModel, phi: Array, contradicted: np.ndarray,
                             eased: float = 1.0) -> list[str]:
    """Notes on bodies of the description that cannot exist, or that the data contradict; phi (p,),
    contradicted (bodies,), eased: as of `RobotFit`."""
    notes = []
    for body, found, described, is_far in zip(model.bodies, model.split(phi), model.split(
            model.nominal), contradicted, strict=True):
        mass = described[0]
        if mass <= 0.0:
            notes.append(f"{body} has a mass of {mass:g} kg in the description: it is not used")
        elif not is_consistent(described):
            moments = np.linalg.eigvalsh(body_from_phi(described).inertia_com)
            notes.append(
                f"the inertia of {body} in the robot description is impossible (principal moments "
                f"{', '.join(f'{m:.3g}' for m in moments)} kg m^2); its mass and centre are used")
        elif is_far:
            notes.append(
                f"the recording contradicts the description of {body} by far (mass {found[0]:.3g} "
                f"kg, described {mass:.3g} kg): is there a load or gripper that the description "
                "lacks?")
    if eased < 1.0 and not contradicted.any():
        notes.append("the description was trusted less, as it does not explain the torques; a term "
                     "of the joints may be missing (--terms)")
    return notes
